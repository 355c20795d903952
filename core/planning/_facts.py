"""Facts by predicate and by argument, for joins; each index is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from llm_modulo.pddl import Atom

__all__ = ["Facts"]

_Rows = dict[Atom, None]
_NONE: Collection[Atom] = ()


class Facts:
    """A set of facts that can be asked for those of a predicate, also with a given argument.

    The collections that it returns are its own: take a copy before changing the facts.
    """

    def __init__(self, facts: Iterable[Atom] = ()) -> None:
        self._rows: dict[str, _Rows] = {}
        self._by_argument: dict[str, dict[int, dict[str, _Rows]]] = {}
        for fact in facts:
            self._rows.setdefault(fact.predicate, {})[fact] = None

    def add(self, fact: Atom) -> None:
        """Make a fact true."""
        self._rows.setdefault(fact.predicate, {})[fact] = None
        for position, index in self._by_argument.get(fact.predicate, {}).items():
            index.setdefault(fact.terms[position], {})[fact] = None

    def discard(self, fact: Atom) -> None:
        """Make a fact false."""
        self._rows.get(fact.predicate, {}).pop(fact, None)
        for position, index in self._by_argument.get(fact.predicate, {}).items():
            index.get(fact.terms[position], {}).pop(fact, None)

    def of(self, predicate: str) -> Collection[Atom]:
        """The facts of a predicate."""
        return self._rows.get(predicate, _NONE)

    def with_argument(self, predicate: str, position: int, value: str) -> Collection[Atom]:
        """The facts of a predicate whose argument at a 0-based position is `value`."""
        indices = self._by_argument.setdefault(predicate, {})
        if position not in indices:
            index: dict[str, _Rows] = {}
            for fact in self._rows.get(predicate, _NONE):
                index.setdefault(fact.terms[position], {})[fact] = None
            indices[position] = index
        return indices[position].get(value, _NONE)
