"""Domain text → typed model, with every fault on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ._axioms import derived_predicates, read_axioms
from ._constraints import read_constraint, read_duration
from ._definition import (
    open_definition,
    read_requirements,
    sections,
)
from ._formulas import read_condition, read_effects
from ._keywords import action_parts
from ._lint import lint_domain
from ._model import Action, And, Domain, Formula, Predicate, TypedName
from ._names import expect_name, in_parentheses
from ._scope import Scope
from ._source import Source
from ._syntax import Form, Node, Symbol
from ._types import read_types

__all__ = ["read_domain"]

_SECTIONS = (
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":constraints",
    ":derived",
    ":action",
    ":durative-action",
)
_REPEATABLE = frozenset({":action", ":durative-action", ":derived"})


def read_domain(source: Source) -> tuple[Domain, Scope] | None:
    """Read a domain, with its scope; None when there is nothing to build a model from.

    Faults go to `source.diagnostics`; what they leave out is missing from the model.
    """
    opened = open_definition(source, "domain")
    if opened is None:
        return None
    name, nodes, form = opened
    parts = sections(nodes, source, _SECTIONS, _REPEATABLE)
    scope = Scope(source)
    required = read_requirements(parts[":requirements"], source)
    requirements = tuple(symbol.key for symbol in required)
    for keyword in (":types", ":functions"):
        for section in parts[keyword]:
            if len(section.items) == 1:
                scope.use("empty-list", section)
    for section in parts[":types"]:
        read_types(section, scope)
    if not parts[":types"]:
        scope.absent["type"] = []
    constants: list[TypedName] = []
    for section in parts[":constants"]:
        constants += scope.declare_objects(section.items[1:], "constant")
    for section in parts[":predicates"]:
        _read_signatures(section.items[1:], scope, scope.predicates, "predicate")
    for section in parts[":functions"]:
        _read_functions(section, scope)
    scope.derived = derived_predicates(parts[":derived"])
    actions = _read_actions(parts, scope)
    axioms = read_axioms(parts[":derived"], scope)
    if parts[":constraints"]:
        section = parts[":constraints"][0]
        scope.use(":constraints", section)
        scope.use("domain-constraints", section)
        for item in section.items[1:]:
            read_constraint(item, scope)
    end = (form.end - 1, form.end)
    if not parts[":predicates"] and not scope.predicates:
        hint = "Write `(:predicates (name ?x - type) …)`."
        source.report("missing-section", end, "A domain needs `(:predicates …)`.", hint)
    scope.finish()
    _note_undeclared(requirements, scope, form)
    scope.note_refusals(required)
    domain = Domain(
        name=name,
        requirements=requirements,
        types={
            t: scope.parents.get(t, ("object",)) for k, t in scope.types.items() if k != "object"
        },
        constants=tuple(constants),
        predicates={p.name: p for p in scope.predicates.values()},
        functions={f.name: f for f in scope.functions.values()},
        actions={a.name: a for a in actions},
        axioms=axioms,
        features=frozenset(scope.features),
    )
    lint_domain(domain, scope)
    return domain, scope


def _read_signatures(
    items: Sequence[Node], scope: Scope, table: dict[str, Predicate], kind: str
) -> None:
    items = _with_names_inside(items, scope)
    for item in in_parentheses(items, scope.source, f"A {kind} is declared in parentheses."):
        head = expect_name(item.items[0] if item.items else None, scope.source, f"a {kind}", item)
        if head is None:
            scope.unreadable += kind == "predicate"
            continue
        what = f"{kind.capitalize()} `{head.text}`"
        terms = Form(item.items[1:], item.start, item.end)
        parameters = scope.read_variables(terms, item, what, "either-in-predicates")
        if head.key in table:
            scope.source.report(
                "duplicate-name", head, f"{kind.capitalize()} `{head.text}` is declared twice."
            )
        else:
            table[head.key] = Predicate(head.text, parameters)
            scope.usage.declared_at[f"({head.text}"] = item


def _with_names_inside(items: Sequence[Node], scope: Scope) -> list[Node]:
    """Read `p (?x - t)` as `(p ?x - t)`."""
    mended: list[Node] = []
    for item in items:
        before = mended[-1] if mended else None
        if isinstance(item, Form) and item.key[:1] == "?" and isinstance(before, Symbol):
            message = f"The name `{before.text}` stands before the parenthesis."
            scope.source.report("malformed", before, message, f"Write `({before.text} ?x …)`.")
            mended[-1] = Form((before, *item.items), before.start, item.end)
        else:
            mended.append(item)
    return mended


def _read_functions(section: Form, scope: Scope) -> None:
    """Functions may carry `- number`; the type is dropped, other types are object fluents."""
    items: list[Node] = []
    dash: Symbol | None = None
    for item in section.items[1:]:
        if dash is not None:
            dash = None
            if item.key != "number" or isinstance(item, Form):
                _read_value_type(item, scope)
        elif isinstance(item, Symbol) and item.text == "-":
            dash = item
        else:
            items.append(item)
    if dash is not None:
        message = "Expected the type of a function's values after `-`."
        scope.source.report("malformed", dash, message, "Write `- number`.")
    _read_signatures(items, scope, scope.functions, "function")


def _read_value_type(node: Node, scope: Scope) -> None:
    if isinstance(node, Form) and node.key != "either":
        message = "The type of a function's values is a word."
        scope.source.report("malformed", node, message, "Write `- number`.")
        return
    types = node.items[1:] if isinstance(node, Form) else (node,)
    scope.resolve_types(item for item in types if isinstance(item, Symbol))
    scope.use(":object-fluents", node)


def _read_actions(parts: dict[str, list[Form]], scope: Scope) -> list[Action]:
    readers: list[tuple[str, Callable[[Form, Scope], Action | None]]] = [
        (":action", _read_action),
        (":durative-action", _read_durative_action),
    ]
    actions: dict[str, Action] = {}
    for keyword, read in readers:
        for form in parts[keyword]:
            action = read(form, scope)
            if action is None:
                continue
            if action.name.lower() in actions:
                scope.source.report(
                    "duplicate-name", form.items[1], f"Action `{action.name}` is declared twice."
                )
            actions.setdefault(action.name.lower(), action)
    return list(actions.values())


def _read_action(form: Form, scope: Scope) -> Action | None:
    return _read_schema(form, scope, (":parameters", ":precondition", ":effect"), ":precondition")


def _read_durative_action(form: Form, scope: Scope) -> Action | None:
    """Check the names of a durative action; its timing is not modelled."""
    scope.use(":durative-actions", form)
    known = (":parameters", ":duration", ":condition", ":effect")
    scope.is_timed = True
    action = _read_schema(form, scope, known, ":condition")
    scope.is_timed = False
    return action


def _read_schema(
    form: Form, scope: Scope, known: Sequence[str], condition_keyword: str
) -> Action | None:
    if (parts := action_parts(form, scope.source, known)) is None:
        return None
    name, values = parts.name, parts.values
    scope.usage.declared_at[f":action {name.text}"] = name
    variables: tuple[TypedName, ...] = ()
    if ":parameters" in values:
        what = f"`:parameters` of `{name.text}`"
        variables = scope.read_variables(values[":parameters"], form, what)
    else:
        if ":parameters" not in parts.reported:
            message = f"Action `{name.text}` has no `:parameters`."
            hint = "Write `:parameters ()` if none."
            scope.source.report("missing-section", name, message, hint)
        variables = _variables_in(values.values())
    with scope.binding(variables):
        condition: Formula = And()
        if condition_keyword in values:
            condition = read_condition(values[condition_keyword], scope)
        if ":duration" in values:
            read_duration(values[":duration"], scope)
        effects = read_effects(values[":effect"], scope) if ":effect" in values else ()
    if ":effect" not in values and ":effect" not in parts.reported:
        message = f"Action `{name.text}` has no `:effect`."
        scope.source.report("missing-section", name, message)
    return Action(name.text, variables, condition, effects)


def _variables_in(nodes: Iterable[Node]) -> tuple[TypedName, ...]:
    """Every variable of some forms, of unknown type: what a missing list would declare."""
    found: dict[str, TypedName] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, Form):
            todo.extend(node.items)
        elif node.text.startswith("?"):
            found[node.key] = TypedName(node.text, ())
    return tuple(found.values())


_IMPLIED = {
    ":adl": frozenset(
        ":typing :equality :negative-preconditions :disjunctive-preconditions"
        " :existential-preconditions :universal-preconditions :conditional-effects".split()
    ),
    ":quantified-preconditions": frozenset(
        {":existential-preconditions", ":universal-preconditions"}
    ),
    ":fluents": frozenset({":numeric-fluents", ":action-costs"}),
    ":numeric-fluents": frozenset({":action-costs"}),
}


def _note_undeclared(requirements: Sequence[str], scope: Scope, form: Form) -> None:
    if len(scope.types) > 1:
        scope.features.add(":typing")
    declared = set(requirements).union(*(_IMPLIED.get(r, ()) for r in requirements))
    used = {feature for feature in scope.features if feature.startswith(":")}
    missing = sorted(used - declared - {":object-fluents"})
    if missing:
        scope.source.report(
            "undeclared-requirement",
            form.items[1] if len(form.items) > 1 else form,
            f"The domain uses {', '.join(missing)} without declaring it.",
            f"Add it to `(:requirements {' '.join(requirements)})`.",
        )
