"""`(:constraints …)` and `:duration`: checked, but no part of the model."""

from __future__ import annotations

from ._formulas import number_of, read_condition, read_number
from ._scope import Scope
from ._syntax import Form, Node, Symbol

__all__ = ["read_constraint", "read_duration"]

_SHAPES = {
    "always": "c",
    "sometime": "c",
    "at-most-once": "c",
    "sometime-after": "cc",
    "sometime-before": "cc",
    "within": "nc",
    "always-within": "ncc",
    "hold-during": "nnc",
    "hold-after": "nc",
    "at": "ec",
}
"""Operator → its parts: numbers, the word `end`, conditions (PDDL 3.0, section 2)."""


def read_constraint(node: Node, scope: Scope) -> None:
    """Check one constraint on the states that a plan passes through."""
    if isinstance(node, Symbol) or not node.items:
        text = f"`{node.text}`" if isinstance(node, Symbol) else "an empty form"
        scope.source.report("malformed", node, f"A constraint is a form, not {text}.")
        return
    rest = node.items[1:]
    match node.key:
        case "and":
            for item in rest:
                read_constraint(item, scope)
        case "preference" if rest:
            scope.use(":preferences", node)
            read_constraint(rest[-1], scope)
        case "forall" if len(rest) == 2:
            with scope.binding(scope.read_variables(rest[0], node, "`forall`")):
                read_constraint(rest[1], scope)
        case word if word in _SHAPES and len(rest) == len(_SHAPES[word]):
            for part, item in zip(_SHAPES[word], rest, strict=True):
                _read_part(part, item, scope)
        case word if word in _SHAPES:
            scope.source.report(
                "malformed",
                node,
                f"`{word}` takes {len(_SHAPES[word])} parts, here it has {len(rest)}.",
            )
        case _:
            message = "A constraint starts with one of PDDL's operators."
            hint = f"They are {', '.join(_SHAPES)}, joined by `and` and `forall`."
            scope.source.report("malformed", node, message, hint)


def _read_part(part: str, item: Node, scope: Scope) -> None:
    if part == "c":
        read_condition(item, scope)
    elif not isinstance(item, Symbol) or (
        number_of(item.text) is None if part == "n" else item.key != "end"
    ):
        wanted = "a number" if part == "n" else "`end`"
        scope.source.report("malformed", item, f"Expected {wanted} here.")


def read_duration(node: Node, scope: Scope) -> None:
    """Check the `:duration` of a durative action: `(= ?duration NUMBER)` and its like."""
    if isinstance(node, Form) and not node.items:
        return
    key = node.key
    rest = node.items[1:] if isinstance(node, Form) else ()
    if key == "and" and isinstance(node, Form):
        for item in rest:
            read_duration(item, scope)
    elif key == "at" and len(rest) == 2 and rest[0].key in ("start", "end"):
        read_duration(rest[1], scope)
    elif key in ("=", "<=", ">=") and len(rest) == 2 and rest[0].key == "?duration":
        read_number(rest[1], scope, node)
    else:
        message = "A duration is a comparison with `?duration`."
        scope.source.report("malformed", node, message, "Write `(= ?duration NUMBER)`.")
