"""Trial keys: the same trial has the same key for ever, another trial another."""

from collections.abc import Callable
from typing import Any

import pytest

from llm_modulo.eval import Trial, parse_experiment, trial_key

Text = Callable[..., str]


def trials(text: str) -> list[Trial]:
    experiment = parse_experiment(text)
    return list(experiment.trials(experiment.instances.load()))


def keys(text: str) -> set[str]:
    return {trial.key for trial in trials(text)}


def test_a_key_never_changes(experiment_text: Text) -> None:
    """Folders of earlier versions go on only as long as this literal stands."""
    text = experiment_text(
        models=[{"name": "m", "temperature": 0.5, "max_tokens": 100}],
        conditions=[{"name": "modulo-solver", "attempts": 2}],
        repetitions=2,
    )
    assert trials(text)[-1].key == KEY
    condition = {
        "name": "modulo-solver",
        "planner": "fast-downward",
        "time_limit": 60.0,
        "attempts": 2,
        "tool_calls": 40,
        "session_limit": 3600.0,
        "example": True,
    }
    model = {"name": "m", "temperature": 0.5, "max_tokens": 100}
    assert trial_key(INSTANCE, condition, model, 1) == KEY


INSTANCE = "sokobench-9b089a65bc8d6823"
KEY = "99719a5deb785677beb3ae8643dbc888fd868e499f214e7956f3fcb1c6702929"


def test_keys_are_the_same_in_another_process_order_and_time(experiment_text: Text) -> None:
    assert trial_key("i", {"a": 1, "b": 2}, {"name": "m", "x": 1}, 0) == trial_key(
        "i", {"b": 2, "a": 1}, {"x": 1, "name": "m"}, 0
    )
    forward = keys(experiment_text(models=[{"name": "a"}, {"name": "b"}]))
    assert forward == keys(experiment_text(models=[{"name": "b"}, {"name": "a"}]))


@pytest.mark.parametrize(
    "changes",
    [
        {"instances": {"benchmark": "sokobench", "options": {"lengths": [6], "rotations": [0]}}},
        {"instances": {"benchmark": "sokobench", "options": {"lengths": [5], "rotations": [90]}}},
        {"conditions": [{"name": "innate", "example": False}]},
        {"conditions": [{"name": "modulo-solver"}]},
        {"conditions": [{"name": "modulo-solver", "attempts": 4}]},
        {"conditions": [{"name": "modulo-solver", "time_limit": 61}]},
        {"conditions": [{"name": "modulo-solver", "planner": "pyperplan"}]},
        {"models": [{"name": "n"}]},
        {"models": [{"name": "m", "temperature": 0}]},
        {"models": [{"name": "m", "top_p": 0.9}]},
        {"models": [{"name": "m", "max_tokens": 9}]},
        {"models": [{"name": "m", "parameters": {"p_text": 0.1}}]},
        {"models": [{"name": "m", "extra_body": {"reasoning": {"effort": "low"}}}]},
    ],
    ids=str,
)
def test_what_makes_another_trial_makes_another_key(
    experiment_text: Text, changes: dict[str, Any]
) -> None:
    base: dict[str, Any] = {
        "models": [{"name": "m"}],
        "instances": {
            "benchmark": "sokobench",
            "options": {"lengths": [5], "rotations": [0]},
        },
        "conditions": [{"name": "innate"}],
    }
    plain = [base, {**base, "conditions": [{"name": "modulo-solver"}]}]
    others = set().union(*(keys(experiment_text(**b)) for b in plain if b != {**base, **changes}))
    assert len(others) == 2 - ({**base, **changes} in plain)
    assert not keys(experiment_text(**{**base, **changes})) & others


def test_repetitions_have_keys_of_their_own(experiment_text: Text) -> None:
    once, thrice = keys(experiment_text()), keys(experiment_text(repetitions=3))
    assert len(thrice) == 3 * len(once)
    assert once < thrice


@pytest.mark.parametrize(
    "changes",
    [
        {"models": [{"name": "m", "base_url": "http://elsewhere/v1"}]},
        {"models": [{"name": "m", "api_key_env": "OTHER_KEY"}]},
        {"models": [{"name": "m", "label": "mine"}]},
        {"conditions": [{"name": "innate", "label": "alone"}]},
        {"conditions": [{"name": "innate", "example": True}]},
        {"limits": {"concurrent_trials": 1, "retries": 0, "request_timeout": 5, "planners": 1}},
        {"tools": {"transport": "memory"}},
        {"name": "another name"},
    ],
    ids=str,
)
def test_what_makes_no_other_trial_changes_no_key(
    experiment_text: Text, changes: dict[str, Any]
) -> None:
    base = {"models": [{"name": "m"}]}
    assert keys(experiment_text(**{**base, **changes})) == keys(experiment_text(**base))


def test_seeds_differ_from_trial_to_trial_and_follow_the_experiments(
    experiment_text: Text,
) -> None:
    first = [t.seed for t in trials(experiment_text(repetitions=5))]
    assert len(set(first)) == len(first)
    assert first == [t.seed for t in trials(experiment_text(repetitions=5))]
    assert not set(first) & {t.seed for t in trials(experiment_text(repetitions=5, seed=1))}
    assert all(0 <= seed < 2**31 for seed in first)


def test_a_part_of_a_run_is_balanced(experiment_text: Text) -> None:
    """Repetitions are outermost, so a run that is stopped has asked everybody as often."""
    planned = trials(experiment_text(repetitions=2, models=[{"name": "a"}, {"name": "b"}]))
    assert [t.repetition for t in planned] == [0] * 4 + [1] * 4
    assert [t.model.name for t in planned[:4]] == ["a", "b", "a", "b"]
