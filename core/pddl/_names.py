"""Names and typed lists, as written."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["RESERVED", "expect_name", "in_parentheses", "is_name", "read_typed_list"]

_NAME = re.compile(r"[A-Za-z][\w-]*\Z", re.ASCII)
_READABLE = re.compile(r"[^?:()\s-][^()\s]*\Z")
"""What can be followed further although it is no legal name."""
_SHORT = 60
RESERVED = frozenset("define and or not imply exists forall when either = - ?".split())


def is_name(text: str) -> bool:
    """Whether PDDL allows this as a name."""
    return _NAME.match(text) is not None


def expect_name(
    node: Node | None, source: Source, what: str, place: Node, hint: str | None = None
) -> Symbol | None:
    """Return `node` if it is a legal name, else report and return None."""
    if node is None:
        source.report("malformed", place, f"Expected {what} here.", hint)
        return None
    if isinstance(node, Form):
        source.report("malformed", node, f"Expected {what}, found a parenthesised form.", hint)
        return None
    if node.key in RESERVED:
        message = f"`{node.text}` is a word of PDDL and cannot be {what}."
        source.report("reserved-word", node, message, "Choose another name.")
        return None
    if not _NAME.match(node.text):
        if node.text.startswith("?"):
            hint = "Only variables start with `?`."
        hint = hint or "A name is a letter, then letters, digits, `-` and `_`."
        source.report("bad-name", node, f"`{node.text}` is not a legal name.", hint)
        return _readable(node)
    return node


def _readable(node: Symbol) -> Symbol | None:
    """The name as which an illegal one is read on, or None."""
    bare = node.text.lstrip("?")
    if not _READABLE.match(bare):
        return None
    return node if bare == node.text else Symbol(bare, node.start)


def in_parentheses(items: Iterable[Node], source: Source, message: str) -> Iterator[Form]:
    """Yield the forms of a list; words between them are reported and read as one form."""
    for is_word, group in itertools.groupby(items, lambda item: isinstance(item, Symbol)):
        nodes = list(group)
        if is_word:
            written = " ".join(node.text for node in nodes if isinstance(node, Symbol))
            source.report("malformed", nodes[0], message, f"Write `({written[:_SHORT]})`.")
            yield Form(tuple(nodes), nodes[0].start, nodes[-1].end)
        else:
            yield from (node for node in nodes if isinstance(node, Form))


def read_typed_list(
    items: Sequence[Node], source: Source, *, variables: bool
) -> list[tuple[Symbol, tuple[Symbol, ...] | None]]:
    """Read `a b - t c - (either u v) d`.

    A name without type gets None, a name whose type cannot be read gets ().
    """
    result: list[tuple[Symbol, tuple[Symbol, ...] | None]] = []
    pending: list[Symbol] = []
    unreadable = False
    position = 0
    if any(_is_inner_list(item, before) for before, item in itertools.pairwise((None, *items))):
        items = _without_parentheses(items, source)
    if any(isinstance(item, Symbol) and ":" in item.text[1:] for item in items):
        items = _without_colons(items, source)
    while position < len(items):
        node = items[position]
        position += 1
        if isinstance(node, Symbol) and node.text.startswith("-"):
            if node.text == "-":
                kind = items[position] if position < len(items) else None
                position += 1
            else:
                message = f"There is no space after the dash in `{node.text}`."
                source.report("bad-name", node, message, f"Write `- {node.text[1:]}`.")
                kind = Symbol(node.text[1:], node.start + 1)
            types = _read_type(kind, source, node)
            if not pending and not unreadable:
                source.report("malformed", node, "A type without a name before it.")
            result.extend((name, types) for name in pending)
            pending, unreadable = [], False
            continue
        if variables:
            name = _expect_variable(node, source)
        else:
            name = expect_name(node, source, "an item of this list", node)
        if name is None:
            unreadable = True
        else:
            pending.append(name)
    result.extend((name, None) for name in pending)
    return result


def _is_inner_list(item: Node | None, before: Node | None) -> bool:
    """Whether an item is a list of words in parentheses, and no type."""
    is_type = isinstance(before, Symbol) and before.text == "-"
    if not isinstance(item, Form) or item.key == "either" or is_type or not item.items:
        return False
    return all(isinstance(inner, Symbol) for inner in item.items)


def _without_parentheses(items: Sequence[Node], source: Source) -> list[Node]:
    """Read `(a b - t) (c - u)` as `a b - t c - u`; reported once in a list."""
    plain: list[Node] = []
    reported = False
    for before, item in itertools.pairwise((None, *items)):
        if not isinstance(item, Form) or not _is_inner_list(item, before):
            plain += [item] if item is not None else []
            continue
        plain += item.items
        if not reported:
            message = "This list holds names and types without parentheses around them."
            source.report("malformed", item, message, "Drop the inner parentheses.")
            reported = True
    return plain


def _without_colons(items: Sequence[Node], source: Source) -> list[Node]:
    """Read `a: t` and `a:t` as `a - t`; reported once in a list."""
    plain: list[Node] = []
    reported = False
    for item in items:
        name, colon, kind = item.text.partition(":") if isinstance(item, Symbol) else ("", "", "")
        if isinstance(item, Form) or not colon or not name:
            plain.append(item)
            continue
        if not reported:
            message = f"In `{item.text}` a colon stands where ` - ` must."
            source.report("malformed", item, message, f"Write `{name} - {kind or 'TYPE'}`.")
            reported = True
        place = item.start + len(name)
        plain += [Symbol(name, item.start), Symbol("-", place)]
        if kind:
            plain.append(Symbol(kind, place + 1))
    return plain


def _expect_variable(node: Node, source: Source) -> Symbol | None:
    if isinstance(node, Form):
        source.report("malformed", node, "Expected a variable, found a parenthesised form.")
        return None
    if node.text.startswith("?") and _NAME.match(node.text[1:]):
        return node
    name = node.text.strip("?")
    if node.text.startswith("?") and _READABLE.match(name):
        if node.key not in source.illegal:
            source.illegal.add(node.key)
            hint = "After `?` a letter, then letters, digits, `-` and `_`."
            source.report("bad-name", node, f"`{node.text}` is not a legal variable.", hint)
        return node
    if f"?{name.lower()}" not in source.illegal:
        source.illegal.add(f"?{name.lower()}")
        source.report(
            "malformed", node, f"`{node.text}` stands where a variable must.", f"Write `?{name}`."
        )
    return Symbol(f"?{name}", node.start) if _NAME.match(name) else None


def _read_type(node: Node | None, source: Source, dash: Symbol) -> tuple[Symbol, ...]:
    if isinstance(node, Form) and node.key == "either":
        if len(node.items) == 1:
            source.report("malformed", node, "`(either)` names no type.", "Name its types.")
        return tuple(
            name
            for item in node.items[1:]
            if (name := expect_name(item, source, "a type", node)) is not None
        )
    name = expect_name(node, source, "a type after `-`", dash)
    return (name,) if name is not None else ()
