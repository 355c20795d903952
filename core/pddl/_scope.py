"""Names in force while a text is read: types, predicates, functions, objects, variables.

A scope resolves a written name to its declared spelling and reports what is not
declared. A name that is not declared is reported once, at its first use; an argument
that is wrong in every use of a predicate is reported once, as one cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ._diagnostics import nearest
from ._model import Atom, Domain, Predicate, TypedName, ancestors
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["RESERVED", "Scope", "expect_name", "read_typed_list", "signature"]

_NAME = re.compile(r"[A-Za-z][\w-]*\Z", re.ASCII)
_READABLE = re.compile(r"[^?:()\s-][^()\s]*\Z")
"""What can be followed further although it is no legal name."""
RESERVED = frozenset("define and or not imply exists forall when either = - ?".split())
_HINT_BUDGET = 20_000
"""Comparisons of names that are spent on hints in one text."""
_CONNECTIVES = ("and", "or", "not", "imply", "exists", "forall", "when")
_FEW = 12
_MANY = 3
"""From so many uses on, a fault that all uses share counts as one, at the declaration."""


def expect_name(
    node: Node | None, source: Source, what: str, place: Node, hint: str | None = None
) -> Symbol | None:
    """Return `node` if it is a legal name, else report and return None."""
    if node is None:
        source.report("malformed", place, f"Expected {what} here.", hint)
        return None
    if isinstance(node, Form):
        source.report("malformed", node, f"Expected {what}, found a parenthesised form.", hint)
        return None
    if node.key in RESERVED:
        message = f"`{node.text}` is a word of PDDL and cannot be {what}."
        source.report("reserved-word", node, message, "Choose another name.")
        return None
    if not _NAME.match(node.text):
        if node.text.startswith("?"):
            hint = "Only variables start with `?`."
        hint = hint or "A name is a letter, then letters, digits, `-` and `_`."
        source.report("bad-name", node, f"`{node.text}` is not a legal name.", hint)
        return node if _READABLE.match(node.text) else None
    return node


def read_typed_list(
    items: Sequence[Node], source: Source, *, variables: bool
) -> list[tuple[Symbol, tuple[Symbol, ...] | None]]:
    """Read `a b - t c - (either u v) d`.

    A name without type gets None, a name whose type cannot be read gets ().
    """
    result: list[tuple[Symbol, tuple[Symbol, ...] | None]] = []
    pending: list[Symbol] = []
    position = 0
    while position < len(items):
        node = items[position]
        position += 1
        if isinstance(node, Symbol) and node.text.startswith("-"):
            if node.text == "-":
                kind = items[position] if position < len(items) else None
                position += 1
            else:
                message = f"There is no space after the dash in `{node.text}`."
                source.report("bad-name", node, message, f"Write `- {node.text[1:]}`.")
                kind = Symbol(node.text[1:], node.start + 1)
            types = _read_type(kind, source, node)
            if not pending:
                source.report("malformed", node, "A type without a name before it.")
            result.extend((name, types) for name in pending)
            pending = []
        elif variables:
            if (variable := _expect_variable(node, source)) is not None:
                pending.append(variable)
        elif (name := expect_name(node, source, "an item of this list", node)) is not None:
            pending.append(name)
    result.extend((name, None) for name in pending)
    return result


def _expect_variable(node: Node, source: Source) -> Symbol | None:
    if isinstance(node, Form):
        source.report("malformed", node, "Expected a variable, found a parenthesised form.")
        return None
    if node.text.startswith("?") and _NAME.match(node.text[1:]):
        return node
    name = node.text.strip("?")
    source.report(
        "malformed", node, f"`{node.text}` stands where a variable must.", f"Write `?{name}`."
    )
    return Symbol(f"?{name}", node.start) if _NAME.match(name) else None


def _read_type(node: Node | None, source: Source, dash: Symbol) -> tuple[Symbol, ...]:
    if isinstance(node, Form) and node.key == "either":
        return tuple(
            name
            for item in node.items[1:]
            if (name := expect_name(item, source, "a type", node)) is not None
        )
    name = expect_name(node, source, "a type after `-`", dash)
    return (name,) if name is not None else ()


@dataclass(slots=True)
class _Uses:
    """How the uses of one declaration, or of one of its arguments, agree with it."""

    right: int = 0
    wrong: list[tuple[Node, str]] = field(default_factory=list)


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
        self.declared_at: dict[str, Node] = {}
        self.used_objects: set[str] = set()
        self.unreadable = 0  # declarations of predicates whose names could not be read
        self._undeclared: set[tuple[str, str]] = set()
        self._hint_budget = _HINT_BUDGET
        self._contradicted: set[tuple[str, str]] = set()
        self._arity: dict[str, _Uses] = {}
        self._argument: dict[tuple[str, int], _Uses] = {}
        self._ancestors: dict[str, frozenset[str]] | None = None

    @classmethod
    def of_domain(cls, domain: Domain, source: Source, inner: Scope | None = None) -> Scope:
        """The scope in which a problem over `domain` is read.

        Args:
            inner: the scope in which the domain was read; what it has reported as not
                declared is not reported again.
        """
        scope = cls(source)
        if inner is not None:
            scope._undeclared = set(inner._undeclared)
            scope._contradicted = {
                (name, uses.wrong[0][1])
                for name, uses in inner._arity.items()
                if uses.wrong and not uses.right
            }
            scope.unreadable = inner.unreadable
        scope.types |= {name.lower(): name for name in domain.types}
        scope.predicates = {name.lower(): p for name, p in domain.predicates.items()}
        scope.functions = {name.lower(): f for name, f in domain.functions.items()}
        scope.objects = {c.name.lower(): c for c in domain.constants}
        scope.parents = dict(domain.types)
        return scope

    def resolve_types(self, symbols: Iterable[Symbol] | None) -> tuple[str, ...]:
        """Declared spellings of type names: `object` for an untyped name, () if unknown."""
        if symbols is None:
            return ("object",)
        found = []
        for symbol in symbols:
            if (name := self.types.get(symbol.key)) is None:
                self._report_undeclared("type", symbol, self.types.values())
            else:
                found.append(name)
        return tuple(found)

    def _report_undeclared(self, kind: str, symbol: Symbol, known: Iterable[str]) -> None:
        """Report a name once, at its first use."""
        if (kind, symbol.key) in self._undeclared:
            return
        self._undeclared.add((kind, symbol.key))
        if kind == "predicate" and self.unreadable:
            self.unreadable -= 1
            return
        hint = None
        if self._hint_budget > 0:
            names = list(known)
            self._hint_budget -= len(names)
            hint = nearest(symbol.text, names) if self._hint_budget >= 0 else None
            declared = [n for n in names if n not in _CONNECTIVES]
            if hint is None and 0 < len(declared) <= _FEW:
                hint = f"Declared: {', '.join(declared)}."
        message = f"{kind.capitalize()} `{symbol.text}` is not declared."
        self.source.report(f"undeclared-{kind}", symbol, message, hint)

    def declare_objects(self, items: Sequence[Node], what: str) -> list[TypedName]:
        """Read and declare the objects of `:objects` or `:constants`."""
        declared = []
        for symbol, types in read_typed_list(items, self.source, variables=False):
            known = self.objects.get(symbol.key)
            if known is not None:
                message = f"`{symbol.text}` is declared already, as {' or '.join(known.types)}."
                self.source.report(
                    "duplicate-name", symbol, message, f"Each {what} has one declaration."
                )
                continue
            entry = TypedName(symbol.text, self.resolve_types(types))
            self.objects[symbol.key] = entry
            self.declared_at.setdefault(entry.name, symbol)
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
            self.source.report(
                "malformed", form or place, f"{what} needs a list of variables in parentheses."
            )
            return ()
        seen: dict[str, TypedName] = {}
        for symbol, types in read_typed_list(form.items, self.source, variables=True):
            if symbol.key in seen:
                message = f"Variable `{symbol.text}` stands twice in this list."
                self.source.report("duplicate-name", symbol, message)
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
                self._report_variable(node)
            return variable
        if (known := self.objects.get(node.key)) is None:
            self._report_object(node)
        else:
            self.used_objects.add(known.name)
        return known

    def _report_variable(self, node: Symbol) -> None:
        known = [v.name for v in self.variables.values()]
        hint = nearest(node.text, known) or (f"Bound here: {', '.join(known)}." if known else None)
        message = f"Variable `{node.text}` is not bound here."
        self.source.report("undeclared-variable", node, message, hint)

    def _report_object(self, node: Symbol) -> None:
        if f"?{node.key}" in self.variables:
            message = f"`{node.text}` is no object; the variable is called `?{node.text}`."
            self.source.report("undeclared-object", node, message, f"Write `?{node.text}`.")
            return
        if not _NAME.match(node.text):
            expect_name(node, self.source, "an object", node)
            return
        self._report_undeclared("object", node, (o.name for o in self.objects.values()))

    def atom(self, form: Form, table: Mapping[str, Predicate], kind: str) -> Atom | None:
        """Read `(name term …)` over a table of predicates or functions."""
        head = form.items[0] if form.items else None
        if not isinstance(head, Symbol):
            self._report_headless(form, kind)
            return None
        declared = table.get(head.key)
        if declared is None:
            words = _CONNECTIVES if kind == "predicate" else ()
            self._report_undeclared(kind, head, [*(p.name for p in table.values()), *words])
            if any(isinstance(item, Form) for item in form.items[1:]):
                return None  # a misspelt connective: what it joins is no list of terms
        terms = [self.term(node) for node in form.items[1:]]
        if declared is None:
            return None
        if len(terms) != len(declared.parameters):
            uses = self._arity.setdefault(declared.name, _Uses())
            uses.wrong.append((form, str(len(terms))))
            return None
        self._arity.setdefault(declared.name, _Uses()).right += 1
        known = [term for term in terms if term is not None]
        if len(known) != len(terms):
            return None
        self._note_types(form, known, declared)
        return Atom(declared.name, tuple(term.name for term in known))

    def _report_headless(self, form: Form, kind: str) -> None:
        words = [i.key for i in form.items if isinstance(i, Symbol)]
        if any(word in ("and", "or", "&", "&&", "|", "||") for word in words):
            self.source.report(
                "infix-operator",
                form,
                "`and` and `or` stand before their parts in PDDL.",
                "Write `(and (…) (…))`.",
            )
        elif form.items and all(isinstance(i, Form) for i in form.items):
            hint = (
                "Write `(and` before the first of them."
                if len(form.items) > 1
                else ("Remove one pair of parentheses.")
            )
            self.source.report("malformed", form, "A list of forms stands where one must.", hint)
        else:
            self.source.report("malformed", form, f"Expected the name of a {kind} after `(`.")

    def _note_types(self, form: Form, terms: Sequence[TypedName], declared: Predicate) -> None:
        arguments = zip(form.items[1:], terms, declared.parameters, strict=True)
        for index, (node, term, parameter) in enumerate(arguments):
            uses = self._argument.setdefault((declared.name, index), _Uses())
            if self._compatible(term, parameter):
                uses.right += 1
            else:
                uses.wrong.append((node, " or ".join(term.types)))

    def _compatible(self, term: TypedName, parameter: TypedName) -> bool:
        """Whether the term's type is the parameter's or below it; unknown types pass."""
        if not term.types or not parameter.types or term.types == parameter.types:
            return True
        if self._ancestors is None:
            self._ancestors = ancestors(self.parents)
        accepted = set(parameter.types)
        return all(self._ancestors.get(t, frozenset({t})) & accepted for t in term.types)

    def finish(self) -> None:
        """Report what needed all uses to be seen: wrong arities and wrong types."""
        tables = {**self.functions, **self.predicates}
        for name, uses in self._arity.items():
            self._report_arity(tables[name.lower()], uses)
        for (name, index), uses in self._argument.items():
            self._report_types(tables[name.lower()], index, uses)

    def _report_arity(self, declared: Predicate, uses: _Uses) -> None:
        wanted = _count(len(declared.parameters))
        place = self._common_cause(declared, uses)
        if place is not None:
            given = uses.wrong[0][1]
            self.source.report(
                "wrong-arity",
                place,
                f"`{declared.name}` is declared with {wanted}, but each of its"
                f" {len(uses.wrong)} uses has {given}.",
                "Mend the declaration.",
            )
            return
        for form, given in uses.wrong:
            if (declared.name, given) in self._contradicted:
                continue  # every use in the domain has this many: its declaration is wrong
            self.source.report(
                "wrong-arity",
                form,
                f"`{declared.name}` takes {wanted}, here it has {given}.",
                f"Its declaration: {signature(declared)}.",
            )

    def _report_types(self, declared: Predicate, index: int, uses: _Uses) -> None:
        parameter = declared.parameters[index]
        wanted = " or ".join(parameter.types)
        place = self._common_cause(declared, uses)
        if place is not None:
            self.source.report(
                "wrong-type",
                place,
                f"Argument {index + 1} of `{declared.name}` is declared as {wanted}, but each of"
                f" its {len(uses.wrong)} uses has {uses.wrong[0][1]}.",
                "Mend the declaration.",
            )
            return
        for node, given in uses.wrong:
            text = node.text if isinstance(node, Symbol) else "this"
            self.source.report(
                "wrong-type",
                node,
                f"`{text}` is of type {given}, but argument {index + 1} of `{declared.name}`"
                f" must be {wanted}.",
                f"Its declaration: {signature(declared)}.",
            )

    def _common_cause(self, declared: Predicate, uses: _Uses) -> Node | None:
        """The declaration, if it is in this text and all uses contradict it alike."""
        alike = len({given for _, given in uses.wrong}) == 1
        if uses.right or not alike or len(uses.wrong) < _MANY:
            return None
        return self.declared_at.get(f"({declared.name}")


def _count(arguments: int) -> str:
    return f"{arguments} argument{'' if arguments == 1 else 's'}"


def signature(predicate: Predicate) -> str:
    """A declaration as PDDL writes it."""
    parts = (f"{p.name} - {'|'.join(p.types)}" for p in predicate.parameters)
    return f"({' '.join((predicate.name, *parts))})"
