"""Engines that we do not bring: each numeric and temporal plan that they find is followed by hand.

`make test-external` installs the extra `engines`; an engine that is not here is skipped.
"""

import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from llm_modulo.domains.sokoban import corridor, sokoban_domain, write_problem
from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning import solve
from llm_modulo.planning.planners import find_planner, list_planners

pytestmark = pytest.mark.external

ROADS = {("Bonn", "Ulm"): 3, ("Ulm", "Kiel"): 5, ("Kiel", "Rom"): 4}
TANK = """
(define (domain Tank) (:requirements :typing :numeric-fluents) (:types Town)
  (:predicates (at ?t - Town) (road ?a ?b - Town))
  (:functions (fuel) (need ?a ?b - Town) (paid))
  (:action Drive :parameters (?a ?b - Town)
    :precondition (and (at ?a) (road ?a ?b) (>= (fuel) (need ?a ?b)))
    :effect (and (not (at ?a)) (at ?b) (decrease (fuel) (need ?a ?b))))
  (:action Refuel :parameters (?a - Town) :precondition (and (at ?a) (<= (fuel) 2))
    :effect (and (increase (fuel) 6) (increase (paid) 10))))"""
TOWNS = ["Bonn", "Ulm", "Kiel", "Rom"]
TRIP = f"""
(define (problem trip) (:domain Tank) (:objects {" ".join(TOWNS)} - Town)
  (:init (at Bonn) (= (fuel) 4) (= (paid) 0)
    {" ".join(f"(road {a} {b})" for a, b in ROADS)}
    {" ".join(f"(= (need {a} {b}) {ROADS.get((a, b), 99)})" for a in TOWNS for b in TOWNS)})
  (:goal (at Rom)) (:metric minimize (paid)))"""

KITCHEN = """
(define (domain Kitchen) (:requirements :typing :durative-actions) (:types pot)
  (:predicates (cold ?p - pot) (hot ?p - pot) (free) (lit))
  (:durative-action Boil :parameters (?p - pot) :duration (= ?duration 5)
    :condition (and (at start (cold ?p)) (at start (free)) (over all (lit)))
    :effect (and (at start (not (cold ?p))) (at start (not (free))) (at end (hot ?p))
      (at end (free))))
  (:durative-action Light :parameters () :duration (= ?duration 12) :condition (at start (free))
    :effect (and (at start (lit)) (at end (not (lit))))))"""
SOUPS = """
(define (problem soups) (:domain Kitchen) (:objects Big small - pot)
  (:init (cold Big) (cold small) (free)) (:goal (and (hot Big) (hot small)))
  (:metric minimize (total-time)))"""


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The name of a planner; the test is skipped where its engine is not installed."""
    try:
        find_planner(request.param)
    except UsageError as error:
        pytest.skip(str(error))
    if "enhsp" in request.param and shutil.which("java") is None:
        pytest.skip("ENHSP needs Java.")
    return str(request.param)


def engines(*names: str) -> Callable[[Any], Any]:
    return pytest.mark.parametrize("engine", [f"up:{name}" for name in names], indirect=True)


def test_the_extra_is_installed() -> None:
    listed = {p["name"]: p for p in list_planners()}
    assert {"up:tamer", "up:enhsp", "up:enhsp-opt"} <= listed.keys()
    assert re.match(r"\d+\.\d+.* \(unified-planning ", listed["up:tamer"]["version"])
    assert listed["up:tamer"]["summary"].endswith("classical, numeric and temporal problems.")
    assert (listed["up:enhsp"]["optimal"], listed["up:enhsp-opt"]["optimal"]) == (False, True)


@engines("tamer", "enhsp", "enhsp-any")
def test_a_numeric_problem(engine: str) -> None:
    result = solve(TANK, TRIP, planner=engine)
    assert (result.outcome, result.validated) == (PlanningOutcome.SOLVED, "unified-planning")
    assert result.plan is not None
    fuel, place, refuelled = 4, "Bonn", 0
    for step in result.plan:
        name, *towns = step.strip("()").split()
        if name == "Drive":
            assert towns[0] == place
            fuel, place = fuel - ROADS[towns[0], towns[1]], towns[1]
            assert fuel >= 0
        else:
            assert (name, towns) == ("Refuel", [place])
            assert fuel <= 2
            fuel, refuelled = fuel + 6, refuelled + 1
    assert place == "Rom"
    assert result.cost == 10.0 * refuelled


@engines("tamer", "aries")
def test_a_temporal_problem(engine: str) -> None:
    result = solve(KITCHEN, SOUPS, planner=engine)
    assert (result.outcome, result.validated) == (PlanningOutcome.SOLVED, "unified-planning")
    assert result.plan is not None
    spans: dict[str, list[tuple[Decimal, Decimal]]] = {}
    for step in result.plan:
        found = re.fullmatch(r"(\d+\.\d{3,}): \((.+)\) \[(\d+\.\d{3,})\]", step)
        assert found is not None, step
        start, length = Decimal(found[1]), Decimal(found[3])
        assert length == (12 if found[2] == "Light" else 5)
        spans.setdefault(found[2], []).append((start, start + length))
    lights = spans.pop("Light")  # Aries sometimes lights twice
    assert result.cost == max(
        float(stop) for found in [lights, *spans.values()] for _, stop in found
    )
    assert spans.keys() == {"Boil Big", "Boil small"}
    (first,), (second,) = sorted(spans.values())
    assert first[1] < second[0]
    for start, stop in (first, second):
        assert any(begin < start and stop <= end for begin, end in lights)
        assert not any(start < end < stop for _, end in lights)


@engines("tamer", "enhsp", "enhsp-opt", "aries", "symk", "symk-opt", "fast-downward", "pyperplan")
def test_a_classical_problem(engine: str) -> None:
    result = solve(sokoban_domain(), write_problem(corridor(5, 0)), planner=engine)
    assert result.plan is not None, result.log_tail
    assert (result.cost, result.validated) == (3.0, "replayed")
    assert result.optimal is engine.endswith("-opt")


@engines("enhsp")
def test_a_virtual_machine_without_memory(engine: str) -> None:
    result = solve(TANK, TRIP, planner=engine, memory_limit=500)
    assert result.outcome is PlanningOutcome.MEMOUT


@engines("enhsp", "enhsp-opt", "symk")
def test_durative_actions_for_an_engine_that_has_none(engine: str) -> None:
    result = solve(KITCHEN, SOUPS, planner=engine)
    assert result.outcome is PlanningOutcome.UNSUPPORTED
    assert "does not support continuous_time" in result.log_tail
