"""Intervals: Wilson's against published values and scipy, the bootstrap against enumeration."""

import random

import numpy as np
import pytest
from scipy.stats import binomtest

from llm_modulo.eval.statistics import Estimate, mean_interval, share_interval
from llm_modulo.eval.statistics._intervals import cluster_means


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe 1998, Statistics in Medicine 17, table I, method 3 (score, no correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # By hand with z² = 3.8415: centre (0.5 + 0.1921)/1.3841 = 0.5,
        # half width 1.96/1.3841 · √(0.025 + 0.0096) = 0.2634.
        (5, 10, 0.2366, 0.7634),
        # All of n: the lower end is n/(n + z²) = 3/6.8415.
        (3, 3, 0.4385, 1.0),
    ],
)
def test_wilsons_interval_by_hand(successes: int, n: int, low: float, high: float) -> None:
    found = share_interval(successes, n)
    assert found.value == successes / n
    assert found.low == pytest.approx(low, abs=6e-5)
    assert found.high == pytest.approx(high, abs=6e-5)
    assert found.n == n


def test_wilsons_interval_is_scipys() -> None:
    for n in (1, 2, 3, 7, 10, 29, 80, 160, 1000):
        for successes in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            found = share_interval(successes, n)
            theirs = binomtest(successes, n).proportion_ci(method="wilson")
            assert found.low == pytest.approx(theirs.low, abs=1e-12)
            assert found.high == pytest.approx(theirs.high, abs=1e-12)
            assert 0 <= found.low <= found.value <= found.high <= 1


def test_nothing_has_no_interval() -> None:
    nothing = Estimate(value=None, low=None, high=None, n=0)
    assert share_interval(0, 0) == nothing
    assert mean_interval([], []) == nothing
    assert nothing.to_json() == {"value": None, "low": None, "high": None, "n": 0}


@pytest.mark.parametrize("values", [[2.5], [2.5, 2.5, 2.5]])
def test_a_constant_has_an_interval_of_no_width(values: list[float]) -> None:
    found = mean_interval(values, [str(i) for i in range(len(values))])
    assert (found.value, found.low, found.high, found.n) == (2.5, 2.5, 2.5, len(values))


def test_one_instance_says_nothing_about_others() -> None:
    """One cluster is drawn again whatever happens, so that its interval has no width."""
    found = mean_interval([0.0, 1.0, 1.0, 0.0], ["a"] * 4)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.5, 0.5, 4)


def test_two_instances_by_enumeration() -> None:
    # Drawing two of {a, b} with repetition: aa, ab, ba, bb with probability 1/4 each. The means
    # over trials are 1, 3/4, 3/4, 0, since a has three trials and b one.
    means = cluster_means([1, 1, 1, 0], ["a", "a", "a", "b"], draws=20_000, seed=3)
    assert means.shape == (20_000,)
    shares = {value: float(np.mean(means == value)) for value in np.unique(means)}
    assert shares == {
        0.0: pytest.approx(1 / 4, abs=0.02),
        0.75: pytest.approx(1 / 2, abs=0.02),
        1.0: pytest.approx(1 / 4, abs=0.02),
    }
    found = mean_interval([1, 1, 1, 0], ["a", "a", "a", "b"])
    assert (found.value, found.low, found.high, found.n) == (0.75, 0.0, 1.0, 4)


def test_the_order_of_the_input_does_not_matter() -> None:
    generator = random.Random(1)
    pairs = [(generator.gauss(0, 1), f"i{k % 9}") for k in range(40)]
    first = mean_interval([v for v, _ in pairs], [c for _, c in pairs], seed=5)
    for _ in range(5):
        generator.shuffle(pairs)
        again = mean_interval([v for v, _ in pairs], [c for _, c in pairs], seed=5)
        assert again.low == pytest.approx(first.low, abs=1e-12)
        assert again.high == pytest.approx(first.high, abs=1e-12)


def test_the_seed_fixes_the_interval() -> None:
    values, clusters = [0.1, 0.9, 0.4, 0.7], list("abcd")
    assert mean_interval(values, clusters, seed=1) == mean_interval(values, clusters, seed=1)
    others = {mean_interval(values, clusters, seed=s, draws=50).low for s in range(10)}
    assert len(others) > 1


def test_repetitions_of_the_same_do_not_narrow_the_interval() -> None:
    """Three repetitions that agree carry no more information than one."""
    generator = random.Random(2)
    values = [generator.random() for _ in range(12)]
    names = [f"i{k:02}" for k in range(12)]
    once = mean_interval(values, names)
    thrice = mean_interval(values * 3, names * 3)
    assert thrice.low == pytest.approx(once.low, abs=1e-12)
    assert thrice.high == pytest.approx(once.high, abs=1e-12)
    # As if all trials were independent, the interval would be about 1/√3 as wide.
    apart = mean_interval(values * 3, [f"t{k}" for k in range(36)])
    assert apart.high - apart.low < 0.75 * (once.high - once.low)


def test_the_bootstrap_covers_the_truth_about_as_often_as_it_says() -> None:
    """300 samples of 40 clusters, two trials each, around a known mean of 0.

    The percentile bootstrap falls a little short of 95%; with 40 clusters it has about 94%. The
    bounds are five standard errors (√(0.94·0.06/300) = 0.014) away.
    """
    generator = np.random.default_rng(11)
    clusters = [f"i{k // 2:02}" for k in range(80)]
    covered = 0
    for seed in range(300):
        effect = np.repeat(generator.normal(size=40), 2)
        values = effect + generator.normal(scale=0.5, size=80)
        found = mean_interval(list(values), clusters, draws=400, seed=seed)
        covered += found.low <= 0 <= found.high
    assert 0.87 <= covered / 300 <= 0.99
