"""Verdicts: what a plan, read from an answer, is worth."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["PlanVerdict", "Unparsed", "Verdict"]


class Verdict(StrEnum):
    """Exactly one applies to each plan."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    ILLEGAL = "illegal"
    UNPARSED = "unparsed"


class Unparsed(StrEnum):
    """Why no plan could be read."""

    GAVE_UP = "gave_up"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    EMPTY = "empty"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanVerdict:
    """A verdict with its details.

    Attributes:
        failed_step: 0-based index of the first illegal step; None unless `illegal`.
        reason: why the plan is unparsed, else None.
    """

    verdict: Verdict
    failed_step: int | None = None
    reason: Unparsed | None = None
