"""How long a solve takes, as a ratio to Fast Downward's own driver script.

The driver is started as a process, as its manual says, in a private folder and with the same
search. All rivals solve the same corridor in turn, A B C A B C …, so that a machine that gets
busy slows down all of them. Then 200 solves of 50 corridors, four at once: throughput, and
whether every plan is right.
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
TARGETS = {"solve": 1.2, "MCP solve, stdio": 1.3}
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


def check(instance: Instance, plan: list[str]) -> None:
    """End if a plan is not the corridor's only one."""
    moves = BENCHMARK.moves_of_plan(plan)
    if moves != str(instance.certificate["witness"]).upper():
        raise SystemExit(f"A wrong plan for {instance.id}: {plan}")


async def compare(cells: int, rounds: int, toolbox: ToolBox) -> None:
    """Print median times on one corridor, and their ratios to the driver's."""
    (instance,) = instances("sokobench", lengths=[cells], rotations=[0])
    problem = BENCHMARK.problem(instance)
    rivals = {"driver script": by_driver, "solve": by_solve, "MCP solve, stdio": by_tool(toolbox)}
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for turn in range(rounds + 1):
        for name, rival in rivals.items():
            start = time.perf_counter()
            plan = await rival(problem)
            if turn > 0:  # the first one warms up
                seconds[name].append(time.perf_counter() - start)
            check(instance, plan)
    base = statistics.median(seconds["driver script"])
    for name, times in seconds.items():
        low, middle, high = statistics.quantiles(times, n=4)
        target = f"{TARGETS[name]:.1f}" if name in TARGETS and cells == 100 else ""
        print(
            f"{cells:>5}  {name:<18} {1000 * middle:>7.0f} {1000 * low:>6.0f}–{1000 * high:<6.0f}"
            f" {middle / base:>6.2f}  {target:>6}"
        )


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
    rounds = parser.parse_args().rounds
    print(f"A* with LM-cut, median of {rounds} in milliseconds, quartiles, ratio to the driver\n")
    print(f"{'cells':>5}  {'':<18} {'median':>7} {'quartiles':^13} {'ratio':>6}  {'target':>6}")
    async with ToolBox.over_stdio() as toolbox:
        for cells in (10, 100):
            await compare(cells, rounds, toolbox)
    await throughput()


if __name__ == "__main__":
    asyncio.run(main())
