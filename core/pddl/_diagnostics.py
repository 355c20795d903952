"""What is wrong with a text, where, and what to write instead.

`CODES` is the registry: every code that is ever reported stands there with its
severity and one line of meaning; codes are stable.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["CODES", "Diagnostic", "Severity"]

Severity = Literal["error", "warning", "note"]

CODES: dict[str, tuple[Severity, str]] = {
    # the text
    "not-pddl": ("error", "the text is not PDDL at all"),
    "lookalike-character": ("error", "a character that only looks like one of PDDL's"),
    "stray-character": ("error", "a bracket, a quote, an invisible or a control character"),
    "markdown-fence": ("error", "the fences of a Markdown code block"),
    "escaped-text": ("error", "line breaks written as two characters, as inside a JSON string"),
    "foreign-comment": ("error", "a comment in another language's style"),
    "comma": ("error", "a comma; PDDL separates by spaces"),
    "missing-parenthesis": ("error", "a form is not closed"),
    "extra-parenthesis": ("error", "a closing parenthesis that is one too many"),
    "too-deep": ("error", "forms or types are nested deeper than any planner reads"),
    "too-large": ("error", "more words and parentheses than are read"),
    "too-many": ("error", "more faults than are listed"),
    "trailing-text": ("error", "something follows the definition"),
    # sections and forms
    "malformed": ("error", "a form does not have the shape that its place asks for"),
    "infix-operator": ("error", "an operator between its parts, or one that PDDL does not have"),
    "bad-name": ("error", "a name holds characters that PDDL does not allow"),
    "reserved-word": ("error", "a word of the language is used as a name"),
    "unknown-section": ("error", "a section or keyword that does not exist here"),
    "misplaced-section": ("error", "a section or keyword out of the order that PDDL fixes"),
    "repeated-section": ("error", "a section or keyword that stands twice"),
    "missing-section": ("error", "a section or keyword that must be there is not"),
    "unknown-requirement": ("error", "a requirement that PDDL does not define"),
    "undeclared-requirement": ("note", "a feature is used whose requirement is not declared"),
    "domain-mismatch": ("error", "the problem names another domain"),
    # names
    "undeclared-type": ("error", "a type that the domain does not declare"),
    "undeclared-object": ("error", "an object or constant that nobody declares"),
    "undeclared-predicate": ("error", "a predicate that the domain does not declare"),
    "undeclared-function": ("error", "a function that the domain does not declare"),
    "undeclared-variable": ("error", "a variable that no parameter list or quantifier binds"),
    "duplicate-name": ("error", "a name is declared twice in one place"),
    "name-clash": ("warning", "one name for two things, which breaks some planners"),
    "cyclic-type": ("error", "a type is its own ancestor"),
    "wrong-arity": ("error", "a predicate or function has more or fewer arguments"),
    "wrong-type": ("error", "an argument is of a type that its place does not accept"),
    "planner-refuses": ("note", "PDDL allows it, a planner here does not"),
    # the initial state and the goal
    "variable-in-init": ("error", "a variable where only objects can stand"),
    "contradictory-init": ("error", "a fact that is true and false, or a function with two values"),
    "derived-fact": ("error", "a derived predicate in an effect or among the initial facts"),
    "unstratified": ("error", "a derived predicate that depends on its own negation"),
    "negative-init": ("warning", "a negated initial fact; what is not listed is false anyway"),
    "repeated-fact": ("note", "an initial fact stands twice"),
    "empty-init": ("warning", "no initial fact at all"),
    "empty-goal": ("warning", "the goal asks for nothing"),
    "goal-holds": ("warning", "the goal is true at the start: the empty plan solves the problem"),
    "goal-out-of-reach": ("warning", "a goal fact that is false and that no action makes true"),
    "unused-object": ("warning", "an object that no initial fact, goal or action mentions"),
    "empty-type": ("warning", "a parameter's type has no object"),
    "never-applicable": ("warning", "an action whose precondition can never hold"),
    "unused-parameter": ("note", "a parameter that the action never uses"),
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
