"""Execute plans: `simulate` shows every change, `validate` says whether a plan is one.

This is the project's own, independent executor: what any planner returns is replayed
here before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llm_modulo.pddl import Action, Atom, Problem, check_size, parse

from ._plan_text import read_plan
from ._semantics import (
    UndefinedValue,
    UnsupportedBySimulation,
    ground_effect,
    holds,
    unsatisfied,
    unsupported_feature,
)
from ._state import State, Task, task_of

__all__ = [
    "Execution",
    "Simulation",
    "SimulationStep",
    "Step",
    "StepFails",
    "UnsupportedBySimulation",
    "Validation",
    "replay",
    "require_simulable",
    "simulate",
    "spell_plan",
    "validate",
]

Step = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Whether a plan is legal and reaches the goal.

    Attributes:
        valid: legal, and the goal holds at its end.
        failed_step: 0-based index of the first step that cannot be executed, or None.
        failed_action: that step as written.
        reason: one sentence: why the plan is not valid; None if it is.
        unsatisfied: the failed step's false preconditions, variables replaced.
        missing_goals: the parts of the goal that are false at the end (empty when a
            step failed).
        cost: sum of the executed steps' costs, by the problem's metric.
    """

    valid: bool
    failed_step: int | None
    failed_action: str | None
    reason: str | None
    unsatisfied: tuple[str, ...]
    missing_goals: tuple[str, ...]
    cost: float

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        return {
            "valid": self.valid,
            "failed_step": self.failed_step,
            "failed_action": self.failed_action,
            "reason": self.reason,
            "unsatisfied": list(self.unsatisfied),
            "missing_goals": list(self.missing_goals),
            "cost": self.cost,
        }


@dataclass(frozen=True, kw_only=True)
class SimulationStep:
    """One executed action and the facts that it changed."""

    action: str
    add: tuple[str, ...]
    delete: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """An execution as changes: the initial facts, then what each step adds and deletes.

    Attributes:
        stopped: why the execution ended before the plan's end, or None.
    """

    initial: tuple[str, ...]
    steps: tuple[SimulationStep, ...]
    goal_reached: bool
    stopped: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object; `stopped` only when it is not None."""
        result: dict[str, Any] = {
            "initial": list(self.initial),
            "steps": [
                {"action": s.action, "add": list(s.add), "delete": list(s.delete)}
                for s in self.steps
            ],
            "goal_reached": self.goal_reached,
        }
        return result if self.stopped is None else {**result, "stopped": self.stopped}


class StepFails(Exception):
    """A step that cannot be executed."""

    def __init__(self, reason: str, unsatisfied: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.unsatisfied = tuple(unsatisfied)


class Execution:
    """A state that steps are applied to, one after the other."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.task = task_of(problem)
        self.state = State(self.task, problem.init)
        self.cost = 0.0

    def spell(self, step: Step) -> str:
        """A step in the problem's own spelling; unknown names stay as they are."""
        return _spelled(self.task, step)

    def execute(self, step: Step) -> tuple[list[Atom], list[Atom]]:
        """Apply a step; the facts that became true, and those that became false.

        Raises:
            StepFails: it is not applicable; nothing has changed.
        """
        action, binding = self._bind(step)
        true = self.state.true
        if not holds(action.precondition, true, binding, self.problem):
            missing = unsatisfied(action.precondition, true, binding, self.problem)
            raise StepFails("A precondition does not hold", missing)
        try:
            effect = ground_effect(action, binding, true, self.problem)
        except UndefinedValue as error:
            raise StepFails(str(error)) from None
        self.cost += effect.cost
        return self.state.apply(effect)

    def missing_goals(self) -> list[str]:
        """The parts of the goal that are false now."""
        return unsatisfied(self.problem.goal, self.state.true, {}, self.problem)

    def _bind(self, step: Step) -> tuple[Action, dict[str, str]]:
        action = self.task.actions.get(step[0].lower())
        if action is None:
            raise StepFails(f"There is no action `{step[0]}`")
        if len(step) - 1 != len(action.parameters):
            raise StepFails(
                f"`{action.name}` takes {len(action.parameters)} objects, not {len(step) - 1}"
            )
        binding = {}
        for written, parameter in zip(step[1:], action.parameters, strict=True):
            known = self.task.objects.get(written.lower())
            if known is None:
                raise StepFails(f"There is no object `{written}`")
            if not self.task.accepts(parameter.types, known.name):
                raise StepFails(
                    f"`{known.name}` is of type {' or '.join(known.types)},"
                    f" `{parameter.name}` must be {' or '.join(parameter.types)}"
                )
            binding[parameter.name.lower()] = known.name
        return action, binding


def _spelled(task: Task, step: Step) -> str:
    action = task.actions.get(step[0].lower())
    names = (task.objects.get(n.lower()) for n in step[1:])
    spelled = (o.name if o else n for o, n in zip(names, step[1:], strict=True))
    return f"({' '.join((action.name if action else step[0], *spelled))})"


def spell_plan(problem: Problem, steps: Sequence[Step]) -> list[str]:
    """Write steps as `(action object …)` in the problem's own spelling."""
    task = task_of(problem)
    return [_spelled(task, step) for step in steps]


def require_simulable(problem: Problem) -> None:
    """Raise `UnsupportedBySimulation` if a feature of the problem is not simulated."""
    if (feature := unsupported_feature(problem)) is not None:
        raise UnsupportedBySimulation(
            f"The problem uses {feature}, which our own simulation does not cover."
        )


def replay(problem: Problem, steps: Sequence[Step]) -> Validation:
    """Execute a plan on a problem's model.

    Raises:
        UnsupportedBySimulation: the problem has a feature that is not simulated.
    """
    require_simulable(problem)
    execution = Execution(problem)
    for index, step in enumerate(steps):
        try:
            execution.execute(step)
        except StepFails as failure:
            detail = f": {' '.join(failure.unsatisfied)}" if failure.unsatisfied else ""
            return Validation(
                valid=False,
                failed_step=index,
                failed_action=execution.spell(step),
                reason=f"{failure} in step {index}, {execution.spell(step)}{detail}.",
                unsatisfied=failure.unsatisfied,
                missing_goals=(),
                cost=execution.cost,
            )
    missing = execution.missing_goals()
    return Validation(
        valid=not missing,
        failed_step=None,
        failed_action=None,
        reason=f"The goal is not reached: {' '.join(missing)}." if missing else None,
        unsatisfied=(),
        missing_goals=tuple(missing),
        cost=execution.cost,
    )


def validate(domain: str, problem: str, plan: str | Sequence[str]) -> Validation:
    """Say whether a plan is valid for a PDDL problem, and if not, where and why.

    Args:
        domain: text of the domain.
        problem: text of the problem.
        plan: text with a step a line, or a sequence of steps `(action object …)`.

    Raises:
        NotPddl: the texts have errors, or the plan has a line that is no step.
        UsageError: a text longer than `MAX_TEXT` characters.
        UnsupportedBySimulation: the problem has a feature that is not simulated, such as
            numeric fluents or durative actions.
    """
    return replay(parse(domain, problem), _steps(plan))


def simulate(domain: str, problem: str, plan: str | Sequence[str]) -> Simulation:
    """Execute a plan and show what each step changes; stops before a step that fails.

    Shown are the basic facts; derived ones, which follow from them, count in conditions.

    Arguments and errors as in `validate`.
    """
    model = parse(domain, problem)
    require_simulable(model)
    execution = Execution(model)
    initial = tuple(_sorted(model.init))
    steps: list[SimulationStep] = []
    stopped = None
    for step in _steps(plan):
        try:
            added, deleted = execution.execute(step)
        except StepFails as failure:
            stopped = f"{failure} in step {len(steps)}: {execution.spell(step)}."
            break
        steps.append(
            SimulationStep(
                action=execution.spell(step),
                add=tuple(_sorted(added)),
                delete=tuple(_sorted(deleted)),
            )
        )
    reached = stopped is None and not execution.missing_goals()
    return Simulation(initial=initial, steps=tuple(steps), goal_reached=reached, stopped=stopped)


def _steps(plan: str | Sequence[str]) -> list[tuple[str, ...]]:
    if isinstance(plan, str):
        check_size(plan, "plan")
    return read_plan(plan)


def _sorted(facts: Iterable[Atom]) -> list[str]:
    return sorted(map(str, facts))
