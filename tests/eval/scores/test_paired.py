"""Paired comparisons against values derived by hand."""

import random

import pytest

from llm_modulo.eval.statistics import PairedDifference, mcnemar_exact, paired_difference


@pytest.mark.parametrize(
    ("gained", "lost", "p_value"),
    [
        (0, 0, 1),
        (1, 0, 1),  # 2 · 1/2
        (1, 1, 1),
        (2, 0, 1 / 2),  # 2 · 1/4
        (5, 0, 1 / 16),  # 2 · 1/32
        (0, 5, 1 / 16),
        (10, 0, 2 / 1024),
        (8, 2, 112 / 1024),  # 2 · (1 + 10 + 45)/1024
        (2, 8, 112 / 1024),
        (6, 3, 260 / 512),  # 2 · (1 + 9 + 36 + 84)/512
        (4, 4, 1),
    ],
)
def test_mcnemars_exact_test_by_hand(gained: int, lost: int, p_value: float) -> None:
    assert mcnemar_exact(gained, lost) == pytest.approx(p_value, rel=1e-12)


def test_a_difference_by_hand() -> None:
    pairs = {"a": [(0.0, 1.0), (0.0, 1.0)], "b": [(1.0, 1.0)], "c": [(1.0, 0.0)]}
    found = paired_difference(pairs)
    # Four pairs: baseline (0 + 0 + 1 + 1)/4, treatment (1 + 1 + 1 + 0)/4.
    assert (found.baseline, found.treatment, found.difference) == (0.5, 0.75, 0.25)
    assert (found.instances, found.pairs) == (3, 4)
    # Drawing c three times, or a three times, has probability 1/27 > 2.5% each: the ends are −1
    # and 1.
    assert (found.low, found.high) == (-1.0, 1.0)


def test_the_same_on_both_sides_differs_by_nothing() -> None:
    found = paired_difference({"a": [(0.25, 0.25)], "b": [(0.5, 0.5)]})
    assert (found.difference, found.low, found.high) == (0.0, 0.0, 0.0)


def test_no_pair_no_difference() -> None:
    nothing = PairedDifference(
        baseline=None,
        treatment=None,
        difference=None,
        low=None,
        high=None,
        instances=0,
        pairs=0,
    )
    assert paired_difference({}) == nothing
    assert paired_difference({"a": []}) == nothing


def test_the_order_of_instances_does_not_matter() -> None:
    generator = random.Random(4)
    items = [(f"i{k}", [(generator.random(), generator.random())]) for k in range(12)]
    first = paired_difference(dict(items), seed=9)
    generator.shuffle(items)
    assert paired_difference(dict(items), seed=9) == first


def test_swapping_the_sides_turns_the_sign() -> None:
    pairs = {f"i{k}": [(float(k % 2), float(k % 3 == 0))] for k in range(12)}
    swapped = {name: [(t, b) for b, t in both] for name, both in pairs.items()}
    one, other = paired_difference(pairs), paired_difference(swapped)
    assert other.difference == pytest.approx(-one.difference)
    assert (other.low, other.high) == (pytest.approx(-one.high), pytest.approx(-one.low))
