"""Where readers of PDDL differ: decided as the standard and Fast Downward decide.

One entry for each question: what is asked, a domain, a problem, and plans with whether
each is valid. Fast Downward must find a plan exactly where one of the plans is valid.
"""

from dataclasses import dataclass

import pytest

from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.pddl import check
from llm_modulo.planning import applicable_actions, simulate, solve, validate


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A question with its answer."""

    domain: str
    plans: dict[str, bool]
    init: str = ""
    goal: str
    applicable: tuple[str, ...]


def decided(
    actions: str, *, goal: str, plans: dict[str, bool], applicable: str, init: str = ""
) -> Decision:
    domain = f"""
(define (domain d) (:requirements :adl)
  (:types animal nothing - object dog puppy - animal)
  (:predicates (wet ?x - object) (near ?x ?y - object) (p) (q))
  {actions})"""
    split = tuple(f"({part}" for part in applicable.split("(")[1:])
    found = tuple(part.strip() for part in split)
    return Decision(domain=domain, plans=plans, init=init, goal=goal, applicable=found)


DECISIONS = {
    "what an action both adds and deletes is true": decided(
        "(:action a :parameters () :precondition (p) :effect (and (p) (not (p)) (q)))",
        init="(p)",
        goal="(and (p) (q))",
        plans={"(a)": True, "(a) (a)": True, "": False},
        applicable="(a)",
    ),
    "two parameters that name one object add and delete one fact": decided(
        "(:action a :parameters (?x ?y - dog) :effect (and (wet ?x) (not (wet ?y))))",
        init="(wet Rex)",
        goal="(wet Rex)",
        plans={"(a rex rex)": True, "": True},
        applicable="(a Rex Rex)",
    ),
    "a when that deletes what the action adds": decided(
        "(:action a :parameters () :effect (and (q) (when (p) (not (q)))))",
        init="(p)",
        goal="(q)",
        plans={"(a)": True},
        applicable="(a)",
    ),
    "a precondition on an equal pair": decided(
        """(:action a :parameters (?x ?y - animal) :precondition (= ?x ?y) :effect (wet ?x))
        (:action b :parameters (?x ?y - animal) :precondition (not (= ?x ?y)) :effect (p))""",
        goal="(and (wet Tom) (p))",
        plans={"(a Tom Tom) (b Tom Rex)": True, "(a Tom Rex)": False, "(b Tom Tom)": False},
        applicable="(a Tom Tom) (a Rex Rex) (b Tom Rex) (b Rex Tom)",
    ),
    "a fact about an equal pair": decided(
        "(:action a :parameters (?x ?y - animal) :precondition (near ?x ?y) :effect (wet ?y))",
        init="(near Tom Tom)",
        goal="(wet Tom)",
        plans={"(a Tom Tom)": True, "(a Tom Rex)": False, "(a Rex Tom)": False},
        applicable="(a Tom Tom)",
    ),
    "an empty goal is reached": decided(
        "(:action a :parameters () :effect (p))",
        goal="(and)",
        plans={"": True, "(a)": True, "(b)": False},
        applicable="(a)",
    ),
    "an object of a subtype is of the type, not the other way round": decided(
        """(:action a :parameters (?x - animal) :effect (wet ?x))
        (:action b :parameters (?x - dog) :precondition (wet ?x) :effect (p))
        (:action c :parameters (?x - puppy) :effect (q))""",
        goal="(p)",
        plans={
            "(a Rex) (b Rex)": True,
            "(a Tom) (b Tom)": False,
            "(a Box) (b Rex)": False,
            "(c Rex)": False,
        },
        applicable="(a Tom) (a Rex)",
    ),
    "an object without a type is an object": decided(
        "(:action a :parameters (?x) :precondition (not (wet ?x)) :effect (wet ?x))",
        init="(wet Tom)",
        goal="(and (wet Box) (wet Rex))",
        plans={"(a Box) (a Rex)": True, "(a Box)": False, "(a Tom)": False},
        applicable="(a Rex) (a Box)",
    ),
    "all of no objects, and one of no objects": decided(
        """(:action a :parameters () :precondition (forall (?x - nothing) (wet ?x)) :effect (p))
        (:action b :parameters () :precondition (exists (?x - nothing) (= ?x ?x)) :effect (q))
        (:action c :parameters (?x - nothing) :effect (q))
        (:action e :parameters () :effect (forall (?x - nothing) (q)))""",
        goal="(p)",
        plans={"(a)": True, "(b)": False, "(c Rex)": False, "(e)": False, "(e) (a)": True},
        applicable="(a) (e)",
    ),
    "nothing can be done for one of no objects": decided(
        """(:action b :parameters () :precondition (exists (?x - nothing) (= ?x ?x)) :effect (q))
        (:action e :parameters () :effect (forall (?x - nothing) (q)))""",
        goal="(q)",
        plans={"(b)": False, "(e)": False},
        applicable="(e)",
    ),
    "conditions of effects see the state before the action": decided(
        "(:action a :parameters () :effect (and (p) (when (p) (q))))",
        goal="(q)",
        plans={"(a)": False, "(a) (a)": True},
        applicable="(a)",
    ),
    "two conditional effects exchange their facts": decided(
        """(:action a :parameters (?x ?y - animal) :precondition (not (= ?x ?y))
          :effect (and (when (wet ?x) (and (wet ?y) (not (wet ?x))))
                       (when (wet ?y) (and (wet ?x) (not (wet ?y))))))""",
        init="(wet Rex)",
        goal="(and (wet Tom) (not (wet Rex)))",
        plans={"(a Tom Rex)": True, "(a Rex Tom)": True, "(a Rex Tom) (a Tom Rex)": False},
        applicable="(a Tom Rex) (a Rex Tom)",
    ),
}


def problem(decision: Decision) -> str:
    return f"""
(define (problem x) (:domain d) (:objects Tom - animal Rex - dog Box)
  (:init {decision.init}) (:goal {decision.goal}))"""


def steps(plan: str) -> list[str]:
    return [f"({part.strip()}" for part in plan.split("(")[1:]]


@pytest.mark.parametrize("name", DECISIONS)
def test_our_decisions(name: str) -> None:
    decision = DECISIONS[name]
    for plan, expected in decision.plans.items():
        result = validate(decision.domain, problem(decision), steps(plan))
        assert result.valid is expected, (plan, result.reason)
        assert simulate(decision.domain, problem(decision), steps(plan)).goal_reached is expected
    page = applicable_actions(decision.domain, problem(decision))
    assert page.actions == decision.applicable


@pytest.mark.parametrize("name", DECISIONS)
def test_fast_downward_decides_likewise(name: str) -> None:
    decision = DECISIONS[name]
    result = solve(decision.domain, problem(decision))
    solvable = any(decision.plans.values())
    expected = PlanningOutcome.SOLVED if solvable else PlanningOutcome.UNSOLVABLE
    assert (result.outcome, result.validated) == (expected, "replayed" if solvable else "none")


def test_an_empty_goal_is_written_with_and() -> None:
    domain = DECISIONS["an empty goal is reached"].domain
    text = "(define (problem x) (:domain d) (:init) (:goal (and)))"
    assert solve(domain, text).plan == ()
    # Fast Downward refuses `()`, and so do we.
    found = check(domain, text.replace("(and)", "()")).diagnostics
    assert [d.code for d in found if d.severity == "error"] == ["malformed"]


@pytest.mark.parametrize(
    "actions",
    [
        "(:action a :parameters (?x ?x - dog) :effect (wet ?x))",
        "(:action a :parameters (?x - dog ?X - animal) :effect (wet ?x))",
        "(:action a :parameters () :effect (forall (?x ?x - dog) (wet ?x)))",
        "(:action a :parameters () :precondition (exists (?x ?x - dog) (wet ?x)) :effect (p))",
    ],
)
def test_repeated_parameter_names_are_rejected(actions: str) -> None:
    repeated = decided(actions, goal="(p)", plans={}, applicable="")
    result = check(repeated.domain, problem(repeated))
    assert [d.code for d in result.diagnostics if d.severity == "error"] == ["duplicate-name"]
    assert solve(repeated.domain, problem(repeated)).outcome is PlanningOutcome.INVALID_INPUT
