"""Sokoban levels: XSB text, moves, pushes, replay.

XSB symbols: `#` wall, `@` player, `+` player on a goal, `$` box, `*` box on a goal,
`.` goal, space floor. A cell is `(row, column)`, both from 0, row 0 at the top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_modulo.errors import MalformedRecord

__all__ = ["DIRECTIONS", "Cell", "IllegalMove", "Level"]

Cell = tuple[int, int]

DIRECTIONS: dict[str, tuple[int, int]] = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
"""Letter → step in (row, column)."""

_SYMBOLS = frozenset("#@+$*. ")
MAX_AREA = 40_000
"""Largest map, in cells: 200 × 200, or a corridor of 13,331."""


class IllegalMove(Exception):
    """A move that the rules forbid; `step` is its 0-based index."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step = step


@dataclass(frozen=True, kw_only=True)
class Level:
    """A position: what does not move, and where player and boxes are.

    Attributes:
        rows: number of rows; `columns` likewise.
        walls, goals, boxes: sets of cells.
        player: the player's cell.
    """

    rows: int
    columns: int
    walls: frozenset[Cell]
    goals: frozenset[Cell]
    boxes: frozenset[Cell]
    player: Cell

    @classmethod
    def from_xsb(cls, lines: Sequence[str]) -> Level:
        """Read a level from its XSB rows.

        Raises:
            MalformedRecord: an unknown symbol, more than `MAX_AREA` cells, not exactly
                one player, or fewer goals than boxes.
        """
        rows = [line.rstrip("\r\n") for line in lines]
        columns = max((len(r) for r in rows), default=0)
        if not 0 < len(rows) * columns <= MAX_AREA:
            raise MalformedRecord(f"a level has 1 to {MAX_AREA:,} cells")
        cells: dict[str, set[Cell]] = {symbol: set() for symbol in _SYMBOLS}
        for r, row in enumerate(rows):
            for c, symbol in enumerate(row):
                if symbol not in _SYMBOLS:
                    raise MalformedRecord(f"unknown symbol {symbol!r} in row {r}, column {c}")
                cells[symbol].add((r, c))
        players = cells["@"] | cells["+"]
        boxes = cells["$"] | cells["*"]
        goals = cells["."] | cells["+"] | cells["*"]
        if len(players) != 1:
            raise MalformedRecord(f"a level has exactly one player, this one has {len(players)}")
        if len(goals) < len(boxes):
            raise MalformedRecord(f"{len(boxes)} boxes but only {len(goals)} goals")
        return cls(
            rows=len(rows),
            columns=columns,
            walls=frozenset(cells["#"]),
            goals=frozenset(goals),
            boxes=frozenset(boxes),
            player=next(iter(players)),
        )

    def to_xsb(self) -> list[str]:
        """The level as XSB rows, without trailing spaces."""
        return [
            "".join(self._symbol((r, c)) for c in range(self.columns)).rstrip()
            for r in range(self.rows)
        ]

    def _symbol(self, cell: Cell) -> str:
        if cell in self.walls:
            return "#"
        on_goal = cell in self.goals
        if cell == self.player:
            return "+" if on_goal else "@"
        if cell in self.boxes:
            return "*" if on_goal else "$"
        return "." if on_goal else " "

    @property
    def solved(self) -> bool:
        """Every box is on a goal."""
        return self.boxes <= self.goals

    def is_free(self, cell: Cell) -> bool:
        """Neither wall nor box nor outside the map."""
        return self._is_inside(cell) and cell not in self.walls and cell not in self.boxes

    def _is_inside(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns

    def floor(self) -> frozenset[Cell]:
        """Cells that the player can reach if boxes are ignored, in all directions."""
        seen, todo = {self.player}, [self.player]
        while todo:
            here = todo.pop()
            for step in DIRECTIONS.values():
                cell = _shift(here, step)
                if cell not in seen and self._is_inside(cell) and cell not in self.walls:
                    seen.add(cell)
                    todo.append(cell)
        return frozenset(seen)

    def can_step(self, letter: str) -> bool:
        """Whether the rules allow a move in a direction."""
        try:
            self.step(letter)
        except IllegalMove:
            return False
        return True

    def step(self, letter: str) -> tuple[Level, bool]:
        """Move in a direction; returns the new position and whether a box was pushed.

        Raises:
            IllegalMove: a wall, the edge, or a box that cannot be pushed is in the way;
                its `step` is 0.
        """
        direction = DIRECTIONS[letter]
        ahead = _shift(self.player, direction)
        if ahead in self.boxes:
            beyond = _shift(ahead, direction)
            if not self.is_free(beyond):
                raise IllegalMove(0, "the box cannot be pushed there")
            boxes = (self.boxes - {ahead}) | {beyond}
            return self._moved(ahead, boxes), True
        if not self.is_free(ahead):
            raise IllegalMove(0, "a wall is in the way")
        return self._moved(ahead, self.boxes), False

    def _moved(self, player: Cell, boxes: frozenset[Cell]) -> Level:
        return Level(
            rows=self.rows,
            columns=self.columns,
            walls=self.walls,
            goals=self.goals,
            boxes=boxes,
            player=player,
        )

    def replay(self, moves: str) -> tuple[Level, str]:
        """Execute moves; returns the last position and the moves as LURD.

        Args:
            moves: letters U, D, L, R; upper case.

        Raises:
            IllegalMove: with the index of the first illegal move.
        """
        level, lurd = self, []
        for index, letter in enumerate(moves):
            try:
                level, pushed = level.step(letter)
            except IllegalMove as error:
                raise IllegalMove(index, str(error)) from None
            lurd.append(letter if pushed else letter.lower())
        return level, "".join(lurd)


def _shift(cell: Cell, step: tuple[int, int]) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]
