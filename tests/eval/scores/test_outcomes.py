"""Scoring conversations with tools: the plan, what was delivered, and why it failed."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

import llm_modulo
from llm_modulo.domains import Benchmark, Instance, write_instances
from llm_modulo.eval.scoring import Outcome, Scored, score_answer, score_outcome
from llm_modulo.eval.store import TrialRecord, TrialStore


def steps(moves: str) -> list[str]:
    """Steps over the domain; the cells do not matter to the translation."""
    names = {"U": "up", "D": "down", "L": "left", "R": "right"}
    return [f"(move c-1-{k} c-1-{k + 1} {names[m]})" for k, m in enumerate(moves, start=1)]


@pytest.fixture
def scored(five: Instance, sokobench: Benchmark) -> Callable[..., Scored]:
    """Score a conversation with tools on `#@ $ .#`; keyword arguments replace the outcome's."""

    def score(**fields: Any) -> Scored:
        given = {"answer": "", "stop_reason": "answered", "with_tools": True, **fields}
        return score_outcome(five, sokobench, Outcome(**given))

    return score


SOLVED = {"plan": steps("RRR"), "solve_outcomes": ["solved"]}


def told(found: Scored) -> tuple[str, str | None, str | None]:
    """Verdict on the plan, verdict on what was delivered, class of the error."""
    delivered = None if found.delivered is None else str(found.delivered.verdict)
    return str(found.verdict.verdict), delivered, found.error_class


def test_solved_and_delivered(scored: Callable) -> None:
    found = scored(answer="MOVES: R,R,R", **SOLVED)
    assert told(found) == ("complete", "complete", None)
    assert (found.moves, found.moves_delivered, found.notation) == ("RRR", "RRR", "pddl")
    assert found.metrics["accuracy"] == 1
    assert found.metrics["manhattan_distance"] == 1


@pytest.mark.parametrize("answer", ["rRR", "r,R,R", "The plan:\n\nR,R,R"])
def test_the_delivered_notation_does_not_matter(answer: str, scored: Callable) -> None:
    assert told(scored(answer=answer, **SOLVED)) == ("complete", "complete", None)


@pytest.mark.parametrize(
    ("answer", "delivered"),
    [
        ("MOVES: R,R", "incomplete"),
        ("MOVES: R,R,R,R", "illegal"),
        ("MOVES:", "incomplete"),
        # Another plan that works is still not the planner's.
        ("MOVES: R,L,R,R,R", "complete"),
        ("Done!", "unparsed"),
        ("", "unparsed"),
        ("I'm sorry, but I can't help with that.", "unparsed"),
    ],
)
def test_a_right_plan_delivered_wrongly(answer: str, delivered: str, scored: Callable) -> None:
    found = scored(answer=answer, **SOLVED)
    assert told(found) == ("complete", delivered, "delivery")
    assert found.metrics["accuracy"] == 1, "the measures are about the plan"


def test_a_plan_of_another_map(scored: Callable) -> None:
    assert told(scored(answer="MOVES: R,R", plan=steps("RR"))) == ("incomplete", "incomplete", None)
    found = scored(answer="MOVES: R,R,R", plan=steps("RRRR"), solve_outcomes=["solved"])
    assert told(found) == ("illegal", "complete", None)
    assert found.verdict.failed_step == 3


def test_a_plan_of_another_domain_has_no_moves(scored: Callable) -> None:
    found = scored(answer="MOVES: R,R,R", plan=["(teleport a b)"], solve_outcomes=["solved"])
    assert told(found) == ("unparsed", "complete", None)
    assert (str(found.verdict.reason), found.moves, found.notation) == ("malformed", None, None)
    assert found.metrics["manhattan_distance"] is None


def test_a_planned_plan_of_no_steps_is_a_plan(scored: Callable) -> None:
    found = scored(answer="MOVES:", plan=[], solve_outcomes=["solved"])
    assert told(found) == ("incomplete", "incomplete", None)
    assert found.moves == found.moves_delivered == ""


@pytest.mark.parametrize(
    ("outcomes", "error_class"),
    [
        (["invalid_input"] * 3, "syntax"),
        (["invalid_call"] * 3, "syntax"),
        (["invalid_call", "invalid_input", "invalid_input"], "syntax"),
        (["invalid_input", "invalid_input", "timeout"], "solver"),
        (["memout"] * 3, "solver"),
        (["exhausted"] * 3, "solver"),
        (["unsupported"] * 3, "solver"),
        # Proved to have no plan: a wrong world or goal, which a comparison of problems tells.
        (["unsolvable"] * 3, None),
        (["invalid_input", "invalid_input", "unsolvable"], None),
    ],
)
def test_three_attempts_without_a_plan(
    outcomes: list[str], error_class: str | None, scored: Callable
) -> None:
    found = scored(stop_reason="budget_exhausted", solve_outcomes=outcomes)
    assert told(found) == ("unparsed", "unparsed", error_class)
    assert (str(found.verdict.reason), str(found.delivered.reason)) == ("gave_up", "gave_up")
    assert found.metrics["accuracy"] == 0
    assert found.metrics["manhattan_distance"] is None


@pytest.mark.parametrize("limit", ["loop_limit", "time_limit", "money_limit"])
def test_a_limit_of_the_loop(limit: str, scored: Callable) -> None:
    assert told(scored(stop_reason=limit)) == ("unparsed", "unparsed", "budget")
    only_syntax = scored(stop_reason=limit, solve_outcomes=["invalid_call"])
    assert told(only_syntax) == ("unparsed", "unparsed", "syntax")
    # It had the plan and went on; what it said on the way is no answer.
    late = scored(stop_reason=limit, answer="MOVES: R,R,R", **SOLVED)
    assert told(late) == ("complete", "unparsed", "delivery")


def test_an_answer_round_the_tools_is_no_plan_of_the_tools(scored: Callable) -> None:
    found = scored(answer="MOVES: R,R,R")
    assert told(found) == ("unparsed", "complete", None)
    assert (str(found.verdict.reason), found.moves, found.moves_delivered) == (
        "malformed",
        None,
        "RRR",
    )
    assert found.metrics["accuracy"] == 0


@pytest.mark.parametrize(
    ("stop_reason", "answer", "reason"),
    [
        ("answered", "I give up.", "gave_up"),
        ("answered", "", "empty"),
        ("answered", "I will think about it.", "malformed"),
        ("length", "MOVES: R,R,R", "truncated"),
        ("refused", "I can't.", "refused"),
    ],
)
def test_ending_without_a_solve(
    stop_reason: str, answer: str, reason: str, scored: Callable
) -> None:
    found = scored(stop_reason=stop_reason, answer=answer)
    assert told(found)[:2] == ("unparsed", "unparsed")
    assert str(found.verdict.reason) == str(found.delivered.reason) == reason


def test_without_tools_there_is_one_verdict(five: Instance, sokobench: Benchmark) -> None:
    found = score_answer(five, sokobench, "MOVES: R,R,R")
    assert told(found) == ("complete", None, None)
    assert (found.moves, found.moves_delivered, found.notation) == (
        "RRR",
        None,
        "comma-separated",
    )
    cut = Outcome(answer="MOVES: R,R,R", stop_reason="length", with_tools=False)
    assert told(score_outcome(five, sokobench, cut)) == ("unparsed", None, None)


def test_scoring_leaves_the_domain_mark_alone(
    five: Instance, record: Callable, tmp_path: Path
) -> None:
    """Whether the domain was altered is seen by the loop; scoring again must not forget it."""
    outcome = Outcome(answer="MOVES: R,R,R", stop_reason="answered", with_tools=True, **SOLVED)
    assert Outcome.of_transcript(asdict(outcome)) == outcome
    stored = record(instance_id=five.id, verdict="illegal", domain_altered=True, tool_calls=2)
    broken = record(instance_id=five.id, repetition=1, status="errored", verdict=None)
    write_instances(tmp_path / "instances.jsonl", [five])
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8")
    with TrialStore(tmp_path, write=True) as store:
        store.write(stored, asdict(outcome))
        store.write(broken, None)
    assert llm_modulo.rescore(tmp_path) == (1, 1)
    with TrialStore(tmp_path) as store:
        done, errored = store.records()
    assert errored == broken
    assert (done.verdict, done.verdict_delivered, done.error_class) == (
        "complete",
        "complete",
        None,
    )
    assert (done.domain_altered, done.tool_calls, done.status) == (True, 2, "done")


def test_what_scoring_decides_are_fields_of_a_record(scored: Callable) -> None:
    fields = scored(answer="MOVES: R", **SOLVED).fields()
    assert set(fields) <= set(TrialRecord.model_fields)
    assert "domain_altered" not in fields
