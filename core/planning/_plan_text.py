"""Plans as text: `(action object …)`, one step a line, as in the planning competitions.

Comments (`;`), step numbers (`0:`), times and durations (`0.001: (a) [1]`), empty lines
and lists of strings are read too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from llm_modulo.errors import NotPddl
from llm_modulo.pddl import check_size

__all__ = ["format_plan", "plan_digest", "read_plan"]

# No two parts that match spaces stand side by side: that would take quadratic time on a bad line.
_STEP = re.compile(
    r"(?:\d+(?:\.\d+)?\s*[:.]\s*)?\((?P<body>[^()]*)\)(?:\s*(?:\[[^\]]*\]|\(\d+\)))?\s*,?\Z"
)


def read_plan(plan: str | Sequence[str]) -> list[tuple[str, ...]]:
    """Read a plan into steps `(action, object, …)`, spelled as written.

    Args:
        plan: text with a step a line, or a sequence of steps.

    Raises:
        NotPddl: a line that is no step; the message gives its number and its text.
        UsageError: a text that is too long.
    """
    if isinstance(plan, str):
        check_size(plan, "plan")
        lines = plan.splitlines()
    else:
        lines = [str(step) for step in plan]
    steps = []
    for number, line in enumerate(lines, start=1):
        text = line.split(";", 1)[0].strip()
        if not text:
            continue
        match = _STEP.match(text)
        words = match["body"].split() if match else []
        if not words:
            raise NotPddl(
                f"Line {number} of the plan is not a step: {text[:60]!r}."
                " A step is written `(action object …)`."
            )
        steps.append(tuple(words))
    return steps


def format_plan(plan: Sequence[str]) -> str:
    """A plan as text, a step a line, with a final line break unless it is empty."""
    return "".join(f"{step}\n" for step in plan)


def plan_digest(plan: Sequence[str]) -> str:
    """`sha256:` and the hash of `format_plan(plan)`: equal plans, equal digests."""
    return "sha256:" + hashlib.sha256(format_plan(plan).encode()).hexdigest()
