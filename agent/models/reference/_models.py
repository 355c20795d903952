"""The reference models: programs of known competence.

They are labelled as reference models everywhere and never called language models.
Each answers one request at a time from the request alone.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any, ClassVar, Protocol

from llm_modulo.domains.sokoban import Cell, Level, cell_name, moves_of_plan, write_problem

from ._request import Reply, Request, UnreadablePrompt
from ._sokoban import lane_of, shortened_lane, shortest_plan

__all__ = ["REFERENCE_MODELS", "ReferenceModel", "find_reference_model"]

_PLAN_LINE = re.compile(r"^\d+\. (\(.*\))$", re.M)
_SEED = frozenset({"seed"})


class ReferenceModel(Protocol):
    """A program that answers a request.

    Attributes:
        parameters: names of the parameters that it takes; the endpoint refuses others.
            `seed` is added to the request's seed, so that every model takes it.
    """

    parameters: ClassVar[frozenset[str]]

    def respond(self, request: Request) -> Reply:
        """Answer.

        Raises:
            UnreadablePrompt: no task is found in the prompt.
            ValueError: a parameter that makes no sense.
        """


class _Formaliser(ABC):
    """Answers in text when there are no tools; else writes a problem and delivers its plan."""

    parameters: ClassVar[frozenset[str]] = _SEED

    def respond(self, request: Request) -> Reply:
        if "solve" not in request.tools:
            return Reply.moves(self.plan(request))
        problem = self.problem(request)
        match len(request.results):
            case 0 if "parse_problem" in request.tools:
                return Reply.call("parse_problem", problem=problem)
            case 0 | 1:
                return Reply.call("solve", problem=problem)
        steps = _PLAN_LINE.findall(request.results[-1])
        moves = moves_of_plan(steps)
        if "outcome: solved" not in request.results[-1] or moves is None:
            return Reply(text="No plan was found with the tools; I give up.")
        return Reply.moves(moves)

    @abstractmethod
    def plan(self, request: Request) -> str:
        """The moves of an answer in text."""

    @abstractmethod
    def problem(self, request: Request) -> str:
        """The PDDL problem of a tool call."""


class Oracle(_Formaliser):
    """Always right: a shortest plan, and the problem as it is."""

    def plan(self, request: Request) -> str:
        return _solution(request.level)

    def problem(self, request: Request) -> str:
        return write_problem(request.level)


class Miscounter(_Formaliser):
    """Loses cells, never doubles them.

    Each of the n cells that the right plan moves through is lost independently with
    probability `p_text` when an answer is written, `p_pddl` when the PDDL problem is
    written. On a corridor the plan is right exactly if nothing is lost:
    P(right) = (1 − p)^n.
    """

    parameters: ClassVar[frozenset[str]] = _SEED | {"p_text", "p_pddl"}

    def plan(self, request: Request) -> str:
        solution = _solution(request.level)
        lost = _lost(request, len(solution), "p_text", "text")
        return "".join(letter for i, letter in enumerate(solution) if i not in lost)

    def problem(self, request: Request) -> str:
        level = request.level
        lane = lane_of(level)
        if lane is None:
            return write_problem(level)
        lost = _lost(request, len(lane) - 2, "p_pddl", "pddl")
        return write_problem(shortened_lane(level, lane, {i + 1 for i in lost}))


class Wanderer(_Formaliser):
    """Legal random moves, as many as the right plan has; with tools, a goal of its own.

    In tool calls it formalises the right map with the wrong goal: the player is to stand
    where the walk ended.
    """

    def plan(self, request: Request) -> str:
        return self._walk(request)[0]

    def problem(self, request: Request) -> str:
        _, end = self._walk(request)
        return write_problem(request.level, goal=f"(player-at {cell_name(end)})")

    def _walk(self, request: Request) -> tuple[str, Cell]:
        level, letters = request.level, []
        generator = request.random("walk")
        for _ in range(len(_solution(level))):
            options = [letter for letter in "UDLR" if level.can_step(letter)]
            if not options:
                break
            letters.append(generator.choice(options))
            level, _ = level.step(letters[-1])
        return "".join(letters), level.player


class Illegal(_Formaliser):
    """One illegal step at a known place, the rest right.

    In text, step `position` (default: the middle of the plan) walks into a wall or pushes
    what cannot be pushed. In tool calls the corridor is written one cell too long, so the
    planner's plan breaks a rule in its last step.
    """

    parameters: ClassVar[frozenset[str]] = _SEED | {"position"}

    def plan(self, request: Request) -> str:
        solution = _solution(request.level)
        position = int(request.parameters.get("position", len(solution) // 2))
        position = max(0, min(position, len(solution)))
        level, _ = request.level.replay(solution[:position])
        wrong = [letter for letter in "UDLR" if not level.can_step(letter)]
        return solution[:position] + wrong[0] + solution[position:] if wrong else solution

    def problem(self, request: Request) -> str:
        level = request.level
        if (lane := lane_of(level)) is None:
            return write_problem(level)
        (r0, c0), (r1, c1) = lane[-2], lane[-1]
        beyond = (2 * r1 - r0, 2 * c1 - c0)
        return write_problem(_with_goal_at(level, beyond))


class Looper:
    """Never stops: the same tool call for ever, or one letter up to the token limit."""

    parameters: ClassVar[frozenset[str]] = _SEED

    def respond(self, request: Request) -> Reply:
        if "parse_problem" in request.tools:
            return Reply.call("parse_problem", problem=write_problem(request.level))
        return Reply(text="MOVES: " + "R," * request.max_tokens, finish_reason="length")


class Garbler:
    """Answers that break the form in a way chosen by the seed, or by parameter `mode`."""

    MODES = ("broken-json", "call-in-prose", "invented-arguments", "unended", "refusal")
    parameters: ClassVar[frozenset[str]] = _SEED | {"mode"}

    def respond(self, request: Request) -> Reply:
        mode = str(request.parameters.get("mode") or request.random("mode").choice(self.MODES))
        problem = write_problem(request.level)
        with_tools = "solve" in request.tools
        match mode:
            case "broken-json" if with_tools:
                return Reply(calls=[("solve", json.dumps({"problem": problem})[:-20])])
            case "broken-json":
                return Reply(text='{"moves": ["R", "R", "R"')
            case "invented-arguments" if with_tools:
                return Reply.call("solve", problem=problem, search_depth=12, verbose=True)
            case "call-in-prose" | "invented-arguments":
                call = {"name": "solve", "arguments": {"problem": problem, "effort": "high"}}
                return Reply(text=f"I will call the planner now.\n{json.dumps(call)}")
            case "unended":
                return Reply(text="MOVES: " + "R," * request.max_tokens, finish_reason="length")
            case "refusal":
                return Reply(text="I'm sorry, but I can't help with that.", refusal="refused")
        raise ValueError(f"garbler has no mode {mode!r}")


REFERENCE_MODELS: dict[str, Callable[[], ReferenceModel]] = {
    "oracle": Oracle,
    "miscounter": Miscounter,
    "wanderer": Wanderer,
    "illegal": Illegal,
    "looper": Looper,
    "garbler": Garbler,
}


@cache
def _third_party() -> dict[str, metadata.EntryPoint]:
    return {e.name: e for e in metadata.entry_points(group="llm_modulo.reference_models")}


def find_reference_model(name: str) -> ReferenceModel | None:
    """The model of a name without its prefix `reference/`, or None."""
    if name in REFERENCE_MODELS:
        return REFERENCE_MODELS[name]()
    if name in _third_party():
        model: Any = _third_party()[name].load()
        found: ReferenceModel = model()
        return found
    return None


def _solution(level: Level) -> str:
    if (plan := shortest_plan(level)) is None:
        raise UnreadablePrompt("the map has no plan that a breadth-first search finds")
    return plan


def _lost(request: Request, cells: int, parameter: str, purpose: str) -> set[int]:
    """Indices of lost cells, each lost independently with the parameter's probability."""
    probability = float(request.parameters.get(parameter, 0.0))
    if not 0 <= probability <= 1:
        raise ValueError(f"{parameter} must lie in [0, 1], not {probability}")
    generator = request.random(purpose)
    return {i for i in range(cells) if generator.random() < probability}


def _with_goal_at(level: Level, cell: Cell) -> Level:
    return Level(
        rows=max(level.rows, cell[0] + 1),
        columns=max(level.columns, cell[1] + 1),
        walls=level.walls - {cell},
        goals=frozenset({cell}),
        boxes=level.boxes,
        player=level.player,
    )
