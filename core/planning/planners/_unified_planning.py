"""Engines that are reached through unified-planning, each solve in a process of its own.

unified-planning reads the problem, calls the engine in the same process, and has no
limits that hold (Pyperplan ignores its timeout); the process's own limits do.
"""

from __future__ import annotations

import importlib.util
import json
from importlib import metadata
from pathlib import Path

from llm_modulo.outcomes import PlanningOutcome

from ._planner import Limits, PlannerReport
from ._process import read_log, run_child

__all__ = ["UnifiedPlanningEngine"]

_OUT_OF_MEMORY = (
    "MemoryError",
    "Cannot allocate memory",
    "failed to map segment from shared object",
)


class UnifiedPlanningEngine:
    """One engine of unified-planning, under the name that its factory knows."""

    def __init__(
        self, engine: str, *, package: str, module: str, optimal: bool, summary: str
    ) -> None:
        self.name = engine
        self.package = package
        self.optimal = optimal
        self.summary = summary
        self.configuration = f"unified-planning engine {engine}"
        self._module = module

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
        if importlib.util.find_spec(self._module) is None:
            return None
        try:
            engine = metadata.version(self.package)
            return f"{engine} (unified-planning {metadata.version('unified-planning')})"
        except metadata.PackageNotFoundError:
            return None

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        """See `Planner.run`."""
        task = {"kind": "unified-planning", "engine": self.name, "optimal": self.optimal}
        end = await run_child(task, folder=folder, limits=limits)
        log = read_log(folder)
        if end.out_of_time:
            return PlannerReport(outcome=PlanningOutcome.TIMEOUT, log=log)
        result_file = folder / "result.json"
        if not result_file.exists():
            memory = any(phrase in log for phrase in _OUT_OF_MEMORY)
            outcome = PlanningOutcome.MEMOUT if memory else PlanningOutcome.CRASHED
            return PlannerReport(outcome=outcome, log=log)
        result = json.loads(result_file.read_text(encoding="utf-8"))
        steps = result.get("steps")
        return PlannerReport(
            outcome=PlanningOutcome(result["outcome"]),
            steps=None if steps is None else tuple(tuple(step) for step in steps),
            seconds=result.get("seconds", {}),
            peak_memory_mb=round(result["peak_memory_mb"], 1),
            log=f"{log}{result.get('message', '')}\n",
        )
