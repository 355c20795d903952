"""Text → tokens. What only looks like PDDL's characters is read as what it looks like.

Language models and word processors write full-width parentheses, long dashes, comments
of other languages, Markdown fences, commas, and `\\n` as two characters. Each kind is
reported once, at its first place, and then read as it was meant, so that one slip does
not hide the next.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator

from ._source import Source

__all__ = ["Token", "tokenize"]

Token = tuple[str, int]
"""A word or parenthesis, and its offset."""

_TOKEN = re.compile(r";[^\n\r]*(?:\s*+;[^\n\r]*+)*+|[()]|[^\s();]+")
_BETWEEN_COMMAS = re.compile(r"[^,]+")
_LINE_END = re.compile(r"[\n\r]")
_OPENING = "（❨⟮﹙⁽₍［【"
_CLOSING = "）❩⟯﹚⁾₎］】"
_DASHES = "‐‑‒–—―−﹣－"
_LOOKALIKES = {
    **dict.fromkeys(map(ord, _OPENING), "("),
    **dict.fromkeys(map(ord, _CLOSING), ")"),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    ord("？"): "?",
    ord("："): ":",
    ord("；"): ";",
}
_PARTNERS = {"]": "[", "}": "{", "[": "]", "{": "}"}
"""One of a pair is reported, the first."""
_BLANK_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs"})
_NAMES = {"\ufeff": "byte-order mark", "\0": "NUL"}
_UNUSUAL = re.compile(r"[^\x20-\x7e\t\n\r]|[\[\]{}\"]")
_COMMENTS = re.compile(r"(;[^\n\r]*(?:\s*+;[^\n\r]*+)*+)")
_USUAL = frozenset(map(chr, range(0x20, 0x7F))) - frozenset('[]{}"') | frozenset("\t\n\r")
_ESCAPED = re.compile(r"\\[nrt]")
_FENCE = re.compile(r"^[ \t]*(```|~~~)[^\n\r]*", re.M)
_FOREIGN = re.compile(r"(?P<block>/\*)|//|#(?!t\b)|--(?![\w>])")


def tokenize(source: Source) -> Iterator[Token]:
    """Yield the tokens of a text, without comments; slips go to `source.diagnostics`."""
    text = _plain(source)
    foreign = comma = False
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        word, start, position = match.group(), match.start(), match.end()
        if word[0] == ";":
            continue
        if word[0] in "/#-" and (other := _FOREIGN.match(word)) is not None:
            if not foreign:
                source.report(
                    "foreign-comment",
                    (start, start + len(other.group())),
                    f"`{other.group()}` does not start a comment in PDDL.",
                    "Comments start with `;`.",
                )
            foreign = True
            position = _end_of_comment(text, start, block=other["block"] is not None)
            continue
        if word in "()":
            comma = False
        elif "," in word:
            if not comma:
                place = start + word.index(",")
                source.report(
                    "comma", (place, place + 1), "PDDL has no commas.", "Separate by spaces."
                )
            comma = True
            yield from ((m.group(), start + m.start()) for m in _BETWEEN_COMMAS.finditer(word))
            continue
        yield word, start


def _end_of_comment(text: str, start: int, *, block: bool) -> int:
    if block:
        end = text.find("*/", start)
        return len(text) if end < 0 else end + 2
    line_end = _LINE_END.search(text, start)
    return len(text) if line_end is None else line_end.start()


def _plain(source: Source) -> str:
    """The text with every unusual character replaced, one for one, so offsets stay."""
    text = source.text
    if not text.isascii() or _UNUSUAL.search(text):
        text = _without_unusual(source)
    if "```" in text or "~~~" in text:
        text = _without_fences(source, text)
    if "\\" in text and (escaped := _ESCAPED.search(text)) is not None:
        source.report(
            "escaped-text",
            escaped.span(),
            f"The text holds `{escaped.group()}` as two characters, as inside a JSON string.",
            "Pass the text itself, with real line breaks.",
        )
        text = _ESCAPED.sub("  ", text)
    return text


def _without_fences(source: Source, text: str) -> str:
    fences = list(_FENCE.finditer(text))
    if not fences:
        return text
    source.report(
        "markdown-fence",
        fences[0].span(),
        "A Markdown fence is not part of PDDL.",
        "Pass only what is between the fences.",
    )
    return _FENCE.sub(lambda m: " " * len(m.group()), text)


def _without_unusual(source: Source) -> str:
    """Replace lookalikes and control characters outside comments; each kind reported once."""
    pieces = _COMMENTS.split(source.text)  # code and comments in turn
    meant: dict[str, str] = {}
    counts: Counter[str] = Counter()
    start = 0
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            for character, offset in _first_unusual(piece, meant):
                meant[character] = plain = _meant(character)
                if plain != character and _PARTNERS.get(character) not in meant:
                    counts = counts or Counter(source.text)
                    place = start + offset
                    _report_character(source, character, plain, place, counts[character])
            pieces[index] = (
                piece.translate({ord(c): plain for c, plain in meant.items()}) if meant else piece
            )
        start += len(piece)
    return "".join(pieces)


def _first_unusual(piece: str, known: Container[str]) -> list[tuple[str, int]]:
    """The unusual characters that are not known yet, with their first places, in order."""
    characters = {c for c in set(piece) - _USUAL if c not in known}
    if not characters:
        return []
    first = dict(zip(reversed(piece), range(len(piece) - 1, -1, -1), strict=True))
    return sorted(((c, first[c]) for c in characters), key=lambda found: found[1])


def _meant(character: str) -> str:
    """What an unusual character stands for; itself, if it may be part of a word."""
    if ord(character) in _LOOKALIKES:
        return _LOOKALIKES[ord(character)]
    return " " if _is_blank(character) else character


def _is_blank(character: str) -> bool:
    """Brackets of other languages, other kinds of space, control and formatting characters."""
    return character in '[]{}"' or unicodedata.category(character) in _BLANK_CATEGORIES


def _report_character(source: Source, character: str, plain: str, offset: int, count: int) -> None:
    name = _NAMES.get(character) or unicodedata.name(character, "a control character").lower()
    times = "once" if count == 1 else f"{count} times"
    source.report(
        "lookalike-character" if plain.strip() else "stray-character",
        (offset, offset + 1),
        f"The character U+{ord(character):04X} ({name}) stands here, {times} in the text.",
        f"Write `{plain}`." if plain.strip() else "Remove it.",
    )
