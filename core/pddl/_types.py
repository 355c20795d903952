"""`(:types …)` → the hierarchy of types, without cycles and not larger than can be kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ._model import each_with_ancestors
from ._names import read_typed_list
from ._scope import Scope
from ._syntax import Form, Symbol

__all__ = ["read_types"]

_MAX_ANCESTORS = 500_000
"""Pairs of a type and one above it: a chain of 1,000 types has half a million."""

Entries = Sequence[tuple[Symbol, tuple[Symbol, ...] | None]]


def read_types(form: Form, scope: Scope) -> None:
    """Declare the types of a section in `scope`."""
    entries = read_typed_list(form.items[1:], scope.source, variables=False)
    for symbol, _ in entries:
        _declare(symbol, scope)
    scope.use_alternatives(form.items[1:], "either")
    for symbol, parents in entries:
        for parent in parents or ():
            if parent.key not in scope.types:
                _declare_by_mention(parent, scope)
        if symbol.key != "object":
            above = ("object",) if parents is None else tuple(scope.types[p.key] for p in parents)
            scope.parents[scope.types[symbol.key]] = above
        elif any(parent.key != "object" for parent in parents or ()):
            message = "unified-planning refuses `object` below another type."
            scope.source.report("planner-refuses", symbol, message, "Leave `object` out.")
    _note_after_object(entries, scope)
    _cut_cycles(entries, scope)
    _limit_size(form, scope)


def _declare(symbol: Symbol, scope: Scope) -> None:
    source = scope.source
    if symbol.key == "number":
        message = "`number` is the type of numeric functions and cannot be declared."
        source.report("reserved-word", symbol, message, "Choose another name.")
    elif symbol.key in scope.types and symbol.key != "object":
        source.report("duplicate-name", symbol, f"Type `{symbol.text}` is declared twice.")
    scope.types.setdefault(symbol.key, symbol.text)
    scope.usage.declared_at.setdefault(f"- {symbol.text}", symbol)


def _declare_by_mention(parent: Symbol, scope: Scope) -> None:
    """A type that only ever stands after `-`: a slip, if another is much like it.

    Otherwise readers disagree on what it is.
    """
    declared = (name for name in scope.types.values() if name not in scope.implied_types)
    hint = scope.source.nearest(parent.text, declared)
    if hint is not None:
        message = f"Type `{parent.text}` is not declared."
        scope.source.report("undeclared-type", parent, message, hint)
    scope.types[parent.key] = parent.text
    scope.implied_types.add(parent.text)
    hint = f"Declare it: `{parent.text} - object`."
    scope.no_objects[parent.text] = ("is only named as a parent", hint)


def _note_after_object(entries: Entries, scope: Scope) -> None:
    """Types that share a list with `object` and stand after it."""
    after: object = entries  # neither a parent nor None
    for symbol, parents in entries:
        if symbol.key == "object":
            after = parents
        elif parents is after:
            reason = "stands after `object` in one list"
            scope.no_objects[scope.types[symbol.key]] = (reason, "Leave `object` out.")


def _cut_cycles(entries: Entries, scope: Scope) -> None:
    """Report one type of each cycle, and read it as one without a parent."""
    places = {scope.types[symbol.key]: symbol for symbol, _ in reversed(entries)}
    for name in dict.fromkeys(_ends_of_cycles(scope.parents)):
        message = f"Type `{name}` is its own ancestor."
        scope.source.report("cyclic-type", places[name], message)
        scope.parents[name] = ("object",)


def _ends_of_cycles(parents: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Types without whose parents there is no cycle: where a walk upwards meets its path."""
    done: set[str] = set()
    for root in list(parents):
        path = [] if root in done else [root]
        rest = {name: iter(parents[name]) for name in path}
        while path:
            for above in rest[path[-1]]:
                if above in rest:
                    yield above
                elif above not in done:
                    path.append(above)
                    rest[above] = iter(parents.get(above, ()))
                    break
            else:
                done.add(path[-1])
                del rest[path.pop()]


def _limit_size(form: Form, scope: Scope) -> None:
    total = 0
    for _, above in each_with_ancestors(scope.parents):
        total += len(above)
        if total > _MAX_ANCESTORS:
            message = "The hierarchy of types is deeper than any planner reads."
            hint = "Derive the types from fewer others; most hierarchies have three levels."
            scope.source.report("too-deep", form, message, hint)
            scope.parents = {}
            scope.hierarchy_is_known = False
            return
