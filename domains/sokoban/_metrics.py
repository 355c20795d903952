"""SokoBench's measures of a predicted plan against the one right plan (arXiv 2601.20856).

x̂ has m letters, the right plan x has n. All of them look at letters alone; the verdict
replays the rules.
"""

from __future__ import annotations

from ._level import DIRECTIONS, Cell

__all__ = ["accuracy", "manhattan_distance", "prefix_accuracy", "prefix_accuracy_literal"]


def accuracy(predicted: str, right: str) -> float:
    """1 if x̂ = x, else 0."""
    return float(predicted == right)


def prefix_accuracy(predicted: str, right: str) -> float:
    """(1/n) · Σ_{i≤m} [x̂_i = x_i] if m ≤ n, else 0."""
    if len(predicted) > len(right):
        return 0.0
    if not right:
        return 1.0
    return _matches(predicted, right) / len(right)


def prefix_accuracy_literal(predicted: str, right: str, length: int) -> float:
    """The same with ℓ, the corridor's cells, in place of n in both places.

    Positions beyond n count as mismatches, so a right plan scores (ℓ − 2)/ℓ.
    """
    if len(predicted) > length:
        return 0.0
    return _matches(predicted, right) / length


def manhattan_distance(predicted: str, start: Cell, goal: Cell) -> float:
    """|Δx| + |Δy| between the goal and where the letters lead, walls and boxes ignored.

    A right plan ends beside the goal, at distance 1.
    """
    row = start[0] + sum(DIRECTIONS[letter][0] for letter in predicted)
    column = start[1] + sum(DIRECTIONS[letter][1] for letter in predicted)
    return float(abs(goal[0] - row) + abs(goal[1] - column))


def _matches(predicted: str, right: str) -> int:
    return sum(p == r for p, r in zip(predicted, right, strict=False))
