"""Tokens → tree of parenthesised forms, where every node knows its place.

A text whose parentheses are in order is read as it stands. Otherwise it is read again
and repaired on the way, so that each fault is reported once, where it is:

- a section keyword can only stand directly inside `(define …)`, and `:precondition`
  and its like directly inside an action: what is still open then should have closed;
- a fact holds no forms: `(clear a (clear b)` lacks a parenthesis after `a`;
- a form that stands where none can (a fact between sections, a second goal) means that
  the parenthesis before it was one too many;
- a closing parenthesis alone on its line closes the form that starts at its indentation.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from ._source import Source
from ._tokens import Token, tokenize

__all__ = ["MAX_DEPTH", "MAX_TOKENS", "Form", "Node", "Symbol", "read_forms"]

MAX_DEPTH = 200
"""Deepest nesting that is read; real domains stay under 20."""

SECTIONS = frozenset(
    ":requirements :types :constants :predicates :functions :action :durative-action :derived"
    " :domain :objects :init :goal :metric :constraints".split()
)
_ACTIONS = frozenset({":action", ":durative-action"})
_ACTION_PARTS = frozenset(":parameters :precondition :effect :duration :condition".split())
MAX_TOKENS = 200_000
"""Words and parentheses that are read; a corridor of 3,000 cells has 50,000."""

_STRUCTURAL = frozenset(
    "define domain problem and or not imply when forall exists = < > <= >= + - * / increase"
    " decrease assign scale-up scale-down preference either always sometime within at-most-once"
    " sometime-after sometime-before always-within hold-during hold-after minimize maximize"
    " is-violated".split()
)
_PARTS = {"not": 1, "imply": 2, "when": 2, "forall": 2, "exists": 2}
MAX_PARTS = 1 << 62
_TIMES = frozenset({"start", "end", "all"})


@dataclass(slots=True, unsafe_hash=True)  # frozen, it would take twice as long to make
class Symbol:
    """A word of the text, as written, at offset `start`.

    `key` is the word in lower case: PDDL does not tell the cases apart.
    """

    text: str
    start: int
    key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.key = self.text.lower()

    @property
    def end(self) -> int:
        """Offset just after the word."""
        return self.start + len(self.text)


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


class _TooDeep(Exception):
    """Nesting beyond `MAX_DEPTH`, at an offset."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


def read_forms(source: Source) -> list[Node]:
    """Return the top-level nodes of a text; faults go to `source.diagnostics`.

    Nesting beyond `MAX_DEPTH` and more than `MAX_TOKENS` tokens are reported once and give
    no nodes.
    """
    tokens = list(itertools.islice(tokenize(source), MAX_TOKENS + 1))
    if len(tokens) > MAX_TOKENS:
        place = (tokens[-1][1], tokens[-1][1] + 1)
        message = f"The text has more than {MAX_TOKENS:,} words and parentheses."
        source.report("too-large", place, message)
        return []
    try:
        reader = _Reader(source)
        nodes = reader.read(tokens)
        if not reader.suspicious:
            return _without_calls(nodes, source) if reader.adjacent else nodes
        repaired = [_repair(source, tokens, indentation=True)]
        if len(repaired[0][1].diagnostics) > 1:
            repaired.append(_repair(source, tokens, indentation=False))
    except _TooDeep as error:
        place = (error.offset, error.offset + 1)
        source.report("too-deep", place, f"Nested deeper than {MAX_DEPTH} forms.")
        return []
    nodes, found = min(repaired, key=lambda attempt: len(attempt[1].diagnostics))
    source.diagnostics += found.diagnostics
    return _without_calls(nodes, source) if reader.adjacent else nodes


def _without_calls(nodes: Sequence[Node], source: Source) -> list[Node]:
    """Read `p(?x)` as `(p ?x)`; reported once, at the first place."""
    reported = False

    def mended(items: Sequence[Node], key: str) -> tuple[Node, ...]:
        nonlocal reported
        result: list[Node] = []
        for item in items:
            before = result[-1] if len(result) > 1 else None
            if isinstance(item, Symbol):
                result.append(item)
                continue
            form, start = item.items, item.start
            if isinstance(before, Symbol) and _calls(before, item, key, result[-2]):
                if not reported:
                    message = f"`{before.text}(…)` is another language's way to write a fact."
                    source.report("malformed", before, message, f"Write `({before.text} …)`.")
                reported = True
                argument = (_called(item),) if before.key == "not" else form
                form, start = (before, *argument), before.start
                result.pop()
            inner = form[0].key if form and isinstance(form[0], Symbol) else ""
            result.append(Form(mended(form, inner), start, item.end))
        return tuple(result)

    return [
        Form(mended(node.items, node.key), node.start, node.end) if isinstance(node, Form) else node
        for node in nodes
    ]


def _called(form: Form) -> Form:
    """`(p(?x))`, as after `not`, as `(p ?x)`; any other form as it is."""
    if len(form.items) == 2 and isinstance(form.items[1], Form):
        head, arguments = form.items
        if isinstance(head, Symbol) and isinstance(arguments, Form) and head.end == arguments.start:
            return Form((head, *arguments.items), form.start, form.end)
    return form


def _calls(word: Symbol, form: Form, parent: str, before: Node) -> bool:
    """Whether a word is the name of the form that follows it without a space."""
    if word.end != form.start or word.text[0] in ":-?":
        return False
    if parent in _ACTIONS:  # `:effect p(…)`, but `:action name(…)` is something else
        return isinstance(before, Symbol) and before.key in _ACTION_PARTS
    if parent in ("preference", "at", "over", "define"):
        return False
    return word.key in _PARTS or word.key not in _STRUCTURAL | _TIMES


def _repair(
    source: Source, tokens: Sequence[Token], *, indentation: bool
) -> tuple[list[Node], Source]:
    """Read with repairs; returns the nodes and a source that holds the faults alone."""
    scratch = Source(source.text, source.file)
    return _RepairingReader(scratch, indentation).read(tokens), scratch


class _Open:
    """A form that is being read."""

    __slots__ = ("after", "indentation", "items", "start")

    def __init__(self, start: int, after: int, indentation: int = 0) -> None:
        self.start = start
        self.after = after  # where the token before it ends
        self.indentation = indentation  # of the line that it starts on
        self.items: list[Node] = []

    @property
    def key(self) -> str:
        first = self.items[0] if self.items else None
        return first.key if isinstance(first, Symbol) else ""

    @property
    def is_fact(self) -> bool:
        """Whether this can only be an atom, which holds no forms."""
        first = self.items[0] if self.items else None
        if not isinstance(first, Symbol) or first.key in _STRUCTURAL or first.text[0] in ":?":
            return False
        if first.key in ("at", "over") and len(self.items) == 2:
            second = self.items[1]
            timed = isinstance(second, Symbol) and (
                second.key in _TIMES or second.text[0].isdigit()
            )
            return not timed
        return True

    @property
    def is_full(self) -> bool:
        """Whether this has as many parts as its keyword takes."""
        return len(self.items) == 1 + _PARTS.get(self.key, MAX_PARTS)


class _Reader:
    """Reads as it stands and notes whether anything looks wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.suspicious = False
        self.adjacent = False  # a parenthesis follows a word without a space
        self.top: list[Node] = []
        self.stack: list[_Open] = []
        self.end = 0

    def read(self, tokens: Sequence[Token]) -> list[Node]:
        """Return the top-level nodes."""
        for word, start in tokens:
            if word == "(":
                self.open(start)
            elif word == ")":
                self.close_at(start)
            else:
                self.add(Symbol(word, start))
            self.end = start + len(word)
        self.finish()
        return self.top

    def open(self, start: int) -> None:
        """Begin a form."""
        if len(self.stack) >= MAX_DEPTH:
            raise _TooDeep(start)
        if start == self.end and self.stack and len(self.stack[-1].items) > 1:
            self.adjacent = self.adjacent or isinstance(self.stack[-1].items[-1], Symbol)
        self.stack.append(_Open(start, self.end))

    def add(self, symbol: Symbol) -> None:
        """Take a word."""
        stack = self.stack
        if stack and not stack[-1].items:
            self._look(symbol)
        elif stack and self._is_astray(symbol, stack[-1]):
            self.suspicious = True
        (stack[-1].items if stack else self.top).append(symbol)

    def _is_astray(self, symbol: Symbol, parent: _Open) -> bool:
        """Whether a word that does not start a form stands where it cannot."""
        if symbol.key in _ACTION_PARTS:
            return parent.key not in _ACTIONS
        return parent.key == "define" and len(self.stack) == 1 and _ends_in_section(parent.items)

    def _look(self, symbol: Symbol) -> None:
        """Whether a form that starts with this word can stand where it does."""
        stack = self.stack
        parent = stack[-2] if len(stack) > 1 else None
        misplaced = symbol.key in SECTIONS and len(stack) != 2
        stray = (
            parent is not None
            and parent.key == "define"
            and len(stack) == 2
            and symbol.text[0] != ":"
            and symbol.key not in ("domain", "problem")
            and f":{symbol.key}" not in SECTIONS
        )
        if misplaced or stray:
            self.suspicious = True

    def close_at(self, start: int) -> None:
        """Take a closing parenthesis."""
        if self.stack:
            self.close(start + 1)
        else:
            self.suspicious = True

    def close(self, end: int) -> None:
        """End the innermost form."""
        form = self.stack.pop()
        target = self.stack[-1].items if self.stack else self.top
        target.append(Form(tuple(form.items), form.start, end))

    def finish(self) -> None:
        """Take the end of the text."""
        while self.stack:
            self.suspicious = True
            self.close(self.end)


def _takes_no_form(parent: _Open, symbol: Symbol) -> bool:
    """Whether a form that starts with `symbol` cannot be part of `parent`."""
    return (parent.is_fact and symbol.key != "either") or parent.is_full


def _ends_in_section(items: Sequence[Node]) -> bool:
    last = items[-1] if items else None
    return isinstance(last, Form) and last.key in SECTIONS


def _is_complete(parent: _Open) -> bool:
    """Whether no further form can stand in `parent` now."""
    last = parent.items[-1] if parent.items else None
    if not isinstance(last, Form):
        return False
    if parent.key in _ACTIONS:
        return True
    return parent.key == ":goal" and len(parent.items) == 2


class _RepairingReader(_Reader):
    """Closes and reopens forms where the text shows that it must be so, and reports it."""

    def __init__(self, source: Source, indentation: bool) -> None:
        super().__init__(source)
        self._by_indentation = indentation

    def open(self, start: int) -> None:
        super().open(start)
        self.stack[-1].indentation = self.source.indentation(start)[0]

    def add(self, symbol: Symbol) -> None:
        stack = self.stack
        if stack and not stack[-1].items:
            self._place(symbol)
        elif symbol.key in _ACTION_PARTS:
            self._place_action_part()
        elif len(stack) == 1 and stack[0].key == "define" and _ends_in_section(stack[0].items):
            self._reopen(stack[0].items)
        (self.stack[-1].items if self.stack else self.top).append(symbol)

    def _place(self, symbol: Symbol) -> None:
        """Make room for the form that starts with this word."""
        opened = self.stack.pop()
        if symbol.key in SECTIONS:
            self._close_down_to(1, opened.after)
            if not self.stack and self._last(self.top, "define"):
                self._reopen(self.top)
        else:
            while len(self.stack) > 2 and _takes_no_form(self.stack[-1], symbol):
                self._close_down_to(len(self.stack) - 1, opened.after)
            self._reopen_for(symbol)
        self.stack.append(opened)

    def _reopen_for(self, symbol: Symbol) -> None:
        """Reopen what was closed too early, if that is why this form stands astray."""
        if symbol.text[0] == ":" or symbol.key in ("domain", "problem", "define"):
            return
        if f":{symbol.key}" in SECTIONS and len(self.stack) == 1:
            return  # a section whose colon is missing
        if not self.stack:
            if self._last(self.top, "define"):
                self._reopen(self.top)
            else:
                return
        if self.stack[-1].key == "define" and len(self.stack) == 1:
            if not _ends_in_section(self.stack[-1].items):
                return
            self._reopen(self.stack[-1].items)
        while _is_complete(self.stack[-1]):
            self._reopen(self.stack[-1].items)

    def _place_action_part(self) -> None:
        """A keyword of an action: it stands directly inside one."""
        depth = next((i for i, form in enumerate(self.stack) if form.key in _ACTIONS), None)
        if depth is not None:
            self._close_down_to(depth + 1, self.end)
        elif len(self.stack) == 1 and self.stack[0].key == "define":
            last = self.stack[0].items[-1] if self.stack[0].items else None
            if isinstance(last, Form) and last.key in _ACTIONS:
                self._reopen(self.stack[0].items)

    def close_at(self, start: int) -> None:
        if not self.stack:
            place = (start, start + 1)
            self.source.report("extra-parenthesis", place, "`)` closes nothing.", "Remove it.")
            return
        if self._by_indentation:
            column, leads = self.source.indentation(start)
            if leads:
                self._close_to_column(column)
        self.close(start + 1)

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
        opened = _Open(form.start, form.start, self.source.indentation(form.start)[0])
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
