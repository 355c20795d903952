"""Lists of variables whose types stand in the wrong place or without a space: read as meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ._names import is_name
from ._source import Source
from ._syntax import Node, Symbol

__all__ = ["mend_variables", "report_missing_dash"]

IsType = Callable[[Symbol], bool]


def mend_variables(items: Sequence[Node], is_type: IsType, source: Source) -> Sequence[Node]:
    """The list as it was meant; each slip in it is reported."""
    words = [item for item in items if isinstance(item, Symbol)]
    if len(words) == len(items) > 0 and is_type(words[0]):
        if all(is_type(word) for word in words):
            return _with_variables(words, source)
        turns = [
            is_type(word) if i % 2 == 0 else word.text[0] == "?" for i, word in enumerate(words)
        ]
        if len(words) % 2 == 0 and all(turns):
            return _turned(words, source)
    return _with_dashes(items, is_type, source)


def report_missing_dash(kind: Symbol, source: Source) -> None:
    """Report a type without a dash before it."""
    message = f"`{kind.text}` is a type, but there is no dash before it."
    source.report("malformed", kind, message, f"Write `- {kind.text}`.")


def _with_variables(types: Sequence[Symbol], source: Source) -> list[Node]:
    """Read `a b` as `?x1 - a ?x2 - b`."""
    first = types[0]
    message = f"`{first.text}` is a type, and no variable stands before it."
    source.report("malformed", first, message, f"Write `?x - {first.text}`.")
    mended: list[Node] = []
    for number, kind in enumerate(types, 1):
        mended += [Symbol(f"?x{number}", kind.start), Symbol("-", kind.start), kind]
    return mended


def _turned(words: Sequence[Symbol], source: Source) -> list[Node]:
    """Read `a ?x b ?y` as `?x - a ?y - b`."""
    message = f"The type `{words[0].text}` stands before its variable."
    hint = f"Write `{words[1].text} - {words[0].text}`."
    source.report("malformed", words[0], message, hint)
    mended: list[Node] = []
    for kind, variable in zip(words[::2], words[1::2], strict=True):
        mended += [variable, Symbol("-", kind.start), kind]
    return mended


def _with_dashes(items: Sequence[Node], is_type: IsType, source: Source) -> Sequence[Node]:
    """Read `?x t` and `?x- t` as `?x - t`, and `? x` as `?x`."""
    mended: list[Node] = []
    for item in items:
        before = mended[-1] if mended else None
        if isinstance(before, Symbol) and isinstance(item, Symbol) and before.text[0] == "?":
            if before.text == "?" and is_name(item.text):
                message = "There is a space after the question mark."
                source.report("malformed", before, message, f"Write `?{item.text}`.")
                mended[-1] = Symbol(f"?{item.text}", before.start)
                continue
            if is_type(item) and before.text[-1] == "-" and is_name(before.text[1:-1]):
                message = f"There is no space before the dash in `{before.text}`."
                hint = f"Write `{before.text[:-1]} - {item.text}`."
                source.report("malformed", before, message, hint)
                mended[-1] = Symbol(before.text[:-1], before.start)
                mended.append(Symbol("-", before.start))
            elif is_type(item) and is_name(before.text[1:]):
                report_missing_dash(item, source)
                mended.append(Symbol("-", item.start))
        mended.append(item)
    return mended
