"""Tokens → tree of parenthesised forms, where every node knows its place.

A text whose parentheses are in order is read as it stands. Otherwise it is read again
and repaired on the way (`_repair.py`). Words with their arguments in parentheses behind
them, as other languages call functions, are read as facts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ._repair import repaired
from ._source import Source
from ._tokens import tokenize
from ._tree import (
    ACTION_PARTS,
    ACTIONS,
    MAX_DEPTH,
    PARTS,
    STRUCTURAL,
    TIMES,
    Form,
    Node,
    Reader,
    Symbol,
    TooDeep,
)

__all__ = ["MAX_DEPTH", "MAX_TOKENS", "Form", "Node", "Symbol", "read_forms"]

MAX_TOKENS = 200_000
"""Words and parentheses that are read; a corridor of 3,000 cells has 50,000."""


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
        reader = Reader(source)
        nodes = reader.read(tokens)
        if not reader.suspicious:
            return _without_calls(nodes, source) if reader.adjacent else nodes
        nodes, found = repaired(source, tokens)
    except TooDeep as error:
        place = (error.offset, error.offset + 1)
        source.report("too-deep", place, f"Nested deeper than {MAX_DEPTH} forms.")
        return []
    source.diagnostics += found
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
                if before.text in ("!", "~"):
                    before = Symbol("not", before.start)
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
    if parent in ACTIONS:  # `:effect p(…)`, but `:action name(…)` is something else
        return isinstance(before, Symbol) and before.key in ACTION_PARTS
    if parent in ("preference", "at", "over", "define"):
        return False
    return word.key in PARTS or word.key not in STRUCTURAL | TIMES
