"""`(define (kind NAME) section …)`: what domains and problems have in common."""

from __future__ import annotations

from collections.abc import Sequence

from ._features import KNOWN_REQUIREMENTS
from ._names import expect_name
from ._source import Source
from ._syntax import Form, Node, Symbol, read_forms

__all__ = [
    "open_definition",
    "read_requirements",
    "report_misplaced",
    "resembled_keyword",
    "sections",
]


_QUOTED = 30


def open_definition(source: Source, kind: str) -> tuple[str, Sequence[Node], Form] | None:
    """Find `(define (kind NAME) …)`; return the name, the sections and the form.

    `kind` is `domain` or `problem`. Reports and returns None if there is no such form.
    """
    nodes = read_forms(source)
    if any(d.code in ("too-deep", "too-large") for d in source.diagnostics):
        return None
    forms = [n for n in nodes if isinstance(n, Form)]
    form = next((f for f in forms if f.key == "define"), None) or _misspelt_define(forms, source)
    if form is None:
        _report_no_pddl(source, kind)
        return None
    for node in nodes:
        if node is not form:
            source.report("trailing-text", node, "Only one `(define …)` belongs in this text.")
            break
    head = form.items[1] if len(form.items) > 1 else None
    if isinstance(head, Form) and head.key == {"domain": "problem", "problem": "domain"}[kind]:
        source.diagnostics.clear()
        source.report(
            "not-pddl",
            head,
            f"This text defines a {head.key}, but a {kind} is needed here.",
            "The domain and the problem may have been swapped.",
        )
        return None
    if not isinstance(head, Form) or head.key != kind:
        source.report(
            "malformed",
            head or form,
            f"Expected `({kind} NAME)` after `(define`.",
            f"Write `(define ({kind} NAME) …)`.",
        )
        if isinstance(head, Symbol) and head.key == kind:
            name = form.items[2] if len(form.items) > 2 else None
            if isinstance(name, Symbol):
                return name.text, form.items[3:], form
            return "", form.items[2:], form
        is_head = isinstance(head, Symbol) or (isinstance(head, Form) and head.key[:1] != ":")
        return "", form.items[2 if is_head else 1 :], form
    second = head.items[1] if len(head.items) > 1 else None
    name = expect_name(second, source, f"the name of the {kind}", head)
    if len(head.items) > 2:
        source.report("malformed", head.items[2], f"The name of the {kind} is one word.")
    return (name.text if name else "", form.items[2:], form)


def _misspelt_define(forms: Sequence[Form], source: Source) -> Form | None:
    """The first form, if its second item shows that it is meant as a definition."""
    for form in forms:
        head = form.items[1] if len(form.items) > 1 else None
        if isinstance(head, Form) and head.key in ("domain", "problem"):
            source.report(
                "malformed",
                form.items[0],
                "The definition must start with `(define`.",
                "Write `define`.",
            )
            return form
    return None


def _report_no_pddl(source: Source, kind: str) -> None:
    """One fault for the whole text: nothing in it is worth a place of its own."""
    source.diagnostics.clear()
    found = " ".join(source.text.lstrip()[:_QUOTED].split())
    source.report(
        "not-pddl",
        (0, min(len(source.text), 1)),
        f"This is not a PDDL {kind}: there is no `(define ({kind} …) …)`"
        + (f" in text that starts `{found}`." if found else "; the text is empty."),
        f"Pass the whole text of the {kind}, not its name." if found else None,
    )


def sections(
    nodes: Sequence[Node], source: Source, known: Sequence[str], repeatable: frozenset[str]
) -> dict[str, list[Form]]:
    """Sort the sections of a definition by keyword; reports unknown and repeated ones.

    A misspelt keyword is read as the one that it resembles, if that is not there.
    Sections in another order than that of `known`, where the repeatable ones are one
    block, are reported.
    """
    order = {keyword: len(known) if keyword in repeatable else i for i, keyword in enumerate(known)}
    placed: list[tuple[int, Symbol]] = []
    found: dict[str, list[Form]] = {keyword: [] for keyword in known}
    present = {n.key for n in nodes if isinstance(n, Form)}
    astray = False
    for node in nodes:
        key = "" if isinstance(node, Symbol) else node.key
        if isinstance(node, Symbol) or not key:
            if not astray:
                message = f"Expected a section such as `({known[0]} …)` here."
                source.report("malformed", node, message)
            astray = True
            continue
        if key not in found and astray and key[0] != ":" and f":{key}" not in known:
            continue  # goes on with what has been reported
        astray = key not in found and key[0] != ":"
        if key not in found:
            absent = [k for k in known if k not in present or k in repeatable]
            key = resembled_keyword(key, absent, source)
            source.report(
                "unknown-section",
                node.items[0],
                f"There is no section `{node.key}` here.",
                f"Did you mean `{key}`?" if key else f"Sections are {', '.join(known)}.",
            )
        if key in found and found[key] and key not in repeatable:
            source.report("repeated-section", node.items[0], f"Section `{key}` stands twice.")
        elif key in found:
            found[key].append(node)
            keyword = node.items[0]
            assert isinstance(keyword, Symbol)
            placed.append((order[key], keyword))
    report_misplaced(placed, source)
    return found


def report_misplaced(placed: Sequence[tuple[int, Symbol]], source: Source) -> None:
    """Report the fewest keywords whose removal leaves the others in order.

    Args:
        placed: keywords in the order of the text, each with its rank in the right order.
    """
    kept = _longest_in_order([rank for rank, _ in placed])
    for index, (rank, keyword) in enumerate(placed):
        if index in kept:
            continue
        later = [k for i, (r, k) in enumerate(placed) if i in kept and i < index and r > rank]
        earlier = [k for i, (r, k) in enumerate(placed) if i in kept and i > index and r < rank]
        where = f"before `{later[0].text}`" if later else f"after `{earlier[-1].text}`"
        source.report(
            "misplaced-section",
            keyword,
            f"PDDL has a fixed order, in which `{keyword.text}` stands {where}.",
            f"Move it {where}.",
        )


def _longest_in_order(ranks: Sequence[int]) -> set[int]:
    """Indices of a longest subsequence whose ranks never fall; ranks are few."""
    best: dict[int, tuple[int, int]] = {}  # by last rank: length, last index
    before: list[int] = []
    for index, rank in enumerate(ranks):
        length, last = max((best[r] for r in best if r <= rank), key=_length, default=(0, -1))
        if rank not in best or length + 1 > best[rank][0]:
            best[rank] = (length + 1, index)
        before.append(last)
    kept = set()
    index = max(best.values(), key=_length, default=(0, -1))[1]
    while index >= 0:
        kept.add(index)
        index = before[index]
    return kept


def _length(run: tuple[int, int]) -> tuple[int, int]:
    """Sorts runs (length, last index) by length, those that end earlier last."""
    return run[0], -run[1]


def read_requirements(forms: Sequence[Form], source: Source) -> list[Symbol]:
    """Read `(:requirements …)`; returns each known requirement once, as it first stands."""
    found: dict[str, Symbol] = {}
    for form in forms:
        if len(form.items) == 1:
            hint = "Remove it, or write `(:requirements :strips)`."
            source.report("malformed", form, "`:requirements` names no requirement.", hint)
        bare = [i for i in form.items[1:] if f":{i.key}" in KNOWN_REQUIREMENTS]
        if bare:
            written = " ".join(f":{item.key}" for item in bare[:_QUOTED])
            message = "Requirements start with a colon."
            source.report("unknown-requirement", bare[0], message, f"Write `{written}`.")
        for item in form.items[1:]:
            if isinstance(item, Symbol) and f":{item.key}" in KNOWN_REQUIREMENTS:
                found.setdefault(f":{item.key}", Symbol(f":{item.text}", item.start))
            elif isinstance(item, Symbol) and item.key in KNOWN_REQUIREMENTS:
                found.setdefault(item.key, item)
            else:
                text = item.text if isinstance(item, Symbol) else "a form"
                message = f"`{text}` is not a requirement."
                nearest = source.nearest(text, KNOWN_REQUIREMENTS)
                source.report("unknown-requirement", item, message, nearest)
    return list(found.values())


def resembled_keyword(key: str, known: Sequence[str], source: Source) -> str:
    """The keyword that a word is most like, or ""."""
    return source.most_like(key if key[:1] == ":" else f":{key}", {k: k for k in known}) or ""
