"""Every way in which a solve can end, each provoked: by the problem, the limits or the machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning import SolveResult, solve
from llm_modulo.planning.planners import _warm_start, list_planners, planner_names

TINY = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (p)))"
TINY_PROBLEM = "(define (problem x) (:domain d) (:init (q)) (:goal (p)))"
Task = Callable[[int], tuple[str, str]]


def test_what_the_command_line_ends_with() -> None:
    # docs/commands.md: 0 a plan, 1 a negative answer, 2 unsupported, 3 a limit, 4 a fault, 130.
    assert {str(outcome): outcome.exit_code for outcome in PlanningOutcome} == {
        "solved_optimally": 0,
        "solved": 0,
        "unsolvable": 1,
        "invalid_input": 1,
        "unsupported": 2,
        "exhausted": 3,
        "timeout": 3,
        "memout": 3,
        "crashed": 4,
        "cancelled": 130,
    }
    assert [str(o) for o in PlanningOutcome if o.has_plan] == ["solved_optimally", "solved"]


def without_plan(result: SolveResult) -> PlanningOutcome:
    """The outcome of a result that holds nothing that only a plan has."""
    assert (result.plan, result.cost, result.digest) == (None, None, None)
    assert (result.optimal, result.validated) == (False, "none")
    assert result.planner["name"]
    assert result.seconds["total"] is not None
    json.dumps(result.to_json())
    return result.outcome


@pytest.mark.parametrize("planner", ["fast-downward", "fast-downward-opt"])
def test_unsolvable_seen_by_the_translator(
    sokoban: str, corridor_problem: Callable[..., str], planner: str
) -> None:
    problem = corridor_problem(5).replace("(and (box-at c-1-5))", "(adjacent c-1-1 c-1-5 up)")
    result = solve(sokoban, problem, planner=planner)
    assert without_plan(result) is PlanningOutcome.UNSOLVABLE
    assert result.expanded == 0


@pytest.mark.parametrize("planner", ["fast-downward", "fast-downward-opt"])
def test_unsolvable_proved_by_the_search(sokoban: str, stuck_problem: str, planner: str) -> None:
    result = solve(sokoban, stuck_problem, planner=planner)
    assert without_plan(result) is PlanningOutcome.UNSOLVABLE
    assert result.expanded is not None
    assert result.expanded > 10


def test_exhausted_where_a_planner_gives_no_proof(sokoban: str, stuck_problem: str) -> None:
    result = solve(sokoban, stuck_problem, planner="pyperplan")
    assert without_plan(result) is PlanningOutcome.EXHAUSTED


def test_timeout(sokoban: str, hard_problem: str) -> None:
    result = solve(sokoban, hard_problem, planner="fast-downward-opt", time_limit=1)
    assert without_plan(result) is PlanningOutcome.TIMEOUT
    assert result.seconds["total"] is not None
    assert 1.0 <= result.seconds["total"] < 3.0
    # What the search proved until then: seven goals are made true by seven different pushes.
    assert result.lower_bound is not None
    assert result.lower_bound >= 7.0


@pytest.mark.parametrize("planner", planner_names())
def test_a_tiny_time_limit_is_a_timeout(sokoban: str, hard_problem: str, planner: str) -> None:
    result = solve(sokoban, hard_problem, planner=planner, time_limit=0.001)
    assert without_plan(result) is PlanningOutcome.TIMEOUT


def test_reading_counts_against_the_time_limit(
    sokoban: str, corridor_problem: Callable[..., str], fake: Callable[..., Any]
) -> None:
    planner = fake(outcome=PlanningOutcome.EXHAUSTED)
    solve(sokoban, corridor_problem(500), planner="fake", time_limit=10)
    solve(sokoban, corridor_problem(500), planner="fake", time_limit=0.001)
    assert 9.0 < planner.limits[0].seconds < 9.999
    assert planner.limits[1].seconds == 0.0


def test_memout_of_the_translator(sokoban: str, corridor_problem: Callable[..., str]) -> None:
    result = solve(sokoban, corridor_problem(1_000), memory_limit=50)
    assert without_plan(result) is PlanningOutcome.MEMOUT
    assert "Translator ran out of memory." in result.log_tail


def test_memout_of_the_search(endless_tasks: Task) -> None:
    result = solve(*endless_tasks(200), memory_limit=50)
    assert without_plan(result) is PlanningOutcome.MEMOUT
    assert "Memory limit has been reached." in result.log_tail


@pytest.mark.parametrize("limit", [50, 200])
def test_memout_of_an_engine_that_cannot_even_start(
    sokoban: str, hard_problem: str, limit: int
) -> None:
    result = solve(sokoban, hard_problem, planner="pyperplan", memory_limit=limit)
    assert without_plan(result) is PlanningOutcome.MEMOUT


@pytest.mark.slow
def test_memout_of_an_engines_search(endless_tasks: Task) -> None:
    result = solve(*endless_tasks(200), planner="pyperplan", memory_limit=400)
    assert without_plan(result) is PlanningOutcome.MEMOUT


@pytest.mark.parametrize("planner", ["pyperplan", "pyperplan-opt"])
def test_what_a_planner_lacks_is_said_without_starting_it(
    sokoban: str, hard_problem: str, planner: str, temporary_folder: Path
) -> None:
    problem = hard_problem.replace("(:goal (and", "(:goal (and (not (clear c-1-1))")
    temporary_folder.rmdir()  # it could not be started
    result = solve(sokoban, problem, planner=planner)
    assert without_plan(result) is PlanningOutcome.UNSUPPORTED
    assert result.log_tail == f"{planner} does not support negated conditions."


def test_unsupported_is_what_an_engine_cannot_read() -> None:
    # To unified-planning a type that is only named as a parent is no `object`.
    domain = """(define (domain d) (:requirements :typing) (:types a - top)
      (:predicates (p ?x - object) (q ?x - object))
      (:action act :parameters (?x - a) :precondition (q ?x) :effect (p ?x)))"""
    problem = "(define (problem x) (:domain d) (:objects o - a) (:init (q o)) (:goal (p o)))"
    result = solve(domain, problem, planner="pyperplan")
    assert without_plan(result) is PlanningOutcome.UNSUPPORTED
    assert result.log_tail.startswith("unified-planning cannot read it: ")
    assert solve(domain, problem).plan == ("(act o)",)


def test_action_costs_are_unsupported_by_an_engine_that_would_ignore_them() -> None:
    domain = """(define (domain d) (:requirements :strips :action-costs) (:predicates (p) (q))
      (:functions (total-cost)) (:action a :parameters ()
      :effect (and (p) (increase (total-cost) 3))))"""
    problem = """(define (problem x) (:domain d) (:init (q) (= (total-cost) 0)) (:goal (p))
      (:metric minimize (total-cost)))"""
    result = solve(domain, problem, planner="pyperplan-opt")
    assert without_plan(result) is PlanningOutcome.UNSUPPORTED
    assert result.log_tail == "pyperplan-opt does not support action costs."
    assert solve(domain, problem).cost == 3.0


def test_unsupported_is_what_only_the_search_finds_it_lacks() -> None:
    # A disjunctive goal becomes an axiom, which A* with LM-cut does not take.
    problem = TINY_PROBLEM.replace("(:goal (p))", "(:goal (or (p) (and (q) (p))))")
    assert solve(TINY, problem).plan == ("(a)",)
    result = solve(TINY, problem, planner="fast-downward-opt")
    assert without_plan(result) is PlanningOutcome.UNSUPPORTED
    assert "This configuration does not support axioms!" in result.log_tail


@pytest.mark.parametrize("planner", planner_names())
def test_invalid_input_starts_no_planner(planner: str) -> None:
    result = solve(TINY, TINY_PROBLEM.replace("(:goal (p))", "(:goal (r) (s))"), planner=planner)
    assert without_plan(result) is PlanningOutcome.INVALID_INPUT
    assert result.log_tail.startswith("problem:1:45: error [malformed] `:goal` takes one ")
    result = solve("blocksworld", TINY_PROBLEM, planner=planner)
    assert without_plan(result) is PlanningOutcome.INVALID_INPUT
    assert "domain:1:1: error [not-pddl]" in result.log_tail


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (None, "The planner returned no plan."),
        ((), "The planner's plan is not valid: The goal is not reached: (p)."),
        ((("b",),), "The planner's plan is not valid: There is no action `b` in step 0, (b)."),
        (
            (("a", "x"),),
            "The planner's plan is not valid: `a` takes 0 objects, not 1 in step 0, (a x).",
        ),
    ],
)
@pytest.mark.parametrize("claim", [PlanningOutcome.SOLVED, PlanningOutcome.SOLVED_OPTIMALLY])
def test_a_plan_that_fails_our_replay_is_never_returned(
    fake: Callable[..., Any], steps: Any, said: str, claim: PlanningOutcome
) -> None:
    fake(outcome=claim, steps=steps, log="log\n" * 1_000)
    result = solve(TINY, TINY_PROBLEM, planner="fake")
    assert without_plan(result) is PlanningOutcome.CRASHED
    assert result.log_tail.startswith("log\n")
    assert result.log_tail.endswith(said)


def test_an_optimal_plan_is_only_as_good_as_its_bound(fake: Callable[..., Any]) -> None:
    twice = (("a",), ("A",))
    fake(outcome=PlanningOutcome.SOLVED_OPTIMALLY, steps=twice, lower_bound=2.0)
    result = solve(TINY, TINY_PROBLEM, planner="fake")
    assert (result.outcome, result.cost, result.lower_bound) == ("solved_optimally", 2.0, 2.0)
    assert result.plan == ("(a)", "(a)")
    fake(outcome=PlanningOutcome.SOLVED_OPTIMALLY, steps=twice, lower_bound=1.0)
    result = solve(TINY, TINY_PROBLEM, planner="fake")
    assert (result.outcome, result.optimal, result.lower_bound) == ("solved", False, 1.0)


@pytest.mark.parametrize("outcome", [o for o in PlanningOutcome if not o.has_plan])
def test_other_outcomes_are_passed_on(fake: Callable[..., Any], outcome: PlanningOutcome) -> None:
    fake(outcome=outcome, steps=(("a",),), log="why")
    result = solve(TINY, TINY_PROBLEM, planner="fake")
    assert without_plan(result) is outcome
    assert result.log_tail == "why"


def test_crashed_where_no_folder_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    result = solve(TINY, TINY_PROBLEM)
    assert without_plan(result) is PlanningOutcome.CRASHED
    assert result.log_tail == "The planner could not be run: No such file or directory."


def test_crashed_where_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch, temporary_folder: Path
) -> None:
    _warm_start.stop()
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    result = solve(TINY, TINY_PROBLEM)
    assert without_plan(result) is PlanningOutcome.CRASHED
    assert result.log_tail == "The planner could not be run: No such file or directory."
    assert list(temporary_folder.iterdir()) == []


def test_crashed_where_the_planner_does(monkeypatch: pytest.MonkeyPatch) -> None:
    _warm_start.stop()
    monkeypatch.setattr("sys.executable", "/bin/false")
    for planner in ("fast-downward", "pyperplan"):
        assert without_plan(solve(TINY, TINY_PROBLEM, planner=planner)) is PlanningOutcome.CRASHED


@pytest.mark.parametrize(
    ("last_words", "outcome"),
    [
        ("ImportError: libx.so: failed to map segment from shared object", "memout"),
        ("OSError: [Errno 12] Cannot allocate memory", "memout"),
        ("MemoryError", "memout"),
        ("AssertionError", "crashed"),
    ],
)
def test_an_engine_that_dies_is_judged_by_its_last_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, last_words: str, outcome: str
) -> None:
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\necho '{last_words}' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(script))
    result = solve(TINY, TINY_PROBLEM, planner="pyperplan")
    assert without_plan(result) == outcome
    assert result.log_tail == f"{last_words}\n"


@pytest.mark.parametrize("name", ["", "fast", "Fast-Downward", "up", "../fast-downward"])
def test_an_unknown_planner(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        solve(TINY, TINY_PROBLEM, planner=name)
    known = ", ".join(planner_names())
    assert str(raised.value) == f"Unknown planner {name!r}; known: {known}."


def test_a_planner_that_is_not_installed(fake: Callable[..., Any]) -> None:
    fake({"installed": None}, outcome=PlanningOutcome.SOLVED)
    with pytest.raises(UsageError, match=r"^Planner 'fake' needs the package fake-planner\.$"):
        solve(TINY, TINY_PROBLEM, planner="fake")
    (entry,) = [e for e in list_planners() if e["name"] == "fake"]
    assert entry["version"] is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0"), (-1, "-1"), (float("nan"), "nan"), (float("inf"), "inf"), (86_401, "86401")],
)
def test_a_time_limit_that_makes_no_sense(seconds: float, shown: str) -> None:
    with pytest.raises(UsageError) as raised:
        solve(TINY, TINY_PROBLEM, time_limit=seconds)
    assert str(raised.value) == (
        f"The time limit must lie above 0 and at most 86400 seconds, not {shown}."
    )


@pytest.mark.parametrize("megabytes", [0, -1, 49, 10**15])
def test_a_memory_limit_that_makes_no_sense(megabytes: int) -> None:
    with pytest.raises(UsageError) as raised:
        solve(TINY, TINY_PROBLEM, memory_limit=megabytes)
    assert str(raised.value) == (
        f"The memory limit must lie between 50 and 100,000,000 MB, not {megabytes}."
    )


@pytest.mark.parametrize(("seconds", "megabytes"), [(86_400.0, 100_000_000), (5, 50)])
def test_limits_at_their_ends(seconds: float, megabytes: int) -> None:
    result = solve(TINY, TINY_PROBLEM, time_limit=seconds, memory_limit=megabytes)
    assert result.plan == ("(a)",)


COSTLY = """
(define (domain d) (:requirements :action-costs :conditional-effects)
  (:predicates (p)) (:functions (total-cost))
  (:action a :parameters () :effect (and (p) {effect})))
"""
PAID = """
(define (problem q) (:domain d) (:init (= (total-cost) 0)) (:goal (p))
  (:metric minimize (total-cost)))
"""


@pytest.mark.parametrize(
    "effect",
    [
        "(when (not (p)) (increase (total-cost) 2))",
        "(increase (total-cost) 9007199254740993)",
        "(increase (total-cost) 1.5)",
    ],
)
def test_costs_that_fast_downward_lacks_are_unsupported(effect: str) -> None:
    """Sound PDDL that the planner refuses is neither a crash of it nor a fault of the text."""
    result = solve(COSTLY.format(effect=effect), PAID)
    assert (result.outcome, result.plan) == (PlanningOutcome.UNSUPPORTED, None)
