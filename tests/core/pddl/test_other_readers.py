"""What Fast Downward's translator or unified-planning rejects, `check` rejects.

Where PDDL allows it, `check` says which of them refuses. What both accept and `check`
rejects is listed here, each with its reason.
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
    "quantified variable twice": "as for parameters",
    "number in parentheses": "no function is called `1`; Fast Downward forgives it, PDDL does not",
    "parent misspelt": "a type that nobody declares and that is spelt nearly like a declared one",
    **dict.fromkeys(
        (
            "predicate called define",
            "object called and",
            "object called forall",
            "object called either",
            "type called either",
            "action called and",
            "action called not",
            "action called define",
        ),
        "a word of the language as a name: every later slip near it would be misread",
    ),
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
    from fast_downward.translate import main, normalize, options
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    def nested(text: str) -> object:
        lines = text.encode().decode("latin-1").splitlines()
        return lisp_parser.parse_nested_list(lines)

    options.set_options(["domain", "problem"])
    task = parsing_functions.parse_task(nested(domain), nested(problem))
    normalize.normalize(task)
    return main.pddl_to_sas(task)


def unified_planning(domain: str, problem: str) -> object:
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    environment = get_environment()
    environment.credits_stream = None
    environment.error_used_name = True  # its default
    return PDDLReader(environment).parse_problem_string(domain, problem)


def texts(
    mistakes: ModuleType, faults: ModuleType, variants: ModuleType
) -> Iterator[tuple[str, str, str]]:
    """Every edited and every planted pair of texts, by name."""
    for name, file, old, new, _ in [*mistakes.CASES, *mistakes.REMARKS]:
        yield name, *mistakes.edited(file, old, new)
    for name, *edit in variants.VARIANTS:
        yield name, *variants.edited(*edit)
    for domain, problem in list(faults.bundled_pairs())[:2]:
        for name, plant in faults.FAULTS.items():
            planted = plant(random.Random(name), domain, problem)
            if planted is not None:
                yield name, planted[0], planted[1]


READERS = {"Fast Downward": fast_downward, "unified-planning": unified_planning}


def test_what_another_reader_rejects_is_rejected_or_said_here(
    mistakes: ModuleType, injected_faults: ModuleType, variants: ModuleType
) -> None:
    silent, strict, count = [], set(), 0
    for name, domain, problem in texts(mistakes, injected_faults, variants):
        count += 1
        refusals = {
            reader: reason
            for reader, read in READERS.items()
            if (reason := refusal(lambda d=domain, p=problem, r=read: r(d, p))) is not None
        }
        result = check(domain, problem)
        said = " ".join(
            d.message for d in result.diagnostics if d.code in ("planner-refuses", "name-clash")
        )
        if result.ok:
            silent += [(name, *item) for item in refusals.items() if item[0] not in said]
        elif not refusals:
            strict.add(name)
    assert silent == []
    assert strict == set(ONLY_WE_REJECT)
    assert count > 300


def test_what_no_reader_refuses_is_not_said_to_be_refused(variants: ModuleType) -> None:
    """Neither a note nor a clash about a text that the reader takes."""
    wrong = []
    for name, *edit in variants.VARIANTS:
        domain, problem = variants.edited(*edit)
        result = check(domain, problem)
        for reader, read in READERS.items():
            said = [
                d.message
                for d in result.diagnostics
                if d.code in ("planner-refuses", "name-clash") and reader in d.message
            ]
            if result.ok and said and refusal(lambda r=read, d=domain, p=problem: r(d, p)) is None:
                wrong.append((name, reader, said))
    assert wrong == []
