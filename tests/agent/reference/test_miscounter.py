"""The miscounter's closed form: P(right) = (1 − p)^n, in text and in PDDL.

Asked directly, thousands of times, with fixed seeds.
"""

import itertools
import json
import re
from collections import Counter
from typing import Any

import pytest
from scipy.stats import binom, chisquare

from llm_modulo.agent.models.reference import Reply, Request, find_reference_model
from llm_modulo.agent.models.reference._sokoban import lane_of, shortened_lane, shortest_plan
from llm_modulo.domains.sokoban import Level, corridor, write_problem

TOOLS = [{"type": "function", "function": {"name": "solve"}}]


def ask(rows: list[str], *, seed: int, tools: bool = False, **parameters: Any) -> Reply:
    model = find_reference_model("miscounter")
    assert model is not None
    content = "Find a plan for this map:\n\n" + "\n".join(rows)
    body = {"messages": [{"role": "user", "content": content}], "seed": seed}
    return model.respond(
        Request({**body, "reference": parameters, "tools": TOOLS if tools else []})
    )


def letters(reply: Reply) -> str:
    assert reply.text is not None
    return re.sub("[^UDLR]", "", reply.text.removeprefix("MOVES:"))


def cells(reply: Reply) -> int:
    """How many cells the problem of a solve call has."""
    ((_, arguments),) = reply.calls
    found = re.search(r"\(:objects ([^)]*) - cell\)", arguments)
    assert found is not None
    return len(found[1].split())


# The chance that a right implementation fails one of these tests is 0.001; the seeds are fixed.
@pytest.mark.parametrize(
    ("purpose", "length", "p"),
    [
        ("text", 5, 0.1),
        ("text", 12, 0.03),
        ("text", 12, 0.4),
        ("pddl", 5, 0.1),
        ("pddl", 12, 0.03),
        ("pddl", 12, 0.4),
    ],
)
def test_the_number_of_lost_cells_is_binomial(purpose: str, length: int, p: float) -> None:
    rows, n, draws = corridor(length, 90).to_xsb(), length - 2, 1_500
    lost: Counter[int] = Counter()
    for seed in range(draws):
        if purpose == "text":
            reply = ask(rows, seed=seed, p_text=p)
            assert set(letters(reply)) <= {"D"}
            lost[n - len(letters(reply))] += 1
        else:
            lost[length - cells(ask(rows, seed=seed, tools=True, p_pddl=p))] += 1
    assert min(lost) >= 0, "a cell was doubled"
    expected = [draws * float(binom.pmf(k, n, p)) for k in range(n + 1)]
    # Rare counts are pooled until at least five are expected in each class.
    classes: list[list[float]] = [[0.0, 0.0]]
    for k in range(n + 1):
        classes[-1][0] += lost[k]
        classes[-1][1] += expected[k]
        if classes[-1][1] >= 5 and sum(expected[k + 1 :]) >= 5:
            classes.append([0.0, 0.0])
    observed, wanted = zip(*classes, strict=True)
    assert chisquare(observed, wanted).pvalue > 0.001


@pytest.mark.parametrize("purpose", ["text", "pddl"])
def test_right_answers_pooled_over_lengths_and_rotations(purpose: str) -> None:
    """One goodness-of-fit test over lengths: right and wrong against draws·(1 − p)^n."""
    p, draws = 0.05, 60
    statistic = 0.0
    lengths = (4, 8, 12, 20)
    for length in lengths:
        right = 0
        for rotation, seed in itertools.product((0, 90, 180, 270), range(draws)):
            level = corridor(length, rotation)
            if purpose == "text":
                reply = ask(level.to_xsb(), seed=seed, p_text=p)
                right += len(letters(reply)) == length - 2
            else:
                reply = ask(level.to_xsb(), seed=seed, tools=True, p_pddl=p)
                right += cells(reply) == length
        expected = (1 - p) ** (length - 2)
        variance = 4 * draws * expected * (1 - expected)
        statistic += (right - 4 * draws * expected) ** 2 / variance
    # 18.47 is the 99.9% point of χ² with 4 degrees of freedom, one for each length.
    assert statistic < 18.47


def test_every_cell_is_lost_as_often_as_any_other() -> None:
    """In PDDL the place is seen: the box's index among the cells that are left."""
    level = corridor(9)  # the box stands in cell 4
    before = Counter()
    for seed in range(600):
        reply = ask(level.to_xsb(), seed=seed, tools=True, p_pddl=0.3)
        ((_, arguments),) = reply.calls
        found = re.search(r"\(box-at c-1-(\d+)\)", arguments)
        assert found is not None
        before[int(found[1]) - 1] += 1
    # The cells 1 to 3 before the box decide where it stands: 4 − Binomial(3, 0.3), wherever the
    # box's own cell went.
    expected = [600 * float(binom.pmf(4 - place, 3, 0.3)) for place in (1, 2, 3, 4)]
    observed = [before[place] for place in (1, 2, 3, 4)]
    assert sum(observed) == 600
    assert chisquare(observed, expected).pvalue > 0.001


def test_nothing_is_lost_at_zero_and_everything_at_one() -> None:
    rows = corridor(10).to_xsb()
    assert letters(ask(rows, seed=1)) == "R" * 8
    assert letters(ask(rows, seed=1, p_text=0)) == "R" * 8
    assert letters(ask(rows, seed=1, p_text=1)) == ""
    assert cells(ask(rows, seed=1, tools=True)) == 10
    assert cells(ask(rows, seed=1, tools=True, p_pddl=1)) == 2
    # Each probability is for its own purpose.
    assert letters(ask(rows, seed=1, p_pddl=1)) == "R" * 8
    assert cells(ask(rows, seed=1, tools=True, p_text=1)) == 10


def test_text_and_pddl_are_lost_independently() -> None:
    rows = corridor(6).to_xsb()
    both = Counter()
    for seed in range(500):
        text = len(letters(ask(rows, seed=seed, p_text=0.2, p_pddl=0.2))) == 4
        pddl = cells(ask(rows, seed=seed, tools=True, p_text=0.2, p_pddl=0.2)) == 6
        both[text, pddl] += 1
    q = 0.8**4
    combinations = list(itertools.product((True, False), repeat=2))
    expected = [500 * (q if t else 1 - q) * (q if s else 1 - q) for t, s in combinations]
    assert chisquare([both[c] for c in combinations], expected).pvalue > 0.001


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("length", [3, 6])
def test_the_plan_is_right_exactly_if_no_cell_is_lost(length: int, rotation: int) -> None:
    """Every set of lost cells, every place of the box: the shortened corridor's shortest plan."""
    letter = {0: "R", 90: "D", 180: "L", 270: "U"}[rotation]
    inner = range(1, length - 1)
    for box in inner:
        level = corridor(length, rotation, box=box)
        lane = lane_of(level)
        assert lane is not None
        assert len(lane) == length
        assert lane[0] == level.player
        for size in range(length - 1):
            for lost in itertools.combinations(inner, size):
                short = shortened_lane(level, lane, set(lost))
                plan = shortest_plan(short)
                left = length - size
                # The box slides to the next cell that is left, in the end onto the goal.
                home = all(cell in lost for cell in range(box, length - 1))
                assert plan == ("" if home else letter * (left - 2))
                assert (plan == letter * (length - 2)) == (size == 0)
        whole = shortened_lane(level, lane, set())
        assert write_problem(whole) == write_problem(level)


@pytest.mark.parametrize(
    "rows",
    [
        ["#####", "#@$.#", "#   #", "#####"],
        ["######", "# @$.#", "######"],
        ["#######", "#@$$..#", "#######"],
        ["######", "#@$. #", "######"],
    ],
)
def test_what_is_no_corridor_loses_nothing(rows: list[str]) -> None:
    level = Level.from_xsb(rows)
    assert lane_of(level) is None
    ((_, arguments),) = ask(rows, seed=1, tools=True, p_pddl=1).calls
    assert json.loads(arguments)["problem"] == write_problem(level)
