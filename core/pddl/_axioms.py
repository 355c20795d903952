"""`(:derived (HEAD) BODY)`: derived predicates, which only their axioms make true."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ._formulas import read_condition
from ._model import And, Atom, Axiom, Exists, Forall, Formula, Imply, Not, Or, Predicate, TypedName
from ._scope import Scope
from ._syntax import Form, Symbol

__all__ = ["derived_predicates", "read_axioms"]


def derived_predicates(forms: Iterable[Form]) -> set[str]:
    """The heads' names in lower case."""
    heads = (form.items[1] for form in forms if len(form.items) > 1)
    return {head.key for head in heads if isinstance(head, Form) and head.key}


def read_axioms(forms: Sequence[Form], scope: Scope) -> tuple[Axiom, ...]:
    """Read the axioms; reports those that are not stratified (PDDL 2.2, section 2.1)."""
    placed = [(form, axiom) for form in forms if (axiom := _read_axiom(form, scope)) is not None]
    depends: dict[str, set[str]] = {}
    for _, axiom in placed:
        used = depends.setdefault(axiom.head.name, set())
        used.update(name for name, _ in _predicates(axiom.body, positive=True))
    component = _components(depends)
    for form, axiom in placed:
        used_in_body = _predicates(axiom.body, positive=True)
        negated = {name for name, positive in used_in_body if not positive}
        if component[axiom.head.name] in {component.get(name) for name in negated}:
            scope.source.report(
                "unstratified",
                form.items[1],
                f"`{axiom.head.name}` depends on its own negation, so it has no meaning.",
            )
    return tuple(axiom for _, axiom in placed)


def _read_axiom(form: Form, scope: Scope) -> Axiom | None:
    scope.use(":derived-predicates", form)
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
            scope.source.nearest(name.text, (p.name for p in scope.predicates.values())),
        )
    variables = scope.read_variables(Form(head.items[1:], head.start, head.end), head, "`:derived`")
    if declared is not None:
        variables = _typed_like(declared, variables, head, scope)
    with scope.binding(variables):
        body = read_condition(form.items[2], scope)
    return Axiom(Predicate(declared.name if declared else name.text, variables), body)


def _typed_like(
    declared: Predicate, variables: tuple[TypedName, ...], head: Form, scope: Scope
) -> tuple[TypedName, ...]:
    """The head's variables, untyped ones with the types of the declaration."""
    given = sum(isinstance(i, Symbol) and i.text[0] == "?" for i in head.items)
    if given != len(declared.parameters):
        scope.source.report(
            "wrong-arity",
            head,
            f"`{declared.name}` is declared with {len(declared.parameters)} parameters, here it"
            f" has {given}.",
        )
    if len(variables) != len(declared.parameters):
        return variables
    pairs = zip(variables, declared.parameters, strict=True)
    return tuple(TypedName(v.name, p.types) if v.types == ("object",) else v for v, p in pairs)


def _predicates(formula: Formula, *, positive: bool) -> Iterator[tuple[str, bool]]:
    """Every predicate of a formula, with whether it stands there unnegated."""
    match formula:
        case Atom():
            yield formula.predicate, positive
        case Not(operand):
            yield from _predicates(operand, positive=not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _predicates(operand, positive=positive)
        case Imply(premise, conclusion):
            yield from _predicates(premise, positive=not positive)
            yield from _predicates(conclusion, positive=positive)
        case Exists(_, body) | Forall(_, body):
            yield from _predicates(body, positive=positive)


def _components(depends: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Numbers the strongly connected components: names that depend on each other.

    The path-based algorithm of Gabow (2000), in one pass and without recursion.
    """
    component: dict[str, int] = {}
    entered: dict[str, int] = {}
    for root in depends:
        if root in entered:
            continue
        path: list[str] = []  # entered, without a component yet
        bounds: list[int] = []  # where in `path` what may be a component starts
        todo: list[tuple[str, Iterator[str]]] = [(root, iter(()))]
        while todo:
            name, rest = todo[-1]
            if name not in entered:
                entered[name] = len(entered)
                path.append(name)
                bounds.append(entered[name])
                todo[-1] = (name, rest := iter(depends.get(name, ())))
            for other in rest:
                if other not in entered:
                    todo.append((other, iter(())))
                    break
                if other not in component:
                    while bounds[-1] > entered[other]:
                        bounds.pop()
            else:
                todo.pop()
                if bounds[-1] == entered[name]:
                    bounds.pop()
                    while name not in component:
                        component[path.pop()] = entered[name]
    return component
