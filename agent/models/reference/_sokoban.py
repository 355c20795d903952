"""How reference models plan: a plain breadth-first search, independent of any planner."""

from __future__ import annotations

from collections import deque

from llm_modulo.domains.sokoban import DIRECTIONS, Cell, IllegalMove, Level

__all__ = ["lane_of", "shortened_lane", "shortest_plan"]

_MAX_STATES = 500_000


def shortest_plan(level: Level) -> str | None:
    """A shortest plan in moves, or None if there is none within half a million states."""
    start = (level.player, level.boxes)
    parents: dict[tuple[Cell, frozenset[Cell]], tuple[Level, str] | None] = {start: None}
    queue = deque([level])
    while queue and len(parents) < _MAX_STATES:
        here = queue.popleft()
        if here.solved:
            return _moves_to(here, parents)
        for letter in DIRECTIONS:
            try:
                there, _ = here.step(letter)
            except IllegalMove:
                continue
            state = (there.player, there.boxes)
            if state not in parents:
                parents[state] = (here, letter)
                queue.append(there)
    return None


def _moves_to(
    level: Level, parents: dict[tuple[Cell, frozenset[Cell]], tuple[Level, str] | None]
) -> str:
    letters = []
    while (step := parents[(level.player, level.boxes)]) is not None:
        level, letter = step
        letters.append(letter)
    return "".join(reversed(letters))


def lane_of(level: Level) -> list[Cell] | None:
    """The cells of a straight corridor from the player's end to the goal, or None."""
    floor = sorted(level.floor())
    straight = len({r for r, _ in floor}) == 1 or len({c for _, c in floor}) == 1
    if not straight or len(level.boxes) != 1 or len(level.goals) != 1:
        return None
    if floor[-1] == level.player:
        floor.reverse()
    ends_right = floor[0] == level.player and {floor[-1]} == level.goals
    return floor if ends_right else None


def shortened_lane(level: Level, lane: list[Cell], lost: set[int]) -> Level:
    """The corridor that remains when the lane's cells of these indices are left out.

    The cells keep their order and close ranks; a box on a lost cell stands on the next
    cell that is left.
    """
    kept = [i for i in range(len(lane)) if i not in lost]
    box = lane.index(next(iter(level.boxes)))
    place = next(n for n, i in enumerate(kept) if i >= box)
    cells = ["@", *" " * (len(kept) - 2), "."]
    cells[place] = "*" if place == len(kept) - 1 else "$"
    wall = "#" * (len(kept) + 2)
    horizontal = lane[0][0] == lane[-1][0]
    if lane[0] > lane[-1]:
        cells.reverse()
    rows = [wall, f"#{''.join(cells)}#", wall]
    if not horizontal:
        rows = ["".join(column) for column in zip(*rows, strict=True)]
    return Level.from_xsb(rows)
