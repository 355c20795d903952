"""How long applicable actions and validation take, against rivals in the same run.

Applicable actions: on a 20-cell corridor, against trying every grounding, which is what a
first version of such a function does. Validation: 1,000 steps, against unified-planning's
SequentialPlanValidator. Both from a problem that is read already. Then the growth from 10
to 3,000 cells, drawn to `states-growth.svg` in the folder given as argument (default: none).
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

from llm_modulo.domains.sokoban import corridor, sokoban_domain, write_problem
from llm_modulo.pddl import Problem, parse
from llm_modulo.planning import applicable, replay, simulate

CELLS = (10, 30, 100, 300, 1_000, 3_000)
TARGET_CELLS = 20
STEPS = 1_000
DOMAIN = sokoban_domain()


def median_seconds(function: Callable[[], object], runs: int) -> float:
    """The median time of some runs, after one that does not count."""
    function()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def to_and_fro(steps: int) -> list[tuple[str, ...]]:
    """A plan that goes one cell right and back again, and so on."""
    there = ("move", "c-1-1", "c-1-2", "right")
    back = ("move", "c-1-2", "c-1-1", "left")
    return [there, back] * (steps // 2)


def by_every_grounding(problem: Problem) -> list[str]:
    """Execute every grounding of every action in the initial state."""
    found = []
    for action in problem.domain.actions.values():
        domains = [problem.of_type(parameter.types) for parameter in action.parameters]
        for objects in itertools.product(*domains):
            step = (action.name, *objects)
            if replay(problem, [step]).failed_step is None:
                found.append(f"({' '.join(step)})")
    return found


def rival_validation(problem: str) -> Callable[[], object]:
    """unified-planning's validation of the 1,000 steps."""
    from unified_planning.engines import SequentialPlanValidator
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader
    from unified_planning.plans import ActionInstance, SequentialPlan

    environment = get_environment()
    environment.credits_stream = None
    read = PDDLReader(environment).parse_problem_string(DOMAIN, problem)
    plan = SequentialPlan(
        [
            ActionInstance(read.action(name), tuple(read.object(o) for o in objects))
            for name, *objects in to_and_fro(STEPS)
        ]
    )

    def validate() -> object:
        with SequentialPlanValidator() as validator:
            result = validator.validate(read, plan)
        assert result.inapplicable_action is None
        return result

    return validate


def compare_with_rivals() -> None:
    """Print what the targets ask for."""
    text = write_problem(corridor(TARGET_CELLS))
    problem = parse(DOMAIN, text)
    expected = applicable(problem).actions
    ours = median_seconds(lambda: applicable(problem), 21)
    start = time.perf_counter()
    assert tuple(by_every_grounding(problem)) == expected
    rival = time.perf_counter() - start
    print(f"{TARGET_CELLS} cells: applicable actions {ours * 1e3:.2f} ms (target: under 5)")
    print(f"every grounding {rival * 1e3:.0f} ms, ratio {rival / ours:.0f}")

    plan = to_and_fro(STEPS)
    ours = median_seconds(lambda: replay(problem, plan), 7)
    rival = median_seconds(rival_validation(text), 1)
    print(f"\n{STEPS:,} steps: validation {ours * 1e3:.1f} ms (target: under 50)")
    print(f"unified-planning {rival * 1e3:.0f} ms, ratio {rival / ours:.0f}")

    steps = [f"(move c-1-{cell} c-1-{cell + 1} right)" for cell in range(1, 7)]
    simulation = simulate(DOMAIN, text, steps)
    assert len(simulation.steps) == len(steps)
    size = len(json.dumps(simulation.to_json()).encode())
    print(f"\nsimulate, 6 steps: {size:,} bytes of JSON (target: under 3,000)\n")


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore", DeprecationWarning)  # of pyparsing, by the rival's reader
    compare_with_rivals()
    growth = []
    plan = to_and_fro(STEPS)
    print("cells   applicable, ms   1,000 steps, ms")
    for cells in CELLS:
        problem = parse(DOMAIN, write_problem(corridor(cells)))
        listed = median_seconds(lambda p=problem: applicable(p), 7)
        validated = median_seconds(lambda p=problem: replay(p, plan), 3)
        growth.append((cells, listed, validated))
        print(f"{cells:5}  {listed * 1e3:14.2f}  {validated * 1e3:16.1f}")
    if len(sys.argv) > 1:
        draw(growth, Path(sys.argv[1]) / "states-growth.svg")


def draw(growth: list[tuple[int, float, float]], path: Path) -> None:
    """Plot both times over the number of cells."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    cells = [n for n, _, _ in growth]
    axes.loglog(cells, [s * 1e3 for _, s, _ in growth], "o-", label="applicable actions")
    axes.loglog(cells, [s * 1e3 for _, _, s in growth], "s-", label="validation of 1,000 steps")
    axes.set_xlabel("corridor length (cells)")
    axes.set_ylabel("milliseconds")
    axes.legend(frameon=False)
    figure.savefig(path)
    print(f"growth plotted in {path}")


if __name__ == "__main__":
    main()
