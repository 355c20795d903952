"""How long a solve takes, as a ratio to Fast Downward's own driver script and other rivals.

The driver is started as a process, as its manual says, in a private folder and with the same
search. All rivals solve the same corridor in turn, A B C A B C …, so that a machine that gets
busy slows down all of them. unified-planning's own path (its reader, then its engine
`fast-downward-opt`, in a process that has imported it) is measured at 100 and 300 cells. Then the
throughput with one and with two workers, 200 solves of 50 corridors, four at once, with every plan
checked, and the growth from 10 to 3,000 cells, drawn to `solve-growth.svg` in the folder given
by `--plot`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from llm_modulo.agent.toolbox import ToolBox
from llm_modulo.domains import Instance, find_benchmark, instances
from llm_modulo.planning import set_concurrency, solve_async
from llm_modulo.planning.planners import driver_script, find_planner

PLANNER = "fast-downward-opt"
TARGETS = {
    ("driver script", "solve", 10): 0.25,
    ("driver script", "solve", 100): 0.65,
    ("unified-planning", "solve", 100): 0.2,
    ("unified-planning", "solve", 300): 0.05,
}
CELLS = (10, 30, 100, 300, 1_000, 3_000)
BENCHMARK = find_benchmark("sokobench")
DOMAIN = BENCHMARK.domain()


async def by_driver(problem: str) -> list[str]:
    """Start the driver script, wait for it, read its plan."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        folder = Path(name)
        (folder / "domain.pddl").write_text(DOMAIN)
        (folder / "problem.pddl").write_text(problem)
        limits = ["--overall-time-limit", "60s", "--overall-memory-limit", "4G"]
        files = ["--plan-file", "plan", "--sas-file", "task.sas"]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(driver_script()),
            *limits,
            *files,
            "domain.pddl",
            "problem.pddl",
            *find_planner(PLANNER).configuration.split(" ", 1),
            cwd=folder,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"The driver failed:\n{output.decode()}")
        return [s for s in (folder / "plan").read_text().splitlines() if not s.startswith(";")]


async def by_solve(problem: str) -> list[str]:
    """Call our Python function."""
    result = await solve_async(DOMAIN, problem, planner=PLANNER)
    return list(result.plan or [])


def by_tool(toolbox: ToolBox) -> Callable[[str], Awaitable[list[str]]]:
    """Call the MCP tool in a session that is open."""

    async def solve(problem: str) -> list[str]:
        arguments = {"domain": DOMAIN, "problem": problem, "planner": PLANNER}
        outcome = await toolbox.call("solve", arguments)
        return list((outcome.structured or {}).get("plan") or [])

    return solve


async def by_unified_planning(problem: str) -> list[str]:
    """Read and solve as a user of unified-planning does."""
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader
    from unified_planning.model.metrics import MinimizeSequentialPlanLength

    environment = get_environment()
    environment.credits_stream = None

    def solve() -> list[str]:
        task = PDDLReader(environment).parse_problem_string(DOMAIN, problem)
        task.add_quality_metric(MinimizeSequentialPlanLength())
        with environment.factory.OneshotPlanner(name=PLANNER) as planner:
            plan = planner.solve(task).plan
        return [
            f"({' '.join((s.action.name, *map(str, s.actual_parameters)))})" for s in plan.actions
        ]

    return await asyncio.to_thread(solve)


def check(instance: Instance, plan: list[str]) -> None:
    """End if a plan is not the corridor's only one."""
    moves = BENCHMARK.moves_of_plan(plan)
    if moves != str(instance.certificate["witness"]).upper():
        raise SystemExit(f"A wrong plan for {instance.id}: {plan}")


Rivals = dict[str, Callable[[str], Awaitable[list[str]]]]


async def compare(cells: int, rounds: int, rivals: Rivals) -> None:
    """Print median times on one corridor, and their ratios to the first rival's."""
    (instance,) = instances("sokobench", lengths=[cells], rotations=[0])
    problem = BENCHMARK.problem(instance)
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(rounds + 1):
        for name, rival in rivals.items():
            start = time.perf_counter()
            plan = await rival(problem)
            if turn > 0:  # the first one warms up
                seconds[name].append(time.perf_counter() - start)
            check(instance, plan)
    first = next(iter(rivals))
    base = statistics.median(seconds[first])
    for name, times in seconds.items():
        low, middle, high = statistics.quantiles(times, n=4)
        goal = TARGETS.get((first, name, cells))
        target = "" if goal is None else f"{goal:.2f}"
        print(
            f"{cells:>5}  {name:<18} {1000 * middle:>7.0f} {1000 * low:>6.0f}–{1000 * high:<6.0f}"
            f" {middle / base:>6.2f}  {target:>6}"
        )


async def workers() -> None:
    """Print how many solves of ten cells one and two workers do in a second."""
    (instance,) = instances("sokobench", lengths=[10], rotations=[0])
    problem = BENCHMARK.problem(instance)
    rates = []
    for count in (1, 2):
        set_concurrency(count)
        start = time.perf_counter()
        await asyncio.gather(*(by_solve(problem) for _ in range(100)))
        rates.append(100 / (time.perf_counter() - start))
    print(
        f"\n10 cells: {rates[0]:.0f} solves a second with one worker, {rates[1]:.0f} with two,"
        f" ratio {rates[1] / rates[0]:.2f} (target: at least 1.8)"
    )


async def growth(plot: Path | None) -> None:
    """Print, and draw, how the time grows with the corridor."""
    seconds = []
    for cells in CELLS:
        (instance,) = instances("sokobench", lengths=[cells], rotations=[0])
        problem = BENCHMARK.problem(instance)
        times = []
        for _ in range(3 if cells <= 300 else 1):
            start = time.perf_counter()
            result = await solve_async(DOMAIN, problem, planner="fast-downward", time_limit=600)
            times.append(time.perf_counter() - start)
            check(instance, list(result.plan or []))
        seconds.append(statistics.median(times))
        print(f"{cells:>5} cells: first plan in {seconds[-1]:.2f} s")
    if plot is not None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5, 3.5), layout="constrained")
        axes = figure.subplots()
        axes.loglog(CELLS, seconds, "o-")
        axes.set_xlabel("cells")
        axes.set_ylabel("seconds")
        figure.savefig(plot / "solve-growth.svg")


async def throughput() -> None:
    """Solve 200 problems, four at once, and check each plan."""
    corridors = instances("sokobench", lengths=list(range(5, 30)), rotations=[0, 90]) * 4
    set_concurrency(4)
    start = time.perf_counter()

    async def one(instance: Instance) -> None:
        check(instance, await by_solve(BENCHMARK.problem(instance)))

    await asyncio.gather(*(one(instance) for instance in corridors))
    seconds = time.perf_counter() - start
    different = len({instance.id for instance in corridors})
    print(
        f"\n{len(corridors)} solves of {different} corridors of 5 to 29 cells, four at once on"
        f" {os.cpu_count()} processors: every plan right, {seconds:.1f} s,"
        f" {len(corridors) / seconds:.1f} a second"
    )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=21, help="solves of each kind; median taken")
    parser.add_argument("--plot", type=Path, help="folder for the plot of the growth")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    print(f"A* with LM-cut, median of {rounds} in milliseconds, quartiles, ratio to the driver\n")
    print(f"{'cells':>5}  {'':<18} {'median':>7} {'quartiles':^13} {'ratio':>6}  {'target':>6}")
    async with ToolBox.over_stdio() as toolbox:
        ours: Rivals = {"solve": by_solve, "MCP solve, stdio": by_tool(toolbox)}
        for cells in (10, 100):
            await compare(cells, rounds, {"driver script": by_driver, **ours})
    for cells in (100, 300):
        rivals: Rivals = {"unified-planning": by_unified_planning, "solve": by_solve}
        await compare(cells, 3, rivals)
    await workers()
    await throughput()
    await growth(arguments.plot)


if __name__ == "__main__":
    asyncio.run(main())
