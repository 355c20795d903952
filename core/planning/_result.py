"""What a solve returns: a planner's report, believed as far as the plan could be replayed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.pddl import Problem

from ._plan_text import plan_digest
from ._simulation import UnsupportedBySimulation, replay, spell_plan
from .planners import Planner, PlannerReport, Steps, Verdict

__all__ = ["Improvement", "SolveResult", "improvement", "verified", "without_run"]

_LOG_TAIL = 2_000


@dataclass(frozen=True, kw_only=True)
class SolveResult:
    """How one solve ended.

    Attributes:
        outcome: see `PlanningOutcome`.
        plan: steps `(action object …)` in the problem's own spelling, or None; with times
            they are written `START: (action object …) [DURATION]`.
        cost: the plan's cost by the problem's metric (steps, if it has none); None if it is
            not known.
        lower_bound: a proved bound on the cost of every plan, or None.
        optimal: the plan is proved to be cheapest.
        validated: `replayed`: our own replay accepted the plan; `unified-planning`: its
            validator did; `none`: nobody could, see `log_tail`, or there is no plan.
        planner: `{"name", "version", "configuration"}`.
        seconds: `{"read", "ground", "search", "total"}`, wall-clock; None if unknown.
        expanded: states that the search expanded.
        peak_memory_mb: in units of 10⁶ bytes.
        log_tail: the end of the planner's log, or why it was not started.
        digest: `sha256:…` of the plan's text, or None.
    """

    outcome: PlanningOutcome
    plan: tuple[str, ...] | None = None
    cost: float | None = None
    lower_bound: float | None = None
    optimal: bool = False
    validated: str = "none"
    planner: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float | None] = field(default_factory=dict)
    expanded: int | None = None
    peak_memory_mb: float | None = None
    log_tail: str = ""
    digest: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields as a JSON object."""
        result = asdict(self)
        result["outcome"] = str(self.outcome)
        result["plan"] = None if self.plan is None else list(self.plan)
        return result


@dataclass(frozen=True, kw_only=True)
class Improvement:
    """A plan on the way to the best one.

    Attributes:
        plan: steps `(action object …)` in the problem's own spelling.
        cost: by the problem's metric.
        seconds: since the solve began.
    """

    plan: tuple[str, ...]
    cost: float
    seconds: float


def improvement(problem: Problem, steps: Steps, start: float) -> Improvement | None:
    """A plan on the way, if our own replay accepts it."""
    replayed = replay(problem, steps)
    if not replayed.valid:
        return None
    return Improvement(
        plan=tuple(spell_plan(problem, steps)),
        cost=replayed.cost,
        seconds=round(time.perf_counter() - start, 6),
    )


def verified(problem: Problem, engine: Planner, report: PlannerReport, start: float) -> SolveResult:
    """Turn a report into a result: replay the plan, spell it, bound its cost."""
    outcome, cost, validated, remark = report.outcome, None, "none", ""
    if outcome.has_plan:
        outcome, cost, validated, remark = _judged(problem, report)
    plan = None
    if outcome.has_plan and report.steps is not None:
        plan = _with_times(spell_plan(problem, report.steps), report)
    optimal = outcome is PlanningOutcome.SOLVED_OPTIMALLY
    return SolveResult(
        outcome=outcome,
        plan=plan,
        cost=cost,
        lower_bound=cost if optimal and cost is not None else report.lower_bound,
        optimal=optimal,
        validated=validated,
        planner=_identity(engine, report.configuration),
        seconds=_seconds(report, start),
        expanded=report.expanded,
        peak_memory_mb=report.peak_memory_mb,
        log_tail=report.log[-_LOG_TAIL:] + remark,
        digest=None if plan is None else plan_digest(plan),
    )


def _judged(
    problem: Problem, report: PlannerReport
) -> tuple[PlanningOutcome, float | None, str, str]:
    """What a planner's plan is worth after our own replay: outcome, cost, validated, remark."""
    if report.steps is None:
        return PlanningOutcome.CRASHED, None, "none", "\nThe planner returned no plan."
    try:
        replayed = replay(problem, report.steps)
    except UnsupportedBySimulation as error:
        return _judged_elsewhere(problem, report, str(error))
    if not replayed.valid:
        remark = f"\nThe planner's plan is not valid: {replayed.reason}"
        return PlanningOutcome.CRASHED, None, "none", remark
    bound, cost = report.lower_bound, replayed.cost
    if report.outcome is PlanningOutcome.SOLVED_OPTIMALLY and bound is not None and bound < cost:
        remark = f"\nNot proved to be cheapest: the plan costs {cost:g}, the bound is {bound:g}."
        return PlanningOutcome.SOLVED, cost, "replayed", remark
    return report.outcome, cost, "replayed", ""


def _judged_elsewhere(
    problem: Problem, report: PlannerReport, why: str
) -> tuple[PlanningOutcome, float | None, str, str]:
    """What a plan is worth that our own replay cannot follow, as unified-planning says."""
    verdict = report.verdict or Verdict(valid=None)
    if verdict.valid:
        return report.outcome, verdict.cost, "unified-planning", ""
    if verdict.valid is False:
        remark = f"\nThe planner's plan is not valid, says unified-planning: {verdict.remark}"
        return PlanningOutcome.CRASHED, None, "none", remark
    known = report.steps is not None and report.times is None and not problem.metric
    cost = float(len(report.steps or ())) if known else None
    return report.outcome, cost, "none", f"\nNot validated: {why} {verdict.remark}".rstrip()


def _with_times(steps: Sequence[str], report: PlannerReport) -> tuple[str, ...]:
    """Steps as the planning competitions write plans with times: `0.000: (a b) [5.000]`."""
    if report.times is None:
        return tuple(steps)
    return tuple(
        f"{start}: {step}" if duration is None else f"{start}: {step} [{duration}]"
        for step, (start, duration) in zip(steps, report.times, strict=True)
    )


def without_run(
    engine: Planner, outcome: PlanningOutcome, reason: str, start: float
) -> SolveResult:
    return SolveResult(
        outcome=outcome,
        planner=_identity(engine),
        seconds=_seconds(PlannerReport(outcome=outcome), start),
        log_tail=reason[:_LOG_TAIL],
    )


def _identity(engine: Planner, configuration: str | None = None) -> dict[str, str]:
    return {
        "name": engine.name,
        "version": engine.version() or "",
        "configuration": configuration or engine.configuration,
    }


def _seconds(report: PlannerReport, start: float) -> dict[str, float | None]:
    phases: dict[str, float | None] = {
        phase: report.seconds.get(phase) for phase in ("read", "ground", "search")
    }
    phases["total"] = time.perf_counter() - start
    return {k: None if v is None else round(v, 6) for k, v in phases.items()}
