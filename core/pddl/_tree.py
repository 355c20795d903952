"""Tokens → tree of parenthesised forms, where every node knows its place.

`Reader` takes a text as it stands and notes whether anything in it looks wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ._source import Source
from ._tokens import Token

__all__ = [
    "ACTIONS",
    "ACTION_PARTS",
    "MAX_DEPTH",
    "PARTS",
    "SECTIONS",
    "STRUCTURAL",
    "TIMES",
    "Form",
    "Node",
    "OpenForm",
    "Reader",
    "Symbol",
    "TooDeep",
    "ends_in_section",
]

MAX_DEPTH = 200
"""Deepest nesting that is read; real domains stay under 20."""

SECTIONS = frozenset(
    ":requirements :types :constants :predicates :functions :action :durative-action :derived"
    " :domain :objects :init :goal :metric :constraints".split()
)
ACTIONS = frozenset({":action", ":durative-action"})
ACTION_PARTS = frozenset(":parameters :precondition :effect :duration :condition".split())

STRUCTURAL = frozenset(
    "define domain problem and or not imply when forall exists = < > <= >= + - * / increase"
    " decrease assign scale-up scale-down preference either always sometime within at-most-once"
    " sometime-after sometime-before always-within hold-during hold-after minimize maximize"
    " is-violated".split()
)
PARTS = {"not": 1} | dict.fromkeys(
    "imply when forall exists = < > <= >= increase decrease assign scale-up scale-down".split(), 2
)
MAX_PARTS = 1 << 62
TIMES = frozenset({"start", "end", "all"})


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


class TooDeep(Exception):
    """Nesting beyond `MAX_DEPTH`, at an offset."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class OpenForm:
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
        if not isinstance(first, Symbol) or first.key in STRUCTURAL or first.text[0] in ":?":
            return False
        if first.key in ("at", "over") and len(self.items) == 2:
            second = self.items[1]
            timed = isinstance(second, Symbol) and (second.key in TIMES or second.text[0].isdigit())
            return not timed
        return True

    @property
    def is_full(self) -> bool:
        """Whether this has as many parts as its keyword takes."""
        return len(self.items) == 1 + PARTS.get(self.key, MAX_PARTS)


class Reader:
    """Reads as it stands and notes whether anything looks wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.suspicious = False
        self.adjacent = False  # a parenthesis follows a word without a space
        self.top: list[Node] = []
        self.stack: list[OpenForm] = []
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
            raise TooDeep(start)
        if start == self.end and self.stack and len(self.stack[-1].items) > 1:
            self.adjacent = self.adjacent or isinstance(self.stack[-1].items[-1], Symbol)
        self.stack.append(OpenForm(start, self.end))

    def add(self, symbol: Symbol) -> None:
        """Take a word."""
        stack = self.stack
        if stack and not stack[-1].items:
            self._look(symbol)
        elif stack and self._is_astray(symbol, stack[-1]):
            self.suspicious = True
        (stack[-1].items if stack else self.top).append(symbol)

    def _is_astray(self, symbol: Symbol, parent: OpenForm) -> bool:
        """Whether a word that does not start a form stands where it cannot."""
        if symbol.key in ACTION_PARTS:
            return parent.key not in ACTIONS
        return parent.key == "define" and len(self.stack) == 1 and ends_in_section(parent.items)

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


def ends_in_section(items: Sequence[Node]) -> bool:
    """Whether the last of some nodes is a section."""
    last = items[-1] if items else None
    return isinstance(last, Form) and last.key in SECTIONS
