"""Canonical PDDL: the same forms, laid out alike. Comments are not kept.

A form that fits its line stands on it; otherwise its parts stand below each other, a
keyword with its value, objects with their type, one fact a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from llm_modulo.errors import NotPddl

from ._source import Source
from ._syntax import Form, Node, Symbol, read_forms

__all__ = ["format_pddl"]

WIDTH = 88
_ALWAYS_BROKEN = frozenset({"define", ":init", ":predicates", ":functions", ":action"})
_LISTS = frozenset({":objects", ":constants", ":types"})


def format_pddl(text: str) -> str:
    """Return a PDDL text in canonical layout.

    Names keep their spelling; reading the result gives the same forms in the same order.

    Raises:
        NotPddl: the text's parentheses are not in order, or it has other faults of form.
    """
    source = Source(text, "domain")
    nodes = read_forms(source)
    if source.has_errors:
        raise NotPddl(str(source.diagnostics[0]))
    return "".join(f"{line}\n" for node in nodes for line in _lines(node, 0))


def _flat(node: Node) -> str:
    if isinstance(node, Symbol):
        return node.text
    return f"({' '.join(map(_flat, node.items))})"


def _lines(node: Node, indent: int) -> list[str]:
    """The lines of a node whose first line is indented by `indent`."""
    flat = _flat(node)
    if isinstance(node, Symbol) or not node.items:
        return [" " * indent + flat]
    if node.key not in _ALWAYS_BROKEN and indent + len(flat) <= WIDTH:
        return [" " * indent + flat]
    lead, rest = _split(node)
    lines = [" " * indent + "(" + " ".join(map(_flat, lead))]
    for group in _groups(node, rest):
        lines += _group_lines(group, indent + 2)
    lines[-1] += ")"
    return lines


def _split(form: Form) -> tuple[Sequence[Node], Sequence[Node]]:
    """What stays on the first line, and the rest."""
    if form.key in ("define", ":action", ":durative-action", "forall", "exists"):
        return form.items[:2], form.items[2:]
    if isinstance(form.items[0], Symbol):
        return form.items[:1], form.items[1:]
    return (), form.items


def _groups(form: Form, items: Sequence[Node]) -> Iterator[list[Node]]:
    """Parts that stand on a line together: a keyword and its value, objects and their type."""
    group: list[Node] = []
    typed = form.key in _LISTS
    for position, node in enumerate(items):
        group.append(node)
        before = items[position - 1] if position else None
        if typed:
            complete = isinstance(before, Symbol) and before.text == "-"
        else:
            complete = not (isinstance(node, Symbol) and node.text.startswith(":"))
        if complete:
            yield group
            group = []
    if group:
        yield group


def _group_lines(group: list[Node], indent: int) -> list[str]:
    flat = " ".join(map(_flat, group))
    if indent + len(flat) <= WIDTH:
        return [" " * indent + flat]
    if len(group) == 1:
        return _lines(group[0], indent)
    if isinstance(group[-1], Form) and len(group) == 2:
        keyword = _flat(group[0])
        lines = _lines(group[1], indent + 2)
        return [" " * indent + keyword, *lines]
    return _wrapped([_flat(node) for node in group], indent)


def _wrapped(words: Sequence[str], indent: int) -> list[str]:
    lines = [" " * indent + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append(" " * indent + word)
        else:
            lines[-1] += f" {word}"
    return lines
