"""`check`: the diagnostics and the summary of a domain, or of a domain and a problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llm_modulo.errors import NotPddl, UsageError

from ._diagnostics import Diagnostic
from ._domain import read_domain
from ._features import FEATURES, planner_support
from ._model import Domain, Predicate, Problem
from ._problem import read_problem
from ._source import Source
from ._usage import signature

__all__ = ["MAX_TEXT", "CheckResult", "check", "check_size", "parse"]

MAX_TEXT = 10_000_000
"""Longest PDDL text that is read, in characters."""

_MAX_GOAL = 500


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What `check` found.

    Attributes:
        ok: no diagnostic is an error.
        diagnostics: all faults: the domain's, then the problem's, each in source order.
        summary: counts and features; keys as in `docs/commands.md`.
        domain, problem: the models, as far as the text gave them.
    """

    ok: bool
    diagnostics: tuple[Diagnostic, ...]
    summary: dict[str, Any]
    domain: Domain | None
    problem: Problem | None

    def to_json(self) -> dict[str, Any]:
        """Return `{"ok", "diagnostics", "summary"}`."""
        return {
            "ok": self.ok,
            "diagnostics": [d.to_json() for d in self.diagnostics],
            "summary": self.summary,
        }


def check_size(text: str, what: str) -> None:
    """Raise `UsageError` if a text is longer than `MAX_TEXT` characters."""
    if len(text) > MAX_TEXT:
        raise UsageError(f"The {what} is longer than {MAX_TEXT:,} characters.")


def check(domain: str, problem: str | None = None) -> CheckResult:
    """Diagnose a PDDL domain, and a problem over it.

    Args:
        domain: the domain's text.
        problem: the problem's text, or None to look at the domain alone.

    Returns:
        All faults in one go, and a summary of what is there. When the domain cannot be
        read at all the problem is not looked at: each of its names would be a fault.

    Raises:
        UsageError: a text longer than `MAX_TEXT` characters.
    """
    check_size(domain, "domain")
    domain_source = Source(domain, "domain")
    read = read_domain(domain_source)
    found = _in_order(domain_source)
    problem_model = None
    if problem is not None and read is not None:
        check_size(problem, "problem")
        problem_source = Source(problem, "problem")
        problem_model = read_problem(problem_source, *read)
        found += _in_order(problem_source)
    domain_model = None if read is None else read[0]
    return CheckResult(
        ok=not any(d.severity == "error" for d in found),
        diagnostics=tuple(found),
        summary=_summary(domain_model, problem_model),
        domain=domain_model,
        problem=problem_model,
    )


def parse(domain: str, problem: str) -> Problem:
    """Return the typed model of a problem with its domain.

    Raises:
        NotPddl: the texts have errors; the message lists the first of them.
        UsageError: a text longer than `MAX_TEXT` characters.
    """
    result = check(domain, problem)
    if not result.ok or result.problem is None:
        errors = [d for d in result.diagnostics if d.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise NotPddl(f"{errors[0]}{more}")
    return result.problem


def _in_order(source: Source) -> list[Diagnostic]:
    unique = dict.fromkeys(source.diagnostics)
    return sorted(unique, key=lambda d: (d.code == "too-many", d.line, d.column))


def _summary(domain: Domain | None, problem: Problem | None) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    if domain is not None:
        predicates = [*domain.predicates.values(), *domain.functions.values()]
        summary["domain"] = {
            "name": domain.name,
            "requirements": list(domain.requirements),
            "types": {name: list(parents) for name, parents in domain.types.items()},
            "constants": [c.name for c in domain.constants],
            "predicates": [signature(p) for p in predicates],
            "actions": [
                signature(Predicate(a.name, a.parameters)) for a in domain.actions.values()
            ],
        }
    if problem is not None:
        summary["problem"] = {
            "name": problem.name,
            "objects": _object_counts(problem),
            "initial_facts": len(problem.init),
            "goal": str(problem.goal)[:_MAX_GOAL],
        }
    if domain is not None:
        features = domain.features | (problem.features if problem is not None else frozenset())
        summary["features"] = [FEATURES[f] for f in FEATURES if f in features] or ["STRIPS"]
        requirements = domain.requirements + (problem.requirements if problem is not None else ())
        summary["planners"] = planner_support(features, requirements)
    return summary


def _object_counts(problem: Problem) -> dict[str, int]:
    """How many objects, constants included, are declared with each type."""
    counts: dict[str, int] = {}
    for item in problem.all_objects:
        kind = " or ".join(item.types)
        counts[kind] = counts.get(kind, 0) + 1
    return counts
