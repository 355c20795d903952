"""A text under examination: places, and the faults found so far."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate
from typing import Literal, Protocol

from ._diagnostics import CODES, Diagnostic

__all__ = ["MAX_DIAGNOSTICS", "Placed", "Source"]

_BLANK = re.compile(r"[ \t]*")
MAX_DIAGNOSTICS = 10_000
"""Faults that are listed of one text."""
_HINT_BUDGET = 1_500_000
"""Pairs of characters that are compared for hints in one text."""
_FIXED = 20
"""What a comparison costs beside its pairs."""
_LONGEST_COMPARED = 60


class Placed(Protocol):
    """Something that stands at offsets [start, end) of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


@dataclass(slots=True)
class Source:
    """A text under examination and the faults found in it so far."""

    text: str
    file: Literal["domain", "problem", "plan"]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    illegal: set[str] = field(default_factory=set)
    _line_starts: array[int] = field(default_factory=lambda: array("q"))
    _hint_budget: int = _HINT_BUDGET

    @property
    def has_errors(self) -> bool:
        """Whether a fault found so far is an error."""
        return any(d.severity == "error" for d in self.diagnostics)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        if not self._line_starts:
            lines = self.text.replace("\r\n", " \n").replace("\r", "\n").split("\n")
            self._line_starts = array("q", accumulate((len(x) + 1 for x in lines), initial=0))
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def indentation(self, offset: int) -> tuple[int, bool]:
        """The column (from 0) where an offset's line starts, and whether it starts there."""
        line, column = self.position(offset)
        start = self._line_starts[line - 1]
        blank = _BLANK.match(self.text, start)
        width = 0 if blank is None else blank.end() - start
        return width, width == column - 1

    @property
    def hints_are_spent(self) -> bool:
        """Whether no more names are compared."""
        return self._hint_budget <= 0

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """The hint "Did you mean …?" with the declared name most like `name`, or None."""
        found = self.most_like(name.lower(), {k.lower(): k for k in known})
        return f"Did you mean `{found}`?" if found else None

    def most_like(self, key: str, known: Mapping[str, str]) -> str | None:
        """The value whose key is most like `key`, if one is, or None.

        Long names are like none, and nothing is like any once the budget is spent: what a
        text can make a comparison cost is limited.
        """
        if self.hints_are_spent:
            return None
        keys = [k for k in known if len(k) <= _LONGEST_COMPARED]
        cost = len(key) * sum(map(len, keys))
        self._hint_budget -= _FIXED * len(known)
        if len(key) > _LONGEST_COMPARED or cost > self._hint_budget:
            return None
        self._hint_budget -= cost
        found = get_close_matches(key, keys, n=1, cutoff=0.6)
        return known[found[0]] if found else None

    def report(
        self, code: str, where: Placed | tuple[int, int], message: str, hint: str | None = None
    ) -> None:
        """Record a fault at a node or at a pair of offsets (start, end).

        From `MAX_DIAGNOSTICS` faults on, one last fault says that there are more.
        """
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            if self.diagnostics[-1].code == "too-many":
                return
            code, message = "too-many", f"More than {MAX_DIAGNOSTICS:,} faults; this is the last."
            hint = None
        start, end = where if isinstance(where, tuple) else (where.start, where.end)
        (line, column), (end_line, end_column) = self.position(start), self.position(end)
        self.diagnostics.append(
            Diagnostic(
                code=code,
                severity=CODES[code][0],
                file=self.file,
                line=line,
                column=column,
                end_line=end_line,
                end_column=end_column,
                message=message,
                hint=hint,
            )
        )
