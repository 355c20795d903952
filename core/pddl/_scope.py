"""Names in force while a text is read: types, predicates, functions, objects, variables.

A scope resolves a written name to its declared spelling and reports what is not
declared, at the place of use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._diagnostics import nearest
from ._model import Atom, Domain, Predicate, TypedName
from ._syntax import Form, Node, Source, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Scope", "expect_name", "read_typed_list"]

_NAME = re.compile(r"[A-Za-z][\w-]*\Z|[\w][\w@.#+/-]*\Z", re.ASCII)


def expect_name(node: Node | None, source: Source, what: str, place: Node) -> Symbol | None:
    """Return `node` if it is a legal name, else report and return None."""
    if node is None:
        source.report("malformed", place, f"Expected {what} here.")
        return None
    if isinstance(node, Form):
        source.report("malformed", node, f"Expected {what}, found a parenthesised form.")
        return None
    if not _NAME.match(node.text):
        hint = "Separate items by spaces." if "," in node.text else None
        if node.text.startswith("?"):
            hint = "Only variables start with `?`."
        source.report("bad-name", node, f"`{node.text}` is not a legal name for {what}.", hint)
        return None
    return node


def read_typed_list(
    items: Sequence[Node], source: Source, *, variables: bool
) -> list[tuple[Symbol, tuple[Symbol, ...]]]:
    """Read `a b - t c - (either u v) d`; a name without type gets no type symbols."""
    result: list[tuple[Symbol, tuple[Symbol, ...]]] = []
    pending: list[Symbol] = []
    position = 0
    while position < len(items):
        node = items[position]
        position += 1
        if isinstance(node, Symbol) and node.text == "-":
            kind = items[position] if position < len(items) else None
            position += 1
            types = _read_type(kind, source, node)
            if not pending:
                source.report("malformed", node, "A type without a name before it.")
            result.extend((name, types) for name in pending)
            pending = []
        elif variables and isinstance(node, Symbol):
            if node.text.startswith("?") and _NAME.match(node.text[1:]):
                pending.append(node)
            else:
                source.report(
                    "malformed",
                    node,
                    f"`{node.text}` stands where a variable must.",
                    f"Write `?{node.text.strip('?,')}`.",
                )
        elif (name := expect_name(node, source, "an item of this list", node)) is not None:
            pending.append(name)
    result.extend((name, ()) for name in pending)
    return result


def _read_type(node: Node | None, source: Source, dash: Symbol) -> tuple[Symbol, ...]:
    if isinstance(node, Form) and node.key == "either":
        return tuple(
            name
            for item in node.items[1:]
            if (name := expect_name(item, source, "a type", node)) is not None
        )
    name = expect_name(node, source, "a type after `-`", dash)
    return (name,) if name is not None else ()


class Scope:
    """Declared names of a domain, and of a problem once it is being read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.types: dict[str, str] = {"object": "object"}
        self.predicates: dict[str, Predicate] = {}
        self.functions: dict[str, Predicate] = {}
        self.objects: dict[str, TypedName] = {}
        self.variables: dict[str, TypedName] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.features: set[str] = set()
        self._ancestry: Domain | None = None

    @classmethod
    def of_domain(cls, domain: Domain, source: Source) -> Scope:
        """The scope in which a problem over `domain` is read."""
        scope = cls(source)
        scope.types |= {name.lower(): name for name in domain.types}
        scope.predicates = {name.lower(): p for name, p in domain.predicates.items()}
        scope.functions = {name.lower(): f for name, f in domain.functions.items()}
        scope.objects = {c.name.lower(): c for c in domain.constants}
        scope.parents = dict(domain.types)
        return scope

    def resolve_types(self, symbols: Iterable[Symbol]) -> tuple[str, ...]:
        """Declared spellings of type names: `object` for an untyped name, () if unknown."""
        found = []
        untyped = True
        for symbol in symbols:
            untyped = False
            if (name := self.types.get(symbol.key)) is None:
                self.source.report(
                    "undeclared-type",
                    symbol,
                    f"Type `{symbol.text}` is not declared.",
                    nearest(symbol.text, self.types.values()),
                )
            else:
                found.append(name)
        return ("object",) if untyped else tuple(found)

    def declare_objects(self, items: Sequence[Node], what: str) -> list[TypedName]:
        """Read and declare the objects of `:objects` or `:constants`."""
        declared = []
        for symbol, types in read_typed_list(items, self.source, variables=False):
            known = self.objects.get(symbol.key)
            entry = TypedName(symbol.text, self.resolve_types(types))
            if known is not None and known.types == entry.types and what == "object":
                self.source.report(
                    "duplicate-name", symbol, f"`{symbol.text}` is declared already.", "Remove it."
                )
            elif known is not None:
                self.source.report(
                    "duplicate-name",
                    symbol,
                    f"`{symbol.text}` is declared already, as {' or '.join(known.types)}.",
                    "Each object has one declaration.",
                )
            else:
                self.objects[symbol.key] = entry
                declared.append(entry)
        return declared

    @contextmanager
    def binding(self, variables: Sequence[TypedName]) -> Iterator[None]:
        """Bind variables inside a quantifier or an action."""
        outer = self.variables
        self.variables = outer | {v.name.lower(): v for v in variables}
        try:
            yield
        finally:
            self.variables = outer

    def read_variables(self, form: Node | None, place: Node, what: str) -> tuple[TypedName, ...]:
        """Read the typed variable list of an action, a predicate or a quantifier."""
        if not isinstance(form, Form):
            self.source.report("malformed", form or place, f"{what} needs a list of variables.")
            return ()
        seen: dict[str, TypedName] = {}
        for symbol, types in read_typed_list(form.items, self.source, variables=True):
            if symbol.key in seen:
                self.source.report(
                    "duplicate-name", symbol, f"Variable `{symbol.text}` stands twice in this list."
                )
            else:
                seen[symbol.key] = TypedName(symbol.text, self.resolve_types(types))
        return tuple(seen.values())

    def term(self, node: Node) -> TypedName | None:
        """Resolve a variable or object; report it and return None if it is unknown."""
        if isinstance(node, Form):
            self.source.report("malformed", node, "Expected a variable or an object here.")
            return None
        if node.text.startswith("?"):
            if (variable := self.variables.get(node.key)) is None:
                self.source.report(
                    "undeclared-variable",
                    node,
                    f"Variable `{node.text}` is not bound here.",
                    nearest(node.text, (v.name for v in self.variables.values())),
                )
            return variable
        if (known := self.objects.get(node.key)) is None:
            self.source.report(
                "undeclared-object",
                node,
                f"`{node.text}` is not declared.",
                nearest(node.text, (o.name for o in self.objects.values()))
                if len(self.objects) <= 5_000
                else None,
            )
        return known

    def atom(self, form: Form, table: Mapping[str, Predicate], kind: str) -> Atom | None:
        """Read `(name term …)` over a table of predicates or functions."""
        head = form.items[0] if form.items else None
        if not isinstance(head, Symbol):
            self.source.report("malformed", form, f"Expected the name of a {kind} after `(`.")
            return None
        declared = table.get(head.key)
        if declared is None:
            self.source.report(
                f"undeclared-{kind}",
                head,
                f"{kind.capitalize()} `{head.text}` is not declared.",
                nearest(head.text, (p.name for p in table.values())),
            )
        terms = [self.term(node) for node in form.items[1:]]
        if declared is None:
            return None
        if len(terms) != len(declared.parameters):
            self.source.report(
                "wrong-arity",
                form,
                f"`{declared.name}` takes {_count(len(declared.parameters))},"
                f" here it has {len(terms)}.",
                f"Its declaration: {_signature(declared)}.",
            )
            return None
        if any(term is None for term in terms):
            return None
        known = [term for term in terms if term is not None]
        self._check_types(form, known, declared)
        return Atom(declared.name, tuple(term.name for term in known))

    def _check_types(self, form: Form, terms: Sequence[TypedName], declared: Predicate) -> None:
        for node, term, parameter in zip(form.items[1:], terms, declared.parameters, strict=True):
            if not self._compatible(term, parameter):
                self.source.report(
                    "wrong-type",
                    node,
                    f"`{term.name}` is of type {' or '.join(term.types)},"
                    f" but `{declared.name}` takes {' or '.join(parameter.types)} here.",
                )

    def _compatible(self, term: TypedName, parameter: TypedName) -> bool:
        """Whether the term's type is the parameter's or below it; unknown types pass."""
        if not term.types or not parameter.types:
            return True
        if self._ancestry is None:
            self._ancestry = Domain(
                name="",
                requirements=(),
                types=self.parents,
                constants=(),
                predicates={},
                functions={},
                actions={},
                features=frozenset(),
            )
        return self._ancestry.is_subtype(term.types, parameter.types)


def _count(arguments: int) -> str:
    return f"{arguments} argument{'' if arguments == 1 else 's'}"


def _signature(predicate: Predicate) -> str:
    parts = (f"{p.name} - {'|'.join(p.types)}" for p in predicate.parameters)
    return f"({' '.join((predicate.name, *parts))})"
