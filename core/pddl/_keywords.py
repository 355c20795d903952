"""`(:action NAME :keyword value …)` → its name and values, whatever is misspelt or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ._definition import report_misplaced, resembled_keyword
from ._names import expect_name
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["ActionParts", "action_parts"]

_OF_STRIPS = frozenset({":add", ":delete", ":del"})


@dataclass(slots=True)
class ActionParts:
    """An action's name, its values by keyword, and the keywords said to be without one."""

    name: Symbol
    values: dict[str, Node] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)


def action_parts(form: Form, source: Source, known: Sequence[str]) -> ActionParts | None:
    """Read an action; None if it has no name that could be read."""
    second = form.items[1] if len(form.items) > 1 else None
    if isinstance(second, Symbol) and second.key in known:
        source.report("malformed", form.items[0], "The action has no name.", "Write it here.")
        parts = ActionParts(Symbol("unnamed", form.start))
        items = form.items[1:]
    else:
        name = expect_name(second, source, "an action", form)
        if name is None:
            return None
        parts = ActionParts(name)
        items = form.items[2:]
    present = {i.key for i in items if isinstance(i, Symbol)}
    placed: list[tuple[int, Symbol]] = []
    index = 0
    while index < len(items):
        keyword = items[index]
        absent = [k for k in known if k not in parts.values and k not in present]
        later = [k for k in absent if not placed or known.index(k) > placed[-1][0]]
        if isinstance(keyword, Form):
            _take_without_keyword(keyword, parts, later, source)
            index += 1
            continue
        key, index = keyword.key, index + 1
        following = items[index] if index < len(items) else None
        if key not in known:
            key = _report_keyword(keyword, parts, absent, later, following, source)
        if key in parts.values:
            source.report("repeated-section", keyword, f"`{key}` stands here twice.")
            index += 1
            continue
        if following is None or (isinstance(following, Symbol) and following.key in known):
            if key:
                source.report("malformed", keyword, f"`{key}` has no value.")
                parts.reported.add(key)
        elif key:
            index, parts.values[key] = _take_value(key, items, index, source)
        elif isinstance(following, Form):
            index += 1
        if key in parts.values or key in parts.reported:
            placed.append((known.index(key), keyword))
    report_misplaced(placed, source)
    return parts


def _take_value(key: str, items: Sequence[Node], start: int, source: Source) -> tuple[int, Node]:
    """A keyword's value and where it ends; words without parentheses are read as one form."""
    first = items[start]
    end = start
    while end < len(items) and (item := items[end]).key[:1] != ":":
        end += 1
        if isinstance(item, Form) and end == start + 1:
            break
    if isinstance(first, Form) or end == start or (end == start + 1 and key != ":parameters"):
        return start + 1, first
    value = items[start:end]
    hint = f"Write `({first.text} …)`."
    source.report("malformed", first, f"The value of `{key}` stands in parentheses.", hint)
    return end, Form(tuple(value), first.start, value[-1].end)


def _suits(value: Node | None, key: str) -> bool:
    """Whether a form may be the value of a keyword, by what it starts with."""
    if not isinstance(value, Form):
        return False
    is_list = value.key.startswith("?")
    return is_list or not value.items if key == ":parameters" else bool(value.key) and not is_list


def _take_without_keyword(
    node: Form, parts: ActionParts, absent: Sequence[str], source: Source
) -> None:
    """A form before which a keyword is missing: which one, its place tells."""
    key = next((k for k in absent if _suits(node, k)), "")
    if key and (key != ":parameters" or not parts.values):
        message = f"Action `{parts.name.text}`: `{key}` is missing before this form."
        source.report("missing-section", node, message, f"Write `{key}` before it.")
        parts.values[key] = node
        return
    source.report(
        "malformed",
        node,
        f"Action `{parts.name.text}`: a form stands where a keyword such as `:effect` must.",
        "Join several conditions or effects by `(and …)`.",
    )


def _report_keyword(
    node: Symbol,
    parts: ActionParts,
    absent: Sequence[str],
    later: Sequence[str],
    following: Node | None,
    source: Source,
) -> str:
    """Report an unknown keyword; returns the one that it resembles, or whose place it takes."""
    if node.key in _OF_STRIPS and parts.reported & _OF_STRIPS:
        return ""
    key = resembled_keyword(node.key, absent, source)
    hint = f"Did you mean `{key}`?"
    if not key and node.key[:1] == ":" and node.key != ":duration":
        key = next((k for k in later if _suits(following, k)), "")
        hint = f"In its place PDDL has `{key}`."
    if node.key in _OF_STRIPS:
        parts.reported.add(node.key)
        hint = "Write `:effect (and (ADDED) (not (DELETED)))`."
    if not key and node.key not in _OF_STRIPS:
        hint = f"Keywords are {', '.join(absent)}." if absent else "Remove it."
    message = f"Action `{parts.name.text}` has no keyword `{node.text}`."
    source.report("unknown-section", node, message, hint)
    return key
