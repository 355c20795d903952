"""Replay against a naive twin that moves characters about."""

import random
from collections.abc import Callable

import pytest

from llm_modulo.agent.models.reference._sokoban import shortest_plan
from llm_modulo.domains import Instance, Verdict, find_benchmark, instance_id
from llm_modulo.domains.sokoban import IllegalMove, Level


def check_against(naively: Callable, rows: list[str], moves: str) -> None:
    """Both agree on the first illegal move, the last position and the pushes."""
    walk = naively(rows, moves)
    level = Level.from_xsb(rows)
    if walk.failed is not None:
        with pytest.raises(IllegalMove) as caught:
            level.replay(moves)
        assert caught.value.step == walk.failed
        moves = moves[: walk.failed]
    last, lurd = level.replay(moves)
    assert lurd == walk.lurd
    assert last.to_xsb() == walk.rows
    assert last.solved == walk.solved


@pytest.mark.parametrize("seed", range(4))
def test_random_moves_on_random_levels(
    seed: int, naively: Callable, random_level: Callable
) -> None:
    generator = random.Random(seed)
    for _ in range(100):
        rows = random_level(generator)
        check_against(naively, rows, "".join(generator.choices("UDLR", k=12)))


@pytest.mark.parametrize("seed", range(4))
def test_long_legal_walks_on_random_levels(
    seed: int, naively: Callable, random_level: Callable
) -> None:
    """Random moves soon fail; here each move is legal for the twin, and then one is not."""
    generator = random.Random(1_000 + seed)
    pushes = 0
    for _ in range(50):
        rows = here = random_level(generator)
        moves = ""
        for _ in range(40):
            letters = [m for m in "UDLR" if naively(here, m).failed is None]
            wrong = sorted(set("UDLR") - set(letters))
            for letter in wrong:
                check_against(naively, rows, moves + letter)
            if not letters:
                break
            pushing = [m for m in letters if naively(here, m).lurd.isupper()]
            moves += generator.choice(pushing or letters)
            here = naively(here, moves[-1]).rows
        check_against(naively, rows, moves)
        pushes += sum(letter.isupper() for letter in naively(rows, moves).lurd)
    assert pushes > 50, "the levels are too open or too tight to test pushes"


def test_what_the_player_pushes_must_have_room_behind_it() -> None:
    for rows in (["#@$#", "#. #"], ["#@$$ #", "#..  #"], ["@$", ". "], ["#@$*#", "#.  #"]):
        level = Level.from_xsb(rows)
        with pytest.raises(IllegalMove):
            level.step("R")
        assert not level.can_step("R")


def test_a_box_can_leave_its_goal_and_the_map_has_an_edge() -> None:
    level = Level.from_xsb(["@* "])
    after, pushed = level.step("R")
    assert (after.to_xsb(), pushed) == ([" +$"], True)
    assert not after.solved
    for letter in "UDR":
        assert not after.can_step(letter)


@pytest.mark.parametrize(
    ("moves", "verdict", "failed_step"),
    [
        ("RRR", Verdict.COMPLETE, None),
        ("", Verdict.INCOMPLETE, None),
        ("RR", Verdict.INCOMPLETE, None),
        ("RL", Verdict.INCOMPLETE, None),
        ("LRRRR", Verdict.ILLEGAL, 0),
        ("RRRR", Verdict.ILLEGAL, 3),
        ("RRU", Verdict.ILLEGAL, 2),
        # Legal, with a detour, and at the goal: not the shortest plan, but complete.
        ("RLRRR", Verdict.COMPLETE, None),
    ],
)
def test_the_judge_on_a_corridor_of_five(
    moves: str, verdict: Verdict, failed_step: int | None
) -> None:
    payload = {"map": ["#######", "#@ $ .#", "#######"]}
    instance = Instance(
        id=instance_id("sokobench", payload),
        benchmark="sokobench",
        parameters={},
        payload=payload,
        certificate={},
    )
    judged = find_benchmark("sokobench").judge(instance, moves)
    assert (judged.verdict, judged.failed_step, judged.reason) == (verdict, failed_step, None)


def test_shortest_plan_is_as_long_as_a_search_over_maps(
    random_level: Callable, naive_search: Callable, naively: Callable
) -> None:
    generator = random.Random(5)
    solvable = 0
    for _ in range(100):
        rows = random_level(generator, largest=5, most_boxes=2)
        plan = shortest_plan(Level.from_xsb(rows))
        optimum = naive_search(rows)
        assert (None if plan is None else len(plan)) == optimum
        if plan is not None:
            walk = naively(rows, plan)
            assert walk.failed is None
            assert walk.solved
            solvable += len(plan) > 0
    assert solvable >= 10
