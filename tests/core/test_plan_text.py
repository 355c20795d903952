"""Plans as text: what is read, what is refused and with which words, and the digest."""

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.errors import NotPddl, UsageError
from llm_modulo.pddl import MAX_TEXT
from llm_modulo.planning import format_plan, plan_digest, read_plan

TWO = [("move", "a", "b"), ("push", "b", "c")]


@pytest.mark.parametrize(
    "text",
    [
        "(move a b)\n(push b c)\n",
        "(move a b)\n(push b c)",
        "\r\n(move a b)\r\n\r\n(push b c)\r\n",
        "(move a b)\r(push b c)",
        "; a plan\n(move a b) ; the first\n  ; and\n(push b c)\n; cost = 2 (unit cost)\n",
        "  ( move  a\tb )\n\t(push b c )",
        "0: (move a b)\n1: (push b c)",
        "0 : (move a b)\n1 : (push b c)",
        "1. (move a b)\n2. (push b c)",
        "0.000: (move a b)\n0.001: (push b c)",
        "0.000: (move a b) [1.000]\n1.001: (push b c)  [1.000]",
        "(move a b) (1)\n(push b c) (1)",
        "(move a b),\n(push b c),",
    ],
)
def test_steps_are_read_from_every_usual_notation(text: str) -> None:
    assert read_plan(text) == TWO


def test_steps_are_read_from_a_list() -> None:
    assert read_plan(["(move a b)", "(push b c)"]) == TWO
    assert read_plan(("(move a b)", "1: (push b c)")) == TWO


def test_the_spelling_stays_as_written() -> None:
    assert read_plan("(Move A-1 b_2)") == [("Move", "A-1", "b_2")]


@pytest.mark.parametrize("text", ["", "\n\n", " ", "; cost = 0 (unit cost)\n"])
def test_no_step_is_a_plan_of_no_steps(text: str) -> None:
    assert read_plan(text) == []


@pytest.mark.parametrize(
    ("text", "number", "shown"),
    [
        ("R,R,R", 1, "'R,R,R'"),
        ("(move a b)\n\npush b c", 3, "'push b c'"),
        ("(move a b) (push b c)", 1, "'(move a b) (push b c)'"),
        ("(move a b", 1, "'(move a b'"),
        ("move a b)", 1, "'move a b)'"),
        ("(move (at a) b)", 1, "'(move (at a) b)'"),
        ("()", 1, "'()'"),
        ("; fine\n(  )", 2, "'(  )'"),
        ("Plan:\n(move a b)", 1, "'Plan:'"),
        ("(move a b) then", 1, "'(move a b) then'"),
        ("x" * 1_000, 1, "'" + "x" * 60 + "'"),
    ],
)
def test_a_line_that_is_no_step_is_named(text: str, number: int, shown: str) -> None:
    with pytest.raises(NotPddl) as raised:
        read_plan(text)
    assert str(raised.value) == (
        f"Line {number} of the plan is not a step: {shown}. A step is written `(action object …)`."
    )


@given(st.text(alphabet="() \n;:.,[]0a\t", max_size=80) | st.text())
def test_arbitrary_text_is_read_or_refused(text: str) -> None:
    try:
        steps = read_plan(text)
    except NotPddl:
        return
    assert all(steps)
    assert read_plan(format_plan([f"({' '.join(step)})" for step in steps])) == steps


@pytest.mark.parametrize(
    "line",
    ["(" + " " * 100_000 + "x", "(a)" + " " * 100_000 + "x", "(" + "a " * 100_000, "1" * 100_000],
    ids=["open", "after", "words", "digits"],
)
def test_a_long_bad_line_is_refused_at_once(line: str) -> None:
    start = time.process_time()
    with pytest.raises(NotPddl):
        read_plan(line)
    assert time.process_time() - start < 1.0


def test_more_text_than_is_read_is_refused() -> None:
    with pytest.raises(UsageError, match="The plan is longer than"):
        read_plan(" " * (MAX_TEXT + 1))


def test_the_digest_is_the_hash_of_the_plan_as_text() -> None:
    assert format_plan([]) == ""
    assert format_plan(["(a)", "(b c)"]) == "(a)\n(b c)\n"
    expected = "sha256:" + hashlib.sha256(b"(a)\n(b c)\n").hexdigest()
    assert plan_digest(("(a)", "(b c)")) == plan_digest(["(a)", "(b c)"]) == expected
    assert plan_digest([]) == "sha256:" + hashlib.sha256(b"").hexdigest()
    assert plan_digest(["(a)"]) != plan_digest(["(a)", "(a)"])
