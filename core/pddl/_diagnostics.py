"""What is wrong with a text, where, and what to write instead.

`CODES` is the registry: every code that is ever reported stands there with its
severity and one line of meaning; codes are stable.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["CODES", "Diagnostic", "Severity", "nearest"]

Severity = Literal["error", "warning", "note"]

CODES: dict[str, tuple[Severity, str]] = {
    "not-pddl": ("error", "the text is not PDDL at all"),
    "missing-parenthesis": ("error", "a form is not closed"),
    "extra-parenthesis": ("error", "a closing parenthesis without an opening one"),
    "too-deep": ("error", "forms are nested deeper than any planner reads"),
    "trailing-text": ("error", "something follows the definition"),
    "malformed": ("error", "a form does not have the shape that its place asks for"),
    "bad-name": ("error", "a name holds characters that PDDL does not allow"),
    "unknown-section": ("error", "a section that this kind of file does not have"),
    "repeated-section": ("error", "a section that stands twice"),
    "missing-section": ("error", "a section that must be there is not"),
    "unknown-requirement": ("error", "a requirement that PDDL does not define"),
    "undeclared-requirement": ("note", "a feature is used whose requirement is not declared"),
    "domain-mismatch": ("error", "the problem names another domain"),
    "undeclared-type": ("error", "a type that the domain does not declare"),
    "undeclared-object": ("error", "an object or constant that nobody declares"),
    "undeclared-predicate": ("error", "a predicate that the domain does not declare"),
    "undeclared-function": ("error", "a function that the domain does not declare"),
    "undeclared-variable": ("error", "a variable that no parameter list or quantifier binds"),
    "duplicate-name": ("error", "a name is declared twice in one place"),
    "cyclic-type": ("error", "a type is its own ancestor"),
    "wrong-arity": ("error", "a predicate or function has more or fewer arguments"),
    "wrong-type": ("error", "an argument is of a type that its place does not accept"),
    "variable-in-init": ("error", "a variable where only objects can stand"),
    "negative-init": ("warning", "a negated initial fact; what is not listed is false anyway"),
    "empty-init": ("warning", "no initial fact at all"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnostic:
    """One fault, at its cause.

    Attributes:
        code: a key of `CODES`.
        severity: `error`, `warning` or `note`.
        file: `domain`, `problem` or `plan`.
        line, column: 1-based position of the first character.
        end_line, end_column: 1-based position just after the last character.
        message: one sentence.
        hint: what to write instead, or None.
    """

    code: str
    severity: Severity
    file: Literal["domain", "problem", "plan"]
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place}: {self.severity} [{self.code}] {self.message}{hint}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object, in the order of the attributes."""
        return asdict(self)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the hint "Did you mean …?" with the declared name most like `name`, or None."""
    by_key = {k.lower(): k for k in known}
    found = difflib.get_close_matches(name.lower(), by_key, n=1, cutoff=0.6)
    return f"Did you mean `{by_key[found[0]]}`?" if found else None
