"""A level as a PDDL problem over the bundled Sokoban domain."""

from __future__ import annotations

from .._bundled import bundled_domain
from ._level import DIRECTIONS, Cell, Level

__all__ = ["cell_name", "sokoban_domain", "write_problem"]

_NAMES = {"U": "up", "D": "down", "L": "left", "R": "right"}


def sokoban_domain() -> str:
    """The text of the bundled Sokoban domain."""
    return bundled_domain("sokoban")


def cell_name(cell: Cell) -> str:
    """The object that stands for a cell: `c-ROW-COLUMN`."""
    return f"c-{cell[0]}-{cell[1]}"


def write_problem(level: Level, *, name: str = "level", goal: str | None = None) -> str:
    """Write a level as a PDDL problem.

    Only cells that the player could ever enter, were there no boxes, are objects; see
    `cell_name`.

    Args:
        name: the problem's name.
        goal: a condition in place of the level's own, which puts a box on every goal
            cell, or, with more goals than boxes, every box on some goal.
    """
    floor = sorted(level.floor() | level.boxes | level.goals)
    names = {cell: cell_name(cell) for cell in floor}
    facts = [f"(player-at {names[level.player]})"]
    facts += [f"(box-at {names[cell]})" for cell in sorted(level.boxes)]
    occupied = level.boxes | {level.player}
    facts += [f"(clear {names[cell]})" for cell in floor if cell not in occupied]
    facts += _adjacency(floor, names)
    lines = [
        f"(define (problem {name})",
        "  (:domain sokoban)",
        f"  (:objects {' '.join(names.values())} - cell)",
        "  (:init",
        *(f"    {fact}" for fact in facts),
        "  )",
        f"  (:goal {goal or _goal(level, names)}))",
    ]
    return "\n".join(lines) + "\n"


def _adjacency(floor: list[Cell], names: dict[Cell, str]) -> list[str]:
    facts = []
    for cell in floor:
        for letter, (rows, columns) in DIRECTIONS.items():
            neighbour = (cell[0] + rows, cell[1] + columns)
            if neighbour in names:
                facts.append(f"(adjacent {names[cell]} {names[neighbour]} {_NAMES[letter]})")
    return facts


def _goal(level: Level, names: dict[Cell, str]) -> str:
    goals = sorted(level.goals)
    if len(goals) == len(level.boxes):
        return f"(and {' '.join(f'(box-at {names[cell]})' for cell in goals)})"
    elsewhere = [cell for cell in sorted(names) if cell not in level.goals]
    return f"(and {' '.join(f'(not (box-at {names[cell]}))' for cell in elsewhere)})"
