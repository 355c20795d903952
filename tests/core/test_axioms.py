"""Derived predicates: hand-derived facts, with Fast Downward as the second opinion."""

import itertools
import time

import pytest

from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.pddl import parse
from llm_modulo.planning import UnsupportedBySimulation, replay, simulate, solve, validate


def domain(axioms: str) -> str:
    """Edges can be cut, and laid where there is no way yet."""
    return f"""
(define (domain graph)
  (:requirements :adl :derived-predicates)
  (:types sink - node node nothing - object)
  (:predicates (edge ?x ?y - node) (reach ?x ?y - node) (lonely ?x - node) (fixed ?x - node)
               (win ?x - node) (even ?x ?y - node) (odd ?x ?y - node) (ghost ?x - nothing))
  {axioms}
  (:action cut :parameters (?x ?y - node) :precondition (edge ?x ?y)
    :effect (not (edge ?x ?y)))
  (:action lay :parameters (?x ?y - node) :precondition (not (reach ?x ?y))
    :effect (and (edge ?x ?y) (fixed ?x))))"""


def problem(init: str, goal: str) -> str:
    return f"""
(define (problem p) (:domain graph) (:objects a b c - node s - sink)
  (:init {init} (fixed a)) (:goal {goal}))"""


REACH = """(:derived (reach ?x ?y - node)
  (or (edge ?x ?y) (exists (?z - node) (and (reach ?x ?z) (edge ?z ?y)))))"""
LONELY = "(:derived (lonely ?x - node) (not (exists (?y - node) (or (edge ?x ?y) (edge ?y ?x)))))"
LOST = """(:derived (win ?x)
  (not (exists (?y - node) (and (fixed ?y) (reach ?y ?x)))))"""
PARITY = """(:derived (odd ?x ?y) (edge ?x ?y))
  (:derived (odd ?x ?y) (exists (?z - node) (and (even ?x ?z) (edge ?z ?y))))
  (:derived (even ?x ?y) (exists (?z - node) (and (odd ?x ?z) (edge ?z ?y))))"""

# (axioms, condition, initial edges, whether it holds)
CASES = [
    (REACH, "(reach a c)", "(edge a b) (edge b c)", True),
    (REACH, "(reach c a)", "(edge a b) (edge b c)", False),
    (REACH, "(reach a a)", "(edge a b) (edge b a)", True),
    (REACH, "(not (reach a c))", "(edge a b)", True),
    (LONELY, "(lonely c)", "(edge a b)", True),
    (LONELY, "(lonely b)", "(edge a b)", False),
    (REACH + LONELY, "(forall (?x - node) (or (lonely ?x) (reach a ?x)))", "(edge a b)", False),
    (REACH + LONELY, "(forall (?x - node) (or (lonely ?x) (reach a ?x)))", "(edge a a)", True),
    # What is used negated is complete before, wherever it is written.
    (LOST + REACH, "(win c)", "(edge a b) (edge b c)", False),
    (LOST + REACH, "(win c)", "(edge a b) (edge c b)", True),
    # Two predicates that need each other; a walk of three edges around a loop of one.
    (PARITY, "(even a c)", "(edge a b) (edge b c)", True),
    (PARITY, "(odd a c)", "(edge a b) (edge b c)", False),
    (PARITY, "(odd a c)", "(edge a b) (edge b c) (edge b b)", True),
    # The head's type limits what is derived: only s is a sink.
    ("(:derived (win ?x - sink) (and))", "(win s)", "", True),
    ("(:derived (win ?x - sink) (and))", "(win a)", "", False),
    # A constant in a body, an equal pair, a repeated variable.
    ("(:derived (win ?x - node) (edge ?x ?x))", "(win b)", "(edge b b)", True),
    ("(:derived (win ?x - node) (edge ?x ?x))", "(win b)", "(edge b c)", False),
    ("(:derived (even ?x ?y - node) (= ?x ?y))", "(even b b)", "", True),
    ("(:derived (even ?x ?y - node) (= ?x ?y))", "(even b c)", "", False),
    # Nobody is of type nothing: no binding, and every one of them is anything.
    ("(:derived (win ?x) (exists (?n - nothing) (fixed ?x)))", "(win a)", "", False),
    ("(:derived (win ?x) (forall (?n - nothing) (not (fixed ?x))))", "(win a)", "", True),
    # The inner ?x hides the head's.
    ("(:derived (win ?x) (exists (?x - node) (fixed ?x)))", "(win b)", "", True),
]


@pytest.mark.parametrize(("axioms", "condition", "init", "expected"), CASES)
def test_derived_facts_count_in_goals(
    axioms: str, condition: str, init: str, expected: bool
) -> None:
    text = domain(axioms)
    result = validate(text, problem(init, condition), "")
    assert (result.valid, result.failed_step) == (expected, None)
    if not expected:
        assert len(result.missing_goals) == 1


def test_fast_downward_decides_likewise() -> None:
    for axioms, condition, init, expected in CASES:
        # No action may change anything: there is a plan, the empty one, or none.
        text = domain(axioms).split("(:action cut")[0] + ")"
        result = solve(text, problem(init, condition))
        assert (result.outcome is PlanningOutcome.SOLVED) is expected, (condition, result)
        assert result.outcome in (PlanningOutcome.SOLVED, PlanningOutcome.UNSOLVABLE)


def test_derived_facts_count_in_preconditions_and_are_not_shown_as_changes() -> None:
    text = domain(REACH)
    chain = problem("(edge a b) (edge b c)", "(not (reach a c))")
    assert validate(text, chain, ["(lay a c)"]).unsatisfied == ("(not (reach a c))",)
    plan = ["(cut b c)", "(lay a c)", "(cut a c)"]
    result = simulate(text, chain, plan)
    assert result.initial == ("(edge a b)", "(edge b c)", "(fixed a)")
    assert [(s.add, s.delete) for s in result.steps] == [
        ((), ("(edge b c)",)),
        (("(edge a c)",), ()),  # a is fixed already
        ((), ("(edge a c)",)),
    ]
    assert result.goal_reached
    assert validate(text, chain, plan).valid


def test_a_predicate_that_needs_itself_for_all_is_derived_bottom_up() -> None:
    # Lost positions: every edge leads to one. Fast Downward calls this unstratifiable, the
    # standard does not: the predicate is nowhere negated.
    axiom = """(:derived (win ?x - node)
      (forall (?y - node) (imply (edge ?x ?y) (win ?y))))"""
    text = domain(axiom)
    chain = problem("(edge a b) (edge b c)", "(and (win a) (win b) (win c) (win s))")
    assert validate(text, chain, "").valid
    loop = problem("(edge a b) (edge b a) (edge c a)", "(and (win s) (win a) (win b) (win c))")
    assert validate(text, loop, "").missing_goals == ("(win a)", "(win b)", "(win c)")
    assert validate(text, loop, ["(cut b a)"]).valid


def test_only_what_depends_on_a_change_is_worked_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from llm_modulo.planning._axioms import _Stratum

    derived: list[int] = []
    original = _Stratum.derive
    monkeypatch.setattr(
        _Stratum, "derive", lambda self, state: derived.append(1) or original(self, state)
    )
    text = domain(REACH).replace("(edge ?x ?y) (fixed ?x)", "(fixed ?x)")
    start = problem("(edge a b)", "(reach a b)")
    assert validate(text, start, ["(lay b a)"] * 20).valid  # it only fixes b
    assert len(derived) == 1
    assert not validate(text, start, ["(lay b a)", "(cut a b)"]).valid
    assert len(derived) == 1 + 2


def test_a_long_chain_is_derived_in_time() -> None:
    # 200 nodes: 20,100 reachable pairs. Trying all rules in every round would take minutes.
    names = [f"n{number}" for number in range(200)]
    edges = " ".join(f"(edge {a} {b})" for a, b in itertools.pairwise(names))
    text = f"""(define (problem long) (:domain graph) (:objects {" ".join(names)} - node)
      (:init {edges}) (:goal (reach n0 n199)))"""
    model = parse(domain(REACH), text)
    start = time.process_time()
    assert replay(model, []).valid
    assert not replay(model, [("cut", "n0", "n1")]).valid
    assert time.process_time() - start < 20.0


def test_more_facts_than_we_derive_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = domain("(:derived (even ?x ?y - node) (and))")  # 4 × 4 of them
    start = problem("", "(even a b)")
    monkeypatch.setattr("llm_modulo.planning._axioms.MAX_DERIVED", 16)
    assert validate(text, start, "").valid
    monkeypatch.setattr("llm_modulo.planning._axioms.MAX_DERIVED", 15)
    with pytest.raises(UnsupportedBySimulation, match="The axioms make more than 15 facts true"):
        validate(text, start, "")
