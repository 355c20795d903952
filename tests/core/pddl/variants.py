"""Texts near a sound one: every order, list, number and name that readers disagree on.

A variant edits one of two sound pairs of texts: `(name, pair, file, old, new)`.
"""

# ruff: noqa: E501  (a table, whose rows are texts)
from __future__ import annotations

PLAIN = (
    """\
(define (domain d)
  (:requirements :strips :typing)
  (:types a b - object c - a)
  (:constants k - a)
  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))
  (:action go
    :parameters (?x - a ?y - b)
    :precondition (and (p ?x))
    :effect (and (q ?y) (not (p ?x)))))
""",
    """\
(define (problem e)
  (:domain d)
  (:objects o1 o2 - a u - b w - c)
  (:init (p o1) (p o2) (r o1 u))
  (:goal (and (q u))))
""",
)
COSTS = (
    """\
(define (domain d)
  (:requirements :strips :typing :action-costs)
  (:types a b - object)
  (:predicates (p ?x - a) (q ?x - b))
  (:functions (total-cost) - number (dist ?x - a ?y - b) - number)
  (:action go
    :parameters (?x - a ?y - b)
    :precondition (and (p ?x))
    :effect (and (q ?y) (not (p ?x)) (increase (total-cost) (dist ?x ?y)))))
""",
    """\
(define (problem e)
  (:domain d)
  (:objects o1 - a u - b)
  (:init (p o1) (= (total-cost) 0) (= (dist o1 u) 3))
  (:goal (and (q u)))
  (:metric minimize (total-cost)))
""",
)

VARIANTS: list[tuple[str, str, str, str, str]] = [
    (
        "goal before init",
        "plain",
        "problem",
        "init (p o1) (p o2) (r o1 u))\n  (:goal (and (q u)",
        "goal (and (q u)))\n  (:init (p o1) (p o2) (r o1 u",
    ),
    (
        "objects after init",
        "plain",
        "problem",
        "objects o1 o2 - a u - b w - c)\n  (:init (p o1) (p o2) (r o1 u)",
        "init (p o1) (p o2) (r o1 u))\n  (:objects o1 o2 - a u - b w - c",
    ),
    (
        "domain last",
        "plain",
        "problem",
        "domain d)\n  (:objects o1 o2 - a u - b w - c)\n  (:init (p o1) (p o2) (r o1 u))\n  (:goal (and (q u))",
        "objects o1 o2 - a u - b w - c)\n  (:init (p o1) (p o2) (r o1 u))\n  (:goal (and (q u)))\n  (:domain d",
    ),
    ("req in problem", "plain", "problem", "d)", "d) (:requirements :strips)"),
    (
        "req after objects in problem",
        "plain",
        "problem",
        "c)\n  (:",
        "c)\n  (:requirements :strips)\n  (:",
    ),
    (
        "req before domain in problem",
        "plain",
        "problem",
        "e)\n  (:",
        "e)\n  (:requirements :strips) (:",
    ),
    (
        "req after types",
        "plain",
        "domain",
        "requirements :strips :typing)\n  (:types a b - object c - a",
        "types a b - object c - a)\n  (:requirements :strips :typing",
    ),
    (
        "predicates before types",
        "plain",
        "domain",
        "types a b - object c - a)\n  (:constants k - a)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z)",
        "constants k - a)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))\n (:types a b - object c - a",
    ),
    (
        "predicates before constants",
        "plain",
        "domain",
        "constants k - a)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z)",
        "predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))\n (:constants k - a",
    ),
    (
        "constants before types",
        "plain",
        "domain",
        "types a b - object c - a)\n  (:constants k",
        "constants k - a)\n  (:types a b - object c",
    ),
    (
        "action before predicates",
        "plain",
        "domain",
        "predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))\n  (:action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x)))))\n",
        "action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x))))\n (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z)))",
    ),
    (
        "functions before predicates",
        "costs",
        "domain",
        "predicates (p ?x - a) (q ?x - b))\n  (:functions (total-cost) - number (dist ?x - a ?y - b) - number",
        "functions (total-cost) - number (dist ?x - a ?y - b) - number)\n  (:predicates (p ?x - a) (q ?x - b)",
    ),
    (
        "metric before goal",
        "costs",
        "problem",
        "goal (and (q u)))\n  (:metric minimize (total-cost))",
        "metric minimize (total-cost))\n  (:goal (and (q u)))\n",
    ),
    (
        "effect before precondition",
        "plain",
        "domain",
        "precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x)",
        "effect (and (q ?y) (not (p ?x)))\n    :precondition (and (p ?x",
    ),
    (
        "precondition before parameters",
        "plain",
        "domain",
        "parameters (?x - a ?y - b)\n    :precondition (and (p ?x)",
        "precondition (and (p ?x))\n    :parameters (?x - a ?y - b",
    ),
    ("either param", "plain", "domain", "(?x - a", "(?x - (either a c)"),
    ("either predicate", "plain", "domain", " ?x - a", " ?x - (either a b)"),
    (
        "either quantifier",
        "plain",
        "domain",
        "and (p ?x)",
        "and (p ?x) (exists (?t - (either a b)) (r ?t ?y))",
    ),
    ("either types", "plain", "domain", "c - a", "c - (either a b)"),
    ("either object", "plain", "problem", " c", " (either c b)"),
    ("either constants", "plain", "domain", "k - a", "k - (either a b)"),
    ("fractional cost init", "costs", "problem", "3", "2.5"),
    ("3.0 cost init", "costs", "problem", "3", "3.0"),
    ("negative cost init", "costs", "problem", "u) ", "u) -"),
    ("fractional inc", "costs", "domain", "(dist ?x ?y)", "1.5"),
    ("negative inc", "costs", "domain", "(dist ?x ?y)", "-1"),
    ("inc arithmetic", "costs", "domain", "dist ?x ?y", "+ (dist ?x ?y) 1"),
    ("decrease cost", "costs", "domain", "(increase", "(decrease"),
    ("initial cost 5", "costs", "problem", "0", "5"),
    ("no initial cost", "costs", "problem", "(= (total-cost) 0)", ""),
    ("missing dist value", "costs", "problem", "(= (dist o1 u) 3)", ""),
    ("total-time", "plain", "problem", ")))", "))) (:metric minimize (total-time))"),
    ("total-time bare", "plain", "problem", ")))", "))) (:metric minimize total-time)"),
    ("maximize cost", "costs", "problem", "minimize", "maximize"),
    ("metric expr", "costs", "problem", "minimize (total-cost", "minimize (+ (total-cost) 1"),
    ("metric bare total-cost", "costs", "problem", "minimize (total-cost)", "minimize total-cost"),
    ("metric const", "costs", "problem", "minimize (total-cost)", "minimize 1"),
    (
        "metric without cost declared",
        "plain",
        "problem",
        ")))",
        "))) (:metric minimize (total-cost))",
    ),
    ("two conditional increases", "costs", "domain", "y))", "y)) (increase (total-cost) 1)"),
    (
        "increase in when",
        "costs",
        "domain",
        "increase (total-cost) (dist ?x ?y",
        "when (q ?y) (increase (total-cost) 1",
    ),
    (
        "increase in forall",
        "costs",
        "domain",
        "increase (total-cost) (dist ?x ?y",
        "forall (?t - a) (increase (total-cost) 1",
    ),
    ("true and negated fact", "plain", "problem", "o1) (", "o1) (not (p o1)) ("),
    ("negated then true", "plain", "problem", "init (", "init (not (p o1)) ("),
    ("negated other", "plain", "problem", "o1) (", "o1) (not (p w)) ("),
    ("two values", "costs", "problem", "3)", "3) (= (dist o1 u) 4)"),
    ("value twice", "costs", "problem", "3)", "3) (= (dist o1 u) 3)"),
    ("fact twice", "plain", "problem", ") (p o2", ") (p o1) (p o2"),
    ("exists ()", "plain", "problem", "and", "exists ()"),
    ("forall ()", "plain", "problem", "and", "forall ()"),
    ("forall () effect", "plain", "domain", "q ?y", "forall () (q ?y)"),
    (
        "derived changed",
        "plain",
        "domain",
        "action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y",
        "derived (z) (p k))\n  (:action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (z",
    ),
    ("derived ok", "plain", "domain", "))\n  (:", "))\n  (:derived (z) (p k))\n  (:"),
    ("derived after action", "plain", "domain", ")))\n", "))\n  (:derived (z) (p k)))"),
    (
        "derived negative cycle",
        "plain",
        "domain",
        "))\n  (:",
        "))\n  (:derived (z) (not (z)))\n  (:",
    ),
    ("derived head consts", "plain", "domain", "))\n  (:", "))\n  (:derived (p k) (z))\n  (:"),
    (
        "derived head repeated",
        "plain",
        "domain",
        "))\n  (:",
        "))\n  (:derived (r ?x ?x) (z))\n  (:",
    ),
    ("derived head arity", "plain", "domain", "))\n  (:", "))\n  (:derived (r ?x) (z))\n  (:"),
    ("derived head type", "plain", "domain", "))\n  (:", "))\n  (:derived (q ?x - a) (z))\n  (:"),
    ("action like predicate", "plain", "domain", "go", "z"),
    ("action like type", "plain", "domain", "go", "a"),
    ("action like object", "plain", "domain", "go", "o1"),
    ("action like constant", "plain", "domain", "go", "k"),
    ("action like domain", "plain", "domain", "go", "d"),
    ("predicate like type", "plain", "domain", "z", "a ?x"),
    ("predicate like object", "plain", "domain", "z", "o1"),
    ("object like type", "plain", "problem", "w", "a"),
    ("constant like type", "plain", "domain", "k", "a"),
    ("constant like predicate", "plain", "domain", "k", "z"),
    ("object like domain", "plain", "problem", "w", "d"),
    ("object like problem", "plain", "problem", "w", "e"),
    (
        "function like predicate",
        "costs",
        "domain",
        "functions (",
        "functions (p ?x - a) - number (",
    ),
    ("function like type", "costs", "domain", "functions (", "functions (a) - number ("),
    ("function like object", "costs", "domain", "functions (", "functions (o1) - number ("),
    ("function like action", "costs", "domain", "functions (", "functions (go) - number ("),
    ("variable like object", "plain", "problem", "w", "x"),
    ("types - top", "plain", "domain", "b - object", "b - top"),
    (
        "types - top with object pred",
        "plain",
        "domain",
        "object c - a)\n  (:constants k - a)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object",
        "top c - a)\n  (:constants k - a)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y",
    ),
    ("types object declared", "plain", "domain", "types ", "types object "),
    ("types object first", "plain", "domain", "a b - object", "object a b"),
    ("types child before parent", "plain", "domain", "a b - object c - a", "c - a a b - object"),
    (
        "types child before parent undeclared",
        "plain",
        "domain",
        "a b - object c - a",
        "c - a b - object",
    ),
    ("type number", "plain", "domain", "b ", "b number "),
    ("duplicate type", "plain", "domain", "b ", "b a "),
    ("untyped types", "plain", "domain", "- object c - a", "c"),
    ("empty types", "plain", "domain", " a b - object c - a", ""),
    ("no typing req", "plain", "domain", " :typing", ""),
    ("no requirements", "plain", "domain", "(:requirements :strips :typing)", ""),
    ("empty requirements", "plain", "domain", " :strips :typing", ""),
    (
        "empty objects",
        "plain",
        "problem",
        " o1 o2 - a u - b w - c)\n  (:init (p o1) (p o2) (r o1 u))\n  (:goal (and (q u",
        ")\n  (:init (p k))\n  (:goal (and (p k",
    ),
    (
        "no objects",
        "plain",
        "problem",
        "(:objects o1 o2 - a u - b w - c)\n  (:init (p o1) (p o2) (r o1 u))\n  (:goal (and (q u",
        "\n  (:init (p k))\n  (:goal (and (p k",
    ),
    ("empty constants", "plain", "domain", " k - a", ""),
    ("no init facts", "plain", "problem", "(p o1) (p o2) (r o1 u)", ""),
    ("empty and goal", "plain", "problem", " (q u)", ""),
    ("empty goal form", "plain", "problem", "and (q u)", ""),
    ("empty or goal", "plain", "problem", "and (q u)", "or"),
    ("not not goal", "plain", "problem", "and (q u", "not (not (q u)"),
    ("goal eq", "plain", "problem", "q u)", "q u) (= u u)"),
    ("goal imply", "plain", "problem", "and", "imply (p o1)"),
    ("goal single", "plain", "problem", "and (q u)", "q u"),
    ("empty precondition", "plain", "domain", "and (p ?x)", ""),
    ("no precondition", "plain", "domain", "precondition (and (p ?x))\n    :", ""),
    ("empty and precondition", "plain", "domain", "and (p ?x)", "and"),
    ("empty effect", "plain", "domain", "and (q ?y) (not (p ?x))", ""),
    ("empty and effect", "plain", "domain", " (q ?y) (not (p ?x))", ""),
    ("no effect", "plain", "domain", "    :effect (and (q ?y) (not (p ?x)))", ""),
    (
        "empty parameters",
        "plain",
        "domain",
        "?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x",
        ")\n    :precondition (and (p k))\n    :effect (and (z) (not (p k",
    ),
    (
        "no parameters kw",
        "plain",
        "domain",
        "parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x",
        "precondition (and (p k))\n    :effect (and (not (p k",
    ),
    ("vars in actions untyped", "plain", "domain", "- a ?y - b", "?y"),
    ("narrower param needed", "plain", "domain", "(?x - a", "(?x - object"),
    ("wrong type atom", "plain", "problem", "p o1", "p u"),
    ("supertype const", "plain", "domain", " ?x - a", " ?x - c"),
    ("nested and", "plain", "domain", "and (p ?x", "and (and (p ?x)"),
    ("and in effect nested", "plain", "domain", "q ?y", "and (q ?y)"),
    ("when in when", "plain", "domain", "q ?y", "when (p ?x) (when (z) (q ?y))"),
    ("forall in when", "plain", "domain", "q ?y", "when (p ?x) (forall (?t - b) (q ?t))"),
    ("when and effect", "plain", "domain", "q ?y", "when (p ?x) (and (q ?y) (z))"),
    ("quantifier shadow", "plain", "domain", "and (p ?x)", "and (p ?x) (exists (?x - b) (q ?x))"),
    (
        "param twice diff",
        "plain",
        "domain",
        ")\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))\n  (:action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y",
        " u2 - b)\n  (:predicates (p ?x - a) (q ?x - b) (r ?x ?y - object) (z))\n  (:action go\n    :parameters (?x - a ?x - b)\n    :precondition (and (p ?x))\n    :effect (and (q u2",
    ),
    ("const in action", "plain", "domain", "and (p ?x", "and (p k"),
    ("object in action not const", "plain", "domain", "and (p ?x", "and (p o1"),
    ("name digits", "plain", "problem", "b ", "b 1"),
    ("name underscore first", "plain", "problem", "b ", "b _"),
    ("name underscore", "plain", "problem", "w", "w_1"),
    ("name dot", "plain", "problem", "w", "w.1"),
    ("name at", "plain", "problem", "w", "w@1"),
    ("name unicode", "plain", "problem", "w", "wé"),
    ("name dash end", "plain", "problem", "w", "w-"),
    (
        "var digits",
        "plain",
        "domain",
        "x - a) (q ?x - b) (r ?x ?y - object) (z))\n  (:action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x",
        "1 - a) (q ?1 - b) (r ?1 ?y - object) (z))\n  (:action go\n    :parameters (?1 - a ?y - b)\n    :precondition (and (p ?1))\n    :effect (and (q ?y) (not (p ?1",
    ),
    (
        "var dash",
        "plain",
        "domain",
        " - a) (q ?x - b) (r ?x ?y - object) (z))\n  (:action go\n    :parameters (?x - a ?y - b)\n    :precondition (and (p ?x))\n    :effect (and (q ?y) (not (p ?x",
        "-y - a) (q ?x-y - b) (r ?x-y ?y - object) (z))\n  (:action go\n    :parameters (?x-y - a ?y - b)\n    :precondition (and (p ?x-y))\n    :effect (and (q ?y) (not (p ?x-y",
    ),
    ("equality precond", "plain", "domain", "and (p ?x)", "and (p ?x) (= ?x k)"),
    ("negated equality", "plain", "domain", "and (p ?x)", "and (p ?x) (not (= ?x k))"),
    ("predicate =", "plain", "domain", "z", "= ?x ?y"),
    ("equality in init", "plain", "problem", "o1) (", "o1) (= o1 o1) ("),
    ("equality effect", "plain", "domain", "y) (", "y) (= ?x ?y) ("),
    ("constraints domain", "plain", "domain", "))\n  (:", "))\n  (:constraints (and))\n (:"),
    ("constraints problem", "plain", "problem", ")))", "))) (:constraints (always (z)))"),
    ("preferences", "plain", "problem", "q u", "preference f (q u)"),
    ("tils", "plain", "problem", "o1) (", "o1) (at 5 (p w)) ("),
    (
        "durative",
        "plain",
        "domain",
        ")))\n",
        "))(:durative-action w :parameters (?x - a) :duration (= ?duration 5) :condition (at start (p ?x)) :effect (at end (not (p ?x)))))",
    ),
    ("numeric", "costs", "domain", "total-cost) (dist ?x ?y)", "dist ?x ?y) 1"),
    ("numeric precond", "costs", "domain", "and (p ?x)", "and (p ?x) (> (dist ?x ?y) 1)"),
    ("numeric goal", "costs", "problem", "q u)", "q u) (< (dist o1 u) 7)"),
    ("object fluent", "costs", "domain", "number (", "number (loc ?x - a) - b ("),
    (
        "functions untyped",
        "costs",
        "domain",
        "- number (dist ?x - a ?y - b) - number",
        "(dist ?x - a ?y - b)",
    ),
    ("empty functions", "plain", "domain", "))\n  (:", "))\n  (:functions)\n  (:"),
    ("goal negated", "plain", "problem", "q u)", "q u) (not (p o1))"),
    ("goal forall", "plain", "problem", "and (q u", "forall (?t - b) (q ?t"),
    ("problem name missing", "plain", "problem", " e", ""),
    ("length section", "plain", "problem", ")))", "))) (:length (:serial 5))"),
    ("duplicate object and constant same type", "plain", "problem", "w - c", "k - a"),
    ("effect contradictory", "plain", "domain", "q ?y) (not (p ?x)", "p ?x) (not (p ?x)) (q ?y"),
    ("negated cond effect dup", "plain", "domain", "y) (", "y) (q ?y) ("),
    ("or in precondition", "plain", "domain", "and (p ?x", "or (p ?x) (z"),
    ("imply in precondition", "plain", "domain", "precondition (and", "precondition (imply (z)"),
    ("not and in effect", "plain", "domain", "not (p ?x", "not (and (p ?x) (z)"),
    ("not not effect", "plain", "domain", "not (p ?x", "not (not (p ?x)"),
    ("type used as predicate", "plain", "domain", "and (p ?x)", "and (p ?x) (a ?x)"),
    ("object of type object", "plain", "problem", " c", " c oo"),
    ("big int", "costs", "problem", "3", "3000000000"),
    ("sci number", "costs", "problem", "3", "3e1"),
    ("vars in objects", "plain", "problem", "b ", "b ?"),
    ("requirements unknown to FD", "plain", "domain", "typing", "typing :preferences :constraints"),
    ("req numeric-fluents", "plain", "domain", "typing", "typing :numeric-fluents"),
    ("req durative", "plain", "domain", "typing", "typing :durative-actions"),
    ("req til", "plain", "domain", "typing", "typing :timed-initial-literals"),
    ("req goal-utilities", "plain", "domain", "typing", "typing :goal-utilities"),
    ("req object-fluents", "plain", "domain", "typing", "typing :object-fluents"),
    ("req time", "plain", "domain", "typing", "typing :time"),
    ("req non-det", "plain", "domain", "typing", "typing :non-deterministic"),
    ("req multi-agent", "plain", "domain", "typing", "typing :multi-agent"),
    ("req cont", "plain", "domain", "typing", "typing :continuous-effects"),
    ("req dur-ineq", "plain", "domain", "typing", "typing :duration-inequalities"),
    ("req repeated", "plain", "domain", "typing", "typing :typing"),
]


def edited(pair: str, file: str, old: str, new: str) -> tuple[str, str]:
    """The two texts of a variant."""
    domain, problem = PLAIN if pair == "plain" else COSTS
    text = domain if file == "domain" else problem
    assert text.count(old) == 1
    text = text.replace(old, new)
    return (text, problem) if file == "domain" else (domain, text)
