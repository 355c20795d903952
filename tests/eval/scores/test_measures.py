"""SokoBench's measures against values derived by hand.

The corridor of ℓ = 5 cells, `#@ $ .#`: the player in column 1, the goal in column 5, both in
row 1; the right plan x = RRR has n = 3 letters.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import llm_modulo
from llm_modulo.domains import Benchmark, Instance
from llm_modulo.domains.sokoban import (
    accuracy,
    manhattan_distance,
    prefix_accuracy,
    prefix_accuracy_literal,
)

# predicted, accuracy, prefix accuracy, literal prefix accuracy, Manhattan distance
BY_HAND = [
    # Three of n = 3, and of ℓ = 5, letters agree; the player ends in column 4.
    ("RRR", 1, 1, 3 / 5, 1),
    # Nothing agrees; the player stays in column 1.
    ("", 0, 0, 0, 4),
    ("R", 0, 1 / 3, 1 / 5, 3),
    ("RR", 0, 2 / 3, 2 / 5, 2),
    # Positions 1 and 3 agree; R and L cancel: column 2.
    ("RLR", 0, 2 / 3, 2 / 5, 3),
    ("LRR", 0, 2 / 3, 2 / 5, 3),
    ("LLL", 0, 0, 0, 7),
    # m = 4 > n = 3 scores 0; literally m ≤ ℓ: 3 agree, position 4 has no counterpart.
    ("RRRR", 0, 0, 3 / 5, 0),
    # m = 5 = ℓ still counts literally; the player is in column 6, one past the goal.
    ("RRRRR", 0, 0, 3 / 5, 1),
    # m = 6 > ℓ.
    ("RRRRRR", 0, 0, 0, 2),
    # Only position 2 agrees; row 0, column 2: |1 − 0| + |5 − 2|.
    ("UR", 0, 1 / 3, 1 / 5, 4),
    # Through walls: row 4, column 1.
    ("DDD", 0, 0, 0, 7),
    # Positions 1 to 3 agree, but m > n.
    ("RRRL", 0, 0, 3 / 5, 2),
]


@pytest.mark.parametrize(("moves", "right", "prefix", "literal", "distance"), BY_HAND)
def test_by_hand(
    moves: str,
    right: float,
    prefix: float,
    literal: float,
    distance: float,
    sokobench: Benchmark,
    five: Instance,
) -> None:
    assert sokobench.metrics(five, moves) == {
        "accuracy": right,
        "prefix_accuracy": pytest.approx(prefix),
        "prefix_accuracy_literal": pytest.approx(literal),
        "manhattan_distance": distance,
    }


def test_without_a_plan_the_distance_is_undefined(sokobench: Benchmark, five: Instance) -> None:
    assert sokobench.metrics(five, None) == {
        "accuracy": 0,
        "prefix_accuracy": 0,
        "prefix_accuracy_literal": 0,
        "manhattan_distance": None,
    }


def test_the_right_plan_of_every_corridor(sokobench: Benchmark) -> None:
    for instance in llm_modulo.instances("sokobench"):
        length = instance.parameters["length"]
        measured = sokobench.metrics(instance, instance.certificate["witness"].upper())
        assert measured == {
            "accuracy": 1,
            "prefix_accuracy": 1,
            "prefix_accuracy_literal": pytest.approx((length - 2) / length),
            "manhattan_distance": 1,
        }


@pytest.mark.parametrize(
    ("rotation", "moves", "distance"),
    # From the player's end, the goal is four cells down, left or up.
    [(90, "D", 3), (90, "R", 5), (180, "L", 3), (180, "RR", 6), (270, "UU", 2), (270, "D", 5)],
)
def test_the_distance_in_other_rotations(
    rotation: int, moves: str, distance: float, sokobench: Benchmark
) -> None:
    (instance,) = llm_modulo.instances("sokobench", lengths=[5], rotations=[rotation])
    assert sokobench.metrics(instance, moves)["manhattan_distance"] == distance


def prefix_by_definition(predicted: str, right: str, n: int) -> float:
    """(1/n) Σ_{i≤m} [x̂_i = x_i] if m ≤ n, else 0; a letter that x lacks agrees with none."""
    m = len(predicted)
    if m > n:
        return 0
    return sum(i < len(right) and predicted[i] == right[i] for i in range(m)) / n


letters = st.text("UDLR", max_size=12)


@given(letters, st.text("UDLR", min_size=1, max_size=10))
def test_measures_follow_their_definitions(predicted: str, right: str) -> None:
    n = len(right)
    assert prefix_accuracy(predicted, right) == prefix_by_definition(predicted, right, n)
    literal = prefix_accuracy_literal(predicted, right, n + 2)
    assert literal == prefix_by_definition(predicted, right, n + 2)
    assert 0 <= literal <= n / (n + 2)
    exact = accuracy(predicted, right) == 1
    assert exact == (predicted == right) == (prefix_accuracy(predicted, right) == 1)


@given(letters, st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_the_distance_counts_letters(predicted: str, goal: tuple[int, int]) -> None:
    down = predicted.count("D") - predicted.count("U")
    across = predicted.count("R") - predicted.count("L")
    expected = abs(goal[0] - 3 - down) + abs(goal[1] - 4 - across)
    assert manhattan_distance(predicted, (3, 4), goal) == expected
