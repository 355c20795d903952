"""llm-modulo: sound planning tools for language models, and experiments that measure them.

    import llm_modulo

    llm_modulo.check(domain, problem)              # diagnostics and a summary
    llm_modulo.solve(domain, problem)              # a plan, replayed before it is returned
    llm_modulo.validate(domain, problem, plan)     # valid, or where and why not
    llm_modulo.instances("sokobench")              # certified instances
    llm_modulo.run(experiment, "my-run")           # an experiment, resumable

Texts are PDDL as text. What may take long also has a form for callers with an event
loop: `solve_async`, `run_async`. Names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llm_modulo.domains import certify, instances
    from llm_modulo.eval import (
        compare,
        load_experiment,
        rescore,
        run,
        run_async,
        score,
        write_report,
    )
    from llm_modulo.outcomes import PlanningOutcome
    from llm_modulo.pddl import check
    from llm_modulo.planning import (
        SolveResult,
        applicable_actions,
        simulate,
        solve,
        solve_async,
        validate,
    )

__all__ = [
    "PlanningOutcome",
    "SolveResult",
    "applicable_actions",
    "certify",
    "check",
    "compare",
    "instances",
    "load_experiment",
    "rescore",
    "run",
    "run_async",
    "score",
    "simulate",
    "solve",
    "solve_async",
    "validate",
    "write_report",
]

_HOMES = {
    "PlanningOutcome": "llm_modulo.outcomes",
    "SolveResult": "llm_modulo.planning",
    "applicable_actions": "llm_modulo.planning",
    "certify": "llm_modulo.domains",
    "check": "llm_modulo.pddl",
    "compare": "llm_modulo.eval",
    "instances": "llm_modulo.domains",
    "load_experiment": "llm_modulo.eval",
    "rescore": "llm_modulo.eval",
    "run": "llm_modulo.eval",
    "run_async": "llm_modulo.eval",
    "score": "llm_modulo.eval",
    "simulate": "llm_modulo.planning",
    "solve": "llm_modulo.planning",
    "solve_async": "llm_modulo.planning",
    "validate": "llm_modulo.planning",
    "write_report": "llm_modulo.eval",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return metadata.version("llm-modulo")
    if name not in _HOMES:
        raise AttributeError(f"module 'llm_modulo' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
