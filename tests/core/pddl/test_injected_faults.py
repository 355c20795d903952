"""One fault is planted in a sound text: it is found, alone, with its code and line.

`FAULTS` maps a kind of fault to a function that plants it: it gets a random generator,
the two texts, and returns the texts with the fault, the file and the 1-based line where
it is, and the code that must be reported; or None where the text offers no place.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from llm_modulo.domains import bundled_domain, bundled_domains
from llm_modulo.domains.sokoban import corridor, write_problem
from llm_modulo.pddl import check

Planted = tuple[str, str, str, int, str]
Planter = Callable[[random.Random, str, str], Planted | None]

ATOM = re.compile(r"\(([A-Za-z][\w-]*)((?: [A-Za-z][\w-]*)+)\)")
SCHEMA_ATOM = re.compile(r"\(([A-Za-z][\w-]*)((?: \?[\w-]+)+)\)")


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def span_of(text: str, keyword: str) -> tuple[int, int]:
    """Offsets of the section `(keyword …)`; (0, 0) if it is not there."""
    start = text.find(f"({keyword}")
    if start < 0:
        return 0, 0
    depth = 0
    for offset in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if depth == 0:
            return start, offset + 1
    raise AssertionError("unbalanced")


def choose(rng: random.Random, text: str, pattern: re.Pattern[str], keyword: str):
    start, end = span_of(text, keyword)
    found = list(pattern.finditer(text, start, end))
    return rng.choice(found) if found else None


def replaced(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def in_problem(domain: str, problem: str, at: int, code: str) -> Planted:
    return domain, problem, "problem", line_of(problem, at), code


def in_domain(domain: str, problem: str, at: int, code: str) -> Planted:
    return domain, problem, "domain", line_of(domain, at), code


def missing_parenthesis_of_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    text = replaced(problem, match.end() - 1, match.end(), "")
    return in_problem(domain, text, match.end() - 2, "missing-parenthesis")


def missing_parenthesis_of_action(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    text = replaced(domain, match.end() - 1, match.end(), "")
    return in_domain(text, problem, match.end() - 2, "missing-parenthesis")


def missing_parenthesis_of_effect(rng, domain, problem):
    """The last parenthesis on the line where an effect ends."""
    ends = list(re.finditer(r":effect \(and [^\n]*\)\)(?=\s*\n)", domain))
    if not ends:
        return None
    match = rng.choice(ends)
    text = replaced(domain, match.end() - 1, match.end(), "")
    return in_domain(text, problem, match.end() - 2, "missing-parenthesis")


def missing_last_parenthesis(rng, domain, problem):
    text = problem.rstrip()[:-1].rstrip()
    return in_problem(domain, text, len(text) - 1, "missing-parenthesis")


def extra_parenthesis_after_fact(rng, domain, problem):
    start, end = span_of(problem, ":init")
    facts = list(ATOM.finditer(problem, start, end))[:-1]
    if not facts:
        return None
    at = rng.choice(facts).end()
    return in_problem(domain, replaced(problem, at, at, ")"), at, "extra-parenthesis")


def extra_parenthesis_in_action(rng, domain, problem):
    start, end = span_of(domain, ":action")
    parts = [
        m
        for m in SCHEMA_ATOM.finditer(domain, start, end)
        if re.match(r"\s*\([A-Za-z]", domain[m.end() :])
    ]
    if not parts:
        return None
    at = rng.choice(parts).end()
    return in_domain(replaced(domain, at, at, ")"), problem, at, "extra-parenthesis")


def extra_parenthesis_at_end(rng, domain, problem):
    text = problem.rstrip() + ")"
    return in_problem(domain, text, len(text) - 1, "extra-parenthesis")


def misspelt_predicate_in_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    text = replaced(problem, match.start(1), match.end(1), match[1] + "x")
    return in_problem(domain, text, match.start(), "undeclared-predicate")


def misspelt_predicate_in_action(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    text = replaced(domain, match.start(1), match.end(1), match[1] + "x")
    return in_domain(text, problem, match.start(), "undeclared-predicate")


def unknown_object_in_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    at = problem.rfind(" ", match.start(), match.end()) + 1
    return in_problem(
        domain, replaced(problem, at, match.end() - 1, "nowhere-9"), at, "undeclared-object"
    )


def unknown_object_in_goal(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":goal")
    at = problem.rfind(" ", match.start(), match.end()) + 1
    return in_problem(
        domain, replaced(problem, at, match.end() - 1, "nowhere-9"), at, "undeclared-object"
    )


def argument_missing_in_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    at = problem.rfind(" ", match.start(), match.end())
    text = replaced(problem, at, match.end() - 1, "")
    return in_problem(domain, text, match.start(), "wrong-arity")


def argument_too_many_in_action(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    last = match[2].split()[-1]
    text = replaced(domain, match.end() - 1, match.end() - 1, f" {last}")
    return in_domain(text, problem, match.start(), "wrong-arity")


def wrong_type_in_fact(rng, domain, problem):
    """An argument becomes an object of an unrelated type."""
    read = check(domain, problem)
    model = read.problem
    kinds = {o.name: o.types for o in model.all_objects}
    start, end = span_of(problem, ":init")
    places = []
    for match in ATOM.finditer(problem, start, end):
        parameters = model.domain.predicates[match[1]].parameters
        for word, parameter in zip(re.finditer(r"[\w-]+", match[2]), parameters, strict=True):
            others = [
                n for n, t in kinds.items() if not model.domain.is_subtype(t, parameter.types)
            ]
            if others:
                places.append((match.start(2) + word.start(), match.start(2) + word.end(), others))
    if not places:
        return None
    first, last, others = rng.choice(places)
    text = replaced(problem, first, last, rng.choice(others))
    return in_problem(domain, text, first, "wrong-type")


def unbound_variable(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    at = domain.rfind(" ", match.start(), match.end()) + 1
    text = replaced(domain, at, match.end() - 1, "?unbound")
    return in_domain(text, problem, at, "undeclared-variable")


def variable_without_question_mark(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    at = domain.rfind("?", match.start(), match.end())
    return in_domain(replaced(domain, at, at + 1, ""), problem, at, "undeclared-object")


def undeclared_type_of_objects(rng, domain, problem):
    start, end = span_of(problem, ":objects")
    found = list(re.finditer(r"- ([\w-]+)", problem[start:end]))
    if not found:
        return None
    match = rng.choice(found)
    at = start + match.start(1)
    text = replaced(problem, at, start + match.end(1), match[1] + "z")
    return in_problem(domain, text, at, "undeclared-type")


def repeated_object(rng, domain, problem):
    start, end = span_of(problem, ":objects")
    match = re.search(r":objects\s+([\w-]+)", problem[start:end])
    at = start + match.end(1)
    text = replaced(problem, at, at, f" {match[1]}")
    return in_problem(domain, text, at + 1, "duplicate-name")


def repeated_action(rng, domain, problem):
    start, end = span_of(domain, ":action")
    text = replaced(domain, end, end, "\n  " + domain[start:end])
    return in_domain(text, problem, end + 3, "duplicate-name")


def other_domain(rng, domain, problem):
    match = re.search(r"\(:domain ([\w-]+)\)", problem)
    text = replaced(problem, match.start(1), match.end(1), "another-world")
    return in_problem(domain, text, match.start(), "domain-mismatch")


def without_section(keyword: str) -> Planter:
    def plant(rng, domain, problem):
        start, end = span_of(problem, keyword)
        text = replaced(problem, start, end, "").rstrip()
        at = 0 if keyword == ":domain" else len(text) - 1  # beside the name, or at the end
        return in_problem(domain, text, at, "missing-section")

    return plant


def misspelt_section(rng, domain, problem):
    keyword = rng.choice([":init", ":goal", ":objects"])
    at = problem.index(f"({keyword}") + 1
    word = keyword[:-1] + "x" + keyword[-1]
    text = replaced(problem, at, at + len(keyword), word)
    return in_problem(domain, text, at, "unknown-section")


def misspelt_keyword_of_action(rng, domain, problem):
    keyword = rng.choice([":parameters", ":precondition", ":effect"])
    found = [m.start() for m in re.finditer(keyword, domain)]
    if not found:
        return None
    at = rng.choice(found)
    text = replaced(domain, at, at + len(keyword), keyword[:-2] + keyword[-1])
    return in_domain(text, problem, at, "unknown-section")


def repeated_section(rng, domain, problem):
    start, end = span_of(problem, ":goal")
    text = replaced(problem, end, end, "\n  " + problem[start:end])
    return in_problem(domain, text, end + 3, "repeated-section")


def unknown_requirement(rng, domain, problem):
    match = re.search(r":requirements", domain)
    if match is None:
        return None
    text = replaced(domain, match.end(), match.end(), " :tipying")
    return in_domain(text, problem, match.end(), "unknown-requirement")


def commas_between_objects(rng, domain, problem):
    match = re.search(r":objects\s+([\w-]+) ([\w-]+)", problem)
    if match is None or match[2] == "-":
        return None
    text = replaced(problem, match.end(1), match.end(1), ",")
    return in_problem(domain, text, match.end(1), "comma")


def variable_in_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    at = problem.rfind(" ", match.start(), match.end()) + 1
    return in_problem(domain, replaced(problem, at, at, "?"), at, "variable-in-init")


def reserved_predicate(rng, domain, problem):
    start, end = span_of(domain, ":predicates")
    match = rng.choice(list(re.finditer(r"\(([\w-]+) \?", domain[start:end])))
    at = start + match.start(1)
    text = replaced(domain, at, start + match.end(1), "imply")
    return in_domain(text, problem, at, "reserved-word")


def full_width_parenthesis(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    text = replaced(problem, match.start(), match.start() + 1, "（")
    return in_problem(domain, text, match.start(), "lookalike-character")


def long_dash(rng, domain, problem):
    start, end = span_of(problem, ":objects")
    at = problem.find(" - ", start, end) + 1
    if at == 0:
        return None
    return in_problem(domain, replaced(problem, at, at + 1, "–"), at, "lookalike-character")


def comment_of_another_language(rng, domain, problem):
    at = problem.index("(:init")
    text = replaced(problem, at, at, "// the initial state (all of it)\n  ")
    return in_problem(domain, text, at, "foreign-comment")


def markdown_fence(rng, domain, problem):
    return in_problem(domain, f"```pddl\n{problem.strip()}\n```\n", 0, "markdown-fence")


def conjunction_between(rng, domain, problem):
    start, end = span_of(problem, ":goal")
    found = list(ATOM.finditer(problem, start, end))
    match = found[0]
    text = replaced(problem, start, end, f"(:goal {match[0]} and {match[0]})")
    return in_problem(domain, text, start, "infix-operator")


def text_with_escapes(rng, domain, problem):
    text = problem.strip().replace("\n", "\\n")
    return in_problem(domain, text, 0, "escaped-text")


def name_with_a_dot(rng, domain, problem):
    match = re.search(r":objects\s+([\w-]+)", problem)
    name = match[1]
    text = re.sub(rf"(?<![\w-]){name}(?![\w-])", f"{name}.1", problem)
    at = text.index(f"{name}.1", text.index("(:objects"))
    return in_problem(domain, text, at, "bad-name")


def missing_opening_parenthesis_of_fact(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    text = replaced(problem, match.start(), match.start() + 1, "")
    return in_problem(domain, text, match.start(), "missing-parenthesis")


def missing_opening_parenthesis_of_section(rng, domain, problem):
    at = problem.index(rng.choice(["(:init", "(:goal", "(:objects"]))
    return in_problem(domain, replaced(problem, at, at + 1, ""), at, "missing-parenthesis")


def missing_opening_parenthesis_in_action(rng, domain, problem):
    match = choose(rng, domain, SCHEMA_ATOM, ":action")
    text = replaced(domain, match.start(), match.start() + 1, "")
    return in_domain(text, problem, match.start(), "missing-parenthesis")


def doubled_opening_parenthesis(rng, domain, problem):
    match = choose(rng, problem, ATOM, rng.choice([":init", ":goal"]))
    text = replaced(problem, match.start(), match.start(), "(")
    return in_problem(domain, text, match.start(), "extra-parenthesis")


def facts_as_calls(rng, domain, problem):
    start, end = span_of(problem, ":init")
    facts = ATOM.sub(r"\1(\2)", problem[start:end])
    text = problem[:start] + facts + problem[end:]
    at = start + re.search(r"[\w-]\(", facts).start()
    return in_problem(domain, text, at, "malformed")


def goal_before_init(rng, domain, problem):
    init, goal = span_of(problem, ":init"), span_of(problem, ":goal")
    if init[1] > goal[0]:
        return None
    parts = problem[goal[0] : goal[1]], problem[init[0] : init[1]]
    text = problem[: init[0]] + "\n".join(parts) + problem[goal[1] :]
    return in_problem(domain, text, text.index("(:init"), "misplaced-section")


def effect_before_precondition(rng, domain, problem):
    match = re.search(r"(:precondition.*?)(:effect.*?)(?=\)\s*\(:action|\)\s*\)\s*$)", domain, re.S)
    if match is None:
        return None
    text = replaced(domain, match.start(), match.end(), f"{match[2]}\n{match[1].rstrip()}")
    at = text.index(":precondition", match.start())
    return in_domain(text, problem, at, "misplaced-section")


def parameters_without_parentheses(rng, domain, problem):
    match = re.search(r":parameters\s*\(([^()]+)\)", domain)
    if match is None:
        return None
    text = replaced(domain, match.start(), match.end(), f":parameters {match[1]}")
    return in_domain(text, problem, match.start(), "malformed")


def fact_true_and_false(rng, domain, problem):
    match = choose(rng, problem, ATOM, ":init")
    text = replaced(problem, match.end(), match.end(), f"\n(not {match[0]})")
    return in_problem(domain, text, match.end() + 1, "contradictory-init")


def swapped_arguments(rng, domain, problem):
    """Two arguments of unrelated types change places."""
    model = check(domain, problem).problem
    kinds = {o.name: o.types for o in model.all_objects}
    start, end = span_of(problem, ":init")
    places = []
    for match in ATOM.finditer(problem, start, end):
        words = match[2].split()
        parameters = model.domain.predicates[match[1]].parameters
        swapped = zip(reversed(words), parameters, strict=True) if len(words) == 2 else ()
        if any(not model.domain.is_subtype(kinds[w], p.types) for w, p in swapped):
            places.append((match, f"({match[1]} {words[1]} {words[0]})"))
    if not places:
        return None
    match, fact = rng.choice(places)
    text = replaced(problem, match.start(), match.end(), fact)
    return in_problem(domain, text, match.start(), "wrong-type")


FAULTS: dict[str, Planter] = {
    function.__name__: function
    for function in (
        missing_parenthesis_of_fact,
        missing_parenthesis_of_action,
        missing_parenthesis_of_effect,
        missing_last_parenthesis,
        extra_parenthesis_after_fact,
        extra_parenthesis_in_action,
        extra_parenthesis_at_end,
        misspelt_predicate_in_fact,
        misspelt_predicate_in_action,
        unknown_object_in_fact,
        unknown_object_in_goal,
        argument_missing_in_fact,
        argument_too_many_in_action,
        wrong_type_in_fact,
        unbound_variable,
        variable_without_question_mark,
        undeclared_type_of_objects,
        repeated_object,
        repeated_action,
        other_domain,
        misspelt_section,
        misspelt_keyword_of_action,
        repeated_section,
        unknown_requirement,
        commas_between_objects,
        variable_in_fact,
        reserved_predicate,
        full_width_parenthesis,
        long_dash,
        comment_of_another_language,
        markdown_fence,
        conjunction_between,
        text_with_escapes,
        name_with_a_dot,
        missing_opening_parenthesis_of_fact,
        missing_opening_parenthesis_of_section,
        missing_opening_parenthesis_in_action,
        doubled_opening_parenthesis,
        facts_as_calls,
        goal_before_init,
        effect_before_precondition,
        parameters_without_parentheses,
        fact_true_and_false,
        swapped_arguments,
    )
} | {
    f"without{keyword.replace(':', '_')}": without_section(keyword)
    for keyword in (":goal", ":init", ":domain")
}


def bundled_pairs() -> Iterator[tuple[str, str]]:
    assert list(bundled_domains()) == ["sokoban"]
    for length, rotation in ((5, 0), (9, 90), (20, 180)):
        yield bundled_domain("sokoban"), write_problem(corridor(length, rotation))


def development_pairs() -> Iterator[tuple[str, str]]:
    files = sorted(Path(os.environ["LLM_MODULO_TEST_DATA"]).glob("acpbench/*/dev.gen.json"))
    for file in files:
        for item in json.loads(file.read_text(encoding="utf-8")):
            yield item["PDDL_domain"], item["PDDL_problem"]


def injected(pairs: Iterator[tuple[str, str]], seed: int, rounds: int) -> Counter[tuple[str, str]]:
    """(kind, result) → how often; asserts that the texts are clean before."""
    results: Counter[tuple[str, str]] = Counter()
    for number, (domain, problem) in enumerate(pairs):
        assert not [d for d in check(domain, problem).diagnostics if d.severity == "error"]
        for kind, plant in FAULTS.items():
            for turn in range(rounds):
                rng = random.Random(f"{seed}/{number}/{kind}/{turn}")
                planted = plant(rng, domain, problem)
                if planted is not None:
                    results[kind, judged(*planted)] += 1
    return results


def judged(domain: str, problem: str, file: str, line: int, code: str) -> str:
    errors = [d for d in check(domain, problem).diagnostics if d.severity == "error"]
    if len(errors) > 1:
        return "too many"
    if not errors or (errors[0].code, errors[0].file) != (code, file):
        return "missed"
    return "found" if errors[0].line == line else "wrong line"


def shares(results: Counter[tuple[str, str]]) -> dict[str, float]:
    totals: Counter[str] = Counter()
    for (_, result), count in results.items():
        totals[result] += count
    return {result: count / totals.total() for result, count in totals.items()}


def by_kind(results: Counter[tuple[str, str]]) -> str:
    bad = sorted((k, r, n) for (k, r), n in results.items() if r != "found")
    return "\n".join(f"{kind}: {count} {result}" for kind, result, count in bad)


def test_there_are_enough_kinds_of_fault() -> None:
    assert len(FAULTS) >= 25


def test_faults_in_bundled_domains_are_found_at_their_place() -> None:
    results = injected(bundled_pairs(), seed=3, rounds=6)
    assert shares(results).get("found", 0) >= 0.95, by_kind(results)
    assert shares(results).get("too many", 0) == 0, by_kind(results)


@pytest.mark.data
def test_faults_in_a_sample_of_the_development_data_are_found_at_their_place() -> None:
    sample = list(development_pairs())[::8]
    results = injected(iter(sample), seed=5, rounds=1)
    assert shares(results).get("found", 0) >= 0.95, by_kind(results)
    assert shares(results).get("too many", 0) == 0, by_kind(results)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_faults_in_the_development_data_are_found_at_their_place() -> None:
    results = injected(development_pairs(), seed=7, rounds=2)
    print(shares(results), by_kind(results), sep="\n")
    assert results.total() > 20_000
    assert shares(results).get("found", 0) >= 0.95, by_kind(results)
    assert shares(results).get("too many", 0) == 0, by_kind(results)
