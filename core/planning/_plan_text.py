"""Plans as text: `(action object …)`, one step a line, as in the planning competitions.

Comments (`;`), step numbers (`0:`), times and durations (`0.001: (a) [1]`), empty lines,
lists of strings, also as JSON, and the logs of planners are read too. A log counts as one
only where its own words frame the plan, so that prose around steps is never a plan.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

from llm_modulo.errors import NotPddl
from llm_modulo.pddl import check_size

__all__ = ["format_plan", "plan_digest", "read_plan"]

Step = tuple[str, ...]

# No two parts that match spaces stand side by side: that would take quadratic time on a bad line.
_STEP = re.compile(
    r"(?:\d+(?:\.\d+)?\s*[:.]\s*)?\((?P<body>[^()]*)\)"
    r"(?:\s*(?:\[[\d.eE+:DC;, -]*\]|\(\d+\)))?\s*,?\Z"
)
_COMMENT = re.compile(r";(?![^\[\]]{0,80}\]).*")
"""A semicolon may also stand inside the brackets behind a step, as LPG writes them."""
_COST = re.compile(r"\s*; cost = ")
_STAMP = r"(?:\[t=[\d.]+s, \d+ KB\] )?"
_BARE_STEP = re.compile(r"(?P<body>[^\s()\[\]:;,]+(?: [^\s()\[\]:;,]+)*) \(\d+\)\Z")
_HEAD = re.compile(
    rf"{_STAMP}(?:Actual search time: [\d.e+-]+s|Solution found[!.]?)\Z|Found Plan:\Z"
)
_FOOT = re.compile(rf"{_STAMP}Plan[ -][Ll]ength: ?(?P<steps>\d{{1,9}})(?: step\(s\)\.)?\Z")
_LOGGED = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)? +(?:DEBUG|INFO|WARNING|ERROR) +(?P<said>.*)"
)
_OF_A_LOG = re.compile(rf"\[t=[\d.]+s, \d+ KB\] |{_LOGGED.pattern}")


def read_plan(plan: str | Sequence[str]) -> list[Step]:
    """Read a plan into steps `(action, object, …)`, spelled as written.

    Args:
        plan: text with a step a line, a JSON list of steps, or the log of a planner; or a
            sequence of steps. Of several plans in a log the last one counts.

    Raises:
        NotPddl: a line or an item that is no step; the message gives its number and its
            text. A log without a plan, or with another number of steps than it says.
        UsageError: a text that is too long.
    """
    if not isinstance(plan, str):
        return _read_items(plan)
    check_size(plan, "plan")
    if plan.lstrip().startswith("["):
        items = _json_list(plan)
        if items is not None:
            return _read_items(items)
    lines = plan.splitlines()
    steps: list[Step] = []
    end = 0
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.sub("", line).strip()
        if not text:
            end = number if _COST.match(line) else end
            continue
        if end and steps:
            raise NotPddl(f"The plan ends in line {end}; another one begins in line {number}.")
        step = _read_step(text)
        if step is None:
            logged = _read_log([other.strip() for other in lines])
            if logged is None:
                raise _no_step(f"Line {number}", text)
            return logged
        steps.append(step)
    return steps


def _read_step(text: str) -> Step | None:
    match = _STEP.match(text)
    words = tuple(match["body"].split()) if match else ()
    return words if words and not any(word[0] in ":?" for word in words) else None


def _read_items(items: Sequence[object]) -> list[Step]:
    steps = []
    for number, item in enumerate(items, start=1):
        if not isinstance(item, str):
            raise _no_step(f"Item {number}", str(item))
        text = _COMMENT.sub("", item, count=1).strip() if "\n" not in item else ""
        step = None if "\n" in item.strip() else _read_step(text)
        if step is not None:
            steps.append(step)
        elif text or "\n" in item.strip():
            raise _no_step(f"Item {number}", text or item.strip())
    return steps


def _json_list(text: str) -> list[object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _no_step(place: str, text: str) -> NotPddl:
    return NotPddl(
        f"{place} of the plan is not a step: {text[:60]!r}. A step is written `(action object …)`."
    )


def _read_log(lines: Sequence[str]) -> list[Step] | None:
    """The last plan of a planner's log; None if the lines are no log.

    Raises:
        NotPddl: it has no plan, or not the number of steps that it says.
    """
    feet = [number for number, line in enumerate(lines) if _FOOT.match(line)]
    for foot in reversed(feet):
        steps = _framed(lines, foot)
        if steps is not None:
            return steps
    steps = _between_logged(lines)
    if steps is None and sum(_OF_A_LOG.match(line) is not None for line in lines) > 1:
        raise NotPddl(f"The log of {len(lines)} lines has no plan in it.")
    return steps


def _framed(lines: Sequence[str], foot: int) -> list[Step] | None:
    """The steps between `Actual search time: …` or `Found Plan:` and `Plan length: …`."""
    steps: list[Step] = []
    for number in range(foot - 1, -1, -1):
        line = lines[number]
        if _HEAD.match(line):
            said = _FOOT.match(lines[foot])
            _require_count(steps, 0 if said is None else int(said["steps"]), foot)
            return steps[::-1]
        bare = _BARE_STEP.match(line)
        step = tuple(bare["body"].split()) if bare else _read_step(line)
        if step is not None:
            steps.append(step)
        elif line:
            return None
    return None


def _between_logged(lines: Sequence[str]) -> list[Step] | None:
    """The steps among lines that all bear a time and a level, as Python's logging writes them."""
    steps: list[Step] = []
    foot, said = None, 0
    for number, line in enumerate(lines):
        text = _COMMENT.sub("", line).strip()
        logged = _LOGGED.match(line)
        if logged is not None:
            counted = _FOOT.match(logged["said"])
            if counted is not None:
                foot, said = number, int(counted["steps"])
        elif text:
            step = _read_step(text)
            if step is None:
                return None
            steps.append(step)
    if foot is None:
        return None
    _require_count(steps, said, foot)
    return steps


def _require_count(steps: Sequence[Step], said: int, line: int) -> None:
    if len(steps) != said:
        raise NotPddl(
            f"Line {line + 1} of the log says that the plan has {said} steps, it has {len(steps)}."
        )


def format_plan(plan: Sequence[str]) -> str:
    """A plan as text, a step a line, with a final line break unless it is empty."""
    return "".join(f"{step}\n" for step in plan)


def plan_digest(plan: Sequence[str]) -> str:
    """`sha256:` and the hash of `format_plan(plan)`: equal plans, equal digests."""
    return "sha256:" + hashlib.sha256(format_plan(plan).encode()).hexdigest()
