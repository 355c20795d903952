"""Easy, hard and hopeless problems, a replay of our own, a fake planner, and the command."""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.domains.sokoban import Level, corridor, sokoban_domain, write_problem
from llm_modulo.planning import set_concurrency
from llm_modulo.planning.planners import PLANNERS, Limits, PlannerReport

Replay = Callable[[str, Sequence[str]], bool]
Command = Callable[..., subprocess.CompletedProcess[str]]

_STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@pytest.fixture(scope="session")
def sokoban() -> str:
    """The bundled Sokoban domain."""
    return sokoban_domain()


@pytest.fixture(scope="session")
def corridor_problem() -> Callable[..., str]:
    """`corridor_problem(length, rotation=0)`: a corridor as a PDDL problem."""
    return lambda length, rotation=0: write_problem(corridor(length, rotation))


@pytest.fixture(scope="session")
def hard_problem() -> str:
    """Seven boxes in an open room: A* with LM-cut needs far more than a minute for it."""
    rows = ["#" * 11, "#@        #", "# $ $ $ $ #", "#         #", "# $ $ $   #"]
    rows += ["#         #", "#         #", "# ....... #", "#" * 11]
    return write_problem(Level.from_xsb(rows))


@pytest.fixture(scope="session")
def stuck_problem() -> str:
    """No plan, but only a search can tell: of two boxes for two goals one is in a corner.

    The other box alone could stand on each of the goals, and a relaxation that never
    deletes a fact lets it stand on both.
    """
    return write_problem(Level.from_xsb(["#######", "#$   @#", "#  $  #", "# ..  #", "#######"]))


@pytest.fixture(scope="session")
def endless_tasks() -> Callable[[int], tuple[str, str]]:
    """`endless_tasks(switches)`: a domain and a problem that no planner gets to the end of.

    Two coins do not buy three things, which only a search through all 2^switches states can
    tell; the states fill the memory quickly.
    """
    domain = """
    (define (domain shop) (:requirements :strips :typing) (:types coin thing switch)
      (:predicates (have ?c - coin) (got ?t - thing) (on ?s - switch) (off ?s - switch))
      (:action buy :parameters (?c - coin ?t - thing ?s - switch)
        :precondition (and (have ?c) (on ?s)) :effect (and (got ?t) (not (have ?c))))
      (:action turn-on :parameters (?s - switch)
        :precondition (off ?s) :effect (and (on ?s) (not (off ?s))))
      (:action turn-off :parameters (?s - switch)
        :precondition (on ?s) :effect (and (off ?s) (not (on ?s)))))"""

    def task(switches: int) -> tuple[str, str]:
        names = [f"s{number}" for number in range(switches)]
        problem = f"""
        (define (problem too-dear) (:domain shop)
          (:objects c1 c2 - coin t1 t2 t3 - thing {" ".join(names)} - switch)
          (:init (have c1) (have c2) {" ".join(f"(off {name})" for name in names)})
          (:goal (and (got t1) (got t2) (got t3))))"""
        return domain, problem

    return task


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which everything temporary is made during this test."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture(scope="session")
def replays() -> Replay:
    """`replays(problem, plan)`: whether a plan solves a problem of the Sokoban domain.

    A naive twin of the project's own replay that shares no code with it: it reads the facts
    with regular expressions, knows the rules of the game instead of the domain's text, and
    works on cells (row, column) instead of facts.
    """

    def cell(name: str) -> tuple[int, int]:
        row, column = name.removeprefix("c-").split("-")
        return int(row), int(column)

    def solves(problem: str, plan: Sequence[str]) -> bool:
        head, goal = problem.split("(:goal")
        floor = {cell(name) for name in re.search(r":objects (.*) - cell", head)[1].split()}
        (player,) = map(cell, re.findall(r"\(player-at ([^\s)]+)\)", head))
        boxes = set(map(cell, re.findall(r"\(box-at ([^\s)]+)\)", head)))
        for step in plan:
            kind, *names, direction = step.strip("()").split()
            rows, columns = _STEPS[direction]
            ahead = (player[0] + rows, player[1] + columns)
            beyond = (ahead[0] + rows, ahead[1] + columns)
            if kind == "move":
                stated, free = [player, ahead], ahead
            else:
                stated, free = [player, ahead, beyond], beyond
                if ahead not in boxes:
                    return False
                boxes.remove(ahead)
            if [cell(name) for name in names] != stated or free not in floor or free in boxes:
                return False
            if kind == "push":
                boxes.add(beyond)
            player = ahead
        return set(map(cell, re.findall(r"\(box-at ([^\s)]+)\)", goal))) <= boxes

    return solves


@pytest.fixture
def concurrency() -> Iterator[Callable[[int], None]]:
    """`set_concurrency`, taken back afterwards."""
    yield set_concurrency
    set_concurrency(os.cpu_count() or 1)


@dataclass
class FakePlanner:
    """A planner that reports what it is told to report."""

    report: PlannerReport
    name: str = "fake"
    summary: str = "Reports what it is told."
    optimal: bool = False
    configuration: str = "none"
    package: str = "fake-planner"
    lacks: frozenset[str] = frozenset()
    installed: str | None = "1.0"
    seconds: float = 0.0
    limits: list[Limits] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    def version(self) -> str | None:
        return self.installed

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        self.limits.append(limits)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        await asyncio.sleep(self.seconds)
        self.running -= 1
        return self.report


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakePlanner]:
    """`fake(outcome=…, …)`: registers a planner under the name `fake`."""

    def register(planner: dict[str, Any] | None = None, **report: Any) -> FakePlanner:
        made = FakePlanner(PlannerReport(**report), **(planner or {}))
        monkeypatch.setitem(PLANNERS, "fake", lambda: made)
        return made

    return register


@pytest.fixture(scope="session")
def llm_modulo() -> Command:
    """`llm_modulo("check", …)`: the installed command, run to its end."""

    def run(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        command = [Path(sys.executable).with_name("llm-modulo"), *arguments]
        options = {"stdin": subprocess.DEVNULL, "timeout": 60, **options}
        if "input" in options:
            del options["stdin"]
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run
