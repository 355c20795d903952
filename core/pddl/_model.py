"""The typed model of a domain and a problem.

Names keep the spelling of their declaration: the reader resolves every use,
which PDDL lets differ in case, to the declared form, so that equality of strings is
identity of names everywhere behind it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

__all__ = [
    "Action",
    "And",
    "Assignment",
    "Atom",
    "Axiom",
    "Conditional",
    "Domain",
    "Effect",
    "Exists",
    "Forall",
    "ForallEffect",
    "Formula",
    "Imply",
    "Literal",
    "Not",
    "NumericExpression",
    "Or",
    "Predicate",
    "Problem",
    "TypedName",
    "ancestors",
    "each_with_ancestors",
]


@dataclass(frozen=True, slots=True)
class TypedName:
    """A name with its type; several types are the alternatives of `(either …)`."""

    name: str
    types: tuple[str, ...] = ("object",)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A declared predicate or function."""

    name: str
    parameters: tuple[TypedName, ...]


@dataclass(frozen=True, slots=True)
class Atom:
    """`(predicate term …)`; a term is a variable `?x` or the name of an object.

    Equality is the predicate `=`. A ground atom is a fact.
    """

    predicate: str
    terms: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.predicate, *self.terms))})"


@dataclass(frozen=True, slots=True)
class Not:
    """Negation."""

    operand: Formula

    def __str__(self) -> str:
        return f"(not {self.operand})"


@dataclass(frozen=True, slots=True)
class And:
    """Conjunction; without operands it is true."""

    operands: tuple[Formula, ...] = ()

    def __str__(self) -> str:
        return f"(and {' '.join(map(str, self.operands))})"


@dataclass(frozen=True, slots=True)
class Or:
    """Disjunction; without operands it is false."""

    operands: tuple[Formula, ...] = ()

    def __str__(self) -> str:
        return f"(or {' '.join(map(str, self.operands))})"


@dataclass(frozen=True, slots=True)
class Imply:
    """Implication."""

    premise: Formula
    conclusion: Formula

    def __str__(self) -> str:
        return f"(imply {self.premise} {self.conclusion})"


@dataclass(frozen=True, slots=True)
class Exists:
    """Existential quantification."""

    variables: tuple[TypedName, ...]
    body: Formula

    def __str__(self) -> str:
        return f"(exists ({_typed_list(self.variables)}) {self.body})"


@dataclass(frozen=True, slots=True)
class Forall:
    """Universal quantification."""

    variables: tuple[TypedName, ...]
    body: Formula

    def __str__(self) -> str:
        return f"(forall ({_typed_list(self.variables)}) {self.body})"


Formula = Atom | Not | And | Or | Imply | Exists | Forall

NumericExpression = float | Atom | tuple[str, tuple["NumericExpression", ...]]
"""A number, a function term, or an operator with its operands."""


@dataclass(frozen=True, slots=True)
class Literal:
    """The effect that makes `atom` true (`positive`) or false."""

    atom: Atom
    positive: bool


@dataclass(frozen=True, slots=True)
class Assignment:
    """A numeric effect: `increase`, `decrease`, `assign`, `scale-up` or `scale-down`."""

    operator: str
    function: Atom
    value: NumericExpression


@dataclass(frozen=True, slots=True)
class Conditional:
    """`(when condition effects)`."""

    condition: Formula
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class ForallEffect:
    """`(forall (variables) effects)`."""

    variables: tuple[TypedName, ...]
    effects: tuple[Effect, ...]


Effect = Literal | Assignment | Conditional | ForallEffect


@dataclass(frozen=True, slots=True)
class Action:
    """An action schema."""

    name: str
    parameters: tuple[TypedName, ...]
    precondition: Formula
    effects: tuple[Effect, ...]


def ancestors(parents: Mapping[str, tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """Each type with itself and all its ancestors; `object` is everybody's.

    Args:
        parents: type → its direct parents, without cycles.
    """
    return dict(each_with_ancestors(parents))


def each_with_ancestors(
    parents: Mapping[str, tuple[str, ...]],
) -> Iterator[tuple[str, frozenset[str]]]:
    """What `ancestors` gives, one by one, for those who stop when it becomes too much."""
    found: dict[str, frozenset[str]] = {"object": frozenset({"object"})}
    yield "object", found["object"]
    for name in parents:
        todo = [name]
        while todo:
            above = parents.get(todo[-1], ())
            if missing := [p for p in above if p not in found]:
                todo += missing
                continue
            current = todo.pop()
            if current not in found:
                found[current] = found["object"].union({current}, *(found[p] for p in above))
                yield current, found[current]


@dataclass(frozen=True, slots=True)
class Axiom:
    """`(:derived (head) body)`: the head's facts are those for which the body holds."""

    head: Predicate
    body: Formula


@dataclass(frozen=True, kw_only=True)
class Domain:
    """A domain; mappings are keyed by declared name, in order of declaration.

    Attributes:
        types: each type with its parents (`object` at the root, not listed).
        features: what the text uses beyond STRIPS, as requirement keywords
            (`:typing`, `:action-costs`, `:numeric-fluents`, …).
    """

    name: str
    requirements: tuple[str, ...]
    types: Mapping[str, tuple[str, ...]]
    constants: tuple[TypedName, ...]
    predicates: Mapping[str, Predicate]
    functions: Mapping[str, Predicate]
    actions: Mapping[str, Action]
    axioms: tuple[Axiom, ...] = ()
    features: frozenset[str]

    @cached_property
    def ancestors(self) -> Mapping[str, frozenset[str]]:
        """Each type with itself and all its ancestors, `object` included."""
        return ancestors(self.types)

    def is_subtype(self, types: Iterable[str], of: Iterable[str]) -> bool:
        """Whether everything of one of `types` is also of one of the types `of`."""
        accepted = set(of)
        return all(self.ancestors.get(t, frozenset({t})) & accepted for t in types)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem over a domain.

    Attributes:
        objects: the problem's objects; the domain's constants are not among them.
        init: the facts that are true at the start, as written, without repeats.
        values: initial values of functions.
        metric: `None`, or the direction and expression of `(:metric …)`.
        requirements: the problem's own, beside the domain's.
        features: what the problem uses beyond STRIPS, the domain's not among them.
    """

    name: str
    domain: Domain
    objects: tuple[TypedName, ...]
    init: tuple[Atom, ...]
    values: Mapping[Atom, float]
    goal: Formula
    metric: tuple[str, NumericExpression] | None = None
    requirements: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()
    _by_type: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def all_objects(self) -> Iterator[TypedName]:
        """The domain's constants, then the problem's objects."""
        yield from self.domain.constants
        yield from self.objects

    def of_type(self, types: tuple[str, ...]) -> tuple[str, ...]:
        """Names of all objects that one of `types` accepts, in order of declaration."""
        key = " ".join(types)
        if key not in self._by_type:
            names = dict.fromkeys(
                o.name for o in self.all_objects if self.domain.is_subtype(o.types, types)
            )
            self._by_type[key] = tuple(names)
        return self._by_type[key]


def _typed_list(names: Iterable[TypedName]) -> str:
    def kind(types: tuple[str, ...]) -> str:
        return types[0] if len(types) == 1 else f"(either {' '.join(types)})"

    return " ".join(f"{n.name} - {kind(n.types)}" for n in names)
