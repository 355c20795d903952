"""A solve that goes on improving: each plan better, the best at the end, a bound with it."""

from __future__ import annotations

import time

import pytest

from llm_modulo.domains.sokoban import Level, sokoban_domain, write_problem
from llm_modulo.errors import UsageError
from llm_modulo.planning import Improvement, simulate, solve, validate

ROOM = ["######", "#@   #", "# $$ #", "#  . #", "# .  #", "######"]
LARGE = ["########", "#@  #  #", "# $ $  #", "#   $  #", "#  .#. #", "#  .   #", "########"]
LAMPS = """(define (domain lamps) (:requirements :adl :action-costs)
  (:predicates (on ?l) (next ?l ?m))
  (:functions (total-cost) - number (price ?l) - number)
  (:action press :parameters (?l)
    :effect (and (increase (total-cost) (price ?l))
      (when (on ?l) (not (on ?l))) (when (not (on ?l)) (on ?l))
      (forall (?m) (when (next ?l ?m) (on ?m))))))
"""
LAMP_PROBLEM = """(define (problem p) (:domain lamps) (:objects a b c d)
  (:init (next a b) (next b c) (next c d) (= (total-cost) 0)
    (= (price a) 7) (= (price b) 2) (= (price c) 3) (= (price d) 9))
  (:goal (forall (?l) (on ?l))) (:metric minimize (total-cost)))
"""


def improved(domain: str, problem: str, time_limit: float) -> tuple[list[Improvement], object]:
    found: list[Improvement] = []
    result = solve(
        domain, problem, anytime=True, on_improvement=found.append, time_limit=time_limit
    )
    return found, result


def test_it_ends_with_a_cheapest_plan_and_says_so() -> None:
    domain, problem = sokoban_domain(), write_problem(Level.from_xsb(ROOM))
    found, result = improved(domain, problem, 60.0)
    best = solve(domain, problem, planner="fast-downward-opt")
    assert result.outcome == "solved_optimally"
    assert result.cost == best.cost == result.lower_bound
    assert "iterated" in result.planner["configuration"]
    assert all(validate(domain, problem, i.plan).valid for i in found)


def test_at_the_limit_the_best_plan_comes_with_a_bound() -> None:
    domain, problem = sokoban_domain(), write_problem(Level.from_xsb(LARGE))
    found, result = improved(domain, problem, 1.6)
    costs = [i.cost for i in found]
    assert costs
    assert costs == sorted(set(costs), reverse=True)
    assert result.outcome == "solved"
    assert result.optimal is False
    assert result.validated == "replayed"
    assert result.cost <= min(costs)
    assert result.lower_bound is None or 0 < result.lower_bound <= result.cost
    assert result.seconds["total"] < 4.0


def test_conditional_effects_and_costs_are_improved_too() -> None:
    _, result = improved(LAMPS, LAMP_PROBLEM, 60.0)
    # a lights a and b; then c, which is dark, lights c and d: 7 + 3.
    assert (result.outcome, result.cost) == ("solved_optimally", 10.0)
    assert simulate(LAMPS, LAMP_PROBLEM, result.plan).goal_reached


def test_no_plan_is_no_improvement() -> None:
    stuck = ["#######", "#$   @#", "#  $  #", "# ..  #", "#######"]
    found, result = improved(sokoban_domain(), write_problem(Level.from_xsb(stuck)), 60.0)
    assert (found, result.outcome, result.plan) == ([], "unsolvable", None)


def test_a_planner_that_cannot_says_so() -> None:
    problem = write_problem(Level.from_xsb(ROOM))
    with pytest.raises(UsageError, match="pyperplan cannot go on improving"):
        solve(sokoban_domain(), problem, planner="pyperplan", anytime=True)


def test_the_empty_plan_costs_nothing_and_is_cheapest() -> None:
    domain = "(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))"
    problem = "(define (problem x) (:domain d) (:init (p)) (:goal (p)))"
    _, result = improved(domain, problem, 30.0)
    assert (result.outcome, result.plan, result.cost) == ("solved_optimally", (), 0.0)


DEAR = """(define (domain dear) (:requirements :strips :typing :action-costs)
  (:types b) (:constants {constants} - b)
  (:predicates (s ?x - b) (m) (g)) (:functions (total-cost) - number)
  (:action flip :parameters (?x - b) :effect (and (s ?x) (increase (total-cost) 1)))
  (:action unflip :parameters (?x - b) :precondition (s ?x)
    :effect (and (not (s ?x)) (increase (total-cost) 1)))
  (:action prepare :parameters () :effect (and (m) (increase (total-cost) 5)))
  (:action win :parameters () :precondition (m) :effect (and (g) (increase (total-cost) 25)))
  (:action win-all :parameters () :precondition (and {all})
    :effect (and (g) (increase (total-cost) 40))))
"""


def test_the_bound_is_never_above_the_cost() -> None:
    names = [f"x{n}" for n in range(12)]
    domain = DEAR.format(constants=" ".join(names), all=" ".join(f"(s {n})" for n in names))
    problem = """(define (problem x) (:domain dear) (:init (= (total-cost) 0)) (:goal (g))
      (:metric minimize (total-cost)))"""
    _, result = improved(domain, problem, 30.0)
    assert (result.outcome, result.cost, result.lower_bound) == ("solved_optimally", 30.0, 30.0)


def test_goals_that_become_axioms_are_proved_too() -> None:
    domain = """(define (domain d) (:requirements :adl :action-costs) (:predicates (q) (r))
      (:functions (total-cost) - number)
      (:action a :parameters () :effect (and (q) (increase (total-cost) 3)))
      (:action b :parameters () :effect (and (r) (increase (total-cost) 2))))"""
    problem = """(define (problem x) (:domain d) (:init (= (total-cost) 0)) (:goal (or (q) (r)))
      (:metric minimize (total-cost)))"""
    found, result = improved(domain, problem, 30.0)
    assert (result.outcome, result.cost) == ("solved_optimally", 2.0)
    assert found[-1].plan == result.plan


def test_a_callback_that_fails_ends_the_solve_at_once() -> None:
    def fail(_: Improvement) -> None:
        raise KeyError("mine")

    start = time.monotonic()
    with pytest.raises(KeyError, match="mine"):
        solve(
            sokoban_domain(),
            write_problem(Level.from_xsb(LARGE)),
            anytime=True,
            on_improvement=fail,
            time_limit=30.0,
        )
    assert time.monotonic() - start < 15.0
