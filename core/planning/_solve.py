"""`solve`: check the texts, run a planner within limits, replay what it returns."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.pddl import Problem, check, planner_objection

from ._plan_text import plan_digest
from ._simulation import UnsupportedBySimulation, replay, spell_plan
from .planners import (
    AnytimePlanner,
    Limits,
    Planner,
    PlannerReport,
    PreparedPlanner,
    Steps,
    Verdict,
    find_planner,
)

__all__ = [
    "DEFAULT_PLANNER",
    "MAX_SECONDS",
    "Improvement",
    "SolveResult",
    "run_sync",
    "set_concurrency",
    "solve",
    "solve_async",
]

DEFAULT_PLANNER = "fast-downward"
MAX_SECONDS = 86_400.0
_MEMORY_MB = (50, 100_000_000)
_LOG_TAIL = 2_000
T = TypeVar("T")


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


@dataclass
class _Places:
    """The planners that may run at once in one event loop, and how many solves know of them."""

    free: asyncio.Semaphore
    users: int = 0


_places: dict[asyncio.AbstractEventLoop, _Places] = {}
_concurrency = max(1, os.cpu_count() or 1)


def set_concurrency(planners: int) -> None:
    """Set how many planners run at once in each event loop from now on; others wait.

    The default is the number of processors. A solve's time limit starts when it gets a
    place.
    """
    global _concurrency
    if planners < 1:
        raise UsageError(f"At least one planner must be allowed to run, not {planners}.")
    _concurrency = planners
    _places.clear()


@asynccontextmanager
async def _place() -> AsyncIterator[None]:
    """Wait for a place among the planners that may run at once.

    The last user removes the loop's entry: its semaphore keeps the loop from being freed.
    """
    loop = asyncio.get_running_loop()
    places = _places.setdefault(loop, _Places(free=asyncio.Semaphore(_concurrency)))
    places.users += 1
    try:
        async with places.free:
            yield
    finally:
        places.users -= 1
        if not places.users and _places.get(loop) is places:
            del _places[loop]


async def solve_async(
    domain: str,
    problem: str,
    *,
    planner: str = DEFAULT_PLANNER,
    time_limit: float = 60.0,
    memory_limit: int = 4_000,
    anytime: bool = False,
    on_improvement: Callable[[Improvement], None] | None = None,
) -> SolveResult:
    """Find a plan for a PDDL problem.

    Args:
        domain: text of the domain.
        problem: text of the problem.
        planner: a name of the planner registry.
        time_limit: wall-clock seconds for reading, grounding and search together.
        memory_limit: address space of the planner, in units of 10⁶ bytes.
        anytime: go on improving the plan until it is proved to be cheapest or the time is
            up; `fast-downward` can.
        on_improvement: is called, in the event loop, with each plan on the way.

    Returns:
        A result with exactly one outcome; texts with errors give `invalid_input` and
        the diagnostics in `log_tail`. A plan is returned only after our own replay
        accepted it, or, where that lacks a feature, after unified-planning's validator did;
        where neither can tell, `validated` is `none` and `log_tail` says why.

    Raises:
        UsageError: an unknown planner, one that cannot go on improving where that is asked
            for, a limit that makes no sense, a text too large.
        asyncio.CancelledError: this task was cancelled; the planner is dead by then.
    """
    limits = _limits(time_limit, memory_limit)
    engine = await asyncio.to_thread(find_planner, planner)  # it may have to ask a process
    if anytime and not isinstance(engine, AnytimePlanner):
        raise UsageError(f"{planner} cannot go on improving a plan; fast-downward can.")
    start = time.perf_counter()
    if isinstance(engine, PreparedPlanner):
        engine.prepare()
    checked = await asyncio.to_thread(check, domain, problem)
    if not checked.ok or checked.problem is None:
        errors = [str(d) for d in checked.diagnostics if d.severity == "error"]
        return _without_run(engine, PlanningOutcome.INVALID_INPUT, "\n".join(errors), start)
    problem_model = checked.problem
    domain_model = problem_model.domain
    features = problem_model.features | domain_model.features
    requirements = domain_model.requirements + problem_model.requirements
    lacks = planner_objection(planner, features, requirements)
    if lacks is not None:
        reason = f"{planner} does not support {lacks}."
        return _without_run(engine, PlanningOutcome.UNSUPPORTED, reason, start)
    checked_seconds = time.perf_counter() - start
    limits = replace(limits, seconds=max(0.0, limits.seconds - checked_seconds))
    async with _place():
        start = time.perf_counter() - checked_seconds

        async def run(folder: Path) -> PlannerReport:
            if not anytime or not isinstance(engine, AnytimePlanner):
                return await engine.run(folder=folder, limits=limits)

            def on_plan(steps: Steps) -> None:
                found = _improvement(problem_model, steps, start)
                if on_improvement is not None and found is not None:
                    on_improvement(found)

            return await engine.improve(
                folder=folder, limits=limits, features=features, on_plan=on_plan
            )

        try:
            report = await _run_privately(run, domain, problem)
        except OSError as error:
            reason = f"The planner could not be run: {error.strerror or error}."
            return _without_run(engine, PlanningOutcome.CRASHED, reason, start)
    return await asyncio.to_thread(_verified, problem_model, engine, report, start)


def solve(
    domain: str,
    problem: str,
    *,
    planner: str = DEFAULT_PLANNER,
    time_limit: float = 60.0,
    memory_limit: int = 4_000,
    anytime: bool = False,
    on_improvement: Callable[[Improvement], None] | None = None,
) -> SolveResult:
    """Find a plan for a PDDL problem; `solve_async` for callers without an event loop."""
    return run_sync(
        solve_async(
            domain,
            problem,
            planner=planner,
            time_limit=time_limit,
            memory_limit=memory_limit,
            anytime=anytime,
            on_improvement=on_improvement,
        )
    )


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where an event loop is running (a notebook).

    An interrupt of the caller cancels it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    tasks: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = Future()

    async def announced() -> T:
        task = asyncio.current_task()
        assert task is not None
        tasks.set_result((asyncio.get_running_loop(), task))
        return await coroutine

    with ThreadPoolExecutor(max_workers=1) as pool:
        outcome = pool.submit(asyncio.run, announced())
        try:
            return outcome.result()
        except KeyboardInterrupt:
            loop, task = tasks.result()
            loop.call_soon_threadsafe(task.cancel)
            raise


def _limits(time_limit: float, memory_limit: int) -> Limits:
    if not 0 < time_limit <= MAX_SECONDS:
        raise UsageError(
            f"The time limit must lie above 0 and at most {MAX_SECONDS:.0f} seconds,"
            f" not {time_limit:g}."
        )
    least, most = _MEMORY_MB
    if not least <= memory_limit <= most:
        raise UsageError(
            f"The memory limit must lie between {least} and {most:,} MB, not {memory_limit}."
        )
    return Limits(seconds=float(time_limit), memory_mb=int(memory_limit))


def _improvement(problem: Problem, steps: Steps, start: float) -> Improvement | None:
    """A plan on the way, if our own replay accepts it."""
    replayed = replay(problem, steps)
    if not replayed.valid:
        return None
    return Improvement(
        plan=tuple(spell_plan(problem, steps)),
        cost=replayed.cost,
        seconds=round(time.perf_counter() - start, 6),
    )


async def _run_privately(
    run: Callable[[Path], Awaitable[PlannerReport]], domain: str, problem: str
) -> PlannerReport:
    """Run a planner in a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="llm-modulo-"))
    try:
        (folder / "domain.pddl").write_text(_in_ascii(domain), encoding="ascii")
        (folder / "problem.pddl").write_text(_in_ascii(problem), encoding="ascii")
        return await run(folder)
    finally:
        with suppress(OSError):
            shutil.rmtree(folder)


def _in_ascii(text: str) -> str:
    """Text as planners read it: names are ASCII, what is not is a comment or a strange space."""
    return re.sub(r"[^\x00-\x7f]", " ", text)


def _verified(
    problem: Problem, engine: Planner, report: PlannerReport, start: float
) -> SolveResult:
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


def _without_run(
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
