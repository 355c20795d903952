"""What Fast Downward's translator or unified-planning rejects, `check` rejects.

What both accept and `check` rejects is listed here, each with its reason.
"""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType

from llm_modulo.pddl import check

ONLY_WE_REJECT = {
    "no space after the dash": "Fast Downward takes `-location` for one more object, silently",
    "parameter twice": "PDDL's parameters are distinct; which of the two is meant nobody knows",
    "name_with_a_dot": "unified-planning reads it, but other readers do not: it is no PDDL name",
}


def refusal(read: Callable[[], object]) -> str | None:
    """Why a reader refuses, or None if it does not."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            read()
        except (Exception, SystemExit) as error:
            return f"{type(error).__name__}: {error}"
    return None


def fast_downward(domain: str, problem: str) -> object:
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    def nested(text: str) -> object:
        lines = text.encode().decode("latin-1").splitlines()
        return lisp_parser.parse_nested_list(lines)

    return parsing_functions.parse_task(nested(domain), nested(problem))


def unified_planning(domain: str, problem: str) -> object:
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    environment = get_environment()
    environment.credits_stream = None
    environment.error_used_name = False
    return PDDLReader(environment).parse_problem_string(domain, problem)


def texts(mistakes: ModuleType, faults: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Every edited and every planted pair of texts, by name."""
    for name, file, old, new, _ in [*mistakes.CASES, *mistakes.REMARKS]:
        yield name, *mistakes.edited(file, old, new)
    for domain, problem in list(faults.bundled_pairs())[:2]:
        for name, plant in faults.FAULTS.items():
            planted = plant(random.Random(name), domain, problem)
            if planted is not None:
                yield name, planted[0], planted[1]


def test_what_another_reader_rejects_is_rejected_here(
    mistakes: ModuleType, injected_faults: ModuleType
) -> None:
    lenient, strict = [], set()
    for name, domain, problem in texts(mistakes, injected_faults):
        refusals = [
            refusal(lambda d=domain, p=problem, r=read: r(d, p))
            for read in (fast_downward, unified_planning)
        ]
        accepted = check(domain, problem).ok
        if accepted and any(refusals):
            lenient.append((name, refusals))
        if not accepted and not any(refusals):
            strict.add(name)
    assert lenient == []
    assert strict <= set(ONLY_WE_REJECT)
    assert "parameter twice" in strict
