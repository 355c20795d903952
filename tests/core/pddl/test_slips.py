"""Slips that once gave several errors, or a misleading one: one error each, with what to write.

A case edits a pair of `variants`: `(name, pair, file, old, new)`, and gives the error, as
`(code, line, column)`, with words of its hint.
"""

from __future__ import annotations

from types import ModuleType

import pytest

from llm_modulo.pddl import check

Slip = tuple[str, str, str, str, str, tuple[str, int, int], str]

SLIPS: list[Slip] = [
    (
        "no section of types",
        "plain",
        "domain",
        "(:types a b - object c - a)",
        "",
        ("missing-section", 4, 19),
        "Write `(:types …)`.",
    ),
    (
        "no section of objects",
        "plain",
        "problem",
        "(:objects o1 o2 - a u - b w - c)",
        "",
        ("missing-section", 4, 13),
        "Write `(:objects …)`.",
    ),
    (
        "parameters without their list",
        "plain",
        "domain",
        "(?x - a ?y - b)\n",
        "",
        ("malformed", 7, 5),
        "",
    ),
    (
        "keyword :effect missing",
        "plain",
        "domain",
        ":effect",
        "",
        ("missing-section", 9, 6),
        "Write `:effect` before it.",
    ),
    (
        "keyword shortened",
        "plain",
        "domain",
        ":precondition",
        ":pre",
        ("unknown-section", 8, 5),
        "In its place PDDL has `:precondition`.",
    ),
    (
        "parameters called vars",
        "plain",
        "domain",
        ":parameters",
        ":vars",
        ("unknown-section", 7, 5),
        "In its place PDDL has `:parameters`.",
    ),
    (
        "effects as lists of added and deleted",
        "plain",
        "domain",
        ":effect (and (q ?y) (not (p ?x)))",
        ":add (q ?y) :delete (p ?x)",
        ("unknown-section", 9, 5),
        "Write `:effect (and (ADDED) (not (DELETED)))`.",
    ),
    (
        "keyword :parameters missing",
        "plain",
        "domain",
        ":parameters (",
        " (",
        ("missing-section", 7, 6),
        "Write `:parameters` before it.",
    ),
    (
        "requirements without colons",
        "plain",
        "domain",
        ":strips :typing",
        "strips typing",
        ("unknown-requirement", 2, 18),
        "Write `:strips :typing`.",
    ),
    (
        "objects in parentheses by type",
        "plain",
        "problem",
        "o1 o2 - a u - b w - c",
        "(o1 o2 - a) (u - b) (w - c)",
        ("malformed", 3, 13),
        "Drop the inner parentheses.",
    ),
    (
        "types in parentheses",
        "plain",
        "domain",
        "a b - object c - a",
        "(a b - object) (c - a)",
        ("malformed", 3, 11),
        "Drop the inner parentheses.",
    ),
    (
        "predicate's name before its parenthesis",
        "plain",
        "domain",
        "(:predicates (p ?x - a)",
        "(:predicates p (?x - a)",
        ("malformed", 5, 16),
        "Write `(p ?x …)`.",
    ),
    (
        "no spaces around the dash",
        "plain",
        "domain",
        "(?x - a ?y - b)",
        "(?x-a ?y-b)",
        ("malformed", 7, 18),
        "Write `?x - a`.",
    ),
    (
        "no space before the dash",
        "plain",
        "domain",
        "(?x - a ?y - b)",
        "(?x- a ?y - b)",
        ("malformed", 7, 18),
        "Write `?x - a`.",
    ),
    (
        "types before the variables",
        "plain",
        "domain",
        "(?x - a ?y - b)",
        "(a ?x b ?y)",
        ("malformed", 7, 18),
        "Write `?x - a`.",
    ),
    (
        "space after the question mark",
        "plain",
        "domain",
        "(?x - a ?y - b)",
        "(? x - a ?y - b)",
        ("malformed", 7, 18),
        "Write `?x`.",
    ),
    (
        "type inside a fact",
        "plain",
        "problem",
        "(p o2)",
        "(p o2 - a)",
        ("malformed", 4, 17),
        "Write the names without types.",
    ),
    (
        "negation by an exclamation mark",
        "plain",
        "domain",
        "(and (p ?x))",
        "(and (p ?x) !(z))",
        ("malformed", 8, 31),
        "Write `(not …)`.",
    ),
    (
        "and before words",
        "plain",
        "problem",
        "(and (q u))",
        "(and q u)",
        ("malformed", 5, 15),
        "Write `(q u)`.",
    ),
    (
        "variable of a predicate twice",
        "plain",
        "domain",
        "(r ?x ?y - object)",
        "(r ?x ?X - object)",
        ("duplicate-name", 5, 44),
        "",
    ),
    (
        "effects that add and del",
        "plain",
        "domain",
        "(and (q ?y) (not (p ?x)))",
        "(and (add (q ?y)) (del (p ?x)))",
        ("malformed", 9, 18),
        "Write `(FACT)` for what is added and `(not (FACT))` for what is deleted.",
    ),
    (
        "or in the initial state",
        "plain",
        "problem",
        "(p o2)",
        "(or (p o2) (p o1))",
        ("malformed", 4, 17),
        "State each fact by itself.",
    ),
    (
        "forall in the initial state",
        "plain",
        "problem",
        "(p o2)",
        "(forall (?x - a) (p ?x))",
        ("malformed", 4, 17),
        "State each fact by itself.",
    ),
    (
        "forall over words",
        "plain",
        "problem",
        "(q u)",
        "(forall ?b - b (q ?b))",
        ("malformed", 5, 15),
        "Put its variables in parentheses: `(forall (?x - TYPE) (…))`.",
    ),
    (
        "exists over words",
        "plain",
        "problem",
        "(q u)",
        "(exists ?z - a (p ?z))",
        ("malformed", 5, 15),
        "Put its variables in parentheses: `(exists (?x - TYPE) (…))`.",
    ),
    (
        "equality of three",
        "plain",
        "domain",
        "and (p ?x)",
        "and (p ?x) (= ?x k k)",
        ("malformed", 8, 31),
        "",
    ),
    (
        "goal of words",
        "plain",
        "problem",
        "(and (q u))",
        "q u",
        ("malformed", 5, 3),
        "Write the goal as a form in parentheses: `(:goal (PREDICATE OBJECT …))`.",
    ),
    (
        "value of a function without its parentheses",
        "costs",
        "problem",
        "(= (dist o1 u) 3)",
        "(= dist o1 u 3)",
        ("malformed", 4, 36),
        "Write `(= (FUNCTION …) NUMBER)`.",
    ),
    (
        "value missing",
        "costs",
        "problem",
        "(= (dist o1 u) 3)",
        "(= (dist o1 u))",
        ("malformed", 4, 36),
        "Write `(= (FUNCTION …) NUMBER)`.",
    ),
    (
        "value after an equals sign between",
        "costs",
        "problem",
        "(= (dist o1 u) 3)",
        "((dist o1 u) = 3)",
        ("infix-operator", 4, 36),
        "Write `(= (…) …)`.",
    ),
    (
        "value before its function",
        "costs",
        "problem",
        "(= (dist o1 u) 3)",
        "(= 3 (dist o1 u))",
        ("malformed", 4, 36),
        "Write `(= (FUNCTION …) NUMBER)`.",
    ),
    (
        "equality in the initial state",
        "costs",
        "problem",
        "(= (dist o1 u) 3)",
        "(= (dist o1 u) 3) (= o1 o1)",
        ("malformed", 4, 54),
        "Remove it.",
    ),
    (
        "type for a variable in a predicate",
        "plain",
        "domain",
        "(p ?x - a)",
        "(p a)",
        ("malformed", 5, 19),
        "Write `?x - a`.",
    ),
    (
        "increase under not",
        "costs",
        "domain",
        "(increase (total-cost) (dist ?x ?y))",
        "(not (increase (total-cost) (dist ?x ?y)))",
        ("malformed", 9, 43),
        "",
    ),
]


@pytest.mark.parametrize("slip", SLIPS, ids=[slip[0] for slip in SLIPS])
def test_a_slip_is_one_error_that_says_what_to_write(slip: Slip, variants: ModuleType) -> None:
    _, pair, file, old, new, place, hint = slip
    errors = [
        d
        for d in check(*variants.edited(pair, file, old, new)).diagnostics
        if d.severity == "error"
    ]
    assert [(d.file, d.code, d.line, d.column) for d in errors] == [(file, *place)]
    assert hint in (errors[0].hint or "")


def test_a_variable_may_hold_a_dash_before_the_name_of_a_type(variants: ModuleType) -> None:
    domain, problem = variants.PLAIN
    for old, new in [("?y - b)\n", "?to-b - b)\n"), ("(q ?y)", "(q ?to-b)")]:
        domain = domain.replace(old, new)
    assert check(domain, problem).ok
