"""Print docs/diagnostics.md from the registry of codes; a test keeps the page in step.

python scripts/diagnostics_page.py > docs/diagnostics.md
"""

from __future__ import annotations

from llm_modulo.pddl import CODES

HEAD = """\
# Diagnostics

What `llm-modulo check`, `parse_domain` and `parse_problem` report. Codes are stable. An `error`
makes a text unusable, a `warning` is legal and hardly meant, a `note` is worth knowing. Every fault
is reported once, at its cause: a name that is not declared at its first use, a parenthesis that is
missing where the form should have closed, a declaration that every use contradicts at the
declaration. Lines and columns count from 1.

The names follow the strictest reader: what Fast Downward's translator or unified-planning rejects
is an error here too, or, where PDDL allows it, a `planner-refuses` or `name-clash` that names the
reader.

| code | severity | means |
|---|---|---|
"""


def page() -> str:
    """The page as Markdown."""
    rows = (f"| `{code}` | {severity} | {meaning} |" for code, (severity, meaning) in CODES.items())
    return HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
