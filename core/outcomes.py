"""What a planner can come back with, and the exit code each outcome means.

`unsolvable` is a proof; `exhausted` is a search that ended without one.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["PlanningOutcome"]


class PlanningOutcome(StrEnum):
    """The ways in which one call of a planner can end; exactly one applies."""

    SOLVED_OPTIMALLY = "solved_optimally"
    SOLVED = "solved"
    UNSOLVABLE = "unsolvable"
    EXHAUSTED = "exhausted"
    TIMEOUT = "timeout"
    MEMOUT = "memout"
    UNSUPPORTED = "unsupported"
    INVALID_INPUT = "invalid_input"
    CRASHED = "crashed"
    CANCELLED = "cancelled"

    @property
    def has_plan(self) -> bool:
        """Whether a result with this outcome carries a plan."""
        return self in (PlanningOutcome.SOLVED, PlanningOutcome.SOLVED_OPTIMALLY)

    @property
    def exit_code(self) -> int:
        """The process exit code of `llm-modulo solve` for this outcome."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    PlanningOutcome.SOLVED_OPTIMALLY: 0,
    PlanningOutcome.SOLVED: 0,
    PlanningOutcome.UNSOLVABLE: 1,
    PlanningOutcome.INVALID_INPUT: 1,
    PlanningOutcome.UNSUPPORTED: 2,
    PlanningOutcome.EXHAUSTED: 3,
    PlanningOutcome.TIMEOUT: 3,
    PlanningOutcome.MEMOUT: 3,
    PlanningOutcome.CRASHED: 4,
    PlanningOutcome.CANCELLED: 130,
}
