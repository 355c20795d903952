"""A naive Sokoban on a grid of characters, random levels, and a few levels made by hand."""

import json
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from llm_modulo.cli import main

STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
# What is left behind, and what appears, when something leaves or enters a cell.
WITHOUT_PLAYER = {"@": " ", "+": "."}
WITHOUT_BOX = {"$": " ", "*": "."}
WITH_PLAYER = {" ": "@", ".": "+"}
WITH_BOX = {" ": "$", ".": "*"}


@dataclass(frozen=True)
class Walk:
    """How the naive simulator got on.

    `failed` is the index of the first illegal move or None, `rows` the map where it stopped,
    `lurd` the moves so far.
    """

    failed: int | None
    rows: list[str]
    lurd: str

    @property
    def solved(self) -> bool:
        """No box stands off the goals."""
        return "$" not in "".join(self.rows)


def naive_replay(rows: list[str], moves: str) -> Walk:
    """Move characters about on the map; knows nothing of the project's code."""
    width = max(len(row) for row in rows)
    grid = [list(row.ljust(width)) for row in rows]

    def look(row: int, column: int) -> str:
        return grid[row][column] if 0 <= row < len(grid) and 0 <= column < width else "#"

    lurd = ""
    for index, move in enumerate(moves):
        row, column = next(
            (r, c) for r in range(len(grid)) for c in range(width) if grid[r][c] in "@+"
        )
        down, right = STEPS[move]
        near = row + down, column + right
        far = row + 2 * down, column + 2 * right
        pushed = look(*near) in "$*"
        if pushed and look(*far) in " .":
            grid[far[0]][far[1]] = WITH_BOX[look(*far)]
            grid[near[0]][near[1]] = WITHOUT_BOX[look(*near)]
        elif look(*near) not in " .":
            return Walk(index, ["".join(line).rstrip() for line in grid], lurd)
        grid[near[0]][near[1]] = WITH_PLAYER[look(*near)]
        grid[row][column] = WITHOUT_PLAYER[grid[row][column]]
        lurd += move if pushed else move.lower()
    return Walk(None, ["".join(line).rstrip() for line in grid], lurd)


def naive_optimum(rows: list[str]) -> int | None:
    """The length of a shortest plan by breadth-first search over whole maps."""
    todo, seen = deque([(rows, 0)]), {tuple(rows)}
    while todo:
        here, length = todo.popleft()
        if "$" not in "".join(here):
            return length
        for move in STEPS:
            walk = naive_replay(here, move)
            if walk.failed is None and tuple(walk.rows) not in seen:
                seen.add(tuple(walk.rows))
                todo.append((walk.rows, length + 1))
    return None


def make_random_level(
    generator: random.Random, *, largest: int = 8, most_boxes: int = 4
) -> list[str]:
    """A map with a box or more; half of the maps have a wall round them."""
    rows, columns = generator.randint(2, largest), generator.randint(2, largest)
    boxes = min(generator.randint(1, most_boxes), (rows * columns - 1) // 2)
    things = ["@", *"$" * boxes, *"." * boxes]
    while len(things) < rows * columns:
        things.append("#" if generator.random() < 0.15 else " ")
    for extra, symbol in (("@", "+"), ("$", "*")):
        if generator.random() < 0.3 and "." in things:
            things[things.index(extra)] = symbol
            things[things.index(".")] = " "
    generator.shuffle(things)
    grid = ["".join(things[r * columns : (r + 1) * columns]) for r in range(rows)]
    if generator.random() < 0.5:
        wall = "#" * (columns + 2)
        grid = [wall, *(f"#{row}#" for row in grid), wall]
    return [row.rstrip() for row in grid]


@pytest.fixture(scope="session")
def naively() -> Callable[[list[str], str], Walk]:
    """The naive twin of `Level.replay`: (rows, moves) → Walk."""
    return naive_replay


@pytest.fixture(scope="session")
def naive_search() -> Callable[[list[str]], int | None]:
    """The naive twin of `shortest_plan`: rows → length or None."""
    return naive_optimum


@pytest.fixture(scope="session")
def random_level() -> Callable[..., list[str]]:
    """(generator, largest=8, most_boxes=4) → rows of a random map."""
    return make_random_level


LEVELS = {
    "two boxes in a room": [
        "#######",
        "#     #",
        "# $ $ #",
        "#  @  #",
        "# . . #",
        "#######",
    ],
    "round the corner": [
        "######",
        "#@   #",
        "# ## #",
        "# $  #",
        "##  .#",
        " #####",
    ],
    "a box that must leave its goal": [
        "#######",
        "#  .  #",
        "# *$@ #",
        "#     #",
        "#######",
    ],
    "player on a goal": [
        "######",
        "#+$  #",
        "#  $ #",
        "#   .#",
        "######",
    ],
    "three boxes": [
        "########",
        "#  .   #",
        "# $$$@ #",
        "# .  . #",
        "########",
    ],
    "more goals than boxes": [
        "######",
        "#.  .#",
        "# $@ #",
        "#   .#",
        "######",
    ],
    "solved from the start": [
        "#####",
        "#@ *#",
        "#####",
    ],
}


@pytest.fixture(params=LEVELS, ids=lambda name: name.replace(" ", "-"))
def level_rows(request: pytest.FixtureRequest) -> list[str]:
    """A small level, most of them with several boxes; each has a plan."""
    return LEVELS[request.param]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """What it printed with `--json`."""
        return json.loads(self.stdout)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run the command line in this process: (arguments …) → Done."""

    def run(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert "Internal error" not in err
        assert "Traceback" not in err
        return Done(int(caught.value.code or 0), out, err)

    return run
