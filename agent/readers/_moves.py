"""Read a plan of moves from a model's answer.

Looked for in this order, after think-blocks are cut out: the last line that starts with
`MOVES:`; the whole text; the last line that is not empty. An answer that hit the token
limit is `truncated` whatever it holds: nobody knows how it would have gone on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llm_modulo.domains import Benchmark, Unparsed

__all__ = ["Reading", "read_answer"]

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
_MARKED = re.compile(r"^[\s*_`>#]*MOVES[\s*_`]*:[ \t]*(.*)$", re.I | re.M)
_DECORATION = " \t\r\n`*_."
_NO_PLAN = re.compile(
    r"\b(?:no (?:valid |legal |possible )?(?:plan|solution)\b|unsolvable|not solvable"
    r"|cannot be solved|can't be solved|i give up|gave up|unable to (?:find|solve))",
    re.I,
)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am) sorry|i can(?:'t|not) (?:help|assist|do|comply|provide|answer)"
    r"|i(?:'m| am) (?:not able|unable) to (?:help|assist|comply))",
    re.I,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What was read.

    Attributes:
        moves: upper-case letters, or None if there is no plan.
        reason: why there is none, else None.
        notation: how the plan was written, see `MoveText`.
    """

    moves: str | None
    reason: Unparsed | None = None
    notation: str | None = None


def read_answer(
    text: str, benchmark: Benchmark, *, truncated: bool = False, refused: bool = False
) -> Reading:
    """Read the plan that an answer gives.

    Args:
        text: the model's last message.
        benchmark: knows the notations of its moves.
        truncated: the answer hit the token limit.
        refused: the endpoint marked the answer as a refusal.
    """
    if truncated:
        return Reading(moves=None, reason=Unparsed.TRUNCATED)
    said = _THINKING.sub("", text).strip()
    if refused:
        return Reading(moves=None, reason=Unparsed.REFUSED)
    if not said:
        return Reading(moves=None, reason=Unparsed.EMPTY)
    for candidate in _candidates(said):
        found = benchmark.read_moves(candidate)
        if found is not None:
            return Reading(moves=found.moves, notation=found.notation)
    if _REFUSAL.search(said):
        return Reading(moves=None, reason=Unparsed.REFUSED)
    if _NO_PLAN.search(said):
        return Reading(moves=None, reason=Unparsed.GAVE_UP)
    return Reading(moves=None, reason=Unparsed.MALFORMED)


def _candidates(said: str) -> list[str]:
    """Parts of an answer that may be the plan, the likeliest first."""
    marked = list(_MARKED.finditer(said))
    if marked:
        last = marked[-1]
        line = last[1].strip(_DECORATION)
        # The letters may start on the line below, or go on there after a comma.
        below = said[last.end() :].strip(_DECORATION)
        if below and (not line or line.endswith(",")):
            return [f"{line}{below}"] if line else [below, line]
        return [line]
    lines = [line for line in said.splitlines() if line.strip(_DECORATION)]
    whole = said.strip(_DECORATION)
    return [whole, lines[-1].strip(_DECORATION)] if whole and lines else []
