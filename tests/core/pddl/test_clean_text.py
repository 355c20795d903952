"""Text without a fault gets no error, and other readers accept what our writers write."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.domains import bundled_domain, bundled_domains
from llm_modulo.domains.sokoban import ROTATIONS, Level, write_problem
from llm_modulo.pddl import check

Reader = Callable[[str], Any]

PROBLEMS = [
    *(pytest.param(("corridor", n, r), id=f"corridor-{n}-{r}") for n in (3, 10) for r in ROTATIONS),
    pytest.param(("level", ["#####", "#@$.#", "#.$ #", "#####"]), id="two-boxes"),
    pytest.param(("level", ["######", "#@$..#", "######"]), id="more-goals-than-boxes"),
    pytest.param(("level", ["####", "#+$#", "#  #", "####"]), id="player-on-goal"),
]


@pytest.fixture(params=PROBLEMS)
def written(request: pytest.FixtureRequest, corridor_problem: Callable[..., str]) -> str:
    """A problem that our writer wrote."""
    kind, *arguments = request.param
    if kind == "corridor":
        return corridor_problem(*arguments)
    return write_problem(Level.from_xsb(*arguments))


@pytest.mark.parametrize("name", bundled_domains())
def test_bundled_domains_are_clean(name: str) -> None:
    assert check(bundled_domain(name)).diagnostics == ()


def test_what_the_writer_writes_is_clean(sokoban: str, written: str) -> None:
    assert check(sokoban, written).diagnostics == ()


def test_fast_downwards_own_parser_accepts_it(sokoban: str, written: str) -> None:
    from fast_downward.translate.pddl_parser.lisp_parser import parse_nested_list
    from fast_downward.translate.pddl_parser.parsing_functions import parse_task

    task = parse_task(*(parse_nested_list(text.splitlines()) for text in (sokoban, written)))
    assert [action.name for action in task.actions] == ["move", "push"]


@pytest.fixture(scope="module")
def pddl_parsers() -> tuple[Reader, Reader]:
    """The `pddl` package's parsers; making them takes a while."""
    from pddl.parser.domain import DomainParser
    from pddl.parser.problem import ProblemParser

    return DomainParser(), ProblemParser()


def test_the_pddl_package_accepts_it(
    sokoban: str, written: str, pddl_parsers: tuple[Reader, Reader]
) -> None:
    read_domain, read_problem = pddl_parsers
    problem = read_problem(written)
    problem.domain = read_domain(sokoban)
    assert problem.domain_name == "sokoban"


def test_unified_planning_accepts_it(sokoban: str, written: str) -> None:
    from unified_planning.io import PDDLReader

    problem = PDDLReader().parse_problem_string(sokoban, written)
    assert {action.name for action in problem.actions} == {"move", "push"}


@pytest.mark.data
def test_development_data_of_acpbench_is_clean(test_data: Path) -> None:
    pairs = [
        (f"{file.parent.name} {item['id']}", item["PDDL_domain"], item["PDDL_problem"])
        for file in sorted((test_data / "acpbench").glob("*/dev.gen.json"))
        for item in json.loads(file.read_text(encoding="utf-8"))
    ]
    assert len(pairs) == 320
    wrong = {
        name: [str(d) for d in found.diagnostics]
        for name, domain, problem in pairs
        if not (found := check(domain, problem)).ok
    }
    assert wrong == {}


DELIVERY = """(define (domain delivery)
  (:requirements :strips :typing)
  (:types vehicle place - object truck van - vehicle)
  (:constants depot - place)
  (:predicates (at ?v - vehicle ?p - place) (blocked ?x - (either place truck)))
  (:action drive
    :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (at ?v ?a) (blocked ?a))
    :effect (and (at ?v ?b) (not (at ?v ?a)))))"""
TRIP = """(define (problem trip) (:domain delivery)
  (:objects T1 - truck v1 - van home - place)
  (:init (at T1 home) (at v1 home) (blocked home)) (:goal (and (at T1 depot) (at v1 depot))))"""


def test_names_are_the_same_in_any_case_and_keep_their_declared_spelling() -> None:
    domain = DELIVERY.replace("(at ?v ?a) (bl", "(AT ?V ?A) (bl").replace("(:action", "(:ACTION")
    problem = TRIP.replace("(at T1 home) (at", "(At t1 HOME) (at").replace("- truck", "- TRUCK")
    result = check(domain, problem.replace("(:domain delivery)", "(:Domain Delivery)"))
    assert [d.code for d in result.diagnostics] == ["planner-refuses"]  # `either` in a predicate
    assert result.problem is not None
    facts = [str(fact) for fact in result.problem.init]
    assert facts == ["(at T1 home)", "(at v1 home)", "(blocked home)"]
    assert result.problem.objects[0].types == ("truck",)
    action = result.problem.domain.actions["drive"]
    assert str(action.precondition) == "(and (at ?v ?a) (blocked ?a))"


@pytest.mark.parametrize(
    ("fact", "accepted"),
    [
        ("(at v1 depot)", True),  # a van is a vehicle, and depot a constant
        ("(at home depot)", False),
        ("(blocked depot)", True),
        ("(blocked T1)", True),
        ("(blocked v1)", False),  # neither a place nor a truck
    ],
)
def test_a_type_accepts_its_subtypes_and_either_each_of_its_types(
    fact: str, accepted: bool
) -> None:
    result = check(DELIVERY, TRIP.replace("(blocked home))", f"(blocked home) {fact})"))
    errors = [d.code for d in result.diagnostics if d.severity == "error"]
    assert errors == ([] if accepted else ["wrong-type"])


def test_an_untyped_name_is_no_more_than_an_object() -> None:
    untyped = TRIP.replace("home - place)", "home - place thing)")
    assert check(DELIVERY, untyped.replace("(at v1 home)", "(at v1 thing)")).ok is False
    domain = DELIVERY.replace("(blocked ?x - (either place truck))", "(blocked ?x)")
    assert check(domain, untyped.replace("(blocked home)", "(blocked thing)")).ok is True
