"""Applicable actions and successors, against a naive twin, along random walks.

The worlds are files of a domain and a problem; with `LLM_MODULO_TEST_DATA` also the
development set of ACPBench.
"""

import itertools
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.domains import bundled_domain
from llm_modulo.domains.sokoban import Level, write_problem
from llm_modulo.errors import UsageError
from llm_modulo.pddl import (
    Action,
    And,
    Atom,
    Exists,
    Forall,
    Formula,
    Imply,
    Literal,
    Not,
    Or,
    Problem,
    parse,
)
from llm_modulo.planning import (
    UnsupportedBySimulation,
    applicable,
    applicable_actions,
    simulate,
    successors,
    validate,
)

WORLDS = sorted(Path(__file__).with_name("worlds").glob("*.pddl"))
State = frozenset[Atom]


class Twin:
    """What a problem means, said as plainly as possible: every grounding is tried.

    It shares the model's classes with the code under test, and nothing else.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.names = [o.name for o in problem.all_objects]
        self.types = {o.name: o.types for o in problem.all_objects}

    def objects(self, wanted: Sequence[str]) -> list[str]:
        def above(kind: str) -> set[str]:
            return {kind, "object"}.union(*map(above, self.problem.domain.types.get(kind, ())))

        return [n for n in self.names if all(above(t) & {*wanted} for t in self.types[n])]

    def groundings(self, variables, outer=()) -> Iterator[dict[str, str]]:
        values = itertools.product(*(self.objects(v.types) for v in variables))
        for chosen in values:
            yield dict(outer) | {v.name.lower(): o for v, o in zip(variables, chosen, strict=True)}

    def fact(self, atom: Atom, env: dict[str, str]) -> Atom:
        return Atom(atom.predicate, tuple(env.get(t.lower(), t) for t in atom.terms))

    def true(self, formula: Formula, facts: State, env: dict[str, str]) -> bool:
        if isinstance(formula, Atom):
            fact = self.fact(formula, env)
            return fact.terms[0] == fact.terms[1] if fact.predicate == "=" else fact in facts
        if isinstance(formula, Not):
            return not self.true(formula.operand, facts, env)
        if isinstance(formula, And | Or):
            values = [self.true(part, facts, env) for part in formula.operands]
            return False not in values if isinstance(formula, And) else True in values
        if isinstance(formula, Imply):
            values = [self.true(f, facts, env) for f in (formula.premise, formula.conclusion)]
            return values != [True, False]
        values = [
            self.true(formula.body, facts, e) for e in self.groundings(formula.variables, env)
        ]
        assert isinstance(formula, Exists | Forall)
        return True in values if isinstance(formula, Exists) else False not in values

    def closed(self, basic: State) -> State:
        """The state with its derived facts: in our worlds no two predicates use each other."""
        facts = basic
        for head in dict.fromkeys(axiom.head.name for axiom in self.problem.domain.axioms):
            before = None
            while facts != before:
                before = facts
                facts |= {
                    Atom(head, tuple(env[p.name.lower()] for p in axiom.head.parameters))
                    for axiom in self.problem.domain.axioms
                    if axiom.head.name == head
                    for env in self.groundings(axiom.head.parameters)
                    if self.true(axiom.body, before, env)
                }
        return facts

    def next_state(self, action: Action, basic: State, facts: State, env: dict[str, str]) -> State:
        add, delete = set(), set()
        todo = [(effect, env) for effect in action.effects]
        while todo:
            effect, inner = todo.pop()
            if isinstance(effect, Literal):
                (add if effect.positive else delete).add(self.fact(effect.atom, inner))
            elif hasattr(effect, "condition"):
                if self.true(effect.condition, facts, inner):
                    todo += [(part, inner) for part in effect.effects]
            elif hasattr(effect, "variables"):
                for innermost in self.groundings(effect.variables, inner):
                    todo += [(part, innermost) for part in effect.effects]
            elif (
                isinstance(effect.value, Atom)
                and self.fact(effect.value, inner) not in self.problem.values
            ):
                raise LookupError
        return frozenset(basic - delete | add)

    def successors(self, basic: State) -> list[tuple[tuple[str, ...], State]]:
        found = []
        facts = self.closed(basic)
        for action in self.problem.domain.actions.values():
            for env in self.groundings(action.parameters):
                if self.true(action.precondition, facts, env):
                    try:
                        state = self.next_state(action, basic, facts, env)
                    except LookupError:  # a cost without a value
                        continue
                    names = (env[p.name.lower()] for p in action.parameters)
                    found.append(((action.name, *names), state))
        return found


def texts(world: Path) -> tuple[str, str]:
    domain, _, problem = world.read_text(encoding="utf-8").partition("(define (problem")
    return domain, "(define (problem" + problem


def walked(problem: Problem, rng: random.Random, *, states: int) -> int:
    """Walk and compare with the twin at each state; how many actions were applicable."""
    twin = Twin(problem)
    state, steps, total = frozenset(problem.init), [], 0
    for _ in range(states):
        expected = twin.successors(state)
        assert list(successors(problem, state)) == expected
        page = applicable(problem, steps, limit=10_000)
        assert page.actions == tuple(f"({' '.join(step)})" for step, _ in expected)
        assert page.next is None
        total += len(expected)
        if not expected:
            state, steps = frozenset(problem.init), []
            continue
        step, state = rng.choice(expected)
        steps = [*steps, step]
    return total


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.stem)
def test_applicable_actions_and_successors_are_those_of_a_naive_twin(world: Path) -> None:
    assert walked(parse(*texts(world)), random.Random(world.stem), states=25) > 25


def test_there_are_enough_worlds() -> None:
    assert len(WORLDS) >= 12


def test_the_bundled_sokoban_agrees_with_the_naive_twin() -> None:
    level = Level.from_xsb(["######", "#@   #", "# $$ #", "# .. #", "######"])
    problem = parse(bundled_domain("sokoban"), write_problem(level))
    assert walked(problem, random.Random(7), states=6) > 6


def development_problems() -> list[Problem]:
    """The smallest problem of each domain of the development set."""
    files = sorted(Path(os.environ["LLM_MODULO_TEST_DATA"]).glob("acpbench/*/dev.gen.json"))
    smallest: dict[str, Problem] = {}
    for file in files:
        for item in json.loads(file.read_text(encoding="utf-8")):
            problem = parse(item["PDDL_domain"], item["PDDL_problem"])
            known = smallest.get(problem.domain.name)
            if known is None or len(problem.objects) < len(known.objects):
                smallest[problem.domain.name] = problem
    return list(smallest.values())


def groundings(problem: Problem) -> int:
    twin = Twin(problem)
    total = 0
    for action in problem.domain.actions.values():
        product = 1
        for parameter in action.parameters:
            product *= len(twin.objects(parameter.types))
        total += product
    return total


@pytest.mark.data
def test_the_development_domains_agree_with_the_naive_twin() -> None:
    problems = development_problems()
    assert len(problems) >= 8
    compared = 0
    for problem in problems:
        states = min(12, 60_000 // groundings(problem))
        compared += states > 0
        walked(problem, random.Random(problem.name), states=states)
    assert compared >= len(problems) - 2


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.stem)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_pages_are_the_whole_in_order(world: Path, size: int) -> None:
    problem = parse(*texts(world))
    whole = applicable(problem, limit=10_000).actions
    pages, after = [], None
    while True:
        page = applicable(problem, limit=size, after=after)
        pages += page.actions
        after = page.next
        if after is None:
            break
        assert len(page.actions) == size
    assert tuple(pages) == whole


CHOICES = """
(define (domain choices) (:requirements :typing :negative-preconditions)
  (:types item) (:predicates (good ?x - item) (near ?x ?y - item) (done))
  (:action any :parameters (?a ?b ?c ?d ?e - item)
    :precondition (and (near ?b ?d) (not (good ?c))) :effect (done)))"""


def choices(items: int) -> Problem:
    names = [f"i{number}" for number in range(items)]
    near = " ".join(f"(near {a} {b})" for a, b in itertools.pairwise(names))
    text = f"""(define (problem many) (:domain choices) (:objects {" ".join(names)} - item)
      (:init {near} (good i1)) (:goal (done)))"""
    return parse(CHOICES, text)


def test_more_actions_than_anybody_can_list_are_paged_in_the_same_order() -> None:
    # 5 × 4 × 4 × 5 = 400 are sorted at once, 8 × 7 × 7 × 8 = 3,136 are not.
    for items in (5, 8):
        problem = choices(items)
        expected = [
            f"({' '.join(s)})" for s, _ in Twin(problem).successors(frozenset(problem.init))
        ]
        pages, after = [], None
        while after is not None or not pages:
            page = applicable(problem, limit=97, after=after)
            pages += page.actions
            after = page.next
        assert pages == expected
        assert len(pages) == items * (items - 1) * (items - 1) * items
    # 300 × 299 × 299 × 300 = 8 · 10⁹: far pages cost no more than the first.
    problem = choices(300)
    page = applicable(problem, limit=3, after="(any i298 i297 i299 i298 i298)")
    assert page.actions == (
        "(any i298 i297 i299 i298 i299)",
        "(any i298 i298 i0 i299 i0)",
        "(any i298 i298 i0 i299 i1)",
    )


def test_an_action_may_have_many_conditions_but_not_any_number_of_parameters() -> None:
    def task(parameters: int) -> tuple[str, str]:
        names = [f"?x{number}" for number in range(parameters)]
        parts = " ".join(f"(good {name})" for name in names) + " (good i1)" * 3_000
        domain = f"""(define (domain wide) (:requirements :typing) (:types item)
          (:constants i1 - item) (:predicates (good ?x - item) (done))
          (:action all :parameters ({" ".join(names)} - item) :precondition (and {parts})
            :effect (done)))"""
        problem = "(define (problem w) (:domain wide) (:objects i2 - item) (:init (good i1))"
        return domain, problem + " (:goal (done)))"

    assert applicable_actions(*task(100)).actions == (f"(all{' i1' * 100})",)
    with pytest.raises(UnsupportedBySimulation, match="more than 100 variables"):
        applicable_actions(*task(101))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "A page has 1 to 10,000 actions, not 0."),
        ({"limit": 10_001}, "A page has 1 to 10,000 actions, not 10001."),
        ({"after": "(fly a)"}, "The page cannot begin after '(fly a)'"),
        ({"after": "(stack a)"}, "The page cannot begin after '(stack a)'"),
        ({"after": "(stack a zebra)"}, "The page cannot begin after '(stack a zebra)'"),
        ({"after": ""}, "The page cannot begin after ''"),
        (
            {"plan": ["(pick-up c)"]},
            "A precondition does not hold in step 0, (pick-up c): (ontable c).",
        ),
        ({"plan": ["(unstack c b)", "(fly a)"]}, "There is no action `fly` in step 1, (fly a)."),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        applicable_actions(*texts(WORLDS[0]), **arguments)
    assert str(raised.value).startswith(message)


def test_the_page_begins_after_any_action_of_the_problem() -> None:
    problem = choices(3)
    everything = applicable(problem).actions
    # (any i1 i2 …) is not applicable, for i2 is near nothing.
    page = applicable(problem, after="(ANY i1 I2 i0 i0 i0)")
    assert page.actions == tuple(a for a in everything if a > "(any i1 i2")
    assert applicable(problem, after="(any i2 i2 i2 i2 i2)").actions == ()


def test_the_text_form_executes_a_plan_first() -> None:
    domain, problem = texts(WORLDS[0])
    page = applicable_actions(domain, problem, "(unstack c b)\n(put-down c)\n", limit=2)
    assert page.to_json() == {
        "actions": ["(pick-up c)", "(pick-up d)"],
        "next": "(pick-up d)",
    }
    rest = applicable_actions(domain, problem, ["(unstack c b)", "(put-down c)"], after=page.next)
    assert rest.to_json() == {"actions": ["(unstack b a)"], "next": None}


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.stem)
def test_what_is_applicable_can_be_executed_and_nothing_else(world: Path) -> None:
    domain, problem = texts(world)
    listed = set(applicable_actions(domain, problem).actions)
    model = parse(domain, problem)
    names = [o.name for o in model.all_objects][:4]
    for action in model.domain.actions.values():
        for objects in itertools.product(names, repeat=min(3, len(action.parameters))):
            step = f"({' '.join((action.name, *objects))})"
            result = validate(domain, problem, [step])
            assert (result.failed_step is None) is (step in listed), step
    for step in sorted(listed)[:5]:
        assert simulate(domain, problem, [step]).stopped is None
