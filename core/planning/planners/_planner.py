"""What a planner is to the rest of the project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from llm_modulo.outcomes import PlanningOutcome

__all__ = [
    "AnytimePlanner",
    "Limits",
    "Planner",
    "PlannerReport",
    "PreparedPlanner",
    "Steps",
    "Verdict",
]

Steps = tuple[tuple[str, ...], ...]
"""A plan's steps `(action, object, …)`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits of one solve; they cover reading, grounding and search together.

    Attributes:
        seconds: wall-clock time.
        memory_mb: address space of the planner's process, in units of 10⁶ bytes.
    """

    seconds: float = 60.0
    memory_mb: int = 4_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What a validator that is not ours says of a plan that our own replay cannot follow.

    Attributes:
        valid: None if the validator cannot tell.
        cost: by the problem's metric, as far as the validator computes it.
        remark: why the plan is not valid, or why the validator cannot tell.
    """

    valid: bool | None
    cost: float | None = None
    remark: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannerReport:
    """What a planner says of one task, before anything of it is believed.

    Attributes:
        outcome: as the planner claims it.
        steps: the plan's steps `(action, object, …)`, in the planner's spelling.
        times: for each step of a plan with times its start and its duration (None: it has
            none), as decimals.
        verdict: of unified-planning's validator, where it was asked.
        lower_bound: a proved bound on the cost of every plan.
        seconds: phases `read`, `ground`, `search`, as far as they are known.
        log: the beginning and the end of what it printed.
        configuration: what it was started with, if that is not the planner's own.
    """

    outcome: PlanningOutcome
    steps: Steps | None = None
    times: tuple[tuple[str, str | None], ...] | None = None
    verdict: Verdict | None = None
    lower_bound: float | None = None
    expanded: int | None = None
    peak_memory_mb: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    log: str = ""
    configuration: str | None = None


class Planner(Protocol):
    """One entry of the registry: a planner in one configuration.

    Attributes:
        name: how it is asked for.
        summary: one sentence for a list.
        optimal: whether the plans that it returns are proved to be cheapest.
        configuration: what it is started with, in its own words.
        package: the installed distribution that brings it.
    """

    name: str
    summary: str
    optimal: bool
    configuration: str
    package: str

    def version(self) -> str | None:
        """The planner's version, or None if it is not installed here."""

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        """Solve `domain.pddl` and `problem.pddl` in `folder`, which is private to the call.

        Raises:
            OSError: the process cannot be started.
        """


@runtime_checkable
class PreparedPlanner(Protocol):
    """A planner that can get ready while the texts are still being checked."""

    def prepare(self) -> None:
        """Start what every solve needs; returns at once and never fails."""


@runtime_checkable
class AnytimePlanner(Protocol):
    """A planner that can go on improving its plan until the limit."""

    async def improve(
        self,
        *,
        folder: Path,
        limits: Limits,
        features: Collection[str],
        on_plan: Callable[[Steps], None],
    ) -> PlannerReport:
        """As `Planner.run`, until nothing can be improved or the time is up.

        Args:
            features: what the task uses beyond STRIPS, as in `Domain.features`.
            on_plan: is called in the event loop with each plan as it comes.

        Returns:
            The best plan, with outcome `solved_optimally` if none is cheaper, else `solved`.
        """
