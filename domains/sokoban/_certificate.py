"""Second opinion on `unique-corridor` certificates.

This module shares no code with the level type or the generator: it looks at the map's
characters, finds the lane, and walks the witness along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["check_unique_corridor"]

_ROTATIONS = {"R": 0, "D": 90, "L": 180, "U": 270}


def check_unique_corridor(
    rows: Sequence[Any],
    certificate: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
) -> str | None:
    """Return why a certificate is wrong, or None if it holds.

    With `parameters`, the length, rotation and box that they name must be the map's:
    reports group by them.

    The argument: open cells form one straight lane with the player at an end, the goal
    at the other, and one box between. On a lane the player can only approach the box
    from its own side, so the box moves only towards the goal, one cell a push; from the
    player's cell 0 with the goal in cell ℓ − 1 the player must end in cell ℓ − 2, one
    cell a move. So ℓ − 2 moves are necessary, and the only plan of that length never
    turns back.
    """
    if not all(isinstance(row, str) for row in rows) or not rows:
        return "The map is not a list of rows."
    text = {
        (r, c): symbol
        for r, row in enumerate(rows)
        for c, symbol in enumerate(row)
        if symbol != "#"
    }
    if any(symbol not in "@$. " for symbol in text.values()):
        return "The map holds symbols that a corridor does not have."
    horizontal = len({r for r, _ in text}) == 1
    if not horizontal and len({c for _, c in text}) != 1:
        return "The open cells do not lie in one row or column."
    places = sorted(text)
    first, last = places[0], places[-1]
    if (last[0] - first[0]) + (last[1] - first[1]) != len(places) - 1:
        return "The open cells have a gap."
    if not _walled(rows, places):
        return "The corridor is not walled in."
    lane = "".join(text[p] for p in places)
    letter = "R" if horizontal else "D"
    if lane.startswith("."):
        lane, letter = lane[::-1], {"R": "L", "D": "U"}[letter]
    if not (lane.startswith("@") and lane.endswith(".") and lane.count("$") == 1):
        return "A corridor has the player at one end, the goal at the other, and one box."
    if lane.count("@") != 1 or lane.count(".") != 1:
        return "A corridor has one player and one goal."
    moves = len(lane) - 2
    walk = lane.index("$") - 1
    expected = letter.lower() * walk + letter * (moves - walk)
    if certificate.get("witness") != expected:
        return f"The only shortest plan is {expected}."
    claimed = [certificate.get("optimum"), certificate.get("lower_bound")]
    if any(type(value) is not int or value != moves for value in claimed):
        return f"Optimum and lower bound are {moves}."
    true = {"length": len(lane), "rotation": _ROTATIONS[letter], "box": lane.index("$")}
    for name, value in (parameters or {}).items():
        if name not in true or type(value) is not int or value != true[name]:
            return f"The map's parameters are {true}, not {name} {value!r}."
    return None


def _walled(rows: Sequence[str], places: Sequence[tuple[int, int]]) -> bool:
    """Whether every neighbour of an open cell is an open cell or a wall inside the map."""
    inside = set(places)
    for r, c in places:
        for neighbour in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            row, column = neighbour
            is_wall = 0 <= row < len(rows) and 0 <= column < len(rows[row])
            if neighbour not in inside and not (is_wall and rows[row][column] == "#"):
                return False
    return True
