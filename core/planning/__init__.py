"""States, simulation, validation, and planners within limits."""

from ._applicable import ApplicableActions, applicable, applicable_actions, successors
from ._plan_text import format_plan, plan_digest, read_plan
from ._simulation import (
    Simulation,
    SimulationStep,
    UnsupportedBySimulation,
    Validation,
    replay,
    simulate,
    spell_plan,
    validate,
)
from ._solve import (
    DEFAULT_PLANNER,
    MAX_SECONDS,
    Improvement,
    SolveResult,
    run_sync,
    set_concurrency,
    solve,
    solve_async,
)

__all__ = [
    "DEFAULT_PLANNER",
    "MAX_SECONDS",
    "ApplicableActions",
    "Improvement",
    "Simulation",
    "SimulationStep",
    "SolveResult",
    "UnsupportedBySimulation",
    "Validation",
    "applicable",
    "applicable_actions",
    "format_plan",
    "plan_digest",
    "read_plan",
    "replay",
    "run_sync",
    "set_concurrency",
    "simulate",
    "solve",
    "solve_async",
    "spell_plan",
    "successors",
    "validate",
]
