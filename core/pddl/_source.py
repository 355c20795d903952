"""A text under examination: places, and the faults found so far."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ._diagnostics import CODES, Diagnostic

__all__ = ["MAX_DIAGNOSTICS", "Placed", "Source"]

_BLANK = re.compile(r"[ \t]*")
MAX_DIAGNOSTICS = 10_000
"""Faults that are listed of one text."""


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
    _line_starts: list[int] = field(default_factory=list)

    @property
    def has_errors(self) -> bool:
        """Whether a fault found so far is an error."""
        return any(d.severity == "error" for d in self.diagnostics)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        if not self._line_starts:
            self._line_starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", self.text))]
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def indentation(self, offset: int) -> tuple[int, bool]:
        """The column (from 0) where an offset's line starts, and whether it starts there."""
        line, column = self.position(offset)
        start = self._line_starts[line - 1]
        blank = _BLANK.match(self.text, start)
        width = 0 if blank is None else blank.end() - start
        return width, width == column - 1

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
