"""Names in force while a text is read: types, predicates, functions, objects, variables.

A scope resolves a written name to its declared spelling and reports what is not
declared. A name that is not declared is reported once, at its first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from ._features import FEATURES, refused_by
from ._model import Atom, Domain, Predicate, TypedName
from ._names import expect_name, is_name, read_typed_list
from ._source import Source
from ._syntax import Form, Node, Symbol
from ._usage import Usage
from ._variables import mend_variables, report_missing_dash

__all__ = ["Scope"]

_CONNECTIVES = ("and", "or", "not", "imply", "exists", "forall", "when")
_FEW = 12
_LONGEST_LIST = 400


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
        self.types_are_absent = False  # and this has been said
        self.is_timed = False  # whether a durative action is being read
        self.hierarchy_is_known = True  # else no type of an argument is looked at
        self.features: set[str] = set()
        self.derived: set[str] = set()  # derived predicates, in lower case
        self.implied_types: set[str] = set()  # types that are only named as a parent
        self.no_objects: dict[str, tuple[str, str]] = {}  # type → why unified-planning errs, hint
        self.used_objects: set[str] = set()
        self.unreadable = 0  # declarations of predicates whose names could not be read
        self._reported: set[tuple[str, str]] = set()
        self.absent: dict[str, list[Symbol]] = {}  # uses of what has no section, by kind
        self._glued: tuple[object, dict[str, tuple[TypedName, TypedName]]] = (None, {})
        self.usage = Usage()
        self._first_use: dict[str, Node] = {}

    @classmethod
    def of_domain(cls, domain: Domain, source: Source, inner: Scope | None = None) -> Scope:
        """The scope in which a problem over `domain` is read.

        Args:
            inner: the scope in which the domain was read; what it has reported as not
                declared is not reported again.
        """
        scope = cls(source)
        if inner is not None:
            scope._reported = set(inner._reported)
            scope.usage.after(inner.usage)
            scope.unreadable = inner.unreadable
            scope.implied_types = inner.implied_types
            scope.no_objects = inner.no_objects
            scope.types_are_absent = "type" in inner.absent
            scope.hierarchy_is_known = inner.hierarchy_is_known
        scope.types |= {name.lower(): name for name in domain.types}
        scope.predicates = {name.lower(): p for name, p in domain.predicates.items()}
        scope.functions = {name.lower(): f for name, f in domain.functions.items()}
        scope.objects = {c.name.lower(): c for c in domain.constants}
        scope.parents = dict(domain.types)
        scope.derived = {axiom.head.name.lower() for axiom in domain.axioms}
        return scope

    def use(self, feature: str, node: Node) -> None:
        """Record that a feature is used, at its first place."""
        if feature not in self.features:
            self.features.add(feature)
            self._first_use[feature] = node

    def note_refusals(self, requirements: Sequence[Symbol] = ()) -> None:
        """Say which features, and which requirements, a reader behind our planners refuses."""
        for feature, node in self._first_use.items():
            self._note_refusal(feature, node, FEATURES[feature], refused_by(feature))
        for symbol in requirements:
            if symbol.key not in self.features:
                refusing = refused_by(symbol.key, as_requirement=True)
                what = f"the requirement `{symbol.key}`, even where nothing uses it"
                self._note_refusal(symbol.key, symbol, what, refusing)

    def _note_refusal(self, feature: str, node: Node, what: str, refusing: Sequence[str]) -> None:
        if refusing:
            verb = "refuses" if len(refusing) == 1 else "refuse"
            self.source.report("planner-refuses", node, f"{' and '.join(refusing)} {verb} {what}.")

    def resolve_types(self, symbols: Iterable[Symbol] | None) -> tuple[str, ...]:
        """Declared spellings of type names: `object` for an untyped name, () if unknown."""
        if symbols is None:
            return ("object",)
        found = []
        for symbol in symbols:
            name = self.types.get(symbol.key)
            if name is None and self.types_are_absent:
                continue
            if name is None or name in self.implied_types:
                known = (t for t in self.types.values() if t not in self.implied_types)
                self._report_undeclared("type", symbol, known)
            if name is not None:
                found.append(name)
        return tuple(found) if self.hierarchy_is_known else ()

    def _report_undeclared(self, kind: str, symbol: Symbol, known: Iterable[str]) -> None:
        """Report a name once, at its first use."""
        if (kind, symbol.key) in self._reported:
            return
        self._reported.add((kind, symbol.key))
        if kind in self.absent:
            self.absent[kind].append(symbol)
            return
        if kind == "predicate" and self.unreadable:
            self.unreadable -= 1
            return
        hint = self._hint(symbol, known, "Declared")
        message = f"{kind.capitalize()} `{symbol.text}` is not declared."
        self.source.report(f"undeclared-{kind}", symbol, message, hint)

    def _hint(self, symbol: Symbol, known: Iterable[str], what: str) -> str | None:
        """The nearest known name, or all of them if they are few and short."""
        if self.source.hints_are_spent:
            return None
        names = list(known)
        if (hint := self.source.nearest(symbol.text, names)) is not None:
            return hint
        names = [n for n in names if n not in _CONNECTIVES]
        listed = ", ".join(names) if 0 < len(names) <= _FEW else ""
        return f"{what}: {listed}." if 0 < len(listed) <= _LONGEST_LIST else None

    def declare_objects(self, items: Sequence[Node], what: str) -> list[TypedName]:
        """Read and declare the objects of `:objects` or `:constants`."""
        declared = []
        entries = read_typed_list(items, self.source, variables=False)
        self.use_alternatives(items, "either")
        if len(entries) > 1 and entries[-1][1] is None and self._is_type(entries[-1][0]):
            entries = self._with_missing_dash(entries)
        for symbol, types in entries:
            known = self.objects.get(symbol.key)
            if known is not None:
                message = f"`{symbol.text}` is declared already, as {' or '.join(known.types)}."
                self.source.report(
                    "duplicate-name", symbol, message, f"Each {what} has one declaration."
                )
                continue
            entry = TypedName(symbol.text, self.resolve_types(types))
            self.objects[symbol.key] = entry
            self.usage.declared_at.setdefault(entry.name, symbol)
            declared.append(entry)
        return declared

    def refuse_value_of_predicate(self, form: Form) -> bool:
        """Report `(= (p x) true)` over a predicate, and say whether it was one."""
        for item in form.items[1:]:
            if isinstance(item, Form) and item.key in self.predicates:
                message = f"`{item.key}` is a predicate: it is true or false, and equals nothing."
                hint = "Write the fact alone; leave it out, or negate it, where it is false."
                self.source.report("malformed", form, message, hint)
                return True
        return False

    def refuse_derived(self, form: Form, place: str) -> None:
        """Report a derived predicate where only others can stand."""
        if form.key in self.derived and ("derived", form.key) not in self._reported:
            self._reported.add(("derived", form.key))
            self.source.report(
                "derived-fact",
                form,
                f"`{form.key}` is derived: only its axioms make it true, so it cannot be {place}.",
                "Change or state what it is derived from.",
            )

    @contextmanager
    def binding(self, variables: Sequence[TypedName]) -> Iterator[None]:
        """Bind variables inside a quantifier or an action."""
        outer = self.variables
        self.variables = outer | {v.name.lower(): v for v in variables}
        try:
            yield
        finally:
            self.variables = outer

    def read_variables(
        self, form: Node | None, place: Node, what: str, alternatives: str = "either"
    ) -> tuple[TypedName, ...]:
        """Read the typed variable list of an action, a predicate or a quantifier.

        `alternatives` is the feature that an `(either …)` in it uses.
        """
        if not isinstance(form, Form):
            self.source.report(
                "malformed", form or place, f"{what} needs a list of variables in parentheses."
            )
            return ()
        seen: dict[str, TypedName] = {}
        found: list[TypedName] = []
        items = mend_variables(form.items, self._is_type, self.source)
        entries = read_typed_list(items, self.source, variables=True)
        self.use_alternatives(form.items, alternatives)
        for symbol, types in entries:
            if symbol.key in seen:
                message = f"Variable `{symbol.text}` stands twice in this list."
                self.source.report("duplicate-name", symbol, message)
                found.append(seen[symbol.key])
            else:
                variable = TypedName(symbol.text, self.resolve_types(types))
                seen[symbol.key] = variable
                found.append(variable)
                self.usage.variable_at[id(variable)] = symbol
        return tuple(found)

    def use_alternatives(self, items: Sequence[Node], feature: str) -> None:
        """Record the first `(either …)` of a list, at the name before it."""
        for index, item in enumerate(items):
            if isinstance(item, Form) and item.key == "either":
                self.use(feature, items[max(index - 2, 0)])
                return

    def _is_type(self, symbol: Symbol) -> bool:
        return symbol.key in self.types and symbol.key != "object"

    def _with_missing_dash(
        self, entries: Sequence[tuple[Symbol, tuple[Symbol, ...] | None]]
    ) -> list[tuple[Symbol, tuple[Symbol, ...] | None]]:
        """Read `a b t` at the end of a list as `a b - t`, and report it."""
        *names, (kind, _) = entries
        report_missing_dash(kind, self.source)
        return [(name, (kind,) if types is None else types) for name, types in names]

    def term(self, node: Node) -> TypedName | None:
        """Resolve a variable or object; report it and return None if it is unknown."""
        if isinstance(node, Form):
            self.source.report("malformed", node, "Expected a variable or an object here.")
            return None
        if node.text.startswith("?"):
            if (variable := self.variables.get(node.key)) is not None:
                return variable
            if self._has_dash_without_spaces(node):
                return self.variables[node.key]
            self._report_variable(node)
            return None
        if (known := self.objects.get(node.key)) is None:
            self._report_object(node)
        else:
            self.used_objects.add(known.name)
        return known

    def _has_dash_without_spaces(self, node: Symbol) -> bool:
        """Report variables such as `?x-t` where `?x` is used and `t` is a type; bind `?x`."""
        if self._glued[0] is not self.variables:
            self._glued = (self.variables, self._glued_variables())
        glued = self._glued[1]
        if node.key not in glued:
            return False
        variable = glued[node.key][0]
        hint = f"Write `{glued[node.key][1].name} - {glued[node.key][1].types[0]}`."
        place = self.usage.variable_at.get(id(variable), node)
        message = f"`{variable.name}` is one name: there are no spaces around the dash."
        self.source.report("malformed", place, message, hint)
        self.variables = self.variables | {bare: typed for bare, (_, typed) in glued.items()}
        return True

    def _glued_variables(self) -> dict[str, tuple[TypedName, TypedName]]:
        """Variables with a type after a dash: by what is before it, and what they would be."""
        glued = {}
        for variable in self.variables.values():
            bare, dash, kind = variable.name.rpartition("-")
            if dash and kind.lower() in self.types and bare.lower() not in self.variables:
                glued[bare.lower()] = (variable, TypedName(bare, (self.types[kind.lower()],)))
        return glued

    def _report_variable(self, node: Symbol) -> None:
        hint = self._hint(node, (v.name for v in self.variables.values()), "Bound here")
        message = f"Variable `{node.text}` is not bound here."
        self.source.report("undeclared-variable", node, message, hint)

    def _report_object(self, node: Symbol) -> None:
        if f"?{node.key}" in self.variables:
            if f"?{node.key}" in self.source.illegal:
                return
            self.source.illegal.add(f"?{node.key}")
            message = f"`{node.text}` is no object; the variable is called `?{node.text}`."
            self.source.report("undeclared-object", node, message, f"Write `?{node.text}`.")
            return
        if not is_name(node.text):
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
        if declared is None and (self._is_infix(form) or self._is_function(form, head, kind)):
            return None
        if declared is None and kind == "predicate" and head.key in _CONNECTIVES:
            message = f"`{head.text}` cannot stand here, where only facts do."
            self.source.report("malformed", form, message, "State each fact by itself.")
            return None
        if declared is None:
            words = _CONNECTIVES if kind == "predicate" else ()
            self._report_undeclared(kind, head, [*(p.name for p in table.values()), *words])
            if any(isinstance(item, Form) for item in form.items[1:]):
                return None  # a misspelt connective: what it joins is no list of terms
        if any(isinstance(item, Symbol) and item.text == "-" for item in form.items):
            message = "Types stand only where names are declared."
            self.source.report("malformed", form, message, "Write the names without types.")
            return None
        terms = [self.term(node) for node in form.items[1:]]
        if declared is None:
            return None
        if not self.usage.has_arity(form, declared):
            return None
        known = [term for term in terms if term is not None]
        if len(known) != len(terms):
            return None
        self.usage.note_types(form, known, declared, self.parents)
        return Atom(declared.name, tuple(term.name for term in known))

    def _is_infix(self, form: Form) -> bool:
        """Report `(?x = y)`, `(!= ?x y)` and their like."""
        words = [i.key for i in form.items[:2] if isinstance(i, Symbol)]
        operator = next((w for w in reversed(words) if w in ("=", "!=", "==", "<>")), None)
        if operator is None:
            return False
        terms = " ".join(getattr(i, "text", "…") for i in form.items if i.key != operator)
        written = f"(= {terms})" if operator in ("=", "==") else f"(not (= {terms}))"
        message = f"`{operator}` is not how PDDL compares two terms."
        if words[0] == "=":
            message = f"`=` compares two parts, here it has {len(form.items) - 1}."
            hint = "Write `(= (FUNCTION …) NUMBER)`." if self.functions else None
            self.source.report("malformed", form, message, hint)
            return True
        if words[0] != operator:
            message = f"`{operator}` stands between its terms instead of before them."
        self.source.report("infix-operator", form, message, f"Write `{written}`.")
        return True

    def _is_function(self, form: Form, head: Symbol, kind: str) -> bool:
        """Report a function that stands where a predicate must."""
        if kind != "predicate" or head.key not in self.functions:
            return False
        if ("value", head.key) not in self._reported:
            self._reported.add(("value", head.key))
            message = f"`{head.text}` is a function, which has a value and is not true or false."
            self.source.report("malformed", form, message, f"Write `(= ({head.text} …) VALUE)`.")
        return True

    def _report_headless(self, form: Form, kind: str) -> None:
        words = [i.key for i in form.items if isinstance(i, Symbol)]
        if any(word in ("and", "or", "&", "&&", "|", "||") for word in words):
            self.source.report(
                "infix-operator",
                form,
                "`and` and `or` stand before their parts in PDDL.",
                "Write `(and (…) (…))`.",
            )
        elif "=" in words:
            message = "`=` stands between its parts instead of before them."
            self.source.report("infix-operator", form, message, "Write `(= (…) …)`.")
        elif form.items and all(isinstance(i, Form) for i in form.items):
            hint = (
                "Write `(and` before the first of them."
                if len(form.items) > 1
                else ("Remove one pair of parentheses.")
            )
            self.source.report("malformed", form, "A list of forms stands where one must.", hint)
        else:
            self.source.report("malformed", form, f"Expected the name of a {kind} after `(`.")

    def _report_absent(self) -> None:
        """Report the names whose whole section is missing as one fault; one name as itself."""
        for kind, uses in list(self.absent.items()):
            if len(uses) > 1:
                names = ", ".join(f"`{symbol.text}`" for symbol in uses[:_FEW])
                more = " and others" if len(uses) > _FEW else ""
                message = f"There is no `(:{kind}s …)` that declares {names}{more}."
                hint = f"Write `(:{kind}s …)`."
                self.source.report("missing-section", uses[0], message, hint)
                continue
            del self.absent[kind]
            for symbol in uses:
                self._reported.discard((kind, symbol.key))
                known = self.types.values() if kind == "type" else self.objects
                self._report_undeclared(kind, symbol, known)

    def finish(self) -> None:
        """Report what needed all uses to be seen: wrong arities and wrong types."""
        self._report_absent()
        for name, node in self.usage.as_object.items():
            if name in self.no_objects and ("no-object", name) not in self._reported:
                self._reported.add(("no-object", name))
                reason, hint = self.no_objects[name]
                message = f"Type `{name}` {reason}: to unified-planning it is no `object`."
                self.source.report("planner-refuses", node, message, hint)
        self.usage.report({**self.functions, **self.predicates}, self.source)
