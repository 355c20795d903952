"""Text → tree of parenthesised forms, where every node knows its place.

The reader is tolerant: it goes on after a fault. A parenthesis that is missing is
reported where the form should have closed, which the next section keyword tells:
`(:goal` can only stand directly inside `(define …)`, so whatever is still open when
it appears should have closed before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ._diagnostics import CODES, Diagnostic

__all__ = ["Form", "Node", "Source", "Symbol", "read_forms"]

MAX_DEPTH = 200
"""Deepest nesting that is read; real domains stay under 20."""

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")
_SECTIONS = frozenset(
    ":requirements :types :constants :predicates :functions :action :durative-action :derived"
    " :domain :objects :init :goal :metric :constraints".split()
)
_ACTION_PARTS = frozenset(":parameters :precondition :effect :duration :condition :vars".split())


@dataclass(frozen=True, slots=True)
class Symbol:
    """A word of the text, as written, at offset `start`."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset just after the word."""
        return self.start + len(self.text)

    @property
    def key(self) -> str:
        """The word in lower case: PDDL does not tell the cases apart."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class Form:
    """A parenthesised list; `start` is its `(`, `end` the offset just after its `)`."""

    items: tuple[Node, ...]
    start: int
    end: int

    @property
    def key(self) -> str:
        """The first word in lower case, or "" when there is none."""
        first = self.items[0] if self.items else None
        return first.key if isinstance(first, Symbol) else ""


Node = Symbol | Form


@dataclass(slots=True)
class Source:
    """A text under examination and the faults found in it so far."""

    text: str
    file: Literal["domain", "problem", "plan"]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _line_starts: list[int] = field(default_factory=list)

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column of an offset."""
        if not self._line_starts:
            self._line_starts = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def report(
        self, code: str, where: Node | tuple[int, int], message: str, hint: str | None = None
    ) -> None:
        """Record a fault at a node or at a pair of offsets (start, end)."""
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


class _Open:
    """A form that is being read."""

    __slots__ = ("items", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.items: list[Node] = []

    @property
    def key(self) -> str:
        first = self.items[0] if self.items else None
        return first.key if isinstance(first, Symbol) else ""


def read_forms(source: Source) -> list[Node]:
    """Return the top-level nodes of a text; faults go to `source.diagnostics`.

    Nesting beyond `MAX_DEPTH` is reported once and gives no nodes.
    """
    top: list[Node] = []
    stack: list[_Open] = []
    previous_end = 0

    def close(end: int) -> None:
        form = stack.pop()
        (stack[-1].items if stack else top).append(Form(tuple(form.items), form.start, end))

    for match in _TOKEN.finditer(source.text):
        word, start = match.group(), match.start()
        if word[0] == ";":
            continue
        if word == "(":
            if len(stack) >= MAX_DEPTH:
                source.report(
                    "too-deep", (start, start + 1), f"Nested deeper than {MAX_DEPTH} forms."
                )
                return []
            stack.append(_Open(start))
        elif word == ")":
            if stack:
                close(start + 1)
            else:
                source.report(
                    "extra-parenthesis", (start, start + 1), "`)` closes nothing.", "Remove it."
                )
        else:
            _close_before(word.lower(), stack, close, previous_end, source)
            (stack[-1].items if stack else top).append(Symbol(word, start))
        previous_end = match.end()
    if stack:
        _report_open(stack, 0, previous_end, source)
        while stack:
            close(previous_end)
    return top


def _close_before(
    key: str,
    stack: list[_Open],
    close: Callable[[int], None],
    end: int,
    source: Source,
) -> None:
    """Close what the keyword `key` shows should have closed before it."""
    if key in _SECTIONS and len(stack) > 2 and not stack[-1].items:
        opened = stack.pop()
        _report_open(stack, 1, end, source)
        while len(stack) > 1:
            close(end)
        stack.append(_Open(opened.start))
    elif key in _ACTION_PARTS:
        depth = next(
            (i for i, form in enumerate(stack) if form.key in (":action", ":durative-action")),
            None,
        )
        if depth is not None and depth + 1 < len(stack) and stack[-1].items:
            _report_open(stack, depth + 1, end, source)
            while len(stack) > depth + 1:
                close(end)


def _report_open(stack: list[_Open], keep: int, end: int, source: Source) -> None:
    """Report, once, that the forms `stack[keep:]` are still open at offset `end`."""
    count = len(stack) - keep
    form = stack[keep]
    line, column = source.position(form.start)
    name = f"`({form.key}`" if form.key else "the form"
    source.report(
        "missing-parenthesis",
        (max(0, end - 1), end),
        f"{name} opened at line {line}, column {column} is not closed here.",
        f"Write `{')' * count}` after this.",
    )
