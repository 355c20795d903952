"""A state that actions change in place, and what is worked out once for all of a problem's states.

A state's basic facts are what actions change; what the axioms derive from them is kept
beside them and worked out anew only when a predicate that it depends on has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from llm_modulo.pddl import (
    Action,
    Assignment,
    Atom,
    Conditional,
    Effect,
    ForallEffect,
    Literal,
    Problem,
)

from ._axioms import Axioms
from ._facts import Facts
from ._joins import Query
from ._semantics import GroundEffect

__all__ = ["State", "Task", "task_of"]

_CACHE = "_planning_task"


class Task:
    """A problem prepared for execution and for joins.

    Attributes:
        actions, objects: by name in lower case.
        order: each object's place in the order of declaration.
        static: the predicates that no action and no axiom changes.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        domain = problem.domain
        self.actions = {action.name.lower(): action for action in domain.actions.values()}
        self.objects = {item.name.lower(): item for item in problem.all_objects}
        self.order = {item.name: place for place, item in enumerate(self.objects.values())}
        changed = {p for action in domain.actions.values() for p in _changed(action.effects)}
        derived = {axiom.head.name for axiom in domain.axioms}
        self.static = frozenset(domain.predicates) - changed - derived
        self.static_facts = Facts(f for f in problem.init if f.predicate in self.static)
        self._accepted: dict[tuple[str, ...], frozenset[str]] = {}
        self._queries: dict[str, Query] = {}
        self._with_values = {a.name for a in self.actions.values() if _has_values(a.effects)}

    @cached_property
    def axioms(self) -> Axioms:
        """The axioms in strata."""
        return Axioms(self.problem)

    def accepts(self, types: tuple[str, ...], name: str) -> bool:
        """Whether an object, by its declared name, is of one of these types."""
        accepted = self._accepted.get(types)
        if accepted is None:
            accepted = self._accepted[types] = frozenset(self.problem.of_type(types))
        return name in accepted

    def query(self, action: str) -> Query:
        """The query for an action's applicable groundings; `action` as declared."""
        if action not in self._queries:
            schema = self.problem.domain.actions[action]
            self._queries[action] = Query(schema.parameters, schema.precondition, self.problem)
        return self._queries[action]

    def has_values_in_cost(self, action: Action) -> bool:
        """Whether an action's cost is a function's value, which may be undefined."""
        return action.name in self._with_values


def task_of(problem: Problem) -> Task:
    """The problem's task, made once and kept with the problem."""
    task = problem.__dict__.get(_CACHE)
    if task is None:
        task = problem.__dict__[_CACHE] = Task(problem)
    assert isinstance(task, Task)
    return task


def _changed(effects: Sequence[Effect]) -> Iterator[str]:
    for effect in effects:
        if isinstance(effect, Literal):
            yield effect.atom.predicate
        elif isinstance(effect, Conditional | ForallEffect):
            yield from _changed(effect.effects)


def _has_values(effects: Sequence[Effect]) -> bool:
    return any(
        isinstance(effect.value, Atom)
        if isinstance(effect, Assignment)
        else not isinstance(effect, Literal) and _has_values(effect.effects)
        for effect in effects
    )


class State:
    """The facts that are true; changed by `apply`.

    Attributes:
        true: all true facts, the derived ones among them.
    """

    def __init__(self, task: Task, basic: Iterable[Atom]) -> None:
        self._task = task
        self.true: set[Atom] = set(basic)
        self._index: Facts | None = None
        self._derived: list[list[Atom]] = [[] for _ in task.axioms.strata]
        self._derive(0)

    def basic(self) -> Iterator[Atom]:
        """The facts that are not derived, in no order."""
        derived = {fact for facts in self._derived for fact in facts}
        return (fact for fact in self.true if fact not in derived)

    def add(self, fact: Atom) -> None:
        """Make a fact true; axioms are not asked."""
        self.true.add(fact)
        if self._index is not None:
            self._index.add(fact)

    def discard(self, fact: Atom) -> None:
        """Make a fact false; axioms are not asked."""
        self.true.discard(fact)
        if self._index is not None:
            self._index.discard(fact)

    def apply(self, effect: GroundEffect) -> tuple[list[Atom], list[Atom]]:
        """Apply an effect; the basic facts that became true, and those that became false."""
        deleted = [fact for fact in effect.delete if fact in self.true]
        added = [fact for fact in effect.add if fact not in self.true]
        for fact in deleted:
            self.discard(fact)
        for fact in added:
            self.add(fact)
        if self._derived:
            changed = {fact.predicate for fact in (*added, *deleted)}
            affected = self._task.axioms.first_affected(changed)
            if affected is not None:
                self._derive(affected)
        return added, deleted

    def of(self, predicate: str) -> Collection[Atom]:
        """The true facts of a predicate."""
        return self._facts(predicate).of(predicate)

    def with_argument(self, predicate: str, position: int, value: str) -> Collection[Atom]:
        """The true facts of a predicate whose argument at a position is `value`."""
        return self._facts(predicate).with_argument(predicate, position, value)

    def _facts(self, predicate: str) -> Facts:
        static = self._task.static
        if predicate in static:
            return self._task.static_facts
        if self._index is None:
            self._index = Facts(fact for fact in self.true if fact.predicate not in static)
        return self._index

    def _derive(self, first: int) -> None:
        """Work out the strata from `first` on anew."""
        for facts in self._derived[first:]:
            for fact in facts:
                self.discard(fact)
        for number in range(first, len(self._derived)):
            self._derived[number] = self._task.axioms.strata[number].derive(self)
