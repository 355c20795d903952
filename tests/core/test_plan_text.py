"""Plans as text: what is read, what is refused and with which words, and the digest."""

import hashlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.errors import NotPddl, UsageError
from llm_modulo.pddl import MAX_TEXT
from llm_modulo.planning import format_plan, plan_digest, read_plan, solve

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
        '["(move a b)", "(push b c)"]',
        '\n[\n  "(move a b)",\n  "1: (push b c)"\n]\n',
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


@pytest.mark.parametrize(
    ("plan", "number", "shown"),
    [
        (["(move a b)", "push b c"], 2, "'push b c'"),
        ('["(move a b)", "push b c"]', 2, "'push b c'"),
        ('["(move a b)", ["push", "b"]]', 2, "\"['push', 'b']\""),
        ([("move", "a", "b")], 1, "\"('move', 'a', 'b')\""),
        ("[3]", 1, "'3'"),
        (["(move a b)\n(push b c)"], 1, r"'(move a b)\n(push b c)'"),
        (["; now\n(move a b)"], 1, r"'; now\n(move a b)'"),
    ],
)
def test_an_item_that_is_no_step_is_named(plan: str, number: int, shown: str) -> None:
    with pytest.raises(NotPddl) as raised:
        read_plan(plan)
    assert str(raised.value) == (
        f"Item {number} of the plan is not a step: {shown}. A step is written `(action object …)`."
    )


@pytest.mark.parametrize("text", ["[", '["(move a b)"', '{"plan": []}', "[[" * 50_000])
def test_what_is_no_list_is_read_by_line(text: str) -> None:
    with pytest.raises(NotPddl, match=r"^Line 1 of the plan is not a step: "):
        read_plan(text)


FAST_DOWNWARD = """\
INFO     Running search (release).
[t=0.000152s, 10156 KB] Search code revision: 7ea275526
[t=0.002211s, 10412 KB] Solution found!
[t=0.002230s, 10412 KB] Actual search time: 0.000189s
move a b (1)
push b c (12)
[t=0.002251s, 10412 KB] Plan length: 2 step(s).
[t=0.002251s, 10412 KB] Plan cost: 13
Solution found.
Peak memory: 10412 KB
"""
LOGGED = """\
2026-11-30 07:46:04,427 INFO     Search end: level
2026-11-30 07:46:04,427 INFO     Plan length: 2
2026-11-30 07:46:04,428 INFO     validate could not be found on the PATH
(move a b)
(push b c)
"""
FOUND_PLAN = """\
Problem Solved

Found Plan:
0.0: (move a b)
1.0: (push b c)

Plan-Length:2
Metric (Search):2.0
"""
LONGER = FAST_DOWNWARD.replace("push b c (12)", "move b d (1)\nmove d c (1)").replace(
    "2 st", "3 st"
)


@pytest.mark.parametrize(
    "log",
    [
        FAST_DOWNWARD,
        FAST_DOWNWARD.replace("[t=0.002251s, 10412 KB] Plan", "Plan").replace(
            "[t=0.002230s, 10412 KB] ", ""
        ),
        LONGER + FAST_DOWNWARD,  # an anytime search: the last plan is the best
        FAST_DOWNWARD + "[t=0.01s, 10412 KB] Actual search time: 0.01s\nNo better plan.\n",
        LOGGED,
        FOUND_PLAN,
    ],
)
def test_steps_are_read_from_the_logs_of_planners(log: str) -> None:
    assert read_plan(log) == TWO


def test_a_log_may_have_a_plan_of_no_steps() -> None:
    empty = FAST_DOWNWARD.replace("move a b (1)\npush b c (12)\n", "").replace("2 step", "0 step")
    assert read_plan(empty) == []


def test_the_log_of_the_real_planner_is_read(
    sokoban: str, corridor_problem: Callable[..., str]
) -> None:
    result = solve(sokoban, corridor_problem(7), planner="fast-downward-opt")
    # Its end, from the last line that begins within the part that we keep.
    log = result.log_tail.partition("\n")[2]
    assert [f"({' '.join(step)})" for step in read_plan(log)] == list(result.plan or ())


@pytest.mark.parametrize(
    ("log", "message"),
    [
        (
            FAST_DOWNWARD.replace("move a b (1)\n", ""),
            "Line 6 of the log says that the plan has 2 steps, it has 1.",
        ),
        (
            LOGGED.replace("(push b c)\n", ""),
            "Line 2 of the log says that the plan has 2 steps, it has 1.",
        ),
        (
            "\n".join(FAST_DOWNWARD.splitlines()[:3]),
            "The log of 3 lines has no plan in it.",
        ),
        (
            FAST_DOWNWARD.replace("push b c (12)", "then push b to c (12) or so"),
            "The log of 10 lines has no plan in it.",
        ),
    ],
)
def test_a_log_without_the_plan_that_it_speaks_of_is_refused(log: str, message: str) -> None:
    with pytest.raises(NotPddl) as raised:
        read_plan(log)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "prose",
    [
        "I would move a to b.\n(move a b)\nPlan length: 1",
        "(move a b)\nPlan length: 1 step(s).",
        "My plan:\n(move a b)\nThat is all.",
        "```\n(move a b)\n```",
        "move a b (1)\npush b c (1)",
        "Solution found! I would\nmove a b (1)\nPlan length: 1 step(s).",
        "Found Plan:\n(move a b)\nThen push.\nPlan-Length:2",
        "2026-11-30 07:46:04,427 INFO Plan length: 1\nHere it is:\n(move a b)",
    ],
)
def test_prose_around_steps_is_no_plan(prose: str) -> None:
    with pytest.raises(NotPddl, match="is not a step"):
        read_plan(prose)


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


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30 07:46:04,427 INFO none\n(a b)\n2026-11-30 07:46:05,001 INFO unsolvable",
        "(a b) [no, this failed]",
        "(:action move)",
        "(move ?x ?y)",
        "(a)\n; cost = 1 (unit cost)\n(b)\n; cost = 1 (unit cost)\n",
    ],
)
def test_what_only_looks_like_a_plan_is_none(text: str) -> None:
    with pytest.raises(NotPddl):
        read_plan(text)


def test_a_step_as_lpg_writes_it() -> None:
    assert read_plan("0.0003: (MOVE A B) [D:1.0000; C:0.1000]") == [("MOVE", "A", "B")]
