"""The registry of planners: name → configured planner.

Third parties add to it by an entry point in the group `llm_modulo.planners` that loads a
callable without arguments and returns a `Planner`. What is installed for unified-planning
needs no entry: it is called `up:NAME`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import metadata
from typing import Any

from llm_modulo.errors import UsageError

from ._fast_downward import FastDownward, driver_script
from ._planner import (
    AnytimePlanner,
    Limits,
    Planner,
    PlannerReport,
    PreparedPlanner,
    Steps,
    Verdict,
)
from ._unified_planning import (
    PREFIX,
    UnifiedPlanningEngine,
    engines_are_known,
    find_engine,
    installed_engines,
)

__all__ = [
    "PLANNERS",
    "AnytimePlanner",
    "FastDownward",
    "Limits",
    "Planner",
    "PlannerReport",
    "PreparedPlanner",
    "Steps",
    "UnifiedPlanningEngine",
    "Verdict",
    "driver_script",
    "find_planner",
    "list_planners",
    "planner_names",
]

PLANNERS: dict[str, Callable[[], Planner]] = {
    "fast-downward": FastDownward.first_plan,
    "fast-downward-opt": FastDownward.astar_lmcut,
    "pyperplan": UnifiedPlanningEngine.pyperplan,
    "pyperplan-opt": UnifiedPlanningEngine.pyperplan_opt,
}


@cache
def _third_party() -> dict[str, metadata.EntryPoint]:
    return {e.name: e for e in metadata.entry_points(group="llm_modulo.planners")}


def planner_names() -> list[str]:
    """The names that are known without asking: ours first, then third parties', sorted.

    `find_planner` also accepts `up:NAME` for every engine installed for unified-planning.
    """
    return [*PLANNERS, *sorted(_third_party().keys() - PLANNERS.keys())]


def list_planners(*, ask: bool = True) -> list[dict[str, Any]]:
    """`{"name", "summary", "optimal", "version"}` of each planner; no version: not installed.

    Further engines of unified-planning come last. They are asked of a process, once, which
    takes seconds. Those that are planners of ours already are not repeated.

    Args:
        ask: ask for the engines; otherwise they are listed if somebody has asked before.
    """
    entries: list[Planner] = [
        PLANNERS[name]() if name in PLANNERS else _third_party()[name].load()()
        for name in planner_names()
    ]
    with suppress(UsageError):  # `up:NAME` tells what is wrong
        engines = installed_engines().engines if ask or engines_are_known() else {}
        entries += [engine for name, engine in engines.items() if name not in PLANNERS]
    return [
        {"name": e.name, "summary": e.summary, "optimal": e.optimal, "version": e.version()}
        for e in entries
    ]


def find_planner(name: str) -> Planner:
    """Return the planner registered under a name.

    `up:NAME` is asked of a process the first time, which takes seconds.

    Raises:
        UsageError: no planner has this name, or it is not installed here.
    """
    if name in PLANNERS:
        planner = PLANNERS[name]()
    elif name in _third_party():
        planner = _third_party()[name].load()()
    elif name.startswith(PREFIX):
        return find_engine(name.removeprefix(PREFIX))
    else:
        raise UsageError(f"Unknown planner {name!r}; known: {', '.join(planner_names())}.")
    if planner.version() is None:
        raise UsageError(f"Planner {name!r} needs the package {planner.package}.")
    return planner
