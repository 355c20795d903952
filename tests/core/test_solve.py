"""`solve`: every planner of the registry on corridors, every field of the result, many at once."""

import asyncio
import gc
import json
import weakref
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import pytest

from llm_modulo.domains.sokoban import corridor_instance, moves_of_plan
from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning import SolveResult, plan_digest, solve, solve_async
from llm_modulo.planning.planners import find_planner, planner_names

Replay = Callable[[str, Sequence[str]], bool]
CORRIDORS = [(3, 0), (6, 270)]
TINY = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (p)))"
TINY_PROBLEM = "(define (problem x) (:domain d) (:init (q)) (:goal (p)))"


@pytest.fixture(scope="module")
def results(sokoban: str, corridor_problem: Callable[..., str]) -> dict[tuple[str, int], Any]:
    """Each planner's result on each of CORRIDORS."""
    keys = [(planner, index) for planner in planner_names() for index in range(len(CORRIDORS))]

    async def solve_all() -> list[SolveResult]:
        return await asyncio.gather(
            *(
                solve_async(sokoban, corridor_problem(*CORRIDORS[index]), planner=planner)
                for planner, index in keys
            )
        )

    return dict(zip(keys, asyncio.run(solve_all()), strict=True))


@pytest.mark.parametrize("planner", planner_names())
@pytest.mark.parametrize("index", range(len(CORRIDORS)))
def test_every_planner_solves_corridors(
    results: dict[tuple[str, int], SolveResult],
    corridor_problem: Callable[..., str],
    replays: Replay,
    planner: str,
    index: int,
) -> None:
    length, rotation = CORRIDORS[index]
    result = results[planner, index]
    assert result.plan is not None, result.log_tail
    assert replays(corridor_problem(length, rotation), result.plan)
    # A corridor has one plan of ℓ − 2 steps; whatever else a planner does it goes to and fro.
    letter = {0: "R", 270: "U"}[rotation]
    assert moves_of_plan(result.plan) == letter * (length - 2)
    assert corridor_instance(length, rotation).certificate["optimum"] == len(result.plan)


@pytest.mark.parametrize("planner", planner_names())
def test_every_field_of_a_result(results: dict[tuple[str, int], SolveResult], planner: str) -> None:
    result = results[planner, 1]
    optimal = find_planner(planner).optimal
    assert result.outcome is (
        PlanningOutcome.SOLVED_OPTIMALLY if optimal else PlanningOutcome.SOLVED
    )
    assert (result.cost, result.optimal, result.validated) == (4.0, optimal, "replayed")
    assert result.lower_bound == (4.0 if optimal else None)
    assert result.plan is not None
    assert result.digest == plan_digest(result.plan)

    engine = find_planner(planner)
    assert result.planner == {
        "name": planner,
        "version": engine.version(),
        "configuration": engine.configuration,
    }
    assert list(result.seconds) == ["read", "ground", "search", "total"]
    known = {phase: value for phase, value in result.seconds.items() if value is not None}
    assert known.keys() >= {"read", "search", "total"}
    assert all(isinstance(value, float) and value >= 0.0 for value in known.values())
    assert sum(known.values()) <= 2 * known["total"] + 0.01
    assert result.peak_memory_mb is not None
    assert 5.0 < result.peak_memory_mb < 1_000.0
    assert len(result.log_tail) <= 2_000


@pytest.mark.parametrize("planner", ["fast-downward", "fast-downward-opt"])
def test_fast_downward_counts_its_work(
    results: dict[tuple[str, int], SolveResult], planner: str
) -> None:
    result = results[planner, 1]
    assert isinstance(result.expanded, int)
    assert 4 <= result.expanded <= 20  # at least once for each of the four steps
    assert all(value is not None for value in result.seconds.values())


def test_a_result_as_a_document(results: dict[tuple[str, int], SolveResult]) -> None:
    result = results["fast-downward-opt", 0]
    document = result.to_json()
    assert list(document) == [f.name for f in fields(SolveResult)]
    assert list(document) == (
        "outcome plan cost lower_bound optimal validated planner seconds expanded peak_memory_mb"
        " log_tail digest".split()
    )
    assert json.loads(json.dumps(document)) == document
    assert type(document["outcome"]) is str
    assert document["outcome"] == "solved_optimally"
    assert document["plan"] == ["(push c-1-1 c-1-2 c-1-3 right)"]


def test_the_empty_plan() -> None:
    result = solve(TINY, TINY_PROBLEM.replace("(:goal (p))", "(:goal (q))"))
    assert (result.outcome, result.plan, result.cost) == ("solved", (), 0.0)
    assert result.digest == plan_digest(())


def test_the_plan_is_spelled_as_the_problem_spells() -> None:
    domain = """(define (domain D) (:requirements :strips :typing) (:types Spot)
      (:predicates (Here ?x - Spot)) (:action Go-To :parameters (?X ?y - spot)
      :precondition (HERE ?x) :effect (and (here ?y) (not (here ?x)))))"""
    problem = """(DEFINE (PROBLEM P) (:DOMAIN d) (:OBJECTS Home Work_1 - SPOT)
      (:INIT (here home)) (:GOAL (here WORK_1)))"""
    assert solve(domain, problem).plan == ("(Go-To Home Work_1)",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(q)", "(q) ; naïve \u2019\ud800 comment\n"),
        ("(:init", "; (\r(:init"),
        (" ", "\r\n"),
        (" ", "\t"),
    ],
    ids=ascii,
)
def test_planners_read_the_text_as_we_do(old: str, new: str) -> None:
    assert solve(TINY, TINY_PROBLEM.replace(old, new)).plan == ("(a)",)


def test_solve_works_inside_a_running_event_loop() -> None:
    async def cell_of_a_notebook() -> SolveResult:
        with pytest.raises(UsageError):
            solve(TINY, TINY_PROBLEM, planner="none such")
        return solve(TINY, TINY_PROBLEM)

    assert asyncio.run(cell_of_a_notebook()).plan == ("(a)",)


def test_forty_corridors_with_four_at_once(
    sokoban: str,
    corridor_problem: Callable[..., str],
    concurrency: Callable[[int], None],
    replays: Replay,
) -> None:
    concurrency(4)
    letters = {0: "R", 90: "D", 180: "L", 270: "U"}
    corridors = [(length, rotation) for length in range(5, 15) for rotation in letters]
    problems = [corridor_problem(*corridor) for corridor in corridors]

    async def solve_all() -> list[SolveResult]:
        return await asyncio.gather(*(solve_async(sokoban, problem) for problem in problems))

    for (length, rotation), problem, result in zip(
        corridors, problems, asyncio.run(solve_all()), strict=True
    ):
        assert result.plan is not None, result.log_tail
        assert moves_of_plan(result.plan) == letters[rotation] * (length - 2)
        assert replays(problem, result.plan)


def test_no_more_planners_run_at_once_than_allowed_and_waiting_costs_no_time(
    concurrency: Callable[[int], None], fake: Callable[..., Any]
) -> None:
    planner = fake({"seconds": 0.2}, outcome=PlanningOutcome.EXHAUSTED)

    async def solve_six() -> None:
        await asyncio.gather(
            *(solve_async(TINY, TINY_PROBLEM, planner="fake", time_limit=10) for _ in range(6))
        )

    concurrency(2)
    asyncio.run(solve_six())
    assert planner.most_running == 2
    assert min(limits.seconds for limits in planner.limits) > 9.7  # two of them waited 0.4 s

    concurrency(6)
    asyncio.run(solve_six())
    assert planner.most_running == 6
    with pytest.raises(UsageError, match="At least one planner must be allowed to run, not 0"):
        concurrency(0)


def test_event_loops_are_freed_after_planners_had_to_wait(
    concurrency: Callable[[int], None], fake: Callable[..., Any]
) -> None:
    fake(outcome=PlanningOutcome.EXHAUSTED)
    concurrency(1)
    loops = []

    async def solve_three() -> None:
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await asyncio.gather(*(solve_async(TINY, TINY_PROBLEM, planner="fake") for _ in range(3)))

    asyncio.run(solve_three())
    gc.collect()
    assert [loop() for loop in loops] == [None]
