"""The actions that can be executed in a state, found by joins and given in a stable order.

The order is that in which actions are declared, then that in which objects are declared,
first argument first. There may be more of them than anybody can list, so they are given
in pages, and a page costs no more than what it shows and a bounded number beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from llm_modulo.errors import UsageError
from llm_modulo.pddl import Action, Atom, Problem, check_size, parse

from ._joins import Query
from ._plan_text import read_plan
from ._semantics import UndefinedValue, ground_effect
from ._simulation import Execution, Step, StepFails, require_simulable
from ._state import State, Task, task_of

__all__ = ["ApplicableActions", "applicable", "applicable_actions", "successors"]

MAX_PAGE = 10_000
_SORTED_AT_ONCE = 1_000
"""Up to so many bindings of an action are found first and sorted then."""


@dataclass(frozen=True, kw_only=True)
class ApplicableActions:
    """A page of the actions that are applicable.

    Attributes:
        actions: `(action object …)` in the problem's own spelling.
        next: where the next page begins: what to give as `after`; None on the last page.
    """

    actions: tuple[str, ...]
    next: str | None

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return {"actions": list(self.actions), "next": self.next}


def applicable_actions(
    domain: str,
    problem: str,
    plan: str | Sequence[str] = (),
    *,
    limit: int = 100,
    after: str | None = None,
) -> ApplicableActions:
    """Say which actions are applicable after the steps of a plan.

    Args:
        domain: text of the domain.
        problem: text of the problem.
        plan: the steps that are executed first; text with a step a line, or a sequence.
        limit: the most actions that a page has, 1 to 10,000.
        after: `next` of the page before, or any action of the problem: the page begins
            with the first applicable action behind it.

    Raises:
        NotPddl: the texts have errors, or the plan has a line that is no step.
        UsageError: a text that is too long, a plan that cannot be executed, a limit or an
            `after` that makes no sense.
        UnsupportedBySimulation: the problem has a feature that is not simulated.
    """
    if isinstance(plan, str):
        check_size(plan, "plan")
    return applicable(parse(domain, problem), read_plan(plan), limit=limit, after=after)


def applicable(
    problem: Problem, steps: Sequence[Step] = (), *, limit: int = 100, after: str | None = None
) -> ApplicableActions:
    """`applicable_actions` for a problem's model.

    Raises:
        UsageError: the steps cannot be executed, or `limit` or `after` makes no sense.
        UnsupportedBySimulation: the problem has a feature that is not simulated.
    """
    require_simulable(problem)
    if not 1 <= limit <= MAX_PAGE:
        raise UsageError(f"A page has 1 to {MAX_PAGE:,} actions, not {limit}.")
    task = task_of(problem)
    behind = None if after is None else _place(task, after)
    execution = Execution(problem)
    for index, step in enumerate(steps):
        try:
            execution.execute(step)
        except StepFails as failure:
            detail = f": {' '.join(failure.unsatisfied)}" if failure.unsatisfied else ""
            spelled = execution.spell(step)
            raise UsageError(f"{failure} in step {index}, {spelled}{detail}.") from None
    found = [
        f"({' '.join((action.name, *objects))})"
        for action, objects in islice(_applicable(task, execution.state, behind), limit + 1)
    ]
    more = len(found) > limit
    return ApplicableActions(actions=tuple(found[:limit]), next=found[limit - 1] if more else None)


def successors(
    problem: Problem, state: Set[Atom]
) -> Iterator[tuple[tuple[str, ...], frozenset[Atom]]]:
    """Each applicable step `(action, object, …)` with the state that it leads to, in order.

    Args:
        state: the basic facts of a state that can be reached in the problem.

    Raises:
        UnsupportedBySimulation: the problem has a feature that is not simulated.
    """
    require_simulable(problem)
    task = task_of(problem)
    current = State(task, state)
    for action, objects in _applicable(task, current, None):
        effect = ground_effect(action, _binding(action, objects), current.true, problem)
        yield (action.name, *objects), frozenset((state - effect.delete) | effect.add)


def _binding(action: Action, objects: Sequence[str]) -> dict[str, str]:
    return {p.name.lower(): o for p, o in zip(action.parameters, objects, strict=True)}


_Place = tuple[int, tuple[int, ...]]


def _place(task: Task, text: str) -> _Place:
    """Where an action stands in the order: its number, and its objects' numbers."""
    steps = read_plan([text])
    if len(steps) == 1:
        name, *objects = (word.lower() for word in steps[0])
        numbers = [task.order[task.objects[o].name] for o in objects if o in task.objects]
        action = task.actions.get(name)
        if action is not None and len(numbers) == len(objects) == len(action.parameters):
            return list(task.actions).index(name), tuple(numbers)
    raise UsageError(f"The page cannot begin after {text[:60]!r}: the problem has no such action.")


def _applicable(
    task: Task, state: State, behind: _Place | None
) -> Iterator[tuple[Action, tuple[str, ...]]]:
    """The applicable groundings in order, from the first one behind a place."""
    for number, action in enumerate(task.actions.values()):
        if behind is not None and number < behind[0]:
            continue
        least = behind[1] if behind is not None and number == behind[0] else None
        for objects in _ordered(task, task.query(action.name), state, least):
            try:
                if task.has_values_in_cost(action):
                    ground_effect(action, _binding(action, objects), state.true, task.problem)
            except UndefinedValue:
                continue
            yield action, objects


def _ordered(
    task: Task, query: Query, state: State, behind: tuple[int, ...] | None
) -> Iterator[tuple[str, ...]]:
    """A query's bindings in order, behind a place.

    Where there are too many to sort, the values of the first parameter are gone through
    in order, and so on with the second.
    """
    order = task.order
    stack: list[Iterator[tuple[str, ...]]] = [iter([()])]
    while stack:
        prefix = next(stack[-1], None)
        if prefix is None:
            stack.pop()
            continue
        bound = dict(zip(query.parameters, prefix, strict=False))
        bindings = list(islice(query.bindings(state, bound), _SORTED_AT_ONCE + 1))
        if len(bindings) > _SORTED_AT_ONCE:
            stack.append(_longer(order, query, prefix, behind))
            continue
        found = [tuple(binding[name] for name in query.parameters) for binding in bindings]
        placed = sorted((tuple(order[o] for o in objects), objects) for objects in found)
        yield from (objects for place, objects in placed if behind is None or place > behind)


def _longer(
    order: dict[str, int], query: Query, prefix: tuple[str, ...], behind: tuple[int, ...] | None
) -> Iterator[tuple[str, ...]]:
    """The prefix with each value of the next parameter, but none that is all before a place."""
    least = () if behind is None else behind[: len(prefix) + 1]
    for value in query.objects(query.parameters[len(prefix)]):
        longer = (*prefix, value)
        if tuple(order[o] for o in longer) >= least:
            yield longer
