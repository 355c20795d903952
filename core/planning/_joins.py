"""Find the bindings of variables for which a condition holds, by joins over a state's facts.

The positive literals of the condition are matched with facts, the one with the fewest
candidates first; variables that are in none of them run through the objects of their
type. Everything else (negations, disjunctions, quantifiers) is checked as soon as its
variables are bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Protocol

from llm_modulo.pddl import And, Atom, Exists, Formula, Problem, TypedName

from ._semantics import (
    Binding,
    UnsupportedBySimulation,
    free_variables,
    holds,
    predicates_of,
    substitute,
)

__all__ = ["MAX_VARIABLES", "Query", "SearchedState"]

MAX_VARIABLES = 100
"""Most variables of a condition that is searched for bindings."""

_Check = tuple[Formula, frozenset[str]]
_Frame = tuple[Iterator[Binding], Sequence[Atom], Sequence[_Check]]


class SearchedState(Protocol):
    """What a join asks a state for."""

    @property
    def true(self) -> Set[Atom]:
        """All facts that are true."""

    def of(self, predicate: str) -> Collection[Atom]:
        """The facts of a predicate."""

    def with_argument(self, predicate: str, position: int, value: str) -> Collection[Atom]:
        """The facts of a predicate that have a value at a position."""


class Query:
    """A condition with variables, taken apart once so that it can be asked of many states.

    Attributes:
        parameters: the variables whose bindings are asked for, in lower case.
        literals: the positive literals that are joined.
        opaque: the predicates of the rest.
    """

    def __init__(
        self, parameters: Sequence[TypedName], condition: Formula, problem: Problem
    ) -> None:
        self.parameters = tuple(v.name.lower() for v in parameters)
        self.literals: list[Atom] = []
        self._problem = problem
        self._checks: list[_Check] = []
        self._objects: dict[str, tuple[str, ...]] = {}  # what each variable may be
        self._declare(parameters)
        self._take_apart(condition)
        if len(self._objects) > MAX_VARIABLES:
            raise UnsupportedBySimulation(
                f"A condition has more than {MAX_VARIABLES} variables, which our own simulation"
                " does not cover."
            )
        self._accepted = {name: frozenset(found) for name, found in self._objects.items()}
        self.opaque = frozenset(
            predicate for check in self._checks for predicate, _ in predicates_of(check[0])
        )

    def _declare(self, variables: Sequence[TypedName]) -> None:
        for variable in variables:
            self._objects[variable.name.lower()] = self._problem.of_type(variable.types)

    def _take_apart(self, condition: Formula) -> None:
        """Sort the parts of a conjunction into literals to join and conditions to check."""
        match condition:
            case And(operands):
                for operand in operands:
                    self._take_apart(operand)
            case Atom():
                terms = tuple(t.lower() if t.startswith("?") else t for t in condition.terms)
                self.literals.append(Atom(condition.predicate, terms))
            case Exists(variables, body) if _joined(variables, body):
                # Its variables become ours, under names that nobody can write.
                fresh = {
                    v.name.lower(): f"{v.name.lower()}#{len(self._objects)}" for v in variables
                }
                self._declare([TypedName(fresh[v.name.lower()], v.types) for v in variables])
                self._take_apart(substitute(body, fresh))
            case _:
                self._checks.append((condition, free_variables(condition)))

    def objects(self, parameter: str) -> tuple[str, ...]:
        """The objects of a parameter's type, in order of declaration."""
        return self._objects[parameter]

    def bindings(self, state: SearchedState, bound: Binding | None = None) -> Iterator[Binding]:
        """Every binding of the parameters with which the condition holds, once, in no order.

        A binding may say more: it is not to be changed, and valid until the state changes.

        Args:
            bound: variables whose values are given.
        """
        given = bound or {}
        if any(value not in self._accepted[name] for name, value in given.items()):
            return
        found = self._search(state, given)
        if len(self._objects) == len(self.parameters):
            yield from found
            return
        seen = set()
        for binding in found:
            key = tuple(binding[name] for name in self.parameters)
            if key not in seen:
                seen.add(key)
                yield binding

    def match(self, literal: Atom, fact: Atom, binding: Binding) -> Binding | None:
        """Extend a binding so that a literal becomes a fact; None if it cannot."""
        extended: dict[str, str] | None = None
        for term, value in zip(literal.terms, fact.terms, strict=True):
            if not term.startswith("?"):
                known: str | None = term
            else:
                known = (binding if extended is None else extended).get(term)
            if known is None:
                if value not in self._accepted[term]:
                    return None
                if extended is None:
                    extended = dict(binding)
                extended[term] = value
            elif known != value:
                return None
        return binding if extended is None else extended

    def _search(self, state: SearchedState, given: Binding) -> Iterator[Binding]:
        """Bindings of all variables, depth first: a frame is what is left to try and to satisfy.

        Once the parameters are bound the rest are variables of `exists`, of which one
        binding is enough: `cut` is the depth to which the search then returns.
        """
        stack: list[_Frame] = [(iter((given,)), self.literals, self._checks)]
        cut: int | None = None
        while stack:
            depth = len(stack)
            choices, literals, checks = stack[-1]
            binding = next(choices, None)
            if binding is None:
                stack.pop()
                continue
            if cut is None or depth <= cut:
                cut = depth if all(name in binding for name in self.parameters) else None
            left = self._unresolved(state, binding, literals, checks)
            if left is None:
                continue
            further = self._choices(state, binding, *left)
            if further is None:
                yield binding
                del stack[cut:]
            else:
                stack.append(further)

    def _unresolved(
        self,
        state: SearchedState,
        binding: Binding,
        literals: Sequence[Atom],
        checks: Sequence[_Check],
    ) -> tuple[list[Atom], list[_Check]] | None:
        """What still has unbound variables; None if something is false already."""
        open_literals = []
        for literal in literals:
            if any(t not in binding for t in literal.terms if t.startswith("?")):
                open_literals.append(literal)
            elif not holds(literal, state.true, binding, self._problem):
                return None
        waiting = []
        for check in checks:
            if not check[1] <= binding.keys():
                waiting.append(check)
            elif not holds(check[0], state.true, binding, self._problem):
                return None
        return open_literals, waiting

    def _choices(
        self,
        state: SearchedState,
        binding: Binding,
        literals: Sequence[Atom],
        checks: Sequence[_Check],
    ) -> _Frame | None:
        """The next frame: one literal matched, or one variable bound; None if all are bound."""
        best: Atom | None = None
        fewest: Collection[Atom] = ()
        for literal in literals:
            candidates = _candidates(literal, binding, state)
            if candidates is not None and (best is None or len(candidates) < len(fewest)):
                best, fewest = literal, candidates
        if best is not None:
            matched = (self.match(best, fact, binding) for fact in fewest)
            choices = (extended for extended in matched if extended is not None)
            return choices, [literal for literal in literals if literal is not best], checks
        free = next((name for name in self._objects if name not in binding), None)
        if free is None:
            return None
        return ({**binding, free: value} for value in self._objects[free]), literals, checks


def _joined(variables: Sequence[TypedName], body: Formula) -> bool:
    """Whether each variable is in a positive literal of a conjunction.

    Only then does a join find its values faster than trying them one by one.
    """
    parts = body.operands if isinstance(body, And) else (body,)
    terms = {
        t.lower() for p in parts if isinstance(p, Atom) and p.predicate != "=" for t in p.terms
    }
    return all(v.name.lower() in terms for v in variables)


def _candidates(
    literal: Atom, binding: Mapping[str, str], state: SearchedState
) -> Collection[Atom] | None:
    """Facts that a literal may become; None for an equality of two unbound variables."""
    values = [binding.get(t) if t.startswith("?") else t for t in literal.terms]
    if literal.predicate == "=":
        known = next((value for value in values if value is not None), None)
        return None if known is None else (Atom("=", (known, known)),)
    fewest = state.of(literal.predicate)
    for position, value in enumerate(values):
        if value is not None:
            found = state.with_argument(literal.predicate, position, value)
            if len(found) < len(fewest):
                fewest = found
    return fewest
