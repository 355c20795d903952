"""Derived predicates: what the axioms make true in a state (PDDL 2.2, section 2.1).

The predicates are put in strata, so that one whose negation is used is complete before it
is used. Within a stratum every new fact is matched with the literals that it can make true
(semi-naive evaluation), so that the work grows with what is derived.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from llm_modulo.pddl import Atom, Axiom, Formula, Or, Problem

from ._joins import Query, SearchedState
from ._semantics import Binding, UnsupportedBySimulation, predicates_of

__all__ = ["MAX_DERIVED", "Axioms"]

MAX_DERIVED = 1_000_000
"""Most facts that a stratum may make true in a state."""


class _DerivedState(SearchedState, Protocol):
    def add(self, fact: Atom) -> None:
        """Make a fact true."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rule:
    """One way in which a head becomes true."""

    predicate: str
    query: Query

    def head(self, binding: Binding) -> Atom:
        return Atom(self.predicate, tuple(binding[name] for name in self.query.parameters))


class _Stratum:
    """Rules whose heads may depend on each other, but not on each other's negation."""

    def __init__(self, axioms: Sequence[Axiom], problem: Problem) -> None:
        heads = {axiom.head.name for axiom in axioms}
        self.rules: list[_Rule] = []
        self.depends: frozenset[str] = frozenset()
        for axiom in axioms:
            self.depends |= {name for name, _ in predicates_of(axiom.body)}
            for body in _alternatives(axiom.body):
                query = Query(axiom.head.parameters, body, problem)
                self.rules.append(_Rule(predicate=axiom.head.name, query=query))
        # A head inside a disjunction or a `forall` is no literal that a new fact can be
        # matched with: these rules are asked again as a whole.
        self._repeated = [rule for rule in self.rules if rule.query.opaque & heads]
        self._users: dict[str, list[tuple[_Rule, Atom]]] = {name: [] for name in heads}
        for rule in self.rules:
            for literal in rule.query.literals:
                if literal.predicate in heads:
                    self._users[literal.predicate].append((rule, literal))

    def derive(self, state: _DerivedState) -> list[Atom]:
        """Add to a state what the rules make true; the facts that were added."""
        found: list[Atom] = []
        rules = self.rules
        while True:
            before = len(found)
            for rule in rules:
                self._add(rule, {}, state, found)
            matched = before
            while matched < len(found):
                fact = found[matched]
                matched += 1
                for rule, literal in self._users[fact.predicate]:
                    bound = rule.query.match(literal, fact, {})
                    if bound is not None:
                        self._add(rule, bound, state, found)
            if len(found) == before:
                return found
            rules = self._repeated

    @staticmethod
    def _add(rule: _Rule, bound: Binding, state: _DerivedState, found: list[Atom]) -> None:
        bindings = islice(rule.query.bindings(state, bound), MAX_DERIVED + 1)
        heads = [rule.head(binding) for binding in bindings]
        if max(len(heads), len(found)) > MAX_DERIVED:
            raise UnsupportedBySimulation(
                f"The axioms make more than {MAX_DERIVED:,} facts true, which our own simulation"
                " does not cover."
            )
        for fact in heads:
            if fact not in state.true:
                state.add(fact)
                found.append(fact)


class Axioms:
    """The axioms of a problem, in strata."""

    def __init__(self, problem: Problem) -> None:
        axioms = problem.domain.axioms
        level = _levels(axioms)
        self.strata = [
            _Stratum([a for a in axioms if level[a.head.name] == number], problem)
            for number in sorted(set(level.values()))
        ]

    def first_affected(self, changed: Collection[str]) -> int | None:
        """The lowest stratum that depends on one of these predicates."""
        for number, stratum in enumerate(self.strata):
            if not stratum.depends.isdisjoint(changed):
                return number
        return None


def _alternatives(body: Formula) -> Iterator[Formula]:
    if isinstance(body, Or):
        for operand in body.operands:
            yield from _alternatives(operand)
    else:
        yield body


def _levels(axioms: Sequence[Axiom]) -> dict[str, int]:
    """Each derived predicate's stratum: above all that it uses negated, below none it uses."""
    level = {axiom.head.name: 0 for axiom in axioms}
    uses = [
        (axiom.head.name, name, int(not positive))
        for axiom in axioms
        for name, positive in predicates_of(axiom.body)
        if name in level
    ]
    changed = True
    while changed:  # it ends: the reader refuses axioms that are not stratified
        changed = False
        for head, name, step in uses:
            if level[head] < level[name] + step:
                level[head] = level[name] + step
                changed = True
    return level
