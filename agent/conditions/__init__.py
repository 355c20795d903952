"""The registry of conditions: ways to ask a model about an instance.

Third parties add one by an entry point in the group `llm_modulo.conditions` that loads a
class with the interface of `Condition`.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

from llm_modulo.errors import UsageError

from ._condition import Condition, ConditionSettings
from ._innate import Innate
from ._modulo_solver import ModuloSolver

__all__ = [
    "CONDITIONS",
    "Condition",
    "ConditionSettings",
    "Innate",
    "ModuloSolver",
    "condition_names",
    "find_condition",
]

CONDITIONS: dict[str, type[Condition]] = {
    Innate.name: Innate,
    ModuloSolver.name: ModuloSolver,
}


@cache
def _third_party() -> dict[str, metadata.EntryPoint]:
    return {e.name: e for e in metadata.entry_points(group="llm_modulo.conditions")}


def condition_names() -> list[str]:
    """Names that `find_condition` accepts."""
    return [*CONDITIONS, *sorted(_third_party().keys() - CONDITIONS.keys())]


def find_condition(name: str) -> type[Condition]:
    """Return the class registered under a name; raises `UsageError` if there is none."""
    if name in CONDITIONS:
        return CONDITIONS[name]
    if name in _third_party():
        found: type[Condition] = _third_party()[name].load()
        return found
    raise UsageError(f"Unknown condition {name!r}; known: {', '.join(condition_names())}.")
