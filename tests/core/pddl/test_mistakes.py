# ruff: noqa: E501  (a table, whose rows are texts)
"""Mistakes that people and language models make, each with its code and place.

A case edits the sound domain or problem below: `(name, file, old, new)`, and lists the
errors (or, for cases about warnings, all diagnostics) that must come back, in order:
`(code, line, column)`.
"""

from __future__ import annotations

import pytest

from llm_modulo.pddl import CODES, check

DOMAIN = """\
(define (domain sokoban)
  (:requirements :strips :typing)
  (:types location stone)
  (:predicates (at-player ?l - location)
               (at-stone ?s - stone ?l - location)
               (clear ?l - location)
               (adj ?a ?b - location))
  (:action move
    :parameters (?from ?to - location)
    :precondition (and (at-player ?from) (clear ?to) (adj ?from ?to))
    :effect (and (not (at-player ?from)) (not (clear ?to)) (at-player ?to) (clear ?from))))
"""
PROBLEM = """\
(define (problem p1)
  (:domain sokoban)
  (:objects a b c - location
            s1 - stone)
  (:init (at-player a)
         (clear b) (clear c)
         (adj a b) (adj b c)
         (at-stone s1 c))
  (:goal (and (at-player b))))
"""

Case = tuple[str, str, str, str, list[tuple[str, int, int]]]

CASES: list[Case] = [
    # the thirty mistakes that existing parsers were tried with
    (
        "last parenthesis missing",
        "domain",
        "?from))))\n",
        "?from)))\n",
        [("missing-parenthesis", 11, 91)],
    ),
    (
        "parenthesis missing in a precondition",
        "domain",
        "?to))\n",
        "?to)\n",
        [("missing-parenthesis", 10, 69)],
    ),
    (
        "parenthesis too many at the end",
        "problem",
        "b))))\n",
        "b)))))\n",
        [("extra-parenthesis", 9, 31)],
    ),
    (
        "parenthesis missing in :init",
        "problem",
        "(clear b)",
        "(clear b",
        [("missing-parenthesis", 6, 18)],
    ),
    (
        "undeclared object in :init",
        "problem",
        "(clear c)",
        "(clear zz)",
        [("undeclared-object", 6, 27)],
    ),
    (
        "undeclared predicate in a precondition",
        "domain",
        "(clear ?to) (adj",
        "(free ?to) (adj",
        [("undeclared-predicate", 10, 43)],
    ),
    (
        "undeclared predicate in :init",
        "problem",
        "(clear c)",
        "(free c)",
        [("undeclared-predicate", 6, 21)],
    ),
    (
        "argument too many in an effect",
        "domain",
        "(at-player ?to) (cl",
        "(at-player ?to ?from) (cl",
        [("wrong-arity", 11, 60)],
    ),
    ("argument missing in :init", "problem", "(adj a b)", "(adj a)", [("wrong-arity", 7, 10)]),
    (
        "wrong type in :init",
        "problem",
        "(at-stone s1 c)",
        "(at-stone a c)",
        [("wrong-type", 8, 20)],
    ),
    (
        "wrong type in a precondition",
        "domain",
        "(clear ?to) (adj",
        "(at-stone ?to ?from) (adj",
        [("wrong-type", 10, 52)],
    ),
    ("no :domain", "problem", "  (:domain sokoban)\n", "", [("missing-section", 1, 9)]),
    (
        "another domain's name",
        "problem",
        "(:domain sokoban)",
        "(:domain other)",
        [("domain-mismatch", 2, 12)],
    ),
    (
        "object declared twice",
        "problem",
        "a b c - location",
        "a b b c - location",
        [("duplicate-name", 3, 17)],
    ),
    (
        "undeclared object in the goal",
        "problem",
        "(and (at-player b))",
        "(and (at-player q9))",
        [("undeclared-object", 9, 26)],
    ),
    (
        "object of an undeclared type",
        "problem",
        "s1 - stone",
        "s1 - stoone",
        [("undeclared-type", 4, 18)],
    ),
    ("no space after the dash", "problem", "c - location", "c -location", [("bad-name", 3, 19)]),
    (
        "reserved word as predicate",
        "domain",
        "(clear ?l - location)",
        "(and ?l - location)",
        [("reserved-word", 6, 17)],
    ),
    (
        "commas between objects",
        "problem",
        "a b c - location",
        "a, b, c - location",
        [("comma", 3, 14)],
    ),
    (
        "unknown requirement",
        "domain",
        ":typing",
        ":typing :fluent",
        [("unknown-requirement", 2, 34)],
    ),
    (
        "undeclared variable",
        "domain",
        "(adj ?from ?to))",
        "(adj ?from ?tu))",
        [("undeclared-variable", 10, 65)],
    ),
    (
        "Markdown fence",
        "problem",
        "(define (problem p1)",
        "```pddl\n(define (problem p1)",
        [("markdown-fence", 1, 1)],
    ),
    (
        "and between two goals",
        "problem",
        "(and (at-player b))",
        "(at-player b) and (clear a)",
        [("infix-operator", 9, 3)],
    ),
    ("no goal", "problem", "  (:goal (and (at-player b))))", ")", [("missing-section", 9, 1)]),
    (
        "variable without question mark",
        "domain",
        "(clear ?to) (adj",
        "(clear to) (adj",
        [("undeclared-object", 10, 49)],
    ),
    (
        "no :parameters",
        "domain",
        "    :parameters (?from ?to - location)\n",
        "",
        [("missing-section", 8, 12)],
    ),
    (
        "action declared twice",
        "domain",
        "  (:action move",
        "  (:action move :parameters () :effect (and))\n  (:action move",
        [("duplicate-name", 9, 12)],
    ),
    # forty and more others
    ("domain's name given for its text", "domain", DOMAIN, "sokoban", [("not-pddl", 1, 1)]),
    ("empty text", "problem", PROBLEM, "", [("not-pddl", 1, 1)]),
    ("prose", "problem", PROBLEM, "The player has to move to b.", [("not-pddl", 1, 1)]),
    ("JSON", "problem", PROBLEM, '{"objects": ["a", "b"]}', [("not-pddl", 1, 1)]),
    ("domain and problem swapped", "problem", PROBLEM, DOMAIN, [("not-pddl", 1, 9)]),
    ("define misspelt", "problem", "(define (pro", "(defin (pro", [("malformed", 1, 2)]),
    ("no name of the problem", "problem", "(problem p1)", "(problem)", [("malformed", 1, 9)]),
    ("section misspelt", "problem", "(:init", "(:inti", [("unknown-section", 5, 4)]),
    (
        "section of a domain in a problem",
        "problem",
        "(:init",
        "(:predicates (x))\n  (:init",
        [("unknown-section", 5, 4)],
    ),
    (
        "colon of a section missing",
        "problem",
        "(:goal (and",
        "(goal (and",
        [("unknown-section", 9, 4)],
    ),
    (
        "section twice",
        "problem",
        "(:domain sokoban)",
        "(:domain sokoban) (:domain sokoban)",
        [("repeated-section", 2, 22)],
    ),
    (
        "two definitions",
        "problem",
        "b))))\n",
        "b))))\n(define (problem p2))\n",
        [("trailing-text", 10, 1)],
    ),
    (
        "init inside and",
        "problem",
        "(:init (at-player a)",
        "(:init (and (at-player a) (clear b))",
        [("malformed", 5, 10)],
    ),
    ("bare fact", "problem", "(clear b) (clear c)", "clear (clear c)", [("malformed", 6, 10)]),
    (
        "goal with two conditions",
        "problem",
        "(and (at-player b))",
        "(at-player b) (clear a)",
        [("malformed", 9, 3)],
    ),
    (
        "goal of two in a list",
        "problem",
        "(and (at-player b))",
        "((at-player b) (clear a))",
        [("malformed", 9, 10)],
    ),
    ("variable in :init", "problem", "(clear b)", "(clear ?b)", [("variable-in-init", 6, 17)]),
    (
        "parenthesis too many in :init",
        "problem",
        "(clear b)",
        "(clear b))",
        [("extra-parenthesis", 6, 19)],
    ),
    (
        "parenthesis too many in a condition",
        "domain",
        "(at-player ?from) (c",
        "(at-player ?from)) (c",
        [("extra-parenthesis", 10, 41)],
    ),
    (
        "parenthesis too many after an action",
        "domain",
        "(clear ?from))))\n",
        "(clear ?from)))\n  )\n  (:action wait :parameters () :effect (and)))\n",
        [("extra-parenthesis", 11, 90)],
    ),
    (
        "parenthesis missing after :objects",
        "problem",
        "s1 - stone)",
        "s1 - stone",
        [("missing-parenthesis", 4, 23)],
    ),
    (
        "parenthesis missing after :predicates",
        "domain",
        "?b - location))\n",
        "?b - location)\n",
        [("missing-parenthesis", 7, 38)],
    ),
    (
        "parenthesis missing after :parameters",
        "domain",
        "?to - location)\n",
        "?to - location\n",
        [("missing-parenthesis", 9, 38)],
    ),
    (
        "parenthesis missing after a negated effect",
        "domain",
        "(not (clear ?to))",
        "(not (clear ?to)",
        [("missing-parenthesis", 11, 58)],
    ),
    (
        "keyword of an action misspelt",
        "domain",
        ":precondition",
        ":preconditon",
        [("unknown-section", 10, 5)],
    ),
    (
        "keyword without value",
        "domain",
        ":effect (and (not (at-player ?from)) (not (clear ?to)) (at-player ?to) (clear ?from))",
        ":effect",
        [("malformed", 11, 5)],
    ),
    (
        "keyword twice",
        "domain",
        "    :effect",
        "    :precondition ()\n    :effect",
        [("repeated-section", 11, 5)],
    ),
    (
        "two effects side by side",
        "domain",
        "(clear ?from))))",
        "(clear ?from)) (clear ?to)))",
        [("malformed", 11, 91)],
    ),
    (
        "no type after the dash",
        "domain",
        "(?from ?to - location)",
        "(?from ?to -)",
        [("malformed", 9, 28)],
    ),
    ("action without name", "domain", "(:action move", "(:action", [("malformed", 8, 4)]),
    (
        "or as an effect",
        "domain",
        "(at-player ?to) (clear ?from)",
        "(or (at-player ?to) (clear ?from))",
        [("malformed", 11, 60)],
    ),
    (
        "not with two parts",
        "domain",
        "(not (clear ?to))",
        "(not clear ?to)",
        [("malformed", 11, 42)],
    ),
    (
        "type declared twice",
        "domain",
        "location stone",
        "location stone stone",
        [("duplicate-name", 3, 26)],
    ),
    (
        "types in a circle",
        "domain",
        "location stone",
        "location - stone stone - location",
        [("cyclic-type", 3, 11)],
    ),
    (
        "parameter of an undeclared type",
        "domain",
        "(?from ?to - location)",
        "(?from ?to - place)",
        [("undeclared-type", 9, 30)],
    ),
    (
        "predicate declared twice",
        "domain",
        "(clear ?l - location)",
        "(clear ?l - location) (clear ?l - location)",
        [("duplicate-name", 6, 39)],
    ),
    (
        "parameter twice",
        "domain",
        "(?from ?to - location)",
        "(?from ?to ?to - location)",
        [("duplicate-name", 9, 28)],
    ),
    (
        "parameter without question mark",
        "domain",
        "(?from ?to - location)",
        "(?from to - location)",
        [("malformed", 9, 24)],
    ),
    ("name starts with a digit", "problem", "(problem p1)", "(problem 1p)", [("bad-name", 1, 18)]),
    (
        "name with a dot",
        "problem",
        "s1 - stone)",
        "s.1 - stone)",
        [("bad-name", 4, 13), ("undeclared-object", 8, 20)],
    ),
    ("comment of C", "problem", "  (:init", "  // start\n  (:init", [("foreign-comment", 5, 3)]),
    (
        "comment of Python",
        "problem",
        "  (:init",
        "  # start\n  (:init",
        [("foreign-comment", 5, 3)],
    ),
    (
        "comment between slashes and stars",
        "problem",
        "  (:init",
        "  /* the\n start */ (:init",
        [("foreign-comment", 5, 3)],
    ),
    (
        "full-width parenthesis",
        "problem",
        "(clear b)",
        "（clear b)",
        [("lookalike-character", 6, 10)],
    ),
    ("long dash", "problem", "c - location", "c – location", [("lookalike-character", 3, 19)]),
    ("no-break space", "problem", "(clear b)", "(clear\u00a0b)", [("stray-character", 6, 16)]),
    (
        "byte-order mark",
        "problem",
        "(define (pro",
        "\ufeff(define (pro",
        [("stray-character", 1, 1)],
    ),
    ("NUL byte", "problem", "(clear b)", "(clear\0b)", [("stray-character", 6, 16)]),
    (
        "letter with an accent",
        "problem",
        "(problem p1)",
        "(problem próblema)",
        [("bad-name", 1, 18)],
    ),
    ("line breaks as two characters", "problem", "\n", "\\n", [("escaped-text", 1, 21)]),
    (
        "every use contradicts a declaration",
        "domain",
        "(adj ?a ?b - location)",
        "(adj ?a - location)",
        [("wrong-arity", 10, 54)],
    ),
    (
        "undeclared predicate used often",
        "problem",
        "(clear b) (clear c)",
        "(free a) (free b) (free c)",
        [("undeclared-predicate", 6, 11)],
    ),
    (
        "function in no list",
        "problem",
        "(clear b)",
        "(= (total-cost) 0)",
        [("undeclared-function", 6, 14)],
    ),
    (
        "equality with one side",
        "problem",
        "(and (at-player b))",
        "(and (= a) (at-player b))",
        [("malformed", 9, 15)],
    ),
    (
        "not with two conditions",
        "domain",
        "(clear ?to) (adj",
        "(not (clear ?to) (clear ?from)) (adj",
        [("malformed", 10, 42)],
    ),
    (
        "connective misspelt",
        "problem",
        "(and (at-p",
        "(adn (at-p",
        [("undeclared-predicate", 9, 11)],
    ),
    ("goal of an empty form", "problem", "(and (at-player b))", "()", [("malformed", 9, 10)]),
    (
        "quantifier without variables",
        "problem",
        "(and (at-player b))",
        "(forall (clear b))",
        [("malformed", 9, 10)],
    ),
    (
        "not PDDL before the definition",
        "problem",
        "(define (pro",
        "Here is the problem:\n(define (pro",
        [("trailing-text", 1, 1)],
    ),
    (
        "requirements after the goal",
        "problem",
        "  (:goal (and (at-player b))))",
        "  (:goal (and (at-player b)))\n  (:requirements :strips))",
        [("misplaced-section", 10, 4)],
    ),
    (
        "constants after the predicates",
        "domain",
        "               (adj ?a ?b - location))\n",
        "               (adj ?a ?b - location))\n  (:constants home - location)\n",
        [("misplaced-section", 8, 4)],
    ),
    (
        "parameters last",
        "domain",
        "    :parameters (?from ?to - location)\n    :precondition (and (at-player ?from) (clear ?to) (adj ?from ?to))",
        "    :precondition (and (at-player ?from) (clear ?to) (adj ?from ?to))\n    :parameters (?from ?to - location)",
        [("misplaced-section", 10, 5)],
    ),
    (
        "facts written as calls",
        "problem",
        "(clear b) (clear c)",
        "clear(b) clear(c)",
        [("malformed", 6, 10)],
    ),
    (
        "condition written as a call",
        "domain",
        "(clear ?to) (adj",
        "clear(?to) (adj",
        [("malformed", 10, 42)],
    ),
    (
        "goal written as a call",
        "problem",
        "(and (at-player b))",
        "at-player(b)",
        [("malformed", 9, 10)],
    ),
    (
        "negation written as a call",
        "domain",
        "(not (clear ?to))",
        "not(clear ?to)",
        [("malformed", 11, 42)],
    ),
    (
        "parameters without parentheses",
        "domain",
        "(?from ?to - location)",
        "?from ?to - location",
        [("malformed", 9, 17)],
    ),
    (
        "precondition without parentheses",
        "domain",
        "(and (at-player ?from) (clear ?to) (adj ?from ?to))",
        "at-player ?from",
        [("malformed", 10, 19)],
    ),
    (
        "parameters with colons",
        "domain",
        "(?from ?to - location)",
        "(?from: location ?to: location)",
        [("malformed", 9, 18)],
    ),
    ("object with a colon", "problem", "s1 - stone", "s1:stone", [("malformed", 4, 13)]),
    ("objects without a dash", "problem", "s1 - stone", "s1 stone", [("malformed", 4, 16)]),
    (
        "parameters without a dash",
        "domain",
        "(?from ?to - location)",
        "(?from ?to location)",
        [("malformed", 9, 28)],
    ),
    (
        "domain without its parentheses",
        "domain",
        "(define (domain sokoban)",
        "(define domain sokoban",
        [("malformed", 1, 9)],
    ),
    ("fact that equals true", "problem", "(clear b)", "(= (clear b) true)", [("malformed", 6, 10)]),
    (
        "condition that equals true",
        "domain",
        "(clear ?to) (adj",
        "(= (clear ?to) true) (adj",
        [("malformed", 10, 42)],
    ),
    (
        "comparison between its terms",
        "domain",
        "(clear ?to) (adj",
        "(?from != ?to) (clear ?to) (adj",
        [("infix-operator", 10, 42)],
    ),
    (
        "two equals signs",
        "domain",
        "(clear ?to) (adj",
        "(== ?from ?to) (adj",
        [("infix-operator", 10, 42)],
    ),
    (
        "predicate declared without parentheses",
        "domain",
        "(clear ?l - location)",
        "clear ?l - location",
        [("malformed", 6, 16)],
    ),
    (
        "facts without parentheses",
        "problem",
        "(adj a b) (adj b c)",
        "adj a b (adj b c)",
        [("malformed", 7, 10)],
    ),
    ("list in brackets", "problem", "s1 - stone", "[s1] - stone", [("stray-character", 4, 13)]),
    ("names in quotes", "problem", "(problem p1)", '(problem "p1")', [("stray-character", 1, 18)]),
    (
        "question mark missing everywhere",
        "domain",
        "(?from ?to - location)",
        "(from ?to - location)",
        [("malformed", 9, 18)],
    ),
    (
        "variable that starts with a digit",
        "domain",
        "(?from ?to - location)",
        "(?from ?2 ?to - location)",
        [("bad-name", 9, 24)],
    ),
    ("object with a question mark", "problem", "s1 - stone", "?s1 - stone", [("bad-name", 4, 13)]),
    (
        "fact true and false",
        "problem",
        "(clear b)",
        "(clear b) (not (clear b))",
        [("contradictory-init", 6, 20)],
    ),
    (
        "quantifier over nothing",
        "problem",
        "(and (at-player b))",
        "(exists () (at-player b))",
        [("malformed", 9, 18)],
    ),
    (
        "requirement without a name",
        "domain",
        "(:requirements :strips :typing)",
        "(:requirements)",
        [("malformed", 2, 3)],
    ),
    (
        "unknown requirement of a problem",
        "problem",
        "(:domain sokoban)",
        "(:domain sokoban) (:requirements :typed)",
        [("unknown-requirement", 2, 36)],
    ),
    (
        "type called number",
        "domain",
        "location stone",
        "location stone number",
        [("reserved-word", 3, 26)],
    ),
    (
        "untyped parameters",
        "domain",
        "(?from ?to - location)",
        "(?from ?to)",
        [("wrong-type", 9, 18), ("wrong-type", 9, 24)],
    ),
    (
        "one parameter of another type",
        "domain",
        "(?from ?to - location)",
        "(?from - stone ?to - location)",
        [("wrong-type", 9, 18)],
    ),
    (
        "object of another type, used twice",
        "problem",
        "a b c - location",
        "a b - location c - stone",
        [("wrong-type", 3, 28)],
    ),
    ("wrong type in a goal", "problem", "(at-player b)", "(at-player s1)", [("wrong-type", 9, 26)]),
    (
        "wrong type in an effect",
        "domain",
        "(at-player ?to) (clear ?from)",
        "(at-stone ?to ?to) (clear ?from)",
        [("wrong-type", 11, 70)],
    ),
    ("swapped arguments", "problem", "(at-stone s1 c)", "(at-stone c s1)", [("wrong-type", 8, 20)]),
    (
        "derived predicate in an effect",
        "domain",
        "  (:action",
        "  (:derived (clear ?l) (at-player ?l))\n  (:action",
        [("derived-fact", 12, 47)],
    ),
    (
        "metric without parentheses",
        "problem",
        "b))))\n",
        "b)))\n  (:metric minimize total-cost))\n",
        [("malformed", 10, 21)],
    ),
    (
        "goal before the initial state",
        "problem",
        "  (:init (at-player a)\n         (clear b) (clear c)\n         (adj a b) (adj b c)\n         (at-stone s1 c))\n  (:goal (and (at-player b))))\n",
        "  (:goal (and (at-player b)))\n  (:init (at-player a)\n         (clear b) (clear c)\n         (adj a b) (adj b c)\n         (at-stone s1 c)))\n",
        [("misplaced-section", 6, 4)],
    ),
    (
        "effect before the precondition",
        "domain",
        "    :precondition (and (at-player ?from) (clear ?to) (adj ?from ?to))\n    :effect (and (not (at-player ?from)) (not (clear ?to)) (at-player ?to) (clear ?from))))\n",
        "    :effect (and (at-player ?to))\n    :precondition (and (at-player ?from)))\n  )\n",
        [("misplaced-section", 11, 5)],
    ),
]


def edited(file: str, old: str, new: str) -> tuple[str, str]:
    """The two texts after replacing every `old` of one line, or the first of several."""
    texts = {"domain": DOMAIN, "problem": PROBLEM}
    assert old in texts[file]
    count = -1 if old == "\n" else 1
    texts[file] = texts[file].replace(old, new, count)
    return texts["domain"], texts["problem"]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_a_mistake_is_reported_once_at_its_place(case: Case) -> None:
    _, file, old, new, expected = case
    found = [d for d in check(*edited(file, old, new)).diagnostics if d.severity == "error"]
    assert [(d.code, d.line, d.column) for d in found] == expected
    assert all(d.file == file for d in found)


REMARKS: list[Case] = [
    ("nothing wrong", "problem", "(clear b)", "(clear b)", []),
    ("negated initial fact", "problem", "(clear c)", "(not (clear c))", [("negative-init", 6, 20)]),
    ("requirement :typing missing", "domain", " :typing", "", [("undeclared-requirement", 1, 9)]),
    (
        "requirement :negative-preconditions missing",
        "domain",
        "(clear ?to) (adj",
        "(not (clear ?to)) (adj",
        [("undeclared-requirement", 1, 9)],
    ),
    (
        "fact stated twice",
        "problem",
        "(clear b)",
        "(clear b) (clear b)",
        [("repeated-fact", 6, 20)],
    ),
    ("goal holds already", "problem", "(at-player b))", "(at-player a))", [("goal-holds", 9, 3)]),
    ("empty goal", "problem", "(and (at-player b))", "(and)", [("empty-goal", 9, 3)]),
    (
        "goal on a static fact that is false",
        "problem",
        "(and (at-player b))",
        "(and (at-player b) (adj c a))",
        [("goal-out-of-reach", 9, 29)],
    ),
    ("object nobody mentions", "problem", "a b c -", "a b c d -", [("unused-object", 3, 19)]),
    (
        "static facts missing",
        "problem",
        "         (adj a b) (adj b c)\n",
        "",
        [("never-applicable", 5, 4)],
    ),
    (
        "type without objects",
        "domain",
        "(?from ?to - location)",
        "(?from ?to - location ?s - shop)",
        [("empty-type", 5, 4), ("unused-parameter", 8, 12)],
    ),
    (
        "parameter never used",
        "domain",
        "(?from ?to - location)",
        "(?from ?to ?via - location)",
        [("unused-parameter", 8, 12)],
    ),
    (
        "object called like a predicate",
        "problem",
        "a b c - location",
        "a b c clear - location",
        [("name-clash", 3, 19), ("unused-object", 3, 19)],
    ),
    (
        "action called like a predicate",
        "domain",
        "(:action move",
        "(:action clear",
        [("name-clash", 8, 12)],
    ),
    (
        "predicate called like a type",
        "domain",
        "(clear ?l - location)\n",
        "(clear ?l - location) (stone ?l - location)\n",
        [("name-clash", 6, 38)],
    ),
    (
        "constant called like a type",
        "domain",
        "  (:predicates",
        "  (:constants stone - stone)\n  (:predicates",
        [("name-clash", 4, 15)],
    ),
    (
        "type that is only a parent",
        "domain",
        "location stone)\n  (:predicates (at-player ?l - location)",
        "location stone - thing)\n  (:predicates (at-player ?l - object)",
        [("planner-refuses", 10, 35)],
    ),
    (
        "two types for an object",
        "problem",
        "s1 - stone",
        "s1 - stone s2 - (either stone location)",
        [("planner-refuses", 4, 24), ("unused-object", 4, 24)],
    ),
    (
        "requirement that a planner refuses unused",
        "domain",
        ":typing)",
        ":typing :numeric-fluents)",
        [("planner-refuses", 2, 34)],
    ),
    (
        "metric that a planner refuses",
        "problem",
        "b))))",
        "b)))\n  (:metric minimize (total-time)))",
        [("planner-refuses", 10, 21)],
    ),
]


@pytest.mark.parametrize("case", REMARKS, ids=[case[0] for case in REMARKS])
def test_a_remark_does_not_make_a_text_wrong(case: Case) -> None:
    name, file, old, new, expected = case
    domain, problem = edited(file, old, new)
    if name == "type without objects":
        domain = domain.replace("location stone)", "location stone shop)")
    result = check(domain, problem)
    assert result.ok
    assert sorted((d.code, d.line, d.column) for d in result.diagnostics) == expected


def test_every_code_is_provoked_and_has_its_severity() -> None:
    seen: dict[str, str] = {}
    for _, file, old, new, _ in [*CASES, *REMARKS]:
        for found in check(*edited(file, old, new)).diagnostics:
            seen[found.code] = found.severity
    deep = check(DOMAIN, PROBLEM.replace("(at-player b)", "(and " * 300 + ")" * 300))
    numeric = DOMAIN.replace("(:action", "(:functions (fuel)) (:action").replace(
        "(at-player ?to) (cl", "(decrease (fuel) 1) (at-player ?to) (cl"
    )
    empty = check(numeric, PROBLEM.replace(":init (at-player a)", ":init (= (fuel) 3)"))
    bare = check(DOMAIN, "(define (problem p) (:domain sokoban) (:init) (:goal (clear x)))")
    shop = check(
        DOMAIN.replace("location stone)", "location stone shop)").replace(
            "(?from ?to - location)", "(?from ?to - location ?s - shop)"
        ),
        PROBLEM,
    )
    derived = DOMAIN.replace("(clear ?l - location)", "(clear ?l - location) (far ?l - location)")
    derived = derived.replace("  (:action", "  (:derived (far ?l) (not (far ?l)))\n  (:action")
    cyclic = check(derived, PROBLEM)
    assert [(d.code, d.line) for d in cyclic.diagnostics if d.severity == "error"] == [
        ("unstratified", 8)
    ]
    large = check("(define (domain d)" + " x" * 200_001)
    many = check(DOMAIN + " )" * 10_001)
    for result in (deep, empty, bare, shop, cyclic, large, many):
        seen |= {d.code: d.severity for d in result.diagnostics}
    assert seen == {code: CODES[code][0] for code in CODES}
