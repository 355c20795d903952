"""Read a plan of moves from a model's answer.

Looked for in this order, after thoughts are cut out: the last line that starts with
`MOVES:`, with the lines of letters below it if it is empty or ends in a comma; the whole
text; the last line that is not empty. An answer that hit the token limit is `truncated`
whatever it holds: nobody knows how it would have gone on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from llm_modulo.domains import Benchmark, Unparsed

__all__ = ["Reading", "read_answer"]

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S | re.I)
# Some chat templates open the block themselves: only its end is in the answer.
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.S | re.I)
_MARKED = re.compile(r"^[ \t*_`>#-]*MOVES[ \t*_`]*:(.*)$", re.I | re.M)
_DECORATION = " \t\r\n`*_"
_NO_PLAN = re.compile(
    r"\b(?:no (?:valid |legal |possible )?(?:plan|solution)\b|unsolvable|not solvable"
    r"|can(?:not|'t) be solved|i give up|gave up|impossible to (?:solve|complete|find)"
    r"|(?:puzzle|level|map|problem|task) is impossible"
    r"|(?:could not|couldn't|cannot|can't|unable to|failed to) (?:find|solve))",
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
    if refused:
        return Reading(moves=None, reason=Unparsed.REFUSED)
    said = _THOUGHT.sub("", _THINKING.sub("", text)).strip()
    if not said:
        return Reading(moves=None, reason=Unparsed.EMPTY)
    for candidate in _candidates(said, benchmark):
        found = benchmark.read_moves(candidate)
        if found is not None:
            return Reading(moves=found.moves, notation=found.notation)
    return Reading(moves=None, reason=_reason(said.replace("’", "'")))


def _reason(said: str) -> Unparsed:
    """Why there is no plan; an apology for finding none is no refusal."""
    if _NO_PLAN.search(said):
        return Unparsed.GAVE_UP
    if _REFUSAL.search(said):
        return Unparsed.REFUSED
    return Unparsed.MALFORMED


def _candidates(said: str, benchmark: Benchmark) -> list[str]:
    """Parts of an answer that may be the plan, the likeliest first."""
    marked = list(_MARKED.finditer(said))
    if marked:
        last = marked[-1]
        line, below = _bare(last[1]), said[last.end() :]
        if line and not line.endswith(","):
            return [line]
        plan = "\n".join([line, *_leading_plan(below.splitlines(), benchmark)]).strip()
        return [plan] if plan or not _bare(below) else []
    lines = [bare for line in said.splitlines() if (bare := _bare(line))]
    return [_bare(said), _last_plan(lines, benchmark)] if lines else []


def _leading_plan(lines: Iterable[str], benchmark: Benchmark) -> list[str]:
    """The lines before the first that is no part of a plan, without decoration."""
    plan = []
    for line in lines:
        part = "" if line.lstrip().startswith("```") else _bare(line)
        if benchmark.read_moves(part) is None:
            break
        plan.append(part)
    return plan


def _last_plan(lines: list[str], benchmark: Benchmark) -> str:
    """The last line, with those above it that it goes on from: they end in a comma."""
    first = len(lines) - 1
    while first and lines[first - 1].endswith(",") and benchmark.read_moves(lines[first - 1]):
        first -= 1
    return "\n".join(lines[first:])


def _bare(text: str) -> str:
    """Text without the marks of bold and code around it, and without a final period.

    More than one period means that something was left out, and that is no decoration.
    """
    return text.strip(_DECORATION).removesuffix(".").rstrip(_DECORATION)
