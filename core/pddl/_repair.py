"""Reading a text whose parentheses are not in order, so that each fault is reported once.

- A section keyword can only stand directly inside `(define …)`, and `:precondition` and
  its like directly inside an action: what is still open then should have closed.
- A fact holds no forms, a list of variables none but `(either …)`, and `exists`, `=` and
  their like have so many parts: `(clear a (clear b)` lacks a parenthesis after `a`.
- Two opening parentheses together are one too many.
- Where the text has more closing than opening ones: a form that stands where none can, or
  a part that is missing, means that the parenthesis before it closed too early; a word
  where only forms stand lacks its opening one.
- A closing parenthesis alone on its line closes the form that starts at its indentation.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._diagnostics import Diagnostic
from ._source import Source
from ._tokens import Token
from ._tree import (
    ACTION_PARTS,
    ACTIONS,
    PARTS,
    SECTIONS,
    Form,
    Node,
    OpenForm,
    Reader,
    Symbol,
    ends_in_section,
)

__all__ = ["repaired"]

_LISTS = frozenset(
    ":init :goal :predicates :functions :derived and or not imply when exists forall".split()
)
"""Forms that hold forms and no words, beside their own keyword."""
_CONNECTIVES = frozenset({"and", "or", "when", "forall", "exists"})
_NUMERIC = frozenset("= < > <= >= increase decrease assign scale-up scale-down".split())
_MAX_REOPENED = 2_000
"""So many forms are reopened in one text; each time costs as much as the form is long."""
_OTHER_INFIX = frozenset("& && | ||".split())


def repaired(source: Source, tokens: Sequence[Token]) -> tuple[list[Node], list[Diagnostic]]:
    """Read with repairs; returns the nodes, and the faults of the reading that has fewest."""
    best: tuple[list[Node], list[Diagnostic]] | None = None
    for by_indentation in (True, False):
        scratch = Source(source.text, source.file)
        nodes = _RepairingReader(scratch, tokens, by_indentation).read(tokens)
        if best is None or len(scratch.diagnostics) < len(best[1]):
            best = nodes, scratch.diagnostics
        if len(best[1]) <= 1:
            break
    assert best is not None
    return best


def _takes_no_form(parent: OpenForm, symbol: Symbol) -> bool:
    """Whether a form that starts with `symbol` cannot be part of `parent`."""
    holds_words = parent.is_fact or parent.key.startswith("?")
    return (holds_words and symbol.key != "either") or parent.is_full


def _is_complete(parent: OpenForm) -> bool:
    """Whether no further form can stand in `parent` now."""
    last = parent.items[-1] if parent.items else None
    if not isinstance(last, Form):
        return False
    if parent.key in ACTIONS:
        return True
    return parent.key == ":goal" and len(parent.items) == 2


class _RepairingReader(Reader):
    """Closes and reopens forms where the text shows that it must be so, and reports it."""

    def __init__(self, source: Source, tokens: Sequence[Token], by_indentation: bool) -> None:
        super().__init__(source)
        self._by_indentation = by_indentation
        self._reopened = 0
        words = [word for word, _ in tokens]
        self._surplus = words.count(")") - words.count("(")

    def open(self, start: int) -> None:
        if self._surplus < 0 and self.stack and not self.stack[-1].items:
            doubled = self.stack.pop()
            place = (doubled.start, doubled.start + 1)
            message = "Two parentheses open here where one must."
            self.source.report("extra-parenthesis", place, message, "Remove it.")
            self._surplus += 1
        super().open(start)
        self.stack[-1].indentation = self.source.indentation(start)[0]

    def add(self, symbol: Symbol) -> None:
        if self._surplus < 0 and self.stack and self._ends_terms(symbol):
            self._close_down_to(len(self.stack) - 1, self.end)
        stack = self.stack
        if stack and not stack[-1].items:
            self._place(symbol)
        elif self._surplus > 0 and stack and self._lacks_opening(symbol, stack[-1]):
            self._open_at(symbol)
        elif symbol.key in ACTION_PARTS:
            self._place_action_part()
        elif self._surplus > 0 and len(stack) == 1 and ends_in_section(stack[0].items):
            self._reopen(stack[0].items)
        (self.stack[-1].items if self.stack else self.top).append(symbol)

    def _ends_terms(self, symbol: Symbol) -> bool:
        """Whether a word cannot belong to the function term that is open."""
        if len(self.stack) < 2 or not self.stack[-1].items:
            return False
        form, parent = self.stack[-1], self.stack[-2]
        if parent.key in _NUMERIC and len(parent.items) == 1 and form.is_fact:
            return symbol.text[0].isdigit()
        if parent.key == ":functions" and symbol.text == "-":
            before = form.items[-2] if len(form.items) > 1 else None
            return len(form.items) == 1 or (isinstance(before, Symbol) and before.text == "-")
        return False

    def _lacks_opening(self, symbol: Symbol, parent: OpenForm) -> bool:
        """Whether a word that does not start a form is the first of one."""
        before = parent.items[-1]
        if symbol.key in SECTIONS:
            return True
        if symbol.text[0] in ":-" or (isinstance(before, Symbol) and before.text == "-"):
            return False
        if isinstance(before, Symbol) and before.key in ACTION_PARTS and parent.key in ACTIONS:
            return True
        if len(parent.items) == 1:
            if parent.key in ("exists", "forall"):
                return True
            if parent.key == "define":
                return symbol.key in ("domain", "problem")
        if symbol.text[0] == "?" or symbol.text[0].isdigit() or symbol.key in _OTHER_INFIX:
            return False
        if parent.key == ":metric":
            return len(parent.items) == 2
        return parent.key in _LISTS | _NUMERIC

    def _open_at(self, symbol: Symbol) -> None:
        """Open the form that a word starts; its parenthesis is missing before it."""
        if symbol.key in SECTIONS and len(self.stack) > 1:
            self._close_down_to(1, self.end)
        self.source.report(
            "missing-parenthesis",
            (symbol.start, symbol.start),
            f"A parenthesis is missing before `{symbol.text}`.",
            f"Write `({symbol.text}` here.",
        )
        self._surplus -= 1
        self.stack.append(
            OpenForm(symbol.start, self.end, self.source.indentation(symbol.start)[0])
        )

    def _place(self, symbol: Symbol) -> None:
        """Make room for the form that starts with this word."""
        opened = self.stack.pop()
        if symbol.key in SECTIONS:
            self._close_down_to(1, opened.after)
            if not self.stack and self._last(self.top, "define"):
                self._reopen(self.top)
        else:
            while len(self.stack) > 2 and _takes_no_form(self.stack[-1], symbol):
                if self._surplus > 0 and self._last_of(_CONNECTIVES):
                    self._reopen(self.stack[-1].items)
                else:
                    self._close_down_to(len(self.stack) - 1, opened.after)
            self._reopen_for(symbol)
        self.stack.append(opened)

    def _reopen_for(self, symbol: Symbol) -> None:
        """Reopen what was closed too early, if that is why this form stands astray."""
        if symbol.text[0] == ":" or symbol.key in ("domain", "problem", "define"):
            return
        if self._surplus <= 0:
            return
        if f":{symbol.key}" in SECTIONS and len(self.stack) == 1:
            return  # a section whose colon is missing
        if not self.stack:
            if self._last(self.top, "define"):
                self._reopen(self.top)
            else:
                return
        if self.stack[-1].key == "define" and len(self.stack) == 1:
            if not ends_in_section(self.stack[-1].items):
                return
            self._reopen(self.stack[-1].items)
        while _is_complete(self.stack[-1]):
            self._reopen(self.stack[-1].items)

    def _place_action_part(self) -> None:
        """A keyword of an action: it stands directly inside one."""
        depth = next((i for i, form in enumerate(self.stack) if form.key in ACTIONS), None)
        if depth is not None:
            self._close_down_to(depth + 1, self.end)
        elif len(self.stack) == 1 and self.stack[0].key == "define":
            last = self.stack[0].items[-1] if self.stack[0].items else None
            if isinstance(last, Form) and last.key in ACTIONS:
                self._reopen(self.stack[0].items)

    def close_at(self, start: int) -> None:
        if not self.stack:
            place = (start, start + 1)
            self.source.report("extra-parenthesis", place, "`)` closes nothing.", "Remove it.")
            return
        if self._surplus > 0 and self._lacks_parts(self.stack[-1]):
            message = f"This `)` closes `({self.stack[-1].key}` too early."
            self.source.report("extra-parenthesis", (start, start + 1), message, "Remove it.")
            self._surplus -= 1
            return
        if self._by_indentation:
            column, leads = self.source.indentation(start)
            if leads and self._surplus > 0 and self._is_closed_at(column):
                return
            if leads:
                self._close_to_column(column)
        self.close(start + 1)

    def _last_of(self, keys: frozenset[str]) -> bool:
        """Whether the last part of the innermost form is a form with one of some keywords."""
        last = self.stack[-1].items[-1] if self.stack[-1].items else None
        return isinstance(last, Form) and last.key in keys

    def _is_closed_at(self, column: int) -> bool:
        """Report that the form which a `)` at this column would close is closed already."""
        last = self.stack[-1].items[-1] if self.stack[-1].items else None
        if any(form.indentation == column for form in self.stack) or not isinstance(last, Form):
            return False
        if self.source.indentation(last.start)[0] != column:
            return False
        message = f"This `)` closes `({last.key}` too early."
        self.source.report("extra-parenthesis", (last.end - 1, last.end), message, "Remove it.")
        self._surplus -= 1
        return True

    @staticmethod
    def _lacks_parts(form: OpenForm) -> bool:
        """Whether a form that has so many parts by its keyword, one of them a form, has fewer."""
        wanted = PARTS.get(form.key)
        if wanted is None or len(form.items) >= 1 + wanted:
            return False
        return len(form.items) > 1 and isinstance(form.items[-1], Form)

    def _close_to_column(self, column: int) -> None:
        """Close what is deeper than the form whose line starts nearest to this column."""
        nearest = min(
            reversed(range(len(self.stack))),
            key=lambda depth: abs(self.stack[depth].indentation - column),
        )
        self._close_down_to(nearest + 1, self.end)

    def _close_down_to(self, depth: int, end: int) -> None:
        """Close forms until `depth` are open; their parentheses are missing at `end`."""
        if len(self.stack) <= depth:
            return
        self._report_open(depth, end)
        while len(self.stack) > depth:
            self.close(end)

    def _reopen(self, items: list[Node]) -> None:
        """Go on with the last form of `items`: its closing parenthesis was one too many."""
        form = items.pop()
        assert isinstance(form, Form)
        self.source.report(
            "extra-parenthesis",
            (form.end - 1, form.end),
            f"This `)` closes `({form.key}` too early.",
            "Remove it.",
        )
        self._surplus -= 1
        self._reopened += 1
        if self._reopened >= _MAX_REOPENED:
            self._surplus = 0
        opened = OpenForm(form.start, form.start, self.source.indentation(form.start)[0])
        opened.items = list(form.items)
        self.stack.append(opened)

    @staticmethod
    def _last(items: Sequence[Node], key: str) -> bool:
        last = items[-1] if items else None
        return isinstance(last, Form) and last.key == key

    def finish(self) -> None:
        self._close_down_to(0, self.end)

    def _report_open(self, depth: int, end: int) -> None:
        """Report, once, that the forms from `depth` on are not closed at `end`."""
        count = len(self.stack) - depth
        form = self.stack[depth]
        line, column = self.source.position(form.start)
        name = f"`({form.key}`" if form.key else "The form"
        self.source.report(
            "missing-parenthesis",
            (end, end),
            f"{name} opened at line {line}, column {column} is not closed here.",
            f"Write `{')' * count}` here.",
        )
