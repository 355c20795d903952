"""The Sokoban domain and the problems written for it say what the rules say."""

import random
from collections.abc import Callable

import pytest

import llm_modulo
from llm_modulo.agent.models.reference._sokoban import shortest_plan
from llm_modulo.domains import bundled_domain, bundled_domains
from llm_modulo.domains.sokoban import (
    DIRECTIONS,
    Cell,
    Level,
    cell_name,
    corridor,
    moves_of_plan,
    sokoban_domain,
    write_problem,
)
from llm_modulo.errors import UsageError

NAMES = {"U": "up", "D": "down", "L": "left", "R": "right"}


def step_of(level: Level, letter: str) -> str:
    """A move as a step over the domain, whether it is legal or not."""

    def beside(cell: Cell) -> Cell:
        return cell[0] + DIRECTIONS[letter][0], cell[1] + DIRECTIONS[letter][1]

    here, near = level.player, beside(level.player)
    cells = [here, near, beside(near)] if near in level.boxes else [here, near]
    words = [cell_name(cell) for cell in cells]
    return f"({'push' if len(cells) == 3 else 'move'} {' '.join(words)} {NAMES[letter]})"


def plan_of(level: Level, moves: str) -> list[str]:
    """Moves as steps; only the last of them may be illegal."""
    plan = []
    for letter in moves:
        plan.append(step_of(level, letter))
        if level.can_step(letter):
            level, _ = level.step(letter)
    return plan


def test_the_bundled_domain_has_no_faults() -> None:
    checked = llm_modulo.check(sokoban_domain())
    assert [d for d in checked.diagnostics if d.severity == "error"] == []
    assert "sokoban" in bundled_domains()
    assert bundled_domain("sokoban") == sokoban_domain()
    with pytest.raises(UsageError, match="sokoban"):
        bundled_domain("checkers")


def test_a_written_problem_has_no_faults(level_rows: list[str]) -> None:
    checked = llm_modulo.check(sokoban_domain(), write_problem(Level.from_xsb(level_rows)))
    assert [d for d in checked.diagnostics if d.severity == "error"] == []


def test_the_problem_of_the_smallest_corridor_by_hand() -> None:
    assert write_problem(corridor(3), name="three") == (
        "(define (problem three)\n"
        "  (:domain sokoban)\n"
        "  (:objects c-1-1 c-1-2 c-1-3 - cell)\n"
        "  (:init\n"
        "    (player-at c-1-1)\n"
        "    (box-at c-1-2)\n"
        "    (clear c-1-3)\n"
        "    (adjacent c-1-1 c-1-2 right)\n"
        "    (adjacent c-1-2 c-1-1 left)\n"
        "    (adjacent c-1-2 c-1-3 right)\n"
        "    (adjacent c-1-3 c-1-2 left)\n"
        "  )\n"
        "  (:goal (and (box-at c-1-3))))\n"
    )


@pytest.mark.parametrize("seed", range(3))
def test_legal_moves_and_pddl_steps_are_the_same(seed: int, random_level: Callable) -> None:
    """Walks that the rules allow are plans; a move that they forbid fails at its step."""
    generator = random.Random(seed)
    for _ in range(12):
        level = start = Level.from_xsb(random_level(generator, largest=6))
        problem = write_problem(start)
        moves = ""
        for _ in range(8):
            for letter in "UDLR":
                if not level.can_step(letter):
                    plan = plan_of(start, moves + letter)
                    judged = llm_modulo.validate(sokoban_domain(), problem, plan)
                    assert (judged.valid, judged.failed_step) == (False, len(moves)), plan
            letters = [letter for letter in "UDLR" if level.can_step(letter)]
            if not letters:
                break
            moves += generator.choice(letters)
            level, _ = level.step(moves[-1])
        plan = plan_of(start, moves)
        judged = llm_modulo.validate(sokoban_domain(), problem, plan)
        assert judged.failed_step is None
        assert judged.valid == level.solved
        assert moves_of_plan(plan) == moves


def test_an_optimal_plan_is_as_long_as_the_shortest_walk(
    level_rows: list[str], naively: Callable, naive_search: Callable
) -> None:
    level = Level.from_xsb(level_rows)
    found = llm_modulo.solve(sokoban_domain(), write_problem(level), planner="fast-downward-opt")
    assert str(found.outcome) == "solved_optimally"
    assert found.validated == "replayed"
    shortest = shortest_plan(level)
    assert shortest is not None
    assert len(found.plan) == len(shortest) == found.cost
    moves = moves_of_plan(found.plan)
    walk = naively(level_rows, moves)
    assert walk.failed is None
    assert walk.solved


def test_a_first_plan_replays(level_rows: list[str], naively: Callable) -> None:
    found = llm_modulo.solve(sokoban_domain(), write_problem(Level.from_xsb(level_rows)))
    walk = naively(level_rows, moves_of_plan(found.plan))
    assert walk.failed is None
    assert walk.solved


@pytest.mark.parametrize(
    "rows",
    [
        ["#####", "#@ .#", "# $ #", "#   #", "#$ .#", "#####"],
        ["######", "#@ #.#", "# $# #", "#  # #", "######"],
    ],
    ids=["box in a corner", "goal out of reach"],
)
def test_a_level_without_a_plan_is_proved_unsolvable(rows: list[str]) -> None:
    level = Level.from_xsb(rows)
    assert shortest_plan(level) is None
    found = llm_modulo.solve(sokoban_domain(), write_problem(level))
    assert str(found.outcome) == "unsolvable"


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_corridors_plan_is_its_witness(rotation: int) -> None:
    level = corridor(20, rotation)
    found = llm_modulo.solve(sokoban_domain(), write_problem(level))
    assert moves_of_plan(found.plan) == shortest_plan(level)


def test_a_goal_of_ones_own() -> None:
    level = corridor(5)
    found = llm_modulo.solve(
        sokoban_domain(), write_problem(level, goal=f"(player-at {cell_name((1, 2))})")
    )
    assert moves_of_plan(found.plan) == "R"
