"""What a text uses beyond STRIPS, and which planners and readers can take it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

__all__ = [
    "FEATURES",
    "KNOWN_REQUIREMENTS",
    "READERS",
    "planner_objection",
    "planner_support",
    "refused_by",
]

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
    "either": "`either` types",
    "either-in-predicates": "`either` in the declaration of a predicate or function",
    "conditional-costs": "costs inside `when` or `forall`",
    "fractional-numbers": "numbers that are not written as whole numbers",
    "negative-numbers": "negative numbers",
    "maximize": "a metric to maximize",
    "total-time": "the metric `total-time`",
    "bare-total-time": "`total-time` without parentheses",
    "constant-metric": "a metric that is a number",
    "domain-constraints": "`:constraints` of a domain",
    "empty-list": "an empty section",
    "empty-form": "`()` inside a condition or an effect",
    "cost-alone": "a cost as the whole effect, without `and`",
    "nested-forall": "`forall` inside the `forall` of an effect",
}
"""Feature → how it is called in a sentence; one that has a requirement is named by it."""

KNOWN_REQUIREMENTS = frozenset(
    ":strips :typing :equality :negative-preconditions :disjunctive-preconditions"
    " :existential-preconditions :universal-preconditions :quantified-preconditions"
    " :conditional-effects :adl :fluents :numeric-fluents :object-fluents :action-costs"
    " :derived-predicates :durative-actions :duration-inequalities :continuous-effects"
    " :timed-initial-literals :preferences :constraints :goal-utilities :time".split()
)

_ADL = frozenset(
    ":typing :equality :negative-preconditions :disjunctive-preconditions"
    " :existential-preconditions :universal-preconditions :conditional-effects"
    " :action-costs :derived-predicates either-in-predicates empty-list nested-forall".split()
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

READERS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "Fast Downward": (
        frozenset(FEATURES) - _ADL - {"bare-total-time", "constant-metric", "domain-constraints"},
        KNOWN_REQUIREMENTS - _ADL - {":strips", ":adl", ":quantified-preconditions"},
    ),
    "unified-planning": (
        frozenset(
            ":derived-predicates :object-fluents :preferences either either-in-predicates"
            " bare-total-time constant-metric domain-constraints empty-list"
            " nested-forall".split()
        ),
        frozenset({":derived-predicates", ":object-fluents", ":goal-utilities"}),
    ),
}
"""The readers behind our planners: the features that each refuses, and the requirements
that it refuses even where nothing uses them."""

_READER_OF = {
    "fast-downward": "Fast Downward",
    "fast-downward-opt": "Fast Downward",
    "pyperplan": "unified-planning",
    "pyperplan-opt": "unified-planning",
}


def refused_by(feature: str, *, as_requirement: bool = False) -> list[str]:
    """The readers that refuse a feature, or a requirement that is only declared."""
    return [name for name, refused in READERS.items() if feature in refused[as_requirement]]


def planner_objection(
    planner: str, features: Collection[str], requirements: Iterable[str] = ()
) -> str | None:
    """Which of these features a planner of ours lacks, as words; None if it has them all.

    Requirements count where the planner's reader refuses the mere word. Of a planner that
    is not ours nothing is known, and None is returned.
    """
    if planner not in _SUPPORT:
        return None
    missing = [FEATURES[f] for f in FEATURES if f in set(features) - _SUPPORT[planner]]
    refused = READERS[_READER_OF[planner]][1]
    missing += [
        f"the requirement `{r}`" for r in requirements if r in refused and r not in features
    ]
    return ", ".join(missing) or None


def planner_support(
    features: Collection[str], requirements: Iterable[str] = ()
) -> dict[str, str | None]:
    """Each planner of ours with what it lacks, or None if it can take the text."""
    known = tuple(requirements)
    return {planner: planner_objection(planner, features, known) for planner in _SUPPORT}
