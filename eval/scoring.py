"""From a conversation, or from an answer made elsewhere, to verdicts and measures.

In conditions with tools `verdict` is about the plan of the last successful solve, turned
into moves by us; `verdict_delivered` is about what the model finally said.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from llm_modulo.agent.readers import Reading, read_answer
from llm_modulo.domains import Benchmark, Instance, PlanVerdict, Unparsed, Verdict

__all__ = ["Outcome", "Scored", "score_answer", "score_outcome"]

_CUT_SHORT = {
    "budget_exhausted": Unparsed.GAVE_UP,
    "loop_limit": Unparsed.TRUNCATED,
    "time_limit": Unparsed.TRUNCATED,
    "money_limit": Unparsed.TRUNCATED,
}
"""Why there is no plan when the loop ended the conversation itself."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a conversation ended, as far as scoring needs to know.

    Attributes:
        answer: the text that the model ended with.
        stop_reason: a value of `StopReason`.
        with_tools: the condition offers tools.
        plan: steps of the last successful solve, or None.
        solve_outcomes: how each solve call ended.
    """

    answer: str
    stop_reason: str
    with_tools: bool
    plan: list[str] | None = None
    solve_outcomes: list[str] = field(default_factory=list)

    @classmethod
    def of_transcript(cls, transcript: dict[str, Any]) -> Outcome:
        """Read an outcome back from a stored transcript."""
        return cls(
            answer=transcript["answer"],
            stop_reason=transcript["stop_reason"],
            with_tools=transcript["with_tools"],
            plan=transcript["plan"],
            solve_outcomes=transcript["solve_outcomes"],
        )


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Verdicts and measures of one trial; see `TrialRecord` for the fields."""

    verdict: PlanVerdict
    moves: str | None
    notation: str | None
    metrics: dict[str, float | None]
    delivered: PlanVerdict | None = None
    moves_delivered: str | None = None
    error_class: str | None = None

    def fields(self) -> dict[str, Any]:
        """The fields of a `TrialRecord` that scoring decides."""
        verdict, delivered = self.verdict, self.delivered
        return {
            "plan": self.moves,
            "notation": self.notation,
            "verdict": str(verdict.verdict),
            "failed_step": verdict.failed_step,
            "reason": None if verdict.reason is None else str(verdict.reason),
            "verdict_delivered": None if delivered is None else str(delivered.verdict),
            "plan_delivered": self.moves_delivered,
            "error_class": self.error_class,
            "metrics": self.metrics,
        }


def score_answer(instance: Instance, benchmark: Benchmark, text: str) -> Scored:
    """Score the text of an answer made anywhere, without tools."""
    outcome = Outcome(answer=text, stop_reason="answered", with_tools=False)
    return score_outcome(instance, benchmark, outcome)


def score_outcome(instance: Instance, benchmark: Benchmark, outcome: Outcome) -> Scored:
    """Score how a conversation ended."""
    said = _read(outcome, benchmark)
    delivered = _judge(instance, benchmark, said)
    if not outcome.with_tools:
        return Scored(
            verdict=delivered,
            moves=said.moves,
            notation=said.notation,
            metrics=benchmark.metrics(instance, said.moves),
        )
    solved = _solved(outcome, benchmark, said)
    verdict = _judge(instance, benchmark, solved)
    return Scored(
        verdict=verdict,
        moves=solved.moves,
        notation=solved.notation,
        metrics=benchmark.metrics(instance, solved.moves),
        delivered=delivered,
        moves_delivered=said.moves,
        error_class=_error_class(outcome, verdict, solved, said),
    )


def _read(outcome: Outcome, benchmark: Benchmark) -> Reading:
    if outcome.stop_reason in _CUT_SHORT:
        return Reading(moves=None, reason=_CUT_SHORT[outcome.stop_reason])
    return read_answer(
        outcome.answer,
        benchmark,
        truncated=outcome.stop_reason == "length",
        refused=outcome.stop_reason == "refused",
    )


def _solved(outcome: Outcome, benchmark: Benchmark, said: Reading) -> Reading:
    """The plan of the last successful solve as a reading.

    Without one the reason is the answer's, if that has no plan either; an answer with a
    plan that no planner found is `malformed` for this purpose: it went round the tools.
    """
    if outcome.plan is not None:
        moves = benchmark.moves_of_plan(outcome.plan)
        reason = Unparsed.MALFORMED if moves is None else None
        return Reading(moves=moves, reason=reason, notation="pddl" if moves is not None else None)
    return Reading(moves=None, reason=said.reason or Unparsed.MALFORMED)


def _judge(instance: Instance, benchmark: Benchmark, reading: Reading) -> PlanVerdict:
    if reading.moves is None:
        return PlanVerdict(verdict=Verdict.UNPARSED, reason=reading.reason)
    return benchmark.judge(instance, reading.moves)


def _error_class(
    outcome: Outcome, verdict: PlanVerdict, solved: Reading, said: Reading
) -> str | None:
    """Why a tool trial failed, as far as the transcript alone tells; None if it did not.

    A well-formed problem about another map needs a comparison with the true one to be
    told apart; such failures stay None here.
    """
    if verdict.verdict is Verdict.COMPLETE:
        return "delivery" if said.moves != solved.moves else None
    if outcome.plan is not None:
        return None
    failures = [o for o in outcome.solve_outcomes if not o.startswith("solved")]
    if failures and all(o in ("invalid_input", "invalid_call") for o in failures):
        return "syntax"
    if failures and failures[-1] in ("timeout", "memout", "exhausted", "unsupported"):
        return "solver"
    if outcome.stop_reason in ("loop_limit", "time_limit", "money_limit"):
        return "budget"
    return None
