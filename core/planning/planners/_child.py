"""The process of one planner call. Run as a script: it imports only the standard library
before it knows what it is for, so that it starts in milliseconds.

One JSON argument: `{"parent", "memory", "cpu", "file_size", "kind", …}`. The working
directory is private to the call and holds `domain.pddl` and `problem.pddl`.

- `fast-downward` (`binary`, `search`): translates to `task.sas` and then *becomes* the
  search binary, which writes `plan`. One process from start to end: the limits hold for
  both phases together, and killing it leaves nothing behind. Exit codes are Fast
  Downward's own.
- `unified-planning` (`engine`, `optimal`): solves in a process below this one and writes
  `result.json`; without `engine` it lists the engines. See `_engine.py` and `_guard.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

_PR_SET_PDEATHSIG = 1
TRANSLATE_OUT_OF_MEMORY = 20
TRANSLATE_OUT_OF_TIME = 21
TRANSLATE_INPUT_ERROR = 31
UNSUPPORTED = 34
RESERVE = 10_000_000


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


def run_unified_planning(task: dict[str, Any]) -> None:
    """Do what `_engine.py` does, in a process that `_guard.py` watches over."""
    beside("_guard").guard()
    beside("_engine").run(task, limit)


def beside(name: str) -> Any:
    """Load a module by its path: this process has no package to import it from."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    spec = spec_from_file_location(f"llm_modulo{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
