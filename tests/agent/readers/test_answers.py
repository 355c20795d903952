"""Answers as models write them, and what is read from them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.agent.readers import read_answer
from llm_modulo.domains import Benchmark, Unparsed, find_benchmark
from llm_modulo.domains.sokoban import format_moves


@pytest.fixture(scope="module")
def sokobench() -> Benchmark:
    return find_benchmark("sokobench")


# name: (answer, moves)
PLANS = {
    "as asked": ("MOVES: R,R,R,R", "RRRR"),
    "with spaces": ("MOVES: R, R, R, R", "RRRR"),
    "without a space": ("MOVES:R,R,R", "RRR"),
    "one move": ("MOVES: U", "U"),
    "one move alone": ("D", "D"),
    "nothing after it": ("MOVES:", ""),
    "nothing but a space": ("MOVES: \n", ""),
    "nothing, in bold": ("**MOVES:**", ""),
    "letters alone": ("L,L,L", "LLL"),
    "letters alone with spaces": ("L, L, L\n", "LLL"),
    "trailing period": ("MOVES: D,D,D.", "DDD"),
    "trailing comma": ("MOVES: D,D,D,", "DDD"),
    "lower-case LURD": ("MOVES: rrrR", "RRRR"),
    "LURD alone": ("rrRR", "RRRR"),
    "all pushes": ("MOVES: RRRR", "RRRR"),
    "lower case with commas": ("MOVES: r, r, R", "RRR"),
    "lower-case marker": ("Moves: U,U", "UU"),
    "bold marker": ("**MOVES:** R,R,R", "RRR"),
    "bold line": ("**MOVES: R,R,R**", "RRR"),
    "bold line with a period": ("**MOVES: R,R,R.**", "RRR"),
    "period after bold": ("**MOVES: R,R,R**.", "RRR"),
    "bold letters": ("MOVES: **R,R,R**", "RRR"),
    "italics": ("_MOVES: R,R,R_", "RRR"),
    "code span": ("`MOVES: R,R,R`", "RRR"),
    "letters in a code span": ("MOVES: `R,R,R`", "RRR"),
    "heading": ("## MOVES: R,R,R", "RRR"),
    "quotation": ("> MOVES: R,R,R", "RRR"),
    "list item": ("- MOVES: R,R,R", "RRR"),
    "indented": ("    MOVES: R,R,R", "RRR"),
    "space before the colon": ("MOVES : R,R", "RR"),
    "fence": ("```\nMOVES: R,R,R\n```", "RRR"),
    "fence with a language": ("```text\nMOVES: R,R,R\n```", "RRR"),
    "letters in a fence": ("```\nR,R,R\n```", "RRR"),
    "letters in a fence with a language": ("```plaintext\nR,R,R\n```", "RRR"),
    "marker above a fence": ("MOVES:\n```\nR,R,R\n```", "RRR"),
    "marker above a fence with a language": ("MOVES:\n```text\nR,R,R\n```\nDone.", "RRR"),
    "letters on the next line": ("MOVES:\nR,R,R", "RRR"),
    "letters after an empty line": ("**MOVES:**\n\nR,R,R\n", "RRR"),
    "letters on the next line, then prose": ("MOVES:\nR,R,R\n\nThis pushes the box home.", "RRR"),
    "letters on the next line, prose below": ("MOVES:\nR,R,R\nThat is all.", "RRR"),
    "broken over lines": ("MOVES: R,R,\nR,R,\nR", "RRRRR"),
    "broken over lines, then prose": ("MOVES: R,R,\nR,R\n\nThe box is home.", "RRRR"),
    "broken below the marker": ("MOVES:\nR,R,\nR,R\nThe box is home.", "RRRR"),
    "letters broken over lines": ("R,R,\nR,R", "RRRR"),
    "prose, then letters broken over lines": ("The plan is:\nR,R,\nR,R", "RRRR"),
    "prose first": ("The box is two cells away.\n\nMOVES: R,R,R", "RRR"),
    "prose around": ("First I walk.\nMOVES: R,R,R\nThen the box is on the goal.", "RRR"),
    "prose first, letters last": ("The player walks right.\n\nR,R,R", "RRR"),
    "twice: the last counts": ("MOVES: R,R\nNo, one more.\nMOVES: R,R,R", "RRR"),
    "twice: the last has none": ("MOVES: R,R\nWait, it is solved already.\nMOVES:", ""),
    "said again": ("R,R,R\n\nR,R,R", "RRR"),
    "thinking first": ("<think>MOVES: L,L? No.</think>\nMOVES: R,R,R", "RRR"),
    "thinking in capitals": ("<THINK>\nL,L\n</THINK>R,R,R", "RRR"),
    "thinking with the other tag": ("<thinking>hm</thinking>MOVES: R", "R"),
    "thinking twice": ("<think>a</think>MOVES: L\n<think>MOVES: U</think>MOVES: R", "R"),
    "thinking after the answer": ("MOVES: R,R,R\n<think>MOVES: L", "RRR"),
    # Some chat templates open the block themselves, so that only its end is in the answer.
    "thinking without its start": ("So far MOVES: L.\nMOVES: L,L\n</think>\n\nR,R,R", "RRR"),
    "windows line ends": ("Plan:\r\nMOVES: R,R,R\r\n", "RRR"),
    "apology, but a plan": ("I'm sorry for the delay.\nMOVES: R,R", "RR"),
    "doubt, but a plan": ("There may be no solution.\nMOVES: R,R", "RR"),
    "example repeated": ("In the example:\n\nMOVES: R,R,R,R\n\nHere:\n\nMOVES: D,D", "DD"),
}

# name: (answer, reason)
NO_PLANS = {
    "nothing": ("", Unparsed.EMPTY),
    "white space": (" \n\t\n", Unparsed.EMPTY),
    "only thoughts": ("<think>R,R,R</think>", Unparsed.EMPTY),
    "thoughts without end": ("<think>MOVES: R,R,R and then", Unparsed.EMPTY),
    "thoughts without start": ("MOVES: R,R,R it is\n</think>", Unparsed.EMPTY),
    "gave up": ("I give up.", Unparsed.GAVE_UP),
    "no plan": ("There is no valid plan for this map.", Unparsed.GAVE_UP),
    "no solution": ("MOVES:\nNo solution exists.", Unparsed.GAVE_UP),
    "unsolvable": ("This puzzle is unsolvable, since the box is stuck.", Unparsed.GAVE_UP),
    "cannot be solved": ("The level can't be solved.", Unparsed.GAVE_UP),
    "unable to find": ("I was unable to find a plan.", Unparsed.GAVE_UP),
    "could not find": ("I could not find a plan with the tools.", Unparsed.GAVE_UP),
    "couldn’t find": ("After three attempts I couldn’t find a plan.", Unparsed.GAVE_UP),
    "impossible": ("It is impossible to solve this level.", Unparsed.GAVE_UP),
    "impossible map": ("This map is impossible.", Unparsed.GAVE_UP),
    "apology for giving up": ("I'm sorry, but there is no solution.", Unparsed.GAVE_UP),
    "what the oracle says": ("No plan was found with the tools; I give up.", Unparsed.GAVE_UP),
    "refusal": ("I'm sorry, but I can't help with that.", Unparsed.REFUSED),
    "refusal with curly apostrophes": ("I’m sorry, but I can’t help with that.", Unparsed.REFUSED),
    "refusal in long words": ("I cannot assist with this request.", Unparsed.REFUSED),
    "refusal, unable": ("I am unable to comply.", Unparsed.REFUSED),
    "prose about the impossible": (
        "It is impossible to push the box left, so push it right.",
        Unparsed.MALFORMED,
    ),
    "prose only": ("The player should walk to the box and push it.", Unparsed.MALFORMED),
    "marker in prose": ("I will write MOVES: when I know them.", Unparsed.MALFORMED),
    "prose after the marker": ("MOVES: to the right, always", Unparsed.MALFORMED),
    "prose below the marker": ("MOVES:\nWalk to the box and push it.", Unparsed.MALFORMED),
    "words": ("MOVES: right, right, right", Unparsed.MALFORMED),
    "wrong letters": ("MOVES: E,E,E", Unparsed.MALFORMED),
    "one wrong letter": ("MOVES: R,R,X,R", Unparsed.MALFORMED),
    "one wrong letter in LURD": ("rrXR", Unparsed.MALFORMED),
    "letters apart": ("MOVES: R R R", Unparsed.MALFORMED),
    "arrows": ("MOVES: →,→,→", Unparsed.MALFORMED),
    "numbers": ("MOVES: 4", Unparsed.MALFORMED),
    "count of letters": ("MOVES: R×48", Unparsed.MALFORMED),
    "list in brackets": ("MOVES: [R, R, R]", Unparsed.MALFORMED),
    "elided": ("MOVES: R,R,R,...,R", Unparsed.MALFORMED),
    "elided at the end": ("MOVES: R,R,R,...", Unparsed.MALFORMED),
    "dots for letters": ("MOVES: ...", Unparsed.MALFORMED),
    "a remark behind": ("MOVES: R,R,R (three moves)", Unparsed.MALFORMED),
    "two lines, no comma": ("MOVES:\nR,R\nR,R", Unparsed.MALFORMED),
    "the last one is no plan": ("MOVES: R,R,R\nMOVES: none", Unparsed.MALFORMED),
    "tool call in prose": (
        'I will call the planner now.\n{"name": "solve", "arguments": {"problem": "(define)"}}',
        Unparsed.MALFORMED,
    ),
    "tool call in a tag": (
        '<tool_call>\n{"name": "parse_problem", "arguments": {}}\n</tool_call>',
        Unparsed.MALFORMED,
    ),
    "broken JSON": ('{"moves": ["R", "R", "R"', Unparsed.MALFORMED),
    "JSON": ('{"moves": ["R", "R", "R"]}', Unparsed.MALFORMED),
    "PDDL": ("(push c-1-1 c-1-2 c-1-3 right)", Unparsed.MALFORMED),
    "an empty fence": ("```\n```", Unparsed.MALFORMED),
}


@pytest.mark.parametrize("name", PLANS)
def test_answers_with_a_plan(name: str, sokobench: Benchmark) -> None:
    text, moves = PLANS[name]
    found = read_answer(text, sokobench)
    assert (found.moves, found.reason) == (moves, None)
    lurd = "LURD" in name or name == "all pushes"
    assert found.notation == ("lurd" if lurd else "comma-separated")


@pytest.mark.parametrize("name", NO_PLANS)
def test_answers_without_a_plan(name: str, sokobench: Benchmark) -> None:
    text, reason = NO_PLANS[name]
    found = read_answer(text, sokobench)
    assert (found.moves, found.reason, found.notation) == (None, reason, None)


@pytest.mark.parametrize("text", ["MOVES: R,R,R", "MOVES: R,R,", "R,R,R", "", "<think>R"])
def test_a_truncated_answer_is_truncated_whatever_it_holds(text: str, sokobench: Benchmark) -> None:
    for refused in (False, True):
        found = read_answer(text, sokobench, truncated=True, refused=refused)
        assert (found.moves, found.reason) == (None, Unparsed.TRUNCATED)


@pytest.mark.parametrize("text", ["MOVES: R,R,R", "", "No."])
def test_what_the_endpoint_marks_as_a_refusal_is_one(text: str, sokobench: Benchmark) -> None:
    found = read_answer(text, sokobench, refused=True)
    assert (found.moves, found.reason) == (None, Unparsed.REFUSED)


moves = st.text("UDLR", max_size=40)
prose = st.text(max_size=80).filter(lambda t: not re.search(r"moves|think|`", t, re.I))


@given(moves)
def test_what_we_ask_for_is_read_back(letters: str) -> None:
    found = read_answer(f"MOVES: {format_moves(letters)}", find_benchmark("sokobench"))
    assert (found.moves, found.reason) == (letters, None)


@given(moves, prose, prose, st.sampled_from(["{}", "**{}**", "`{}`", "```\n{}\n```", "> {}"]))
def test_a_marked_plan_is_read_whatever_stands_around_it(
    letters: str, before: str, after: str, frame: str
) -> None:
    line = frame.format(f"MOVES: {format_moves(letters)}")
    # Nothing after the marker and letters below it are a plan below it; so prose comes first here.
    text = f"{before}\n{line}\n(end) {after}" if letters else f"{before}\n{line}"
    found = read_answer(text, find_benchmark("sokobench"))
    assert (found.moves, found.reason) == (letters, None)


@given(st.text("UDLRudlr ,.\n`*MOVES:<>/think-", max_size=60) | st.text(max_size=80))
def test_any_text_has_moves_or_a_reason(text: str) -> None:
    found = read_answer(text, find_benchmark("sokobench"))
    assert (found.moves is None) == (found.reason is not None)
    assert (found.moves is None) == (found.notation is None)
    if found.moves is not None:
        assert set(found.moves) <= set("UDLR")
        assert len(found.moves) <= sum(c in "UDLRudlr" for c in text)


# Models repeat themselves until a limit, and what they repeat must not hold up the scoring.
@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "a" + "\n" * 300_000 + "b",
        "a" + " " * 300_000 + "b",
        "MOVES: " + "R," * 300_000 + "x",
        "R" + " \n" * 200_000 + "x",
        "MOVES: R,\n" * 50_000,
        "MOVES:\n" + "R,R,\n" * 50_000 + "x",
        "<think>" * 100_000,
        "</think>" * 100_000,
        "*_`" * 100_000,
        "I can't " * 50_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_reading_takes_time_in_proportion_to_the_text(text: str, sokobench: Benchmark) -> None:
    found = read_answer(text, sokobench)
    assert (found.moves is None) == (found.reason is not None)
