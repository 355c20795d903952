"""Domain text → typed model, with every fault on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._diagnostics import nearest
from ._formulas import read_condition, read_effects
from ._model import Action, And, Domain, Formula, Predicate, TypedName
from ._scope import Scope, expect_name, read_typed_list
from ._syntax import Form, Node, Source, Symbol, read_forms

__all__ = ["KNOWN_REQUIREMENTS", "open_definition", "read_domain", "sections"]

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


def open_definition(source: Source, kind: str) -> tuple[str, Sequence[Node], Form] | None:
    """Find `(define (kind NAME) …)`; return the name, the sections and the form.

    `kind` is `domain` or `problem`. Reports and returns None if there is no such form.
    """
    nodes = read_forms(source)
    if any(d.code == "too-deep" for d in source.diagnostics):
        return None
    form = next((n for n in nodes if isinstance(n, Form) and n.key == "define"), None)
    if form is None:
        found = source.text.strip()[:30]
        source.diagnostics.clear()
        source.report(
            "not-pddl",
            (0, min(len(source.text), 1)),
            f"This is not a PDDL {kind}: there is no `(define ({kind} …) …)`"
            + (f" in text that starts `{found}`." if found else "; the text is empty."),
            f"Pass the whole text of the {kind}, not its name." if found else None,
        )
        return None
    for node in nodes:
        if node is not form:
            source.report("trailing-text", node, "Only one `(define …)` belongs in this text.")
            break
    head = form.items[1] if len(form.items) > 1 else None
    if not isinstance(head, Form) or head.key not in ("domain", "problem"):
        source.report("malformed", head or form, f"Expected `({kind} NAME)` after `(define`.")
        return "", form.items[1:], form
    if head.key != kind:
        source.report(
            "not-pddl",
            head,
            f"This text defines a {head.key}, but a {kind} is needed here.",
            "The domain and the problem may have been swapped.",
        )
        return None
    second = head.items[1] if len(head.items) > 1 else None
    name = expect_name(second, source, f"the name of the {kind}", head)
    return (name.text if name else "", form.items[2:], form)


def sections(
    nodes: Sequence[Node], source: Source, known: Sequence[str], repeatable: frozenset[str]
) -> dict[str, list[Form]]:
    """Sort the sections of a definition by keyword; reports unknown and repeated ones."""
    found: dict[str, list[Form]] = {keyword: [] for keyword in known}
    for node in nodes:
        if isinstance(node, Symbol) or not node.key:
            source.report(
                "malformed", node, "Expected a section such as " + f"`({known[0]} …)` here."
            )
        elif node.key not in found:
            hint = nearest(node.key, known)
            source.report(
                "unknown-section", node.items[0], f"There is no section `{node.key}` here.", hint
            )
        elif found[node.key] and node.key not in repeatable:
            source.report(
                "repeated-section", node.items[0], f"Section `{node.key}` stands here twice."
            )
        else:
            found[node.key].append(node)
    return found


def read_domain(source: Source) -> Domain | None:
    """Read a domain; None when there is nothing to build a model from.

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
    if parts[":derived"]:
        scope.features.add(":derived-predicates")
    if not parts[":predicates"]:
        source.report(
            "missing-section", (form.end - 1, form.end), "A domain needs `(:predicates …)`."
        )
    _note_undeclared(requirements, scope, form)
    return Domain(
        name=name,
        requirements=requirements,
        types={
            t: scope.parents.get(t, ("object",)) for k, t in scope.types.items() if k != "object"
        },
        constants=tuple(constants),
        predicates={p.name: p for p in scope.predicates.values()},
        functions={f.name: f for f in scope.functions.values()},
        actions={a.name: a for a in actions},
        features=frozenset(scope.features),
    )


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
    for symbol, parents in entries:
        for parent in parents:  # a parent that only ever stands after `-` is declared by that
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
    name = expect_name(form.items[1] if len(form.items) > 1 else None, source, "an action", form)
    if name is None:
        return None
    values: dict[str, Node] = {}
    items = list(form.items[2:])
    while items:
        keyword = items.pop(0)
        if not isinstance(keyword, Symbol) or keyword.key not in known:
            text = f"`{keyword.text}`" if isinstance(keyword, Symbol) else "a form"
            source.report(
                "malformed",
                keyword,
                f"Action `{name.text}`: expected one of {', '.join(known)}, found {text}.",
                nearest(keyword.text, known) if isinstance(keyword, Symbol) else None,
            )
            if isinstance(keyword, Symbol) and items and isinstance(items[0], Form):
                items.pop(0)
        elif keyword.key in values:
            source.report("repeated-section", keyword, f"`{keyword.key}` stands here twice.")
            items = items[1:]
        elif not items or (isinstance(items[0], Symbol) and items[0].key in known):
            source.report("malformed", keyword, f"`{keyword.key}` has no value.")
        else:
            values[keyword.key] = items.pop(0)
    return name, values


def _read_action(form: Form, scope: Scope) -> Action | None:
    known = (":parameters", ":precondition", ":effect")
    if (parts := _action_parts(form, scope, known)) is None:
        return None
    name, values = parts
    variables: tuple[TypedName, ...] = ()
    if ":parameters" in values:
        variables = scope.read_variables(
            values[":parameters"], form, f"`:parameters` of `{name.text}`"
        )
    with scope.binding(variables):
        condition: Formula = And()
        if ":precondition" in values:
            condition = read_condition(values[":precondition"], scope)
        effects = read_effects(values[":effect"], scope) if ":effect" in values else ()
    if ":effect" not in values:
        scope.source.report("missing-section", form, f"Action `{name.text}` has no `:effect`.")
    return Action(name.text, variables, condition, effects)


def _read_durative_action(form: Form, scope: Scope) -> Action | None:
    """Check the names of a durative action; its timing is not modelled."""
    scope.features.add(":durative-actions")
    known = (":parameters", ":duration", ":condition", ":effect")
    if (parts := _action_parts(form, scope, known)) is None:
        return None
    name, values = parts
    variables: tuple[TypedName, ...] = ()
    if ":parameters" in values:
        variables = scope.read_variables(
            values[":parameters"], form, f"`:parameters` of `{name.text}`"
        )
    with scope.binding(variables):
        condition: Formula = And()
        if ":condition" in values:
            condition = read_condition(values[":condition"], scope)
        effects = read_effects(values[":effect"], scope) if ":effect" in values else ()
    return Action(name.text, variables, condition, effects)


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
