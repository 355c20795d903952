"""How long `check` takes, against unified-planning's PDDLReader on the same text.

Prints ratios and absolute figures, asserts nothing about time, and writes the growth from 10
to 3,000 cells to `check-growth.svg` in the folder given as argument (default: none).
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from llm_modulo.domains.sokoban import corridor, sokoban_domain, write_problem
from llm_modulo.pddl import check

CELLS = (10, 30, 100, 300, 1_000, 3_000)
RIVAL_CELLS = 300


def median_seconds(function: Callable[[], object], runs: int) -> float:
    """The median time of some runs, after one that does not count."""
    function()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def read_with_unified_planning(domain: str, problem: str) -> object:
    """Read the texts as a user of unified-planning does."""
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    environment = get_environment()
    environment.credits_stream = None
    return PDDLReader(environment).parse_problem_string(domain, problem)


def main() -> None:
    """Measure and print."""
    domain = sokoban_domain()
    growth = []
    print("cells   facts   ms    µs a fact")
    for cells in CELLS:
        problem = write_problem(corridor(cells))
        result = check(domain, problem)
        assert result.ok
        facts = result.summary["problem"]["initial_facts"]
        seconds = median_seconds(lambda p=problem: check(domain, p), 7)
        growth.append((cells, seconds))
        print(f"{cells:5}  {facts:6}  {seconds * 1e3:6.1f}  {seconds / facts * 1e6:6.1f}")
    problem = write_problem(corridor(RIVAL_CELLS))
    ours = median_seconds(lambda: check(domain, problem), 7)
    rival = median_seconds(lambda: read_with_unified_planning(domain, problem), 1)
    print(f"\n{RIVAL_CELLS} cells: check {ours * 1e3:.1f} ms")
    print(f"unified-planning {rival * 1e3:.0f} ms, ratio {rival / ours:.0f} (target: at least 20)")
    if len(sys.argv) > 1:
        draw(growth, Path(sys.argv[1]) / "check-growth.svg")


def draw(growth: list[tuple[int, float]], path: Path) -> None:
    """Plot the growth beside n log n through its first point."""
    import math

    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    cells = [n for n, _ in growth]
    first = growth[1][1] / (growth[1][0] * math.log(growth[1][0]))
    axes.loglog(cells, [s * 1e3 for _, s in growth], "o-", label="check")
    axes.loglog(cells, [first * n * math.log(n) * 1e3 for n in cells], "--", label="n log n")
    axes.set_xlabel("corridor length (cells)")
    axes.set_ylabel("milliseconds")
    axes.legend(frameon=False)
    figure.savefig(path)
    print(f"growth plotted in {path}")


if __name__ == "__main__":
    main()
