"""How the uses of predicates and functions agree with their declarations.

What is wrong with one use can be the fault of the use, of the declaration of the
predicate, or of the declaration of its argument; only all uses together tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ._model import Predicate, TypedName, ancestors
from ._source import Source
from ._syntax import Form, Node, Symbol

__all__ = ["Usage", "signature"]

_FEW = 12
_MANY = 3
"""From so many uses on, a fault that all uses share counts as one, at the declaration."""


@dataclass(slots=True)
class _Uses:
    """How the uses of one declaration, or of one of its arguments, agree with it."""

    right: int = 0
    wrong: list[tuple[Node, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Misfit:
    """An argument of a type that its place does not accept."""

    form: Form
    node: Symbol
    term: TypedName
    declared: Predicate
    index: int

    @property
    def untyped(self) -> bool:
        return self.term.types == ("object",)

    @property
    def wanted(self) -> str:
        return " or ".join(self.declared.parameters[self.index].types)


class Usage:
    """The uses seen so far, of the declarations of one text or of its domain."""

    def __init__(self) -> None:
        self.declared_at: dict[str, Node] = {}
        self.variable_at: dict[int, Symbol] = {}  # by the identity of the variable
        self.as_object: dict[str, Node] = {}  # topmost types, by where `object` is asked for
        self._contradicted: set[tuple[str, str]] = set()
        self._arity: dict[str, _Uses] = {}
        self._fitting: set[tuple[str, int]] = set()
        self._misfits: dict[tuple[str, int], list[_Misfit]] = {}
        self._misdeclared: set[tuple[str, int]] = set()
        self._well_used: set[int] = set()  # identities of terms that fit somewhere
        self._ancestors: dict[str, frozenset[str]] | None = None

    def after(self, inner: Usage) -> None:
        """Leave out what the domain's own uses have shown to be a wrong declaration."""
        self._contradicted = {
            (name, uses.wrong[0][1])
            for name, uses in inner._arity.items()
            if uses.wrong and not uses.right
        }
        self._misdeclared = {place for place in inner._misfits if place not in inner._fitting}

    def has_arity(self, form: Form, declared: Predicate) -> bool:
        """Record how many arguments a use has, and say whether that is right."""
        uses = self._arity.setdefault(declared.name, _Uses())
        if len(form.items) - 1 == len(declared.parameters):
            uses.right += 1
            return True
        uses.wrong.append((form, str(len(form.items) - 1)))
        return False

    def note_types(
        self,
        form: Form,
        terms: Sequence[TypedName],
        declared: Predicate,
        parents: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Record which arguments of a use are of the types declared."""
        if self._ancestors is None:
            self._ancestors = ancestors(parents)
        arguments = zip(form.items[1:], terms, declared.parameters, strict=True)
        for index, (node, term, parameter) in enumerate(arguments):
            place = (declared.name, index)
            if parameter.types == ("object",):
                for kind in term.types:
                    for above in self._ancestors.get(kind, ()):
                        self.as_object.setdefault(above, node)
            if self._compatible(term, parameter):
                self._fitting.add(place)
                if parameter.types != ("object",):
                    self._well_used.add(id(term))
            elif isinstance(node, Symbol) and place not in self._misdeclared:
                misfit = _Misfit(form, node, term, declared, index)
                self._misfits.setdefault(place, []).append(misfit)

    def _compatible(self, term: TypedName, parameter: TypedName) -> bool:
        """Whether the term's type is the parameter's or below it; unknown types pass."""
        if not term.types or not parameter.types or term.types == parameter.types:
            return True
        above = self._ancestors or {}
        accepted = set(parameter.types)
        return all(above.get(t, frozenset({t})) & accepted for t in term.types)

    def report(self, tables: Mapping[str, Predicate], source: Source) -> None:
        """Report wrong arities and wrong types; `tables` by lower-case name."""
        for name, uses in self._arity.items():
            self._report_arity(tables[name.lower()], uses, source)
        remaining: list[_Misfit] = []
        for place, misfits in self._misfits.items():
            if not self._is_misdeclared(place, misfits, source):
                remaining += misfits
        self._report_misfits(remaining, source)

    def _report_arity(self, declared: Predicate, uses: _Uses, source: Source) -> None:
        wanted = _count(len(declared.parameters))
        place = self._common_cause(declared, uses)
        if place is not None:
            given = uses.wrong[0][1]
            source.report(
                "wrong-arity",
                place,
                f"`{declared.name}` is declared with {wanted}, but each of its"
                f" {len(uses.wrong)} uses has {given}.",
                "Mend the declaration.",
            )
            return
        for form, given in uses.wrong:
            if (declared.name, given) in self._contradicted:
                continue  # every use in the domain has this many: its declaration is wrong
            source.report(
                "wrong-arity",
                form,
                f"`{declared.name}` takes {wanted}, here it has {given}.",
                f"Its declaration: {signature(declared)}.",
            )

    def _is_misdeclared(
        self, place: tuple[str, int], misfits: Sequence[_Misfit], source: Source
    ) -> bool:
        """Report a declaration that every use contradicts alike."""
        declared, index = misfits[0].declared, misfits[0].index
        given = {m.term.types for m in misfits}
        if given == {("object",)}:
            return False  # terms without a type: theirs is the fault
        at = self.declared_at.get(f"({declared.name}")
        if place in self._fitting or len(given) > 1 or len(misfits) < _MANY or at is None:
            return False
        source.report(
            "wrong-type",
            at,
            f"Argument {index + 1} of `{declared.name}` is declared as {misfits[0].wanted}, but"
            f" each of its {len(misfits)} uses has {' or '.join(misfits[0].term.types)}.",
            "Mend the declaration.",
        )
        return True

    def _report_misfits(self, misfits: Iterable[_Misfit], source: Source) -> None:
        """Report each term once for each type that its places ask for."""
        by_form: dict[int, list[_Misfit]] = {}
        for misfit in misfits:
            by_form.setdefault(misfit.form.start, []).append(misfit)
        misfits = []
        for found in by_form.values():
            if len({id(m.term) for m in found}) > 1 and not any(m.untyped for m in found):
                self._report_form(found, source)
            else:
                misfits += found
        by_term: dict[tuple[int, str], list[_Misfit]] = {}
        wanted: dict[int, set[str]] = {}
        for misfit in misfits:
            by_term.setdefault((id(misfit.term), misfit.wanted), []).append(misfit)
            wanted.setdefault(id(misfit.term), set()).add(misfit.wanted)
        for (term, _), found in by_term.items():
            at = self.variable_at.get(term) or self.declared_at.get(found[0].term.name)
            alike = term not in self._well_used and len(wanted[term]) == 1
            if alike and len(found) > 1 and isinstance(at, Symbol):
                self._report_misdeclared_term(at, found, source)
            else:
                self._report_misfit(found, source)

    def _report_form(self, misfits: Sequence[_Misfit], source: Source) -> None:
        """Report several wrong arguments of one use, such as two that are swapped."""
        first = min(misfits, key=lambda m: m.index)
        terms = (f"`{m.node.text}` is of type {' or '.join(m.term.types)}" for m in misfits)
        source.report(
            "wrong-type",
            first.node,
            f"{' and '.join(terms)}, which these places of `{first.declared.name}` do not accept.",
            f"Its declaration: {signature(first.declared)}.",
        )

    def _report_misdeclared_term(
        self, at: Symbol, misfits: Sequence[_Misfit], source: Source
    ) -> None:
        term, wanted = misfits[0].term, misfits[0].wanted
        source.report(
            "wrong-type",
            at,
            f"`{term.name}` is declared as {' or '.join(term.types)}, but each of its"
            f" {len(misfits)} uses needs {wanted}.",
            f"Write `{term.name} - {wanted}`.",
        )

    def _report_misfit(self, misfits: Sequence[_Misfit], source: Source) -> None:
        first, *others = sorted(misfits, key=lambda m: m.node.start)
        lines = [str(source.position(m.node.start)[0]) for m in others]
        also = f" Also in line {', '.join(dict.fromkeys(lines[:_FEW]))}." if lines else ""
        source.report(
            "wrong-type",
            first.node,
            f"`{first.node.text}` is of type {' or '.join(first.term.types)}, but argument"
            f" {first.index + 1} of `{first.declared.name}` must be {first.wanted}.",
            f"Its declaration: {signature(first.declared)}.{also}",
        )

    def _common_cause(self, declared: Predicate, uses: _Uses) -> Node | None:
        """The declaration, if it is in this text and all uses contradict it alike."""
        alike = len({given for _, given in uses.wrong}) == 1
        if uses.right or not alike or len(uses.wrong) < _MANY:
            return None
        return self.declared_at.get(f"({declared.name}")


def _count(arguments: int) -> str:
    return f"{arguments} argument{'' if arguments == 1 else 's'}"


def signature(predicate: Predicate) -> str:
    """A declaration as PDDL writes it."""
    parts = (f"{p.name} - {'|'.join(p.types)}" for p in predicate.parameters)
    return f"({' '.join((predicate.name, *parts))})"
