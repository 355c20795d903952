"""What a text uses beyond STRIPS, and which planners can take it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["FEATURES", "planner_objection", "planner_support"]

FEATURES: dict[str, str] = {
    ":typing": "types",
    ":equality": "equality",
    ":negative-preconditions": "negated conditions",
    ":disjunctive-preconditions": "disjunctions",
    ":existential-preconditions": "existential quantifiers",
    ":universal-preconditions": "universal quantifiers",
    ":conditional-effects": "conditional effects",
    ":action-costs": "action costs",
    ":derived-predicates": "derived predicates",
    ":numeric-fluents": "numeric fluents",
    ":object-fluents": "object fluents",
    ":durative-actions": "durative actions",
    ":timed-initial-literals": "timed initial literals",
    ":preferences": "preferences",
    ":constraints": "trajectory constraints",
}
"""Feature → how it is called in a sentence."""

_ADL = frozenset(
    ":typing :equality :negative-preconditions :disjunctive-preconditions"
    " :existential-preconditions :universal-preconditions :conditional-effects"
    " :action-costs :derived-predicates".split()
)
# Fast Downward's translator refuses some of the others; arithmetic it takes for an undefined
# function, and then "proves" that there is no plan.
_SUPPORT: dict[str, frozenset[str]] = {
    "fast-downward": _ADL,
    # LM-cut knows neither conditional effects nor axioms; a universal condition becomes one.
    "fast-downward-opt": _ADL
    - {":conditional-effects", ":derived-predicates", ":universal-preconditions"},
    "pyperplan": frozenset({":typing"}),
    "pyperplan-opt": frozenset({":typing"}),
}


def planner_objection(planner: str, features: Iterable[str]) -> str | None:
    """Which of these features a planner of ours lacks, as words; None if it has them all.

    Of a planner that is not ours nothing is known, and None is returned.
    """
    if planner not in _SUPPORT:
        return None
    missing = [FEATURES[f] for f in FEATURES if f in set(features) - _SUPPORT[planner]]
    return ", ".join(missing) or None


def planner_support(features: Iterable[str]) -> dict[str, str | None]:
    """Each planner of ours with what it lacks, or None if it can take the text."""
    known = list(features)
    return {planner: planner_objection(planner, known) for planner in _SUPPORT}
