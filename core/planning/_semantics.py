"""What conditions and effects mean in a state (PDDL 2.1 level 1 with ADL and action costs).

A state is a set of facts, the derived ones among them; a fact that is not in it is false.
Effects are read off the
state before the action; what an action both adds and deletes is true afterwards, as the
standard and Fast Downward have it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from llm_modulo.errors import UsageError
from llm_modulo.pddl import (
    Action,
    And,
    Assignment,
    Atom,
    Conditional,
    Effect,
    Exists,
    Forall,
    Formula,
    Imply,
    Literal,
    Not,
    NumericExpression,
    Or,
    Problem,
    TypedName,
)

__all__ = [
    "Binding",
    "GroundEffect",
    "UndefinedValue",
    "UnsupportedBySimulation",
    "free_variables",
    "ground",
    "ground_effect",
    "holds",
    "predicates_of",
    "substitute",
    "unsatisfied",
    "unsupported_feature",
]

Binding = Mapping[str, str]
"""Variables in lower case, with the objects that they stand for."""

_NOT_SIMULATED = {
    ":numeric-fluents": "numeric fluents",
    ":object-fluents": "object fluents",
    ":durative-actions": "durative actions",
    ":timed-initial-literals": "timed initial literals",
    ":preferences": "preferences",
    ":constraints": "trajectory constraints",
}


class UnsupportedBySimulation(UsageError):
    """The problem uses a feature that our own simulation does not cover."""


class UndefinedValue(Exception):
    """An action's cost is a function that has no initial value: it is not applicable."""

    def __init__(self, function: Atom) -> None:
        super().__init__(f"`{function}` has no initial value")


def unsupported_feature(problem: Problem) -> str | None:
    """Name a feature of the problem that this simulation does not cover, or None."""
    used = problem.features | problem.domain.features
    return next((name for key, name in _NOT_SIMULATED.items() if key in used), None)


def ground(atom: Atom, binding: Binding) -> Atom:
    """Replace an atom's variables."""
    # A list is built faster than a generator is run, and this is what a replay mostly does.
    return Atom(atom.predicate, tuple([binding.get(t.lower(), t) for t in atom.terms]))


def holds(formula: Formula, state: Set[Atom], binding: Binding, problem: Problem) -> bool:
    """Whether a formula is true in a state, with its free variables bound."""
    match formula:
        case Atom():
            if formula.predicate == "=":
                left, right = (binding.get(t.lower(), t) for t in formula.terms)
                return left == right
            return ground(formula, binding) in state
        case And(operands):
            return all(holds(f, state, binding, problem) for f in operands)
        case Not(operand):
            return not holds(operand, state, binding, problem)
        case Or(operands):
            return any(holds(f, state, binding, problem) for f in operands)
        case Imply(premise, conclusion):
            return not holds(premise, state, binding, problem) or holds(
                conclusion, state, binding, problem
            )
        case Exists(variables, body):
            return any(
                holds(body, state, inner, problem)
                for inner in _bindings(variables, binding, problem)
            )
        case Forall(variables, body):
            return all(
                holds(body, state, inner, problem)
                for inner in _bindings(variables, binding, problem)
            )


def unsatisfied(
    formula: Formula, state: Set[Atom], binding: Binding, problem: Problem
) -> list[str]:
    """The parts of a formula that are false in a state, as written, variables replaced.

    A conjunction is taken apart; anything else counts as one part.
    """
    if isinstance(formula, And):
        parts = (unsatisfied(f, state, binding, problem) for f in formula.operands)
        return list(dict.fromkeys(itertools.chain.from_iterable(parts)))
    if holds(formula, state, binding, problem):
        return []
    return [str(substitute(formula, binding))]


@dataclass(frozen=True, kw_only=True, slots=True)
class GroundEffect:
    """What an action does in one state: facts to add, facts to delete, and its cost."""

    add: frozenset[Atom]
    delete: frozenset[Atom]
    cost: float


def ground_effect(
    action: Action, binding: Binding, state: Set[Atom], problem: Problem
) -> GroundEffect:
    """Evaluate an action's effects in a state.

    The cost is what the action adds to `total-cost` if the problem's metric asks for
    it, else 1.

    Raises:
        UndefinedValue: the cost is a function without a value, also where no metric asks
            for it; Fast Downward decides likewise.
    """
    add: set[Atom] = set()
    delete: set[Atom] = set()
    cost = 0.0
    for effect, inner in _flatten(action.effects, binding, state, problem):
        if isinstance(effect, Literal):
            (add if effect.positive else delete).add(ground(effect.atom, inner))
        elif isinstance(effect, Assignment) and effect.function.predicate.lower() == "total-cost":
            cost += _increase(effect.value, inner, problem)
    if problem.metric is None or problem.metric[1] == 0.0:
        cost = 1.0
    return GroundEffect(add=frozenset(add), delete=frozenset(delete - add), cost=cost)


def _flatten(
    effects: Sequence[Effect], binding: Binding, state: Set[Atom], problem: Problem
) -> Iterator[tuple[Literal | Assignment, Binding]]:
    for effect in effects:
        if isinstance(effect, Literal | Assignment):
            yield effect, binding
        elif isinstance(effect, Conditional):
            if holds(effect.condition, state, binding, problem):
                yield from _flatten(effect.effects, binding, state, problem)
        else:
            for inner in _bindings(effect.variables, binding, problem):
                yield from _flatten(effect.effects, inner, state, problem)


def _increase(expression: NumericExpression, binding: Binding, problem: Problem) -> float:
    """What an action adds to its cost: a number, or a function's initial value."""
    if isinstance(expression, Atom):
        function = ground(expression, binding)
        if function not in problem.values:
            raise UndefinedValue(function)
        return problem.values[function]
    assert isinstance(expression, float), "arithmetic is a numeric fluent, which is not simulated"
    return expression


def _bindings(
    variables: Sequence[TypedName], binding: Binding, problem: Problem
) -> Iterator[Binding]:
    domains = [problem.of_type(v.types) for v in variables]
    for values in itertools.product(*domains):
        yield {**binding, **{v.name.lower(): o for v, o in zip(variables, values, strict=True)}}


def substitute(formula: Formula, binding: Binding) -> Formula:
    """Replace a formula's free variables; the new terms must not be its bound ones."""
    match formula:
        case Atom():
            return ground(formula, binding)
        case Not(operand):
            return Not(substitute(operand, binding))
        case And(operands):
            return And(tuple(substitute(f, binding) for f in operands))
        case Or(operands):
            return Or(tuple(substitute(f, binding) for f in operands))
        case Imply(premise, conclusion):
            return Imply(substitute(premise, binding), substitute(conclusion, binding))
        case Exists(variables, body):
            return Exists(variables, substitute(body, _without(binding, variables)))
        case Forall(variables, body):
            return Forall(variables, substitute(body, _without(binding, variables)))


def _without(binding: Binding, variables: Sequence[TypedName]) -> Binding:
    bound = {v.name.lower() for v in variables}
    return {name: value for name, value in binding.items() if name not in bound}


def free_variables(formula: Formula) -> frozenset[str]:
    """A formula's free variables in lower case."""
    match formula:
        case Atom():
            return frozenset(t.lower() for t in formula.terms if t.startswith("?"))
        case Not(operand):
            return free_variables(operand)
        case And(operands) | Or(operands):
            return frozenset().union(*map(free_variables, operands))
        case Imply(premise, conclusion):
            return free_variables(premise) | free_variables(conclusion)
        case Exists(variables, body) | Forall(variables, body):
            return free_variables(body) - {v.name.lower() for v in variables}


def predicates_of(formula: Formula, *, positive: bool = True) -> Iterator[tuple[str, bool]]:
    """Every predicate of a formula, with whether it stands there unnegated."""
    match formula:
        case Atom():
            yield formula.predicate, positive
        case Not(operand):
            yield from predicates_of(operand, positive=not positive)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from predicates_of(operand, positive=positive)
        case Imply(premise, conclusion):
            yield from predicates_of(premise, positive=not positive)
            yield from predicates_of(conclusion, positive=positive)
        case Exists(_, body) | Forall(_, body):
            yield from predicates_of(body, positive=positive)
