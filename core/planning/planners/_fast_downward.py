"""Fast Downward, driven directly: translator and search binary in one process a solve.

The binary and the translator come with the `up-fast-downward` wheel. Its driver script
is not used: it starts three processes in turn and writes into a shared folder.
Exit codes: https://www.fast-downward.org/latest/documentation/exit-codes/
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import re
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from llm_modulo.outcomes import PlanningOutcome

from .._plan_text import read_plan
from ._planner import Limits, PlannerReport, Steps
from ._process import ProcessEnd, prepare_warm_start, read_log, run_warm_child

__all__ = ["FastDownward", "driver_script"]

_LAMA_FIRST = (
    "let(hlm, eval_modify_costs(landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),"
    "pref=false),cost_type=one), let(hff, eval_modify_costs(ff(),cost_type=one),"
    " lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false)))"
)
_ITERATED = (
    "let(hlm, landmark_sum(lm_reasonable_orders_hps(lm_rhw()),pref=false), let(hff, ff(),"
    " iterated([lazy_greedy([hff,hlm],preferred=[hff,hlm]),"
    " lazy_wastar([hff,hlm],preferred=[hff,hlm],w=5),"
    " lazy_wastar([hff,hlm],preferred=[hff,hlm],w=3),"
    " lazy_wastar([hff,hlm],preferred=[hff,hlm],w=1),"
    " astar({last})], repeat_last=false, continue_on_solve=true,"
    " pass_bound=true)))"
)
# Or what the translator makes axioms of.
_BEYOND_LMCUT = {
    ":conditional-effects",
    ":derived-predicates",
    ":universal-preconditions",
    ":existential-preconditions",
    ":disjunctive-preconditions",
}
_WATCH_SECONDS = 0.1
_LAST_LINE = re.compile(r"^; cost = (\d+) \(.*\)\s*\Z", re.M)
_OUTCOMES = {
    10: PlanningOutcome.UNSOLVABLE,
    11: PlanningOutcome.UNSOLVABLE,
    12: PlanningOutcome.EXHAUSTED,
    13: PlanningOutcome.EXHAUSTED,
    20: PlanningOutcome.MEMOUT,
    21: PlanningOutcome.TIMEOUT,
    22: PlanningOutcome.MEMOUT,
    23: PlanningOutcome.TIMEOUT,
    24: PlanningOutcome.MEMOUT,
    # The text has passed our own check: what is refused here is something Fast Downward lacks.
    31: PlanningOutcome.UNSUPPORTED,
    34: PlanningOutcome.UNSUPPORTED,
}
_SEARCH_INPUT_ERROR = 33
_NUMBERS = {
    "read": re.compile(r"^Parsing: \[.*?, ([\d.]+)s wall-clock\]", re.M),
    "translate": re.compile(r"^Done! \[.*?, ([\d.]+)s wall-clock\]", re.M),
    "search": re.compile(r"^(?:\[t=[^]]*\] )?Total time: ([\d.e+-]+)s", re.M),
    "expanded": re.compile(r"Expanded (\d+) state\(s\)\."),
    "memory": re.compile(r"^Peak memory: (\d+) KB", re.M),
    "translator_memory": re.compile(r"^Translator peak memory: (\d+) KB", re.M),
    "f": re.compile(r"\bf = (\d+)"),
}


@cache
def _installation() -> Path | None:
    spec = importlib.util.find_spec("up_fast_downward")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "downward"


def _binary() -> Path:
    root = _installation()
    assert root is not None
    return root / "builds/release/bin/downward"


def _task(search: str) -> dict[str, Any]:
    """A task of `_child.py`."""
    return {"kind": "fast-downward", "binary": str(_binary()), "search": ["--search", search]}


def driver_script() -> Path | None:
    """Fast Downward's own driver, as the wheel ships it; the rival in benchmarks."""
    root = _installation()
    return None if root is None else root / "fast-downward.py"


class FastDownward:
    """Fast Downward in one search configuration."""

    package = "up-fast-downward"

    def __init__(self, name: str, *, search: str, optimal: bool, summary: str) -> None:
        self.name = name
        self.optimal = optimal
        self.summary = summary
        self.configuration = f"--search {search}"
        self._search = search

    @classmethod
    def first_plan(cls) -> FastDownward:
        """The first plan of LAMA (Richter and Westphal 2010): fast, not optimal."""
        return cls(
            "fast-downward",
            search=_LAMA_FIRST,
            optimal=False,
            summary="Fast Downward, LAMA's first iteration: a plan quickly, not the shortest.",
        )

    @classmethod
    def astar_lmcut(cls) -> FastDownward:
        """A* with the landmark-cut heuristic (Helmert and Domshlak 2009)."""
        return cls(
            "fast-downward-opt",
            search="astar(lmcut())",
            optimal=True,
            summary="Fast Downward, A* with LM-cut: a cheapest plan, proved.",
        )

    def version(self) -> str | None:
        """Versions of the translator and of the wheel with the binary."""
        if _installation() is None or not _binary().exists():
            return None
        try:
            translator = metadata.version("fast-downward.translate")
            return f"{translator} (up-fast-downward {metadata.version('up-fast-downward')})"
        except metadata.PackageNotFoundError:
            return None

    def prepare(self) -> None:
        """See `PreparedPlanner.prepare`."""
        prepare_warm_start()

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        """See `Planner.run`."""
        end = await run_warm_child(_task(self._search), folder=folder, limits=limits)
        return self._read(end, folder)

    async def improve(
        self,
        *,
        folder: Path,
        limits: Limits,
        features: Collection[str],
        on_plan: Callable[[Steps], None],
    ) -> PlannerReport:
        """See `AnytimePlanner.improve`; LAMA's iterations, then a search for the proof."""
        last = "blind()" if _BEYOND_LMCUT & set(features) else "lmcut()"
        search = _ITERATED.format(last=last)
        configuration = f"--search {search}"
        search_run = asyncio.create_task(
            run_warm_child(_task(search), folder=folder, limits=limits)
        )
        watcher = asyncio.create_task(_watch(folder, on_plan))
        try:
            await asyncio.wait({search_run, watcher}, return_when=asyncio.FIRST_COMPLETED)
            if watcher.done():
                watcher.result()  # whoever is called back has failed
            end = await search_run
        finally:
            await _ended(search_run, watcher)
        plans = _plans(folder)
        if not plans:
            return self._read(end, folder)
        for plan, _ in plans[0 if watcher.cancelled() else watcher.result() :]:
            on_plan(plan)
        best, cost = plans[-1]
        log = read_log(folder)
        proof = log.rpartition("Starting search: astar")[2] if "search: astar" in log else ""
        bounds = [int(f) for f in _NUMBERS["f"].findall(proof)]
        done = re.search(r"no plan with cost \d+ or less exists|Solution found!", proof)
        proved = cost == 0 or done is not None or max(bounds, default=-1) >= cost
        outcome = PlanningOutcome.SOLVED_OPTIMALLY if proved else PlanningOutcome.SOLVED
        report = _report(outcome, best, log, optimal=False)
        bound = None if proved or not bounds else float(max(bounds))
        expanded = report.expanded if end.returncode == 0 else None  # not of one iteration alone
        return replace(report, lower_bound=bound, expanded=expanded, configuration=configuration)

    def _read(self, end: ProcessEnd, folder: Path) -> PlannerReport:
        """What a run that looked for one plan has found."""
        log = read_log(folder)
        if end.out_of_time:
            outcome = PlanningOutcome.TIMEOUT
        elif end.returncode == _SEARCH_INPUT_ERROR and "out of range" in log:
            outcome = PlanningOutcome.UNSUPPORTED  # a cost beyond 32 bits
        elif end.returncode in (0, 1, 2, 3):
            outcome = PlanningOutcome.SOLVED_OPTIMALLY if self.optimal else PlanningOutcome.SOLVED
        else:
            outcome = _OUTCOMES.get(end.returncode, PlanningOutcome.CRASHED)
        plan_file = folder / "plan"
        steps = None
        if outcome.has_plan:
            steps = tuple(read_plan(plan_file.read_text())) if plan_file.exists() else None
            outcome = outcome if steps is not None else PlanningOutcome.CRASHED
        return _report(outcome, steps, log, optimal=self.optimal)


def _plans(folder: Path) -> list[tuple[Steps, int]]:
    """The plans that are written in full with their costs, each cheaper than the one before."""
    plans: list[tuple[Steps, int]] = []
    for number in itertools.count(1):
        file = folder / f"plan.{number}"
        text = file.read_text() if file.exists() else ""
        cost = _LAST_LINE.search(text)
        if cost is None:
            return plans
        plans.append((tuple(read_plan(text)), int(cost[1])))
    raise AssertionError


async def _watch(folder: Path, on_plan: Callable[[Steps], None]) -> int:
    """Call back with each plan soon after it has been written, until the task is cancelled.

    Returns:
        How many plans have been called back with.
    """
    seen = 0
    with suppress(asyncio.CancelledError):
        while True:
            await asyncio.sleep(_WATCH_SECONDS)
            for plan, _ in _plans(folder)[seen:]:
                seen += 1
                on_plan(plan)
    return seen


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks and wait for their ends, even while this one is cancelled again."""
    for task in tasks:
        task.cancel()
    cancelled = False
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def _report(
    outcome: PlanningOutcome,
    steps: Steps | None,
    log: str,
    *,
    optimal: bool,
) -> PlannerReport:
    """Fill a report from Fast Downward's log."""

    def last(key: str) -> float | None:
        found = _NUMBERS[key].findall(log)
        return float(found[-1]) if found else None

    seconds = {}
    read, translate, search = last("read"), last("translate"), last("search")
    if read is not None:
        seconds["read"] = read
    if translate is not None:
        seconds["ground"] = round(translate - (read or 0.0), 6)
    if search is not None:
        seconds["search"] = search
    memory = max((m for m in (last("memory"), last("translator_memory")) if m), default=None)
    expanded = last("expanded")
    return PlannerReport(
        outcome=outcome,
        steps=steps,
        lower_bound=last("f") if optimal else None,
        expanded=None if expanded is None else int(expanded),
        peak_memory_mb=None if memory is None else round(memory / 1000, 1),
        seconds=seconds,
        log=log,
    )
