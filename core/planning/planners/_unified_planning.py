"""Engines that are reached through unified-planning, each solve in a process of its own.

unified-planning reads the problem, calls the engine in the same process, and has no
limits that hold (Pyperplan ignores its timeout); the process's own limits do. Which
engines are installed only unified-planning itself knows: a process is asked, once.
"""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import json
import os
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome

from ._planner import Limits, PlannerReport, Verdict
from ._process import read_log, run_child

__all__ = [
    "PREFIX",
    "InstalledEngines",
    "UnifiedPlanningEngine",
    "engines_are_known",
    "find_engine",
    "installed_engines",
]

PREFIX = "up:"
_LISTING = Limits(seconds=60.0, memory_mb=4_000)
_OUT_OF_MEMORY = (
    "MemoryError",
    "Cannot allocate memory",
    "failed to map segment from shared object",
    "std::bad_alloc",
    "memory allocation of",  # Rust
    "java.lang.OutOfMemoryError",
    "Could not reserve enough space",
    "insufficient memory for the Java Runtime Environment",
)


class UnifiedPlanningEngine:
    """One engine of unified-planning, under the name that its factory knows."""

    def __init__(
        self,
        engine: str,
        *,
        package: str,
        optimal: bool,
        summary: str,
        name: str | None = None,
        module: str | None = None,
        version: str | None = None,
    ) -> None:
        """An engine whose version is not given has it looked up by its package and module."""
        self.name = name or engine
        self.package = package
        self.optimal = optimal
        self.summary = summary
        self.configuration = f"unified-planning engine {engine}"
        self._engine = engine
        self._module = module
        self._version = version

    @classmethod
    def pyperplan(cls) -> UnifiedPlanningEngine:
        """Pyperplan, weighted A* with h-add: small, readable, STRIPS only."""
        return cls(
            "pyperplan",
            package="up-pyperplan",
            module="up_pyperplan",
            optimal=False,
            summary="Pyperplan, weighted A* with h-add, in Python; typed STRIPS only.",
        )

    @classmethod
    def pyperplan_opt(cls) -> UnifiedPlanningEngine:
        """Pyperplan, A* with LM-cut: a shortest plan, STRIPS only."""
        return cls(
            "pyperplan-opt",
            package="up-pyperplan",
            module="up_pyperplan",
            optimal=True,
            summary="Pyperplan, A* with LM-cut, in Python: a shortest plan; typed STRIPS only.",
        )

    def version(self) -> str | None:
        """Versions of the engine's package and of unified-planning."""
        if self._module is not None and importlib.util.find_spec(self._module) is None:
            return None
        try:
            engine = self._version or metadata.version(self.package)
            return f"{engine} (unified-planning {metadata.version('unified-planning')})"
        except metadata.PackageNotFoundError:
            return None

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        """See `Planner.run`."""
        task = {"engine": self._engine, "optimal": self.optimal}
        result, timed_out, log = await _call(task, folder=folder, limits=limits)
        if result is None:
            outcome = PlanningOutcome.TIMEOUT if timed_out else PlanningOutcome.CRASHED
            if not timed_out and _speaks_of_memory(log):
                outcome = PlanningOutcome.MEMOUT
            return PlannerReport(outcome=outcome, log=log)
        log = f"{log}{result.get('message', '')}\n"
        outcome = PlanningOutcome(result["outcome"])
        steps, times = result.get("steps"), result.get("times")
        if steps is None:
            outcome = _corrected(outcome, log)
        return PlannerReport(
            outcome=outcome,
            steps=None if steps is None else tuple(tuple(step) for step in steps),
            times=None if times is None else tuple((start, end) for start, end in times),
            verdict=_verdict(result),
            seconds=result.get("seconds", {}),
            peak_memory_mb=round(result["peak_memory_mb"], 1),
            log=log,
        )


def _corrected(outcome: PlanningOutcome, log: str) -> PlanningOutcome:
    """How a solve without a plan ended.

    unified-planning takes it for a search without result when an engine's own process dies
    of an error or of its memory.
    """
    if outcome in (PlanningOutcome.UNSUPPORTED, PlanningOutcome.TIMEOUT):
        return outcome
    if _speaks_of_memory(log):
        return PlanningOutcome.MEMOUT
    return PlanningOutcome.CRASHED if "Traceback (most recent call last)" in log else outcome


def _speaks_of_memory(log: str) -> bool:
    return any(phrase in log for phrase in _OUT_OF_MEMORY)


def _verdict(result: Mapping[str, Any]) -> Verdict | None:
    if "valid" not in result:
        return None
    return Verdict(valid=result["valid"], cost=result.get("cost"), remark=result.get("remark", ""))


async def _call(
    task: Mapping[str, Any], *, folder: Path, limits: Limits
) -> tuple[dict[str, Any] | None, bool, str]:
    """The result of a process (see `_engine.py`), whether its time was up, and its log."""
    # Time is wall-clock time, and an engine may use every processor.
    cpu = (int(limits.seconds) + 2) * (os.cpu_count() or 1)
    request = {"kind": "unified-planning", "cpu": cpu, **task}
    try:
        end = await run_child(request, folder=folder, limits=limits)
    finally:
        await _until_guard_is_gone(folder)
    log = read_log(folder)
    file = folder / "result.json"
    if end.out_of_time or not file.exists():
        return None, end.out_of_time, log
    return json.loads(file.read_text(encoding="utf-8")), False, log


async def _until_guard_is_gone(folder: Path) -> None:
    """Wait until what the engine started is dead, even if this task is being cancelled."""
    waiter = asyncio.ensure_future(asyncio.to_thread(_wait_for_guard, folder / "guard"))
    cancelled = False
    while not waiter.done():
        try:
            await asyncio.shield(waiter)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def _wait_for_guard(lock: Path) -> None:
    with suppress(FileNotFoundError), open(lock, "rb") as file:  # none: nothing was started
        fcntl.flock(file, fcntl.LOCK_EX)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledEngines:
    """What unified-planning finds here.

    Attributes:
        engines: the planners, by the name that its factory knows.
        missing: the engines that it knows by name and cannot load, and why.
    """

    engines: Mapping[str, UnifiedPlanningEngine]
    missing: Mapping[str, str]


_listing = threading.Lock()
_installed: InstalledEngines | None = None


def engines_are_known() -> bool:
    """Whether `installed_engines` answers at once."""
    return _installed is not None


def installed_engines() -> InstalledEngines:
    """The engines of unified-planning that can be used here; asked once.

    Raises:
        UsageError: unified-planning itself cannot be used.
    """
    global _installed
    with _listing:
        if _installed is None:
            with ThreadPoolExecutor(max_workers=1) as pool:  # the caller may have an event loop
                _installed = pool.submit(asyncio.run, _ask()).result()
        return _installed


async def _ask() -> InstalledEngines:
    with tempfile.TemporaryDirectory(prefix="llm-modulo-") as name:
        try:
            result, _, log = await _call({}, folder=Path(name), limits=_LISTING)
        except OSError as error:
            result, log = None, str(error)
    if result is None or "engines" not in result:
        last = (log.strip().splitlines() or ["no answer"])[-1]
        raise UsageError(f"The engines of unified-planning cannot be listed: {last}")
    engines = {entry["name"]: _engine(entry) for entry in result["engines"]}
    return InstalledEngines(engines=engines, missing=result["missing"])


def _engine(entry: Mapping[str, Any]) -> UnifiedPlanningEngine:
    words = ["classical", *entry["takes"]]
    takes = " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
    return UnifiedPlanningEngine(
        entry["name"],
        name=PREFIX + entry["name"],
        package=entry["package"],
        version=entry["version"],
        optimal=entry["optimal"],
        summary=f"{entry['name']} through unified-planning: {takes} problems.",
    )


def find_engine(name: str) -> UnifiedPlanningEngine:
    """The engine with this name in unified-planning's factory.

    Raises:
        UsageError: there is no such engine, or its package is missing.
    """
    installed = installed_engines()
    if name in installed.engines:
        return installed.engines[name]
    if name in installed.missing:
        raise UsageError(f"Planner '{PREFIX}{name}' {installed.missing[name]}.")
    known = ", ".join(PREFIX + engine for engine in installed.engines)
    raise UsageError(
        f"Unknown planner '{PREFIX}{name}'; engines installed for unified-planning: {known}."
    )
