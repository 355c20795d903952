"""Where and why a plan fails, what a step changes, and whose spelling the answers use."""

import json
import random
from collections.abc import Callable, Sequence

import pytest

from llm_modulo.domains.sokoban import Level, cell_name, write_problem
from llm_modulo.errors import NotPddl
from llm_modulo.pddl import parse
from llm_modulo.planning import replay, simulate, spell_plan, validate

DOMAIN = """
(define (domain Kitchen)
  (:requirements :strips :typing :negative-preconditions :universal-preconditions)
  (:types Food Tool - object Fruit - Food)
  (:constants Knife - Tool)
  (:predicates (Clean ?t - Tool) (Cut ?f - Food) (Eaten ?f - Food) (Hungry))
  (:action Slice :parameters (?f - Food ?T - Tool)
    :precondition (and (Clean ?t) (not (Cut ?f)) (forall (?x - Fruit) (not (Eaten ?x))))
    :effect (and (Cut ?f) (not (Clean ?t))))
  (:action Wash :parameters (?t - Tool) :precondition () :effect (Clean ?t))
  (:action Eat :parameters (?f - Fruit)
    :precondition (and (Cut ?f) (Hungry)) :effect (and (Eaten ?f) (not (Hungry)))))
"""
PROBLEM = """
(define (problem Lunch) (:domain KITCHEN)
  (:objects Apple - fruit Bread - food)
  (:init (clean knife) (hungry))
  (:goal (and (eaten apple) (cut bread))))
"""
PLAN = ["(slice apple knife)", "(wash knife)", "(slice bread knife)", "(eat apple)"]


def test_a_valid_plan() -> None:
    result = validate(DOMAIN, PROBLEM, PLAN)
    assert result.to_json() == {
        "valid": True,
        "failed_step": None,
        "failed_action": None,
        "reason": None,
        "unsatisfied": [],
        "missing_goals": [],
        "cost": 4.0,
    }
    assert validate(DOMAIN, PROBLEM, "; lunch\n" + "\n".join(PLAN)) == result


# (plan, failed step, failed action, unsatisfied preconditions, what the reason says)
FAILURES = [
    (
        ["(EAT apple)"],
        0,
        "(Eat Apple)",
        ["(Cut Apple)"],
        "A precondition does not hold in step 0, (Eat Apple): (Cut Apple).",
    ),
    (
        ["(slice apple knife)", "(eat apple)", "(eat APPLE)"],
        2,
        "(Eat Apple)",
        ["(Hungry)"],
        "A precondition does not hold in step 2, (Eat Apple): (Hungry).",
    ),
    (  # every part that is false; the quantified variable stays
        ["(slice apple knife)", "(eat apple)", "(slice apple knife)"],
        2,
        "(Slice Apple Knife)",
        ["(Clean Knife)", "(not (Cut Apple))", "(forall (?x - Fruit) (not (Eaten ?x)))"],
        "A precondition does not hold in step 2, (Slice Apple Knife): (Clean Knife)"
        " (not (Cut Apple)) (forall (?x - Fruit) (not (Eaten ?x))).",
    ),
    (
        ["(wash knife)", "(Boil Apple)"],
        1,
        "(Boil Apple)",
        [],
        "There is no action `Boil` in step 1, (Boil Apple).",
    ),
    (
        ["(wash spoon)"],
        0,
        "(Wash spoon)",
        [],
        "There is no object `spoon` in step 0, (Wash spoon).",
    ),
    (
        ["(slice apple)"],
        0,
        "(Slice Apple)",
        [],
        "`Slice` takes 2 objects, not 1 in step 0, (Slice Apple).",
    ),
    (
        ["(wash knife knife)"],
        0,
        "(Wash Knife Knife)",
        [],
        "`Wash` takes 1 objects, not 2 in step 0, (Wash Knife Knife).",
    ),
    (  # bread is food, but no fruit; and what is wrong with the step comes before its conditions
        ["(eat bread)"],
        0,
        "(Eat Bread)",
        [],
        "`Bread` is of type Food, `?f` must be Fruit in step 0, (Eat Bread).",
    ),
]


@pytest.mark.parametrize(("plan", "step", "action", "unsatisfied", "reason"), FAILURES)
def test_a_step_that_cannot_be_executed(
    plan: list[str], step: int, action: str, unsatisfied: list[str], reason: str
) -> None:
    result = validate(DOMAIN, PROBLEM, [*plan, "(wash knife)"])
    assert (result.valid, result.failed_step, result.failed_action) == (False, step, action)
    assert list(result.unsatisfied) == unsatisfied
    assert result.reason == reason
    assert result.missing_goals == ()
    assert result.cost == step  # of the steps before it

    simulation = simulate(DOMAIN, PROBLEM, [*plan, "(wash knife)"])
    assert len(simulation.steps) == step
    assert simulation.goal_reached is False
    assert simulation.stopped is not None
    assert simulation.stopped.endswith(f"in step {step}: {action}.")
    assert simulation.to_json()["stopped"] == simulation.stopped


def test_a_legal_plan_that_misses_the_goal() -> None:
    result = validate(DOMAIN, PROBLEM, PLAN[:2])
    assert (result.valid, result.failed_step, result.cost) == (False, None, 2.0)
    assert result.missing_goals == ("(Eaten Apple)", "(Cut Bread)")
    assert result.reason == "The goal is not reached: (Eaten Apple) (Cut Bread)."


def test_the_empty_plan_is_valid_where_the_goal_holds_already() -> None:
    assert validate(DOMAIN, PROBLEM, "").valid is False
    fed = PROBLEM.replace("(eaten apple) (cut bread)", "(hungry)")
    assert validate(DOMAIN, fed, "").to_json()["cost"] == 0.0
    assert validate(DOMAIN, fed, []).valid is True


def test_what_each_step_changes() -> None:
    document = simulate(DOMAIN, PROBLEM, PLAN).to_json()
    assert document == {
        "initial": ["(Clean Knife)", "(Hungry)"],
        "steps": [
            {"action": "(Slice Apple Knife)", "add": ["(Cut Apple)"], "delete": ["(Clean Knife)"]},
            {"action": "(Wash Knife)", "add": ["(Clean Knife)"], "delete": []},
            {"action": "(Slice Bread Knife)", "add": ["(Cut Bread)"], "delete": ["(Clean Knife)"]},
            {"action": "(Eat Apple)", "add": ["(Eaten Apple)"], "delete": ["(Hungry)"]},
        ],
        "goal_reached": True,
    }
    assert json.loads(json.dumps(document)) == document
    shorter = simulate(DOMAIN, PROBLEM, PLAN[:3])
    assert (shorter.goal_reached, shorter.stopped) == (False, None)


def test_a_wash_of_what_is_clean_changes_nothing() -> None:
    (step,) = simulate(DOMAIN, PROBLEM, ["(wash knife)"]).steps
    assert (step.add, step.delete) == ((), ())


def test_answers_use_the_problems_own_spelling() -> None:
    model = parse(DOMAIN, PROBLEM)
    assert spell_plan(model, [("SLICE", "aPPle", "KNIFE"), ("fly", "APPLE", "moon")]) == [
        "(Slice Apple Knife)",
        "(fly Apple moon)",
    ]


@pytest.mark.parametrize("function", [validate, simulate])
def test_texts_that_cannot_be_used_are_refused(function: Callable[..., object]) -> None:
    with pytest.raises(NotPddl, match=r"^domain:1:1: error \[not-pddl\]"):
        function("kitchen", PROBLEM, PLAN)
    with pytest.raises(NotPddl, match=r"^problem:3:21: error \[undeclared-type\]"):
        function(DOMAIN, PROBLEM.replace("fruit", "froot"), PLAN)
    with pytest.raises(NotPddl, match=r"^Line 2 of the plan is not a step: 'R'"):
        function(DOMAIN, PROBLEM, "(wash knife)\nR")


STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def random_plan(level: Level, rng: random.Random) -> list[str]:
    """A walk of up to twelve steps that mostly knows the rules, on a level it may leave."""
    player, plan = level.player, []
    boxes = set(level.boxes)
    for _ in range(rng.randrange(13)):
        direction = rng.choice(sorted(STEPS))
        rows, columns = STEPS[direction]
        ahead = (player[0] + rows, player[1] + columns)
        beyond = (ahead[0] + rows, ahead[1] + columns)
        pushes = (ahead in boxes) is (rng.random() < 0.97)
        cells = [player, ahead, beyond] if pushes else [player, ahead]
        if not level.is_free(ahead) and ahead not in boxes and rng.random() < 0.9:
            continue
        names = " ".join(map(cell_name, cells))
        plan.append(f"({'push' if pushes else 'move'} {names} {direction})")
        if pushes:
            boxes = (boxes - {ahead}) | {beyond}
        player = ahead
    return plan


def test_our_replay_agrees_with_a_naive_twin(
    sokoban: str, replays: Callable[[str, Sequence[str]], bool]
) -> None:
    rows = ["#######", "#@    #", "# $ . #", "#   # #", "#######"]
    level = Level.from_xsb(rows)
    text = write_problem(level)
    model = parse(sokoban, text)
    rng = random.Random(20260)
    judged = []
    for _ in range(4_000):
        plan = random_plan(level, rng)
        result = replay(model, [tuple(step.strip("()").split()) for step in plan])
        assert result.valid is replays(text, plan), plan
        judged.append("valid" if result.valid else "illegal" if result.unsatisfied else "other")
    # The plans are of every kind: some solve the level, some break a rule, some just end elsewhere
    # or name a cell that is none.
    assert min(judged.count(kind) for kind in ("valid", "illegal", "other")) > 50
