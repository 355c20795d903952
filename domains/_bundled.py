"""The PDDL domains that come with the project, by name: `bundled:sokoban`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from llm_modulo.errors import UsageError

__all__ = ["bundled_domain", "bundled_domains"]


@cache
def bundled_domains() -> dict[str, Path]:
    """Name → file of each bundled domain, sorted by name."""
    files = Path(__file__).parent.rglob("*-domain.pddl")
    return {f.name.removesuffix("-domain.pddl"): f for f in sorted(files)}


def bundled_domain(name: str) -> str:
    """The text of a bundled domain.

    Raises:
        UsageError: there is none of this name.
    """
    files = bundled_domains()
    if name not in files:
        raise UsageError(f"No bundled domain {name!r}; there are: {', '.join(files)}.")
    return files[name].read_text(encoding="utf-8")
