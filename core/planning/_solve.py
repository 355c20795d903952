"""`solve`: check the texts, then run a planner within limits; `_result.py` replays its plan."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.pddl import check, planner_objection

from ._result import Improvement, SolveResult, improvement, verified, without_run
from .planners import (
    AnytimePlanner,
    Limits,
    PlannerReport,
    PreparedPlanner,
    Steps,
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
T = TypeVar("T")


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
        return without_run(engine, PlanningOutcome.INVALID_INPUT, "\n".join(errors), start)
    problem_model = checked.problem
    domain_model = problem_model.domain
    features = problem_model.features | domain_model.features
    requirements = domain_model.requirements + problem_model.requirements
    lacks = planner_objection(planner, features, requirements)
    if lacks is not None:
        reason = f"{planner} does not support {lacks}."
        return without_run(engine, PlanningOutcome.UNSUPPORTED, reason, start)
    checked_seconds = time.perf_counter() - start
    limits = replace(limits, seconds=max(0.0, limits.seconds - checked_seconds))
    async with _place():
        start = time.perf_counter() - checked_seconds

        async def run(folder: Path) -> PlannerReport:
            if not anytime or not isinstance(engine, AnytimePlanner):
                return await engine.run(folder=folder, limits=limits)

            def on_plan(steps: Steps) -> None:
                found = improvement(problem_model, steps, start)
                if on_improvement is not None and found is not None:
                    on_improvement(found)

            return await engine.improve(
                folder=folder, limits=limits, features=features, on_plan=on_plan
            )

        try:
            report = await _run_privately(run, domain, problem)
        except OSError as error:
            reason = f"The planner could not be run: {error.strerror or error}."
            return without_run(engine, PlanningOutcome.CRASHED, reason, start)
    return await asyncio.to_thread(verified, problem_model, engine, report, start)


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
