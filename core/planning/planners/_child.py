"""The process of one planner call. Run as a script: it imports only the standard library
before it knows what it is for, so that it starts in milliseconds.

One JSON argument: `{"parent", "memory", "cpu", "file_size", "kind", …}`. The working
directory is private to the call and holds `domain.pddl` and `problem.pddl`.

- `fast-downward` (`binary`, `search`): translates to `task.sas` and then *becomes* the
  search binary, which writes `plan`. One process from start to end: the limits hold for
  both phases together, and killing it leaves nothing behind. Exit codes are Fast
  Downward's own.
- `unified-planning` (`engine`, `optimal`): solves in this process and writes
  `result.json`: `{"outcome", "steps", "seconds", "message", "peak_memory_mb"}`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
import traceback
from importlib import import_module
from typing import Any

_PR_SET_PDEATHSIG = 1
TRANSLATE_OUT_OF_MEMORY = 20
TRANSLATE_OUT_OF_TIME = 21
TRANSLATE_INPUT_ERROR = 31
UNSUPPORTED = 34
RESERVE = 10_000_000

OUTCOMES = {
    "SOLVED_OPTIMALLY": "solved_optimally",
    "SOLVED_SATISFICING": "solved",
    "UNSOLVABLE_PROVEN": "unsolvable",
    "UNSOLVABLE_INCOMPLETELY": "exhausted",
    "TIMEOUT": "timeout",
    "MEMOUT": "memout",
    "UNSUPPORTED_PROBLEM": "unsupported",
}


def bind_to_parent(parent: int) -> None:
    """Die when the process `parent` dies (Linux); at once if it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(35)


def limit(what: int, value: int) -> None:
    """Limit a resource for this process and what it executes; see `resource.setrlimit`."""
    _, hard = resource.getrlimit(what)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(what, (value, value))


def translate() -> None:
    """Write `task.sas`; exits with the translator's code if that fails."""
    from fast_downward.translate import main, options, pddl_parser

    options.set_options(["domain.pddl", "problem.pddl", "--sas-file", "task.sas"])
    signal.signal(signal.SIGXCPU, lambda *_: os._exit(TRANSLATE_OUT_OF_TIME))
    reserve = bytearray(RESERVE)
    try:
        main.main()
    except MemoryError:
        del reserve
        print("Translator ran out of memory.")
        sys.exit(TRANSLATE_OUT_OF_MEMORY)
    except (pddl_parser.ParseError, RecursionError) as error:
        print(error)
        sys.exit(TRANSLATE_INPUT_ERROR)
    except AssertionError:  # its way to refuse, for instance, a cost inside `when`
        traceback.print_exc(file=sys.stdout)
        sys.exit(UNSUPPORTED)


def run_fast_downward(task: dict[str, Any]) -> None:
    """Translate and execute the search on the result; does not return."""
    translate()
    sys.stdout.flush()
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    os.dup2(os.open("task.sas", os.O_RDONLY), 0)
    os.execv(task["binary"], [task["binary"], *task["search"], "--internal-plan-file", "plan"])


def solve(engine: str, optimal: bool) -> dict[str, Any]:
    """Read, solve, and describe the result as JSON."""
    from unified_planning.environment import get_environment
    from unified_planning.exceptions import UPUnsupportedProblemTypeError, UPUsageError
    from unified_planning.io import PDDLReader
    from unified_planning.model.metrics import MinimizeSequentialPlanLength

    environment = get_environment()  # the reader mixes another one up with it
    environment.credits_stream = None
    environment.error_used_name = False
    reader = PDDLReader(environment)
    start = time.perf_counter()
    try:
        problem = reader.parse_problem("domain.pddl", "problem.pddl")
    except Exception as error:
        return {"outcome": "unsupported", "message": f"unified-planning cannot read it: {error}"}
    read = time.perf_counter()
    if optimal and not problem.quality_metrics:
        problem.add_quality_metric(MinimizeSequentialPlanLength(environment))
    try:
        with environment.factory.OneshotPlanner(name=engine) as planner:
            if not planner.supports(problem.kind):
                missing = sorted(problem.kind.features - planner.supported_kind().features)
                return {
                    "outcome": "unsupported",
                    "message": f"{engine} does not support {', '.join(missing).lower()}.",
                }
            result = planner.solve(problem)
    except (UPUsageError, UPUnsupportedProblemTypeError) as error:
        return {"outcome": "unsupported", "message": str(error)}
    steps = None
    if result.plan is not None:
        steps = [
            [step.action.name, *(str(p) for p in step.actual_parameters)]
            for step in result.plan.actions
        ]
    return {
        "outcome": OUTCOMES.get(result.status.name, "crashed"),
        "steps": steps,
        "seconds": {"read": read - start, "search": time.perf_counter() - read},
        "message": result.status.name,
    }


def run_unified_planning(task: dict[str, Any]) -> None:
    """Solve and write `result.json`, whole or not at all.

    Memory is limited once the libraries are loaded: numpy's and scipy's crash or hang for
    ever when they run out of it while they start.
    """
    import_module("unified_planning.shortcuts")
    sys.setrecursionlimit(5_000)
    reserve = bytearray(RESERVE)
    limit(resource.RLIMIT_AS, task["memory"])
    try:
        result = solve(task["engine"], task["optimal"])
    except MemoryError:
        del reserve
        result = {"outcome": "memout", "message": "out of memory"}
    result["peak_memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    with open("result.part", "w", encoding="utf-8") as file:
        json.dump(result, file)
    os.rename("result.part", "result.json")


def start(task: dict[str, Any]) -> None:
    """Set limits, then do what the task says."""
    bind_to_parent(task["parent"])
    limit(resource.RLIMIT_CPU, task["cpu"])
    limit(resource.RLIMIT_FSIZE, task["file_size"])
    limit(resource.RLIMIT_CORE, 0)
    if task["kind"] == "fast-downward":
        limit(resource.RLIMIT_AS, task["memory"])
        run_fast_downward(task)
    else:
        run_unified_planning(task)


if __name__ == "__main__":
    start(json.loads(sys.argv[1]))
