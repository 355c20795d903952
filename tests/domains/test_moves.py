"""Moves as text: both notations are read, and it is said which one was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.domains.sokoban import Level, format_moves, moves_of_plan, read_moves

moves = st.text("UDLR", max_size=60)


@given(moves)
def test_what_is_formatted_is_read_back(letters: str) -> None:
    found = read_moves(format_moves(letters))
    assert found is not None
    assert (found.moves, found.notation) == (letters, "comma-separated")


@given(st.text("udlrUDLR", min_size=2, max_size=60))
def test_lurd_keeps_the_directions(text: str) -> None:
    found = read_moves(text)
    assert found is not None
    assert (found.moves, found.notation) == (text.upper(), "lurd")


def test_the_lurd_that_replay_writes_is_read_back() -> None:
    level = Level.from_xsb(["#######", "#@ $ .#", "#######"])
    _, lurd = level.replay("RRR")
    assert lurd == "rRR"
    found = read_moves(lurd)
    assert found is not None
    assert (found.moves, found.notation) == ("RRR", "lurd")


@pytest.mark.parametrize(
    ("text", "letters", "notation"),
    [
        ("R,R,D", "RRD", "comma-separated"),
        (" R , R,D ", "RRD", "comma-separated"),
        ("R,\nR,\nD", "RRD", "comma-separated"),
        ("R,R,", "RR", "comma-separated"),
        ("r,r,D", "RRD", "comma-separated"),
        ("R", "R", "comma-separated"),
        ("r", "R", "lurd"),
        ("RRD", "RRD", "lurd"),
        ("rrD\n", "RRD", "lurd"),
        ("", "", "comma-separated"),
        (" \n", "", "comma-separated"),
    ],
)
def test_both_notations(text: str, letters: str, notation: str) -> None:
    found = read_moves(text)
    assert found is not None
    assert (found.moves, found.notation) == (letters, notation)


@pytest.mark.parametrize(
    "text",
    [
        ",",
        ",R",
        "R,,R",
        "R R",
        "R;R",
        "R,X",
        "RRX",
        "right, right",
        "R,RR",
        "R.",
        "MOVES: R",
        "[R]",
        "Ｒ,Ｒ",
    ],
)
def test_what_is_no_plan_is_not_read(text: str) -> None:
    assert read_moves(text) is None


@given(st.text("UDLRudlr, \n.x", max_size=40))
def test_reading_never_invents_letters(text: str) -> None:
    found = read_moves(text)
    if found is not None:
        assert found.moves == "".join(c for c in text.upper() if c in "UDLR")


# A model that repeats itself until its limit must not hold up the scoring: what takes the square
# of the length would take an hour here.
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text", ["R" + " " * 500_000 + "x", "R," * 500_000 + "x", "R, " * 500_000, "r" * 500_000 + "x"]
)
def test_reading_takes_time_in_proportion_to_the_text(text: str) -> None:
    found = read_moves(text)
    assert (found is None) == text.endswith("x")


@pytest.mark.parametrize(
    ("plan", "letters"),
    [
        ([], ""),
        (["(move c-1-1 c-1-2 right)", "(push c-1-2 c-1-3 c-1-4 right)"], "RR"),
        (["(MOVE A B UP)", " (push a b c down) ", "move a b left"], "UDL"),
        (["(move c-1-1 c-1-2)"], None),
        (["(push c-1-1 c-1-2 right)"], None),
        (["(move a b c right)"], None),
        (["(move c-1-1 c-1-2 sideways)"], None),
        (["(move a b right)", "(teleport a b right)"], None),
        ([""], None),
        (["()"], None),
    ],
)
def test_a_plan_over_the_domain_as_letters(plan: list[str], letters: str | None) -> None:
    assert moves_of_plan(plan) == letters
