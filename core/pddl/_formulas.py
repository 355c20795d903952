"""Conditions, effects and numeric expressions: forms → model."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ._model import (
    And,
    Assignment,
    Atom,
    Conditional,
    Effect,
    Exists,
    Forall,
    ForallEffect,
    Formula,
    Imply,
    Literal,
    Not,
    NumericExpression,
    Or,
)
from ._names import RESERVED
from ._scope import Scope
from ._syntax import Form, Node, Symbol

__all__ = ["number_of", "read_condition", "read_effects", "read_number"]

_COMPARISONS = frozenset({"<", ">", "<=", ">="})
_ASSIGNMENTS = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
_QUOTED = 60
_TIMED = frozenset({"at", "over"})
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_OPERANDS = {"+": (2, math.inf), "*": (2, math.inf), "-": (1, 2), "/": (2, 2)}


def read_condition(node: Node, scope: Scope) -> Formula:
    """Read a condition; a part with a fault is reported and left out."""
    if isinstance(node, Symbol):
        _report_bare(node, scope, "condition")
        return And()
    if not node.items:
        return And()
    rest = node.items[1:]
    match node.key:
        case "and" if _is_atom_in_disguise(node, scope):
            return read_condition(Form(rest, node.start, node.end), scope)
        case "!" if "!" not in scope.predicates and rest:
            return Not(read_condition(Form(rest, node.start, node.end), scope))
        case "and":
            return And(tuple(_part(item, scope) for item in rest))
        case "or":
            scope.use(":disjunctive-preconditions", node)
            return Or(tuple(_part(item, scope) for item in rest))
        case "not" if _has(node, 1, scope):
            body = _part(rest[0], scope)
            if not (isinstance(body, Atom) and body.predicate == "="):
                simple = isinstance(body, Atom)
                scope.use(
                    ":negative-preconditions" if simple else ":disjunctive-preconditions", node
                )
            return Not(body)
        case "imply" if _has(node, 2, scope):
            scope.use(":disjunctive-preconditions", node)
            return Imply(_part(rest[0], scope), _part(rest[1], scope))
        case "exists" | "forall" as word if _has(node, 2, scope):
            kind = "existential" if word == "exists" else "universal"
            scope.use(f":{kind}-preconditions", node)
            variables = scope.read_variables(rest[0], node, f"`{word}`")
            if isinstance(rest[0], Form) and not rest[0].items:
                message = f"`{word}` has no variable."
                scope.source.report("malformed", rest[0], message, "Write its condition alone.")
            with scope.binding(variables):
                body = _part(rest[1], scope)
            return Exists(variables, body) if word == "exists" else Forall(variables, body)
        case "not" | "imply" | "exists" | "forall":
            return And()
        case "=" if scope.refuse_value_of_predicate(node):
            return And()
        case "=" if _is_numeric_comparison(node, scope):
            return _comparison(node, scope)
        case "=":
            return _equality(node, scope)
        case word if word in _COMPARISONS:
            return _comparison(node, scope)
        case word if word in _TIMED and _is_timed(node, scope):
            return _part(rest[-1], scope)
        case "preference":
            scope.use(":preferences", node)
            return read_condition(rest[-1], scope) if rest else And()
    return scope.atom(node, scope.predicates, "predicate") or And()


def _is_atom_in_disguise(form: Form, scope: Scope) -> bool:
    """Report `(and p x)`, where `(p x)` is meant."""
    words = [item for item in form.items if isinstance(item, Symbol)]
    if len(words) != len(form.items) or len(words) < 2 or words[1].key not in scope.predicates:
        return False
    written = " ".join(word.text for word in words[1:])[:_QUOTED]
    scope.source.report(
        "malformed", words[1], "`and` joins forms, not words.", f"Write `({written})`."
    )
    return True


def _part(node: Node, scope: Scope) -> Formula:
    """A condition inside another one."""
    if isinstance(node, Form) and not node.items:
        scope.use("empty-form", node)
    return read_condition(node, scope)


def read_effects(node: Node, scope: Scope, *, nested: bool = False) -> tuple[Effect, ...]:
    """Read an effect; a conjunction gives its parts in order."""
    if isinstance(node, Symbol):
        _report_bare(node, scope, "effect")
        return ()
    if not node.items:
        if nested:
            scope.use("empty-form", node)
        return ()
    rest = node.items[1:]
    match node.key:
        case "and":
            parts = (read_effects(item, scope, nested=True) for item in rest)
            return tuple(effect for part in parts for effect in part)
        case "not":
            if not _has(node, 1, scope):
                return ()
            if isinstance(rest[0], Form):
                return _literal(rest[0], scope, positive=False)
            _report_bare(rest[0], scope, "effect")
            return ()
        case "when":
            scope.use(":conditional-effects", node)
            if not _has(node, 2, scope):
                return ()
            condition = read_condition(rest[0], scope)
            effects = read_effects(rest[1], scope, nested=True)
            _note_conditional_costs(effects, node, scope)
            return (Conditional(condition, effects),)
        case "forall":
            scope.use(":conditional-effects", node)
            if not _has(node, 2, scope):
                return ()
            variables = scope.read_variables(rest[0], node, "`forall`")
            with scope.binding(variables):
                effects = read_effects(rest[1], scope, nested=True)
            if _has_quantifier(effects):
                scope.use("nested-forall", node)
            _note_conditional_costs(effects, node, scope)
            return (ForallEffect(variables, effects),)
        case "add" | "del" | "delete" if node.key not in scope.predicates and len(rest) == 1:
            _report_added_or_deleted(node, scope)
            return read_effects(rest[0], scope) if isinstance(rest[0], Form) else ()
        case word if word in _ASSIGNMENTS:
            if not nested:
                scope.use("cost-alone", node)
            return _assignment(node, scope)
        case word if word in _TIMED and _is_timed(node, scope):
            return read_effects(rest[-1], scope, nested=True)
        case "or" | "imply" | "exists" | "=":
            scope.source.report(
                "malformed", node, f"`{node.key}` cannot be an effect.", "Effects are definite."
            )
            return ()
    return _literal(node, scope, positive=True)


def _report_added_or_deleted(node: Form, scope: Scope) -> None:
    """Report `(add (p))` and `(del (p))`, once in a text."""
    if "add" not in scope.source.illegal:
        scope.source.illegal.add("add")
        message = f"PDDL has no `{node.key}`: an effect is what becomes true, or false."
        hint = "Write `(FACT)` for what is added and `(not (FACT))` for what is deleted."
        scope.source.report("malformed", node, message, hint)


def _has_quantifier(effects: Sequence[Effect]) -> bool:
    """Whether a `forall` is among effects, or below their conditions."""
    return any(
        isinstance(e, ForallEffect) or (isinstance(e, Conditional) and _has_quantifier(e.effects))
        for e in effects
    )


def _note_conditional_costs(effects: Sequence[Effect], node: Form, scope: Scope) -> None:
    if any(isinstance(effect, Assignment) for effect in effects):
        scope.use("conditional-costs", node)


def _report_bare(node: Symbol, scope: Scope, what: str) -> None:
    """A word where a form must be."""
    if node.key in ("and", "or", "&", "&&", "|", "||"):
        scope.source.report(
            "infix-operator",
            node,
            f"`{node.text}` stands before its parts in PDDL, not between them.",
            "Write `(and (…) (…))`.",
        )
        return
    article = "An" if what[0] in "aeiou" else "A"
    scope.source.report(
        "malformed",
        node,
        f"{article} {what} is a form, not `{node.text}`.",
        f"Write `({node.text})`.",
    )


def read_number(node: Node | None, scope: Scope, place: Node) -> NumericExpression:
    """Read a number, a function term or an arithmetic expression."""
    if isinstance(node, Symbol):
        if (value := number_of(node.text)) is not None:
            if not node.text.isdecimal():
                sign = node.text[0] == "-" and node.text[1:].isdecimal()
                scope.use("negative-numbers" if sign else "fractional-numbers", node)
            return value
        if node.key in scope.functions:
            term = Form((node,), node.start, node.end)
            return scope.atom(term, scope.functions, "function") or 0.0
        if not (scope.is_timed and node.key in ("?duration", "#t")):
            scope.source.report("malformed", node, f"`{node.text}` is not a number.")
        return 0.0
    if node is None or not node.items:
        scope.source.report("malformed", node or place, "Expected a number or a function here.")
        return 0.0
    if node.key in _OPERANDS:
        return _arithmetic(node, scope)
    return scope.atom(node, scope.functions, "function") or 0.0


def number_of(text: str) -> float | None:
    """The finite number that a word stands for, or None."""
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def _arithmetic(form: Form, scope: Scope) -> NumericExpression:
    scope.use(":numeric-fluents", form)
    operands = form.items[1:]
    least, most = _OPERANDS[form.key]
    if not least <= len(operands) <= most:
        message = f"`{form.key}` cannot take {len(operands)} operands."
        scope.source.report("malformed", form, message)
    return (form.key, tuple(read_number(item, scope, form) for item in operands))


def _literal(form: Form, scope: Scope, *, positive: bool) -> tuple[Effect, ...]:
    is_numeric = form.key in _ASSIGNMENTS and form.key not in scope.predicates
    if form.key in RESERVED or is_numeric:
        scope.source.report("malformed", form, f"`{form.key}` cannot be made true or false.")
        return ()
    scope.refuse_derived(form, "an effect")
    atom = scope.atom(form, scope.predicates, "predicate")
    return (Literal(atom, positive),) if atom is not None else ()


def _assignment(form: Form, scope: Scope) -> tuple[Effect, ...]:
    if not _has(form, 2, scope):
        return ()
    target = form.items[1]
    if isinstance(target, Symbol):
        scope.source.report(
            "malformed", target, "A function stands in parentheses.", f"Write `({target.text})`."
        )
        return ()
    function = scope.atom(target, scope.functions, "function")
    value = read_number(form.items[2], scope, form)
    if function is None:
        return ()
    is_cost = form.key == "increase" and function.predicate.lower() == "total-cost"
    by_itself = isinstance(value, Atom) and value.predicate.lower() == "total-cost"
    scope.use(":action-costs" if is_cost and not by_itself else ":numeric-fluents", form)
    return (Assignment(form.key, function, value),)


def _equality(form: Form, scope: Scope) -> Formula:
    scope.use(":equality", form)
    if not _has(form, 2, scope):
        return And()
    terms = [scope.term(item) for item in form.items[1:]]
    if any(term is None for term in terms):
        return And()
    return Atom("=", tuple(term.name for term in terms if term is not None))


def _is_numeric_comparison(form: Form, scope: Scope) -> bool:
    def numeric(node: Node) -> bool:
        if isinstance(node, Form):
            return True
        return number_of(node.text) is not None and node.key not in scope.objects

    return any(numeric(item) for item in form.items[1:])


def _comparison(form: Form, scope: Scope) -> Formula:
    scope.use(":numeric-fluents", form)
    if _has(form, 2, scope):
        for item in form.items[1:]:
            read_number(item, scope, form)
    return And()


def _is_timed(form: Form, scope: Scope) -> bool:
    """Whether a form is `(at start …)` or its like, which only durative actions have."""
    second = form.items[1] if len(form.items) == 3 else None
    if not isinstance(second, Symbol) or second.key not in ("start", "end", "all"):
        return False
    if isinstance(form.items[2], Symbol) and form.key in scope.predicates:
        return False  # a predicate `at` over an object called `start`
    scope.use(":durative-actions", form)
    if not scope.is_timed:
        message = f"`{form.key} {second.key}` stands only in durative actions."
        hint = "Write what it holds alone, or declare a `:durative-action`."
        scope.source.report("malformed", form, message, hint)
    return True


def _has(form: Form, arguments: int, scope: Scope) -> bool:
    """Whether a form has as many arguments as its keyword needs; reports it if not."""
    given: Sequence[Node] = form.items[1:]
    if len(given) == arguments:
        return True
    plural = "" if arguments == 1 else "s"
    hint = None
    if form.key in ("forall", "exists") and given and not isinstance(given[0], Form):
        hint = f"Put its variables in parentheses: `({form.key} (?x - TYPE) (…))`."
    elif len(given) > arguments and form.key not in ("=", *_COMPARISONS, *_ASSIGNMENTS):
        hint = "Join several conditions by `(and …)`."
    message = f"`{form.key}` takes {arguments} part{plural}, here it has {len(given)}."
    scope.source.report("malformed", form, message, hint)
    return False
