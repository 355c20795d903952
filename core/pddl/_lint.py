"""What is legal and hardly meant: goals that hold already, actions that can never apply.

Looks at the typed model, after everything has been read. Only what follows from static
facts and types is said; what a search would be needed for is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ._model import (
    Action,
    And,
    Assignment,
    Atom,
    Conditional,
    Domain,
    Effect,
    Exists,
    Forall,
    Formula,
    Imply,
    Literal,
    Not,
    Or,
    Problem,
)
from ._scope import Scope
from ._syntax import Form, Node, Symbol

__all__ = ["lint_domain", "lint_problem"]


def lint_domain(domain: Domain, scope: Scope) -> None:
    """Report unused parameters and names that stand for two things."""
    for action in domain.actions.values():
        used = set(_terms_of_action(action))
        for parameter in action.parameters:
            if parameter.name not in used and parameter.name.lower() not in used:
                scope.source.report(
                    "unused-parameter",
                    scope.usage.declared_at[f":action {action.name}"],
                    f"Action `{action.name}` never uses its parameter `{parameter.name}`.",
                )
    kinds = _kinds(domain)
    for kind, name, place in _declarations(domain, scope):
        other = next(k for k, names in kinds.items() if name.lower() in names)
        if other != kind:
            _report_clash(scope, place, name, f"{other} and {kind}")


def lint_problem(problem: Problem, scope: Scope, *, init: Form, goal: Form) -> None:
    """Report what makes a problem trivial, hopeless, or other than meant.

    For texts without errors: what an error leaves out of the model would be reported
    again as its consequence.
    """
    facts = frozenset(problem.init)
    _lint_goal(problem, facts, scope, goal)
    _lint_objects(problem, scope)
    _lint_actions(problem, facts, scope, init)


def _lint_goal(problem: Problem, facts: frozenset[Atom], scope: Scope, goal: Form) -> None:
    parts = list(_conjuncts(problem.goal))
    if parts == []:
        scope.source.report("empty-goal", goal, "The goal asks for nothing.")
        return
    atoms = [part for part in parts if isinstance(part, Atom)]
    if len(atoms) == len(parts) and all(a in facts for a in atoms):
        scope.source.report("goal-holds", goal, "The whole goal is true at the start already.")
    added = {a.predicate for a in _added(problem.domain)}
    derived = {axiom.head.name for axiom in problem.domain.axioms}
    fluent = added | derived | {"="}
    lost = [a for a in dict.fromkeys(atoms) if a.predicate not in fluent and a not in facts]
    if lost:
        forms = _forms_by_words(goal)
        for atom in lost:
            words = (atom.predicate.lower(), *(t.lower() for t in atom.terms))
            scope.source.report(
                "goal-out-of-reach",
                forms.get(words, goal),
                f"`{atom}` is false at the start, and no action makes `{atom.predicate}` true.",
            )


def _lint_objects(problem: Problem, scope: Scope) -> None:
    kinds = _kinds(problem.domain)
    for item in problem.objects:
        place = scope.usage.declared_at[item.name]
        if item.name not in scope.used_objects:
            scope.source.report(
                "unused-object",
                place,
                f"No initial fact and no goal mentions `{item.name}`.",
                "Remove it, or state what is true of it.",
            )
        kind = next((k for k, names in kinds.items() if item.name.lower() in names), None)
        if kind is not None:
            _report_clash(scope, place, item.name, f"an object and {kind}")


def _lint_actions(problem: Problem, facts: frozenset[Atom], scope: Scope, init: Form) -> None:
    """Actions whose parameters have no objects, or whose static conditions have no facts."""
    added = {a.predicate for a in _added(problem.domain)}
    derived = {axiom.head.name for axiom in problem.domain.axioms}
    there = {fact.predicate for fact in facts}
    place = init.items[0]
    empty: set[tuple[str, ...]] = set()
    for action in problem.domain.actions.values():
        for parameter in action.parameters:
            types = parameter.types
            if types not in empty and not problem.of_type(types):
                empty.add(types)
                scope.source.report(
                    "empty-type",
                    place,
                    f"There is no object of type {' or '.join(types)}, which"
                    f" `{action.name}` needs.",
                )
        for part in _conjuncts(action.precondition):
            if not isinstance(part, Atom) or part.predicate in there | added | derived | {"="}:
                continue
            scope.source.report(
                "never-applicable",
                place,
                f"`{action.name}` can never be applied: no fact `({part.predicate} …)` is true"
                " at the start, and no action makes one true.",
            )
            break


def _kinds(domain: Domain) -> dict[str, set[str]]:
    """What names stand for in a domain: kind → names in lower case."""
    return {
        "a type": {t.lower() for t in domain.types}
        | ({"object"} if _asks_for_any(domain) else set()),
        "a predicate": {p.lower() for p in domain.predicates},
        "a function": {f.lower() for f in domain.functions},
        "a constant": {c.name.lower() for c in domain.constants},
        "an action": {a.lower() for a in domain.actions},
    }


def _asks_for_any(domain: Domain) -> bool:
    """Whether something is of the type `object`, which else unified-planning does not know."""
    typed = [domain.constants, *(action.parameters for action in domain.actions.values())]
    typed += [p.parameters for p in (*domain.predicates.values(), *domain.functions.values())]
    return any("object" in item.types for items in typed for item in items)


def _declarations(domain: Domain, scope: Scope) -> Iterator[tuple[str, str, Node]]:
    """Kind, name and place of what a domain declares."""
    prefixes = [
        ("a predicate", domain.predicates, "("),
        ("a function", domain.functions, "("),
        ("a constant", [c.name for c in domain.constants], ""),
        ("an action", domain.actions, ":action "),
    ]
    for kind, names, prefix in prefixes:
        for name in names:
            if (place := scope.usage.declared_at.get(prefix + name)) is not None:
                yield kind, name, place


def _report_clash(scope: Scope, place: Node, name: str, kinds: str) -> None:
    scope.source.report(
        "name-clash",
        place,
        f"`{name}` is both {kinds}; unified-planning refuses that by default.",
        "Give them different names.",
    )


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, And):
        for operand in formula.operands:
            yield from _conjuncts(operand)
    else:
        yield formula


def _forms_by_words(form: Form) -> dict[tuple[str, ...], Form]:
    """The forms inside `form` that hold only words, the first of each, by their words."""
    found: dict[tuple[str, ...], Form] = {}
    todo: list[Node] = [form]
    while todo:
        node = todo.pop()
        if isinstance(node, Form):
            words = tuple(item.key for item in node.items if isinstance(item, Symbol))
            if len(words) == len(node.items):
                found.setdefault(words, node)
            todo.extend(reversed(node.items))
    return found


def _added(domain: Domain) -> Iterator[Atom]:
    """Every atom that some effect makes true."""
    for action in domain.actions.values():
        for effect in _literals(action.effects):
            if isinstance(effect, Literal) and effect.positive:
                yield effect.atom


def _literals(effects: Iterable[Effect]) -> Iterator[Effect]:
    for effect in effects:
        if isinstance(effect, Literal | Assignment):
            yield effect
        else:
            yield from _literals(effect.effects)


def _terms_of_action(action: Action) -> Iterator[str]:
    yield from _terms(action.precondition)
    yield from _terms_of_effects(action.effects)


def _terms_of_effects(effects: Iterable[Effect]) -> Iterator[str]:
    for effect in effects:
        if isinstance(effect, Literal):
            yield from effect.atom.terms
        elif isinstance(effect, Assignment):
            yield from effect.function.terms
            yield from _terms_of_number(effect.value)
        else:
            if isinstance(effect, Conditional):
                yield from _terms(effect.condition)
            yield from _terms_of_effects(effect.effects)


def _terms_of_number(value: object) -> Iterator[str]:
    if isinstance(value, Atom):
        yield from value.terms
    elif isinstance(value, tuple):
        for operand in value[1]:
            yield from _terms_of_number(operand)


def _terms(formula: Formula) -> Iterator[str]:
    match formula:
        case Atom():
            yield from formula.terms
        case Not(operand):
            yield from _terms(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _terms(operand)
        case Imply(premise, conclusion):
            yield from _terms(premise)
            yield from _terms(conclusion)
        case Exists(_, body) | Forall(_, body):
            yield from _terms(body)
