"""Domain text → typed model, with every fault on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ._definition import open_definition, resembled_keyword, sections
from ._diagnostics import nearest
from ._formulas import read_condition, read_effects
from ._lint import lint_domain
from ._model import Action, And, Axiom, Domain, Formula, Predicate, TypedName
from ._scope import Scope, expect_name, read_typed_list
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["KNOWN_REQUIREMENTS", "read_domain"]

KNOWN_REQUIREMENTS = frozenset(
    ":strips :typing :equality :negative-preconditions :disjunctive-preconditions"
    " :existential-preconditions :universal-preconditions :quantified-preconditions"
    " :conditional-effects :adl :fluents :numeric-fluents :object-fluents :action-costs"
    " :derived-predicates :durative-actions :duration-inequalities :continuous-effects"
    " :timed-initial-literals :preferences :constraints :goal-utilities"
    " :time :non-deterministic :multi-agent".split()
)

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
    requirements = _read_requirements(parts[":requirements"], source)
    for section in parts[":types"]:
        _read_types(section, scope)
    constants: list[TypedName] = []
    for section in parts[":constants"]:
        constants += scope.declare_objects(section.items[1:], "constant")
    for section in parts[":predicates"]:
        _read_signatures(section.items[1:], scope, scope.predicates, "predicate")
    for section in parts[":functions"]:
        _read_functions(section, scope)
    actions = _read_actions(parts, scope)
    axioms = [axiom for form in parts[":derived"] if (axiom := _read_axiom(form, scope))]
    if parts[":constraints"]:
        scope.features.add(":constraints")
    end = (form.end - 1, form.end)
    if not parts[":predicates"] and not scope.predicates:
        hint = "Write `(:predicates (name ?x - type) …)`."
        source.report("missing-section", end, "A domain needs `(:predicates …)`.", hint)
    scope.finish()
    _note_undeclared(requirements, scope, form)
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
        axioms=tuple(axioms),
        features=frozenset(scope.features),
    )
    lint_domain(domain, scope)
    return domain, scope


def _read_axiom(form: Form, scope: Scope) -> Axiom | None:
    """Read `(:derived (predicate ?x - type …) condition)`."""
    scope.features.add(":derived-predicates")
    head = form.items[1] if len(form.items) == 3 else None
    if not isinstance(head, Form) or not head.items or not isinstance(head.items[0], Symbol):
        scope.source.report("malformed", form, "Expected `(:derived (NAME ?x …) CONDITION)`.")
        return None
    name = head.items[0]
    declared = scope.predicates.get(name.key)
    if declared is None:
        scope.source.report(
            "undeclared-predicate",
            name,
            f"Predicate `{name.text}` is not declared.",
            nearest(name.text, (p.name for p in scope.predicates.values())),
        )
    variables = scope.read_variables(Form(head.items[1:], head.start, head.end), head, "`:derived`")
    if declared is not None and len(variables) == len(declared.parameters):
        variables = tuple(
            v if v.types != ("object",) else TypedName(v.name, p.types)
            for v, p in zip(variables, declared.parameters, strict=True)
        )
    with scope.binding(variables):
        body = read_condition(form.items[2], scope)
    return Axiom(Predicate(declared.name if declared else name.text, variables), body)


def _read_requirements(forms: Sequence[Form], source: Source) -> tuple[str, ...]:
    found = []
    for form in forms:
        for item in form.items[1:]:
            if isinstance(item, Symbol) and item.key in KNOWN_REQUIREMENTS:
                found.append(item.key)
            else:
                text = item.text if isinstance(item, Symbol) else "a form"
                source.report(
                    "unknown-requirement",
                    item,
                    f"`{text}` is not a requirement.",
                    nearest(text, KNOWN_REQUIREMENTS),
                )
    return tuple(dict.fromkeys(found))


def _read_types(form: Form, scope: Scope) -> None:
    source = scope.source
    entries = read_typed_list(form.items[1:], source, variables=False)
    for symbol, _ in entries:
        if symbol.key in scope.types and symbol.key != "object":
            source.report("duplicate-name", symbol, f"Type `{symbol.text}` is declared twice.")
        scope.types.setdefault(symbol.key, symbol.text)
        scope.declared_at.setdefault(f"- {symbol.text}", symbol)
    for symbol, parents in entries:
        for parent in parents or ():  # a parent that only ever stands after `-` is declared by that
            scope.types.setdefault(parent.key, parent.text)
        if symbol.key != "object":
            scope.parents[scope.types[symbol.key]] = scope.resolve_types(parents)
    for symbol, _ in entries:
        if symbol.key != "object" and _is_cyclic(scope.types[symbol.key], scope):
            source.report("cyclic-type", symbol, f"Type `{symbol.text}` is its own ancestor.")
            scope.parents[scope.types[symbol.key]] = ("object",)


def _is_cyclic(name: str, scope: Scope) -> bool:
    todo, seen = list(scope.parents.get(name, ())), set()
    while todo:
        current = todo.pop()
        if current == name:
            return True
        if current not in seen:
            seen.add(current)
            todo.extend(scope.parents.get(current, ()))
    return False


def _read_signatures(
    items: Sequence[Node], scope: Scope, table: dict[str, Predicate], kind: str
) -> None:
    for item in items:
        if isinstance(item, Symbol):
            scope.source.report(
                "malformed",
                item,
                f"A {kind} is declared in parentheses.",
                f"Write `({item.text} …)`.",
            )
            continue
        head = expect_name(item.items[0] if item.items else None, scope.source, f"a {kind}", item)
        if head is None:
            scope.unreadable += kind == "predicate"
            continue
        parameters = scope.read_variables(
            Form(item.items[1:], item.start, item.end), item, f"{kind.capitalize()} `{head.text}`"
        )
        if head.key in table:
            scope.source.report(
                "duplicate-name", head, f"{kind.capitalize()} `{head.text}` is declared twice."
            )
        else:
            table[head.key] = Predicate(head.text, parameters)
            scope.declared_at[f"({head.text}"] = item


def _read_functions(section: Form, scope: Scope) -> None:
    """Functions may carry `- number`; the type is dropped, other types are object fluents."""
    items: list[Node] = []
    skip = False
    for item in section.items[1:]:
        if skip:
            skip = False
            if isinstance(item, Symbol) and item.key != "number":
                scope.features.add(":object-fluents")
        elif isinstance(item, Symbol) and item.text == "-":
            skip = True
        else:
            items.append(item)
    _read_signatures(items, scope, scope.functions, "function")


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


def _action_parts(
    form: Form, scope: Scope, known: Sequence[str]
) -> tuple[Symbol, dict[str, Node]] | None:
    """Read `(:action NAME :keyword value …)` into its name and values."""
    source = scope.source
    second = form.items[1] if len(form.items) > 1 else None
    if isinstance(second, Symbol) and second.key in known:
        source.report("malformed", form.items[0], "The action has no name.", "Write it here.")
        name: Symbol | None = Symbol("unnamed", form.start)
        items = list(form.items[1:])
    else:
        name = expect_name(second, source, "an action", form)
        items = list(form.items[2:])
    if name is None:
        return None
    values: dict[str, Node] = {}
    while items:
        keyword = items.pop(0)
        key = keyword.key if isinstance(keyword, Symbol) else ""
        if key not in known:
            key = _report_keyword(keyword, name, [k for k in known if k not in values], source)
        if key in values:
            source.report("repeated-section", keyword, f"`{key}` stands here twice.")
            items = items[1:]
        elif not items or (isinstance(items[0], Symbol) and items[0].key in known):
            if key:
                source.report("malformed", keyword, f"`{key}` has no value.")
                values[key] = Form((), keyword.end, keyword.end)
        elif key:
            values[key] = items.pop(0)
    return name, values


def _report_keyword(node: Node, action: Symbol, known: Sequence[str], source: Source) -> str:
    """Report what stands where a keyword must; returns the keyword that it resembles."""
    if isinstance(node, Form):
        source.report(
            "malformed",
            node,
            f"Action `{action.text}`: a form stands where a keyword such as `:effect` must.",
            "Join several conditions or effects by `(and …)`.",
        )
        return ""
    key = resembled_keyword(node.key, known)
    source.report(
        "unknown-section",
        node,
        f"Action `{action.text}` has no keyword `{node.text}`.",
        f"Did you mean `{key}`?" if key else f"Keywords are {', '.join(known)}.",
    )
    return key


def _read_action(form: Form, scope: Scope) -> Action | None:
    return _read_schema(form, scope, (":parameters", ":precondition", ":effect"), ":precondition")


def _read_durative_action(form: Form, scope: Scope) -> Action | None:
    """Check the names of a durative action; its timing is not modelled."""
    scope.features.add(":durative-actions")
    known = (":parameters", ":duration", ":condition", ":effect")
    return _read_schema(form, scope, known, ":condition")


def _read_schema(
    form: Form, scope: Scope, known: Sequence[str], condition_keyword: str
) -> Action | None:
    if (parts := _action_parts(form, scope, known)) is None:
        return None
    name, values = parts
    scope.declared_at[f":action {name.text}"] = name
    variables: tuple[TypedName, ...] = ()
    if ":parameters" in values:
        what = f"`:parameters` of `{name.text}`"
        variables = scope.read_variables(values[":parameters"], form, what)
    else:
        message = f"Action `{name.text}` has no `:parameters`."
        scope.source.report("missing-section", name, message, "Write `:parameters ()` if none.")
        variables = _variables_in(values.values())
    with scope.binding(variables):
        condition: Formula = And()
        if condition_keyword in values:
            condition = read_condition(values[condition_keyword], scope)
        effects = read_effects(values[":effect"], scope) if ":effect" in values else ()
    if ":effect" not in values:
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
    missing = sorted(scope.features - declared - {":object-fluents"})
    if missing:
        scope.source.report(
            "undeclared-requirement",
            form.items[1] if len(form.items) > 1 else form,
            f"The domain uses {', '.join(missing)} without declaring it.",
            f"Add it to `(:requirements {' '.join(requirements)})`.",
        )
