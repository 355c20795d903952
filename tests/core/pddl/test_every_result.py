"""What holds for each result of `check`, whatever the text: order, places, what `parse` does."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.errors import NotPddl, UsageError
from llm_modulo.pddl import MAX_TEXT, CheckResult, Problem, check, parse

DOMAIN = """(define (domain d) (:requirements :adl :action-costs)
 (:types a b - object c - (either a b)) (:constants k - a)
 (:predicates (p ?x - a) (q)) (:functions (total-cost) - number (f ?x - a) - number)
 (:action do :parameters (?x - a ?y - b)
  :precondition (and (p ?x) (or (q) (not (= ?x k))) (forall (?z - c) (imply (p ?z) (q))))
  :effect (and (when (exists (?z - c) (p ?z)) (not (q))) (increase (total-cost) (f ?x)))))"""
PROBLEM = """(define (problem x) (:domain d) (:objects o - c)
 (:init (p k) (= (f k) 3) (= (total-cost) 0))
 (:goal (and (q) (not (p o)))) (:metric minimize (total-cost)))"""

WORDS = """( ( ( ( ) ) ) ) define domain problem :domain :requirements :types :constants :predicates
:functions :action :parameters :precondition :effect :durative-action :duration :condition :derived
:objects :init :goal :metric :constraints :typing and or not imply forall exists when = < + - / *
increase assign at start over all preference minimize total-cost ?x ?y p q k o a b object either - 1
1.5 -2 . ; ? # , | " ' \\ \0 \n \r \t é 漢 \u00a0 \u200b \ud800 \ufeff""".split(" ")
texts = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(WORDS), max_size=120).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=60).map("".join),
)


@st.composite
def mutations(draw: st.DrawFn, text: str) -> str:
    """A text with a few words deleted, repeated, moved or replaced."""
    words = text.replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(["delete", "repeat", "move", "replace"])):
            case "delete":
                del words[place]
            case "repeat":
                words.insert(place, words[place])
            case "move":
                words.insert(draw(st.integers(0, len(words) - 1)), words.pop(place))
            case "replace":
                words[place] = draw(st.sampled_from(WORDS))
    return " ".join(words)


def checked(domain: str, problem: str | None) -> CheckResult:
    """The result, after a look at everything that holds for each result."""
    start = time.process_time()
    result = check(domain, problem)
    assert time.process_time() - start < 1.0
    json.dumps(result.to_json())
    assert result.ok is (not any(d.severity == "error" for d in result.diagnostics))
    for found in result.diagnostics:
        text = domain if found.file == "domain" else problem
        assert text is not None
        assert (1, 1) <= (found.line, found.column) <= (found.end_line, found.end_column)
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        assert found.end_line <= len(lines)
        assert found.end_column <= len(lines[found.end_line - 1]) + 2  # a line end may be two
    places = [(d.file, d.line, d.column) for d in result.diagnostics]
    assert places == sorted(places), "the domain's faults come first, each file's in its order"
    assert len(set(result.diagnostics)) == len(result.diagnostics)
    return result


@given(domain=texts, problem=st.none() | texts)
def test_arbitrary_text(domain: str, problem: str | None) -> None:
    checked(domain, problem)


@given(problem=texts)
def test_an_arbitrary_problem_over_a_domain(problem: str) -> None:
    checked(DOMAIN, problem)


@given(domain=mutations(DOMAIN), problem=mutations(PROBLEM))
def test_damaged_text(domain: str, problem: str) -> None:
    for pair in ((domain, PROBLEM), (DOMAIN, problem), (domain, problem)):
        result = checked(*pair)
        try:
            assert isinstance(parse(*pair), Problem)
            assert result.ok
        except NotPddl:
            assert not result.ok


def test_the_text_that_is_damaged_is_clean() -> None:
    assert check(DOMAIN, PROBLEM).ok


NOTHING = {
    "empty": ("", "not-pddl"),
    "blank": (" \n\t ", "not-pddl"),
    "nul": ("\0", "not-pddl"),
    "binary": ("\x7fELF\x02\x01\x01\0\0\xff\xfe", "not-pddl"),
    "comment": ("; a comment", "not-pddl"),
    "empty form": ("()", "not-pddl"),
    "100,000 deep, open": ("(" * 100_000, "too-deep"),
    "100,000 deep, closed": ("(" * 100_000 + ")" * 100_000, "too-deep"),
    "closing only": (")" * 100_000, "not-pddl"),
    "one long word": ("x" * 1_000_000, "not-pddl"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_text_that_is_nothing_gives_one_error(name: str) -> None:
    text, code = NOTHING[name]
    assert [d.code for d in checked(text, None).diagnostics] == [code]
    found = checked(DOMAIN, text).diagnostics
    assert [d.code for d in found if d.file == "problem"] == [code]


def test_more_text_than_is_read_is_refused_at_once() -> None:
    much = "(" * 50_000_000
    start = time.process_time()
    for pair in ((much, None), (DOMAIN, much)):
        with pytest.raises(UsageError, match=f"longer than {MAX_TEXT:,} characters"):
            check(*pair)
    assert time.process_time() - start < 2.0
