"""What conditions and effects mean: hand-derived tables, with Fast Downward as the second opinion.

The domain has one action without parameters, `(do)`, so that there is a plan exactly when its
precondition holds at the start, or when its effect makes the goal true.
"""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning import (
    SolveResult,
    UnsupportedBySimulation,
    simulate,
    solve,
    solve_async,
    validate,
)


def domain(*, precondition: str = "()", effect: str = "(done)") -> str:
    return f"""
(define (domain d)
  (:requirements :adl)
  (:types animal nothing - object dog - animal)
  (:constants Rex - dog Cat - animal)
  (:predicates (wet ?x - object) (near ?x ?y - object) (p) (q) (done))
  (:action do :parameters () :precondition {precondition} :effect {effect}))"""


def problem(init: str, goal: str = "(done)") -> str:
    """Objects: the constants Rex, a dog, and Cat, an animal; and Box, of no type."""
    return f"""
(define (problem x) (:domain d) (:objects Box)
  (:init {init}) (:goal {goal}))"""


def solve_all(tasks: Sequence[tuple[str, str]]) -> list[SolveResult]:
    """Fast Downward's results on all tasks."""

    async def gather() -> list[SolveResult]:
        return await asyncio.gather(*(solve_async(*task) for task in tasks))

    return asyncio.run(gather())


# (condition, initial facts, whether it holds)
CONDITIONS = [
    ("()", "", True),
    ("(p)", "(p)", True),
    ("(p)", "(q)", False),
    ("(wet cat)", "(wet Cat)", True),  # names differ in case only
    ("(WET Cat)", "(wet Rex)", False),
    ("(not (p))", "", True),
    ("(not (p))", "(p)", False),
    ("(not (not (p)))", "(p)", True),
    ("(and)", "", True),
    ("(and (p) (q))", "(p) (q)", True),
    ("(and (p) (q))", "(p)", False),
    ("(or (p) (q))", "(q)", True),
    ("(or (p) (q))", "", False),
    ("(or)", "(p)", False),  # nothing is an alternative that holds
    ("(imply (p) (q))", "", True),
    ("(imply (p) (q))", "(q)", True),
    ("(imply (p) (q))", "(p)", False),
    ("(imply (p) (q))", "(p) (q)", True),
    ("(not (and (p) (q)))", "(p)", True),
    ("(not (or (p) (q)))", "(p)", False),
    ("(= Rex Rex)", "", True),
    ("(= rex REX)", "", True),
    ("(= Rex Cat)", "", False),
    ("(not (= Rex Cat))", "", True),
    ("(exists (?x - animal) (wet ?x))", "(wet Rex)", True),  # a dog is an animal
    ("(exists (?x - animal) (wet ?x))", "(wet Box)", False),  # a box is not
    ("(exists (?x) (wet ?x))", "(wet Box)", True),  # but it is an object
    ("(exists (?x - nothing) (= ?x ?x))", "", False),  # there is no such object
    ("(forall (?x - nothing) (wet ?x))", "", True),  # so all of them are wet
    ("(forall (?x - animal) (wet ?x))", "(wet Rex) (wet Cat)", True),
    ("(forall (?x - animal) (wet ?x))", "(wet Rex)", False),
    ("(forall (?x - dog) (wet ?x))", "(wet Rex)", True),
    ("(forall (?x - (either dog nothing)) (wet ?x))", "(wet Rex)", True),
    ("(exists (?x ?y - animal) (and (near ?x ?y) (not (= ?x ?y))))", "(near Cat Rex)", True),
    ("(exists (?x ?y - animal) (and (near ?x ?y) (not (= ?x ?y))))", "(near Cat Cat)", False),
    ("(forall (?x - animal) (exists (?y) (near ?x ?y)))", "(near Cat Box) (near Rex Rex)", True),
    ("(exists (?y) (forall (?x - animal) (near ?x ?y)))", "(near Cat Box) (near Rex Rex)", False),
    # The inner ?x hides the outer one: some dog is wet, whatever ?x is.
    ("(forall (?x) (exists (?x - dog) (wet ?x)))", "(wet Rex)", True),
]


@pytest.mark.parametrize(("condition", "init", "expected"), CONDITIONS)
def test_conditions(condition: str, init: str, expected: bool) -> None:
    result = validate(domain(precondition=condition), problem(init), ["(do)"])
    assert result.valid is expected
    assert (result.failed_step, result.missing_goals) == (None if expected else 0, ())


def test_fast_downward_decides_likewise_on_conditions() -> None:
    # It reads `either` in the declarations of predicates only.
    rows = [row for row in CONDITIONS if "either" not in row[0]]
    results = solve_all([(domain(precondition=c), problem(init)) for c, init, _ in rows])
    outcomes = {True: PlanningOutcome.SOLVED, False: PlanningOutcome.UNSOLVABLE}
    assert [r.outcome for r in results] == [outcomes[expected] for _, _, expected in rows]


# (effect, initial facts, facts that it adds, facts that it deletes)
EFFECTS = [
    ("(p)", "", ["(p)"], []),
    ("(p)", "(p)", [], []),  # what is true already is no change
    ("(not (p))", "(p)", [], ["(p)"]),
    ("(not (p))", "(q)", [], []),
    ("(and (p) (not (q)))", "(q)", ["(p)"], ["(q)"]),
    ("()", "(q)", [], []),
    ("(and)", "(q)", [], []),
    # What is both added and deleted is true afterwards, in either order of writing.
    ("(and (p) (not (p)))", "", ["(p)"], []),
    ("(and (not (p)) (p))", "(p)", [], []),
    ("(and (not (p)) (when (q) (p)))", "(p) (q)", [], []),
    ("(and (not (p)) (when (q) (p)))", "(p)", [], ["(p)"]),
    ("(when (q) (p))", "(q)", ["(p)"], []),
    ("(when (q) (p))", "", [], []),
    ("(when (and (q) (not (p))) (and (p) (not (q))))", "(q)", ["(p)"], ["(q)"]),
    # Conditions see the state before the action: q becomes p and p becomes q at once.
    (
        "(and (when (p) (and (q) (not (p)))) (when (q) (and (p) (not (q)))))",
        "(p)",
        ["(q)"],
        ["(p)"],
    ),
    ("(and (p) (when (p) (q)))", "", ["(p)"], []),
    ("(forall (?x - animal) (wet ?x))", "(wet Cat)", ["(wet Rex)"], []),
    ("(forall (?x - nothing) (p))", "", [], []),
    ("(forall (?x) (when (wet ?x) (not (wet ?x))))", "(wet Box) (p)", [], ["(wet Box)"]),
    (
        "(forall (?x) (forall (?y - dog) (near ?x ?y)))",
        "(near Rex Rex) (near Box Rex)",
        ["(near Cat Rex)"],
        [],
    ),
    ("(forall (?x ?y) (when (near ?x ?y) (near ?y ?x)))", "(near Cat Box)", ["(near Box Cat)"], []),
]


@pytest.mark.parametrize(("effect", "init", "add", "delete"), EFFECTS)
def test_effects(effect: str, init: str, add: list[str], delete: list[str]) -> None:
    text = domain(effect=effect)
    simulation = simulate(text, problem(init, "(and)"), ["(DO)"])
    assert [(s.action, list(s.add), list(s.delete)) for s in simulation.steps] == [
        ("(do)", add, delete)
    ]


def test_fast_downward_decides_likewise_on_effects() -> None:
    tasks = []
    for effect, init, add, delete in EFFECTS:
        # The goal is exactly that state: what changed, and that the other of p and q did not.
        before = simulate(domain(effect=effect), problem(init), []).initial
        facts = {*before, *add} - {*delete}
        absent = {"(p)", "(q)", *delete} - facts
        goal = " ".join([*sorted(facts), *(f"(not {fact})" for fact in sorted(absent))])
        tasks.append((domain(effect=effect), problem(init, f"(and {goal})")))
    plans = [result.plan for result in solve_all(tasks)]
    assert plans == [("(do)",) if add or delete else () for _, _, add, delete in EFFECTS]


@pytest.mark.parametrize(
    ("goal", "init", "missing"),
    [
        ("(and)", "", []),
        ("(and (p) (q) (done))", "(q)", ["(p)"]),
        ("(and (p) (and (q) (wet cat)))", "(q)", ["(p)", "(wet Cat)"]),
        ("(or (p) (wet Box))", "(q)", ["(or (p) (wet Box))"]),
        ("(not (q))", "(q)", ["(not (q))"]),
        ("(imply (q) (p))", "(q)", ["(imply (q) (p))"]),
        ("(= Cat box)", "", ["(= Cat Box)"]),
        ("(exists (?x - dog) (wet ?x))", "", ["(exists (?x - dog) (wet ?x))"]),
        ("(forall (?x ?y) (near ?x ?y))", "", ["(forall (?x - object ?y - object) (near ?x ?y))"]),
        ("(and (p) (p))", "", ["(p)"]),
    ],
)
def test_missing_goals_are_named_as_written(goal: str, init: str, missing: list[str]) -> None:
    result = validate(domain(), problem(init, goal), ["(do)"])
    assert (result.valid, list(result.missing_goals)) == (not missing, missing)
    assert result.failed_step is None


COSTS = """
(define (domain d)
  (:requirements :strips :typing :action-costs)
  (:types place)
  (:predicates (at ?x - place))
  (:functions (total-cost) - number (far ?x ?y - place) - number (toll) - number)
  (:action go :parameters (?x ?y - place) :precondition (at ?x)
    :effect (and (at ?y) (not (at ?x)) (increase (total-cost) (far ?x ?y))))
  (:action fly :parameters (?x ?y - place) :precondition (at ?x)
    :effect (and (at ?y) (not (at ?x)) (increase (total-cost) (toll))))
  (:action wait :parameters () :effect (and)))"""
COSTS_PROBLEM = """
(define (problem x) (:domain d) (:objects a b c - place)
  (:init (at a) (= (total-cost) 100) (= (far a b) 2) (= (far b c) 3) (= (toll) 8))
  (:goal (at c))
  (:metric minimize (total-cost)))"""


@pytest.mark.parametrize(
    ("plan", "cost"),
    [
        (["(go a b)", "(go b c)"], 2 + 3),  # not 105: only what the actions add
        (["(fly a c)"], 8),
        (["(wait)", "(fly a b)", "(go b c)"], 0 + 8 + 3),
    ],
)
def test_costs_follow_the_metric(plan: list[str], cost: float) -> None:
    result = validate(COSTS, COSTS_PROBLEM, plan)
    assert (result.valid, result.cost) == (True, cost)


@pytest.mark.parametrize("metric", ["", "(:metric minimize (total-time))"])
def test_without_a_cost_metric_each_step_costs_one(metric: str) -> None:
    text = COSTS_PROBLEM.replace("(:metric minimize (total-cost))", metric)
    assert validate(COSTS, text, ["(wait)", "(fly a c)"]).cost == 2.0


def test_the_cheapest_plan_is_proved_to_cost_what_the_replay_says() -> None:
    result = solve(COSTS, COSTS_PROBLEM, planner="fast-downward-opt")
    assert result.plan == ("(go a b)", "(go b c)")
    assert (result.cost, result.lower_bound, result.optimal) == (5.0, 5.0, True)


def test_a_proof_that_counts_other_costs_than_ours_is_none() -> None:
    # A flight costs 8 + 2; Fast Downward sees only the last of two increases, and 2 < 2 + 3.
    text = COSTS.replace("(total-cost) (toll)", "(total-cost) (toll)) (increase (total-cost) 2")
    result = solve(text, COSTS_PROBLEM, planner="fast-downward-opt")
    assert result.plan == ("(fly a c)",)
    assert (result.outcome, result.optimal) == (PlanningOutcome.SOLVED, False)
    assert (result.cost, result.lower_bound) == (8.0 + 2.0, 2.0)
    assert "Not proved to be cheapest: the plan costs 10, the bound is 2." in result.log_tail


@pytest.mark.parametrize("metric", ["(:metric minimize (total-cost))", ""])
def test_an_action_whose_cost_is_undefined_is_not_applicable(metric: str) -> None:
    # `far a c` has no value. Fast Downward does not use such an action either.
    text = COSTS_PROBLEM.replace("(:metric minimize (total-cost))", metric)
    result = validate(COSTS, text, ["(go a c)"])
    assert (result.valid, result.failed_step) == (False, 0)
    assert result.reason == "`(far a c)` has no initial value in step 0, (go a c)."
    without_flying = text.replace("(= (far b c) 3)", "").replace("(= (toll) 8)", "")
    assert solve(COSTS, without_flying).outcome is PlanningOutcome.UNSOLVABLE


def numeric(action: str, metric: str = "") -> tuple[str, str, str]:
    """A feature with a domain and a problem that use it."""
    return (
        "numeric fluents",
        f"""(define (domain d) (:requirements :numeric-fluents) (:predicates (p) (r))
        (:functions (fuel) (total-cost)) (:action a :parameters () {action}))""",
        f"(define (problem x) (:domain d) (:init (r) (= (fuel) 1)) (:goal (p)) {metric})",
    )


def beyond_strips(
    feature: str, *, domain: str = "", init: str = "", goal: str = "(p)", end: str = ""
) -> tuple[str, str, str]:
    return (
        feature,
        f"""(define (domain d) (:requirements :strips) (:predicates (p) (r))
        {domain or "(:action a :parameters () :effect (p))"})""",
        f"(define (problem x) (:domain d) (:init (r) {init}) (:goal {goal}) {end})",
    )


CONSTRAINT = "(:constraints (always (not (p))))"
BEYOND = {
    "numeric condition": numeric(":precondition (> (fuel) 0) :effect (p)"),
    "numeric equality": numeric(":precondition (= (fuel) 0) :effect (p)"),
    "numeric effect": numeric(":effect (and (p) (decrease (fuel) 1))"),
    # Fast Downward takes `/` for a function without values and "proves" that there is no plan.
    "arithmetic": numeric(":effect (and (p) (increase (total-cost) (/ 1 1)))"),
    "division by zero": numeric(":effect (increase (total-cost) (/ 1 0))"),
    "cost of a cost": numeric(":effect (increase (total-cost) (total-cost))"),
    "metric": numeric(
        ":effect (and (p) (increase (total-cost) 1))", "(:metric minimize (* 2 (total-cost)))"
    ),
    "durative action": beyond_strips(
        "durative actions",
        domain="""(:durative-action a :parameters () :duration (= ?duration 1)
          :condition (at start (r)) :effect (at end (p)))""",
    ),
    "timed initial literal": beyond_strips("timed initial literals", init="(at 2 (p))"),
    "preference": beyond_strips("preferences", goal="(preference x (p))"),
    "constraint": beyond_strips("trajectory constraints", end=CONSTRAINT),
    "constraint of the domain": beyond_strips(
        "trajectory constraints",
        domain=f"{CONSTRAINT} (:action a :parameters () :effect (p))",
    ),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_not_simulated_is_refused_by_name_and_never_misjudged(name: str) -> None:
    feature, *texts = BEYOND[name]
    for function in (validate, simulate):
        with pytest.raises(UnsupportedBySimulation) as raised:
            function(*texts, ["(a)"])
        assert str(raised.value) == (
            f"The problem uses {feature}, which our own simulation does not cover."
        )
    result = solve(*texts)
    assert result.outcome is PlanningOutcome.UNSUPPORTED
    assert result.log_tail.startswith(f"fast-downward does not support {feature}")


def test_plans_over_derived_predicates_are_replayed() -> None:
    _, *texts = beyond_strips(
        "derived predicates",
        domain="(:derived (r) (p)) (:action a :parameters () :effect (p))",
        goal="(r)",
    )
    texts[1] = texts[1].replace("(:init (r) )", "(:init)")
    result = solve(*texts)
    assert (result.outcome, result.plan, result.validated) == ("solved", ("(a)",), "replayed")
    assert validate(*texts, "").missing_goals == ("(r)",)


def test_the_cost_of_a_plan_that_is_not_validated_is_unknown_where_a_metric_asks_for_it(
    fake: Callable[..., object],
) -> None:
    fake(outcome=PlanningOutcome.SOLVED, steps=(("a",),))
    _, domain, problem = numeric(":effect (and (p) (decrease (fuel) 1))")
    result = solve(domain, problem, planner="fake")
    assert (result.outcome, result.validated, result.cost) == ("solved", "none", 1.0)
    assert "Not validated: The problem uses numeric fluents" in result.log_tail
    _, domain, problem = numeric(":effect (p)", "(:metric minimize (fuel))")
    result = solve(domain, problem, planner="fake")
    assert (result.outcome, result.validated, result.cost) == ("solved", "none", None)
