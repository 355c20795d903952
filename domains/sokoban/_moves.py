"""Moves as text, in the two notations in use, and as steps of a PDDL plan.

`lurd`: one letter a move, lower case for a move and upper case for a push (`rrRR`).
`comma-separated`: upper-case letters, as SokoBench asks for (`R,R,R`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._benchmark import MoveText

__all__ = ["format_moves", "moves_of_plan", "read_moves"]

# At each character a match can go on in one way only, so that reading takes linear time.
_COMMAS = re.compile(r"[udlrUDLR](?:\s*,\s*[udlrUDLR])*(?:\s*,)?")
_LURD = re.compile(r"[udlr]|[udlrUDLR]{2,}")
_LETTERS = {"up": "U", "down": "D", "left": "L", "right": "R"}


def read_moves(text: str) -> MoveText | None:
    """Read text that is a plan and nothing else.

    Returns:
        The moves and the notation, or None. Empty text is a plan of no moves; a single
        upper-case letter reads as comma-separated. Letters keep only the direction, in
        either case: whether a letter is a push follows from the level.
    """
    text = text.strip()
    if _LURD.fullmatch(text):
        return MoveText(moves=text.upper(), notation="lurd")
    if not text or _COMMAS.fullmatch(text):
        moves = re.sub(r"[\s,]", "", text).upper()
        return MoveText(moves=moves, notation="comma-separated")
    return None


def format_moves(moves: str) -> str:
    """Moves as upper-case letters with commas."""
    return ",".join(moves.upper())


def moves_of_plan(plan: Sequence[str]) -> str | None:
    """Turn steps `(move from to d)` and `(push from box to d)` into letters.

    Returns:
        One letter a step, upper case; None if a step is of another kind, which happens
        when a plan belongs to another domain.
    """
    letters = []
    for step in plan:
        words = step.strip().strip("()").lower().split()
        arity = {"move": 4, "push": 5}.get(words[0] if words else "")
        if arity != len(words) or words[-1] not in _LETTERS:
            return None
        letters.append(_LETTERS[words[-1]])
    return "".join(letters)
