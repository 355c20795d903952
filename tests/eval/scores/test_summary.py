"""Summing up trials, and comparing two conditions, on records made by hand."""

import json
from collections.abc import Callable

import pytest

from llm_modulo.eval.comparison import compare_conditions
from llm_modulo.eval.metrics import METRICS, values_of
from llm_modulo.eval.summary import estimate, group_records, summarise

RIGHT = {"accuracy": 1.0, "prefix_accuracy": 1.0, "manhattan_distance": 1.0}
WRONG = {"accuracy": 0.0, "prefix_accuracy": 0.5, "manhattan_distance": 3.0}
UNREAD = {"accuracy": 0.0, "prefix_accuracy": 0.0, "manhattan_distance": None}


def test_a_group_by_hand(record: Callable) -> None:
    records = [
        record(instance_id="a", metrics=RIGHT, verdict="complete"),
        record(instance_id="b", metrics=WRONG, verdict="illegal"),
        record(instance_id="c", metrics=UNREAD, verdict="unparsed", reason="gave_up"),
        record(instance_id="d", metrics=UNREAD, verdict="unparsed", reason="malformed"),
    ]
    (row,) = summarise(records)["by_model_condition"]
    assert (row["model"], row["condition"], row["n"], row["reference"]) == ("m", "innate", 4, False)
    assert row["verdicts"] == {
        "complete": 1,
        "incomplete": 0,
        "illegal": 1,
        "unparsed": 2,
        "gave_up": 1,
    }
    measured = row["metrics"]
    # One of four; Wilson: n = 4, z²/n = 0.9604: centre 0.3725, half width 0.3269.
    assert measured["accuracy"] == {
        "value": 0.25,
        "low": pytest.approx(0.0456, abs=5e-5),
        "high": pytest.approx(0.6994, abs=5e-5),
        "n": 4,
    }
    assert measured["prefix_accuracy"]["value"] == pytest.approx((1 + 0.5) / 4)
    # Undefined for two of them: (1 + 3)/2 over the others.
    assert (measured["manhattan_distance"]["value"], measured["manhattan_distance"]["n"]) == (2, 2)
    assert measured["completion"]["value"] == 0.25


def test_a_measure_undefined_everywhere_is_null(record: Callable) -> None:
    records = [record(instance_id=i, metrics=UNREAD, verdict="unparsed") for i in "ab"]
    (row,) = summarise(records)["by_model_condition"]
    nothing = {"value": None, "low": None, "high": None, "n": 0}
    assert row["metrics"]["manhattan_distance"] == nothing
    assert "cost" not in row["metrics"]
    text = json.dumps(row, allow_nan=False)
    assert '"manhattan_distance": {"value": null, "low": null, "high": null, "n": 0}' in text


def test_errored_trials_enter_no_score(record: Callable) -> None:
    records = [
        record(instance_id="a", metrics=RIGHT),
        record(instance_id="b", status="errored", verdict=None, error="HTTP 500"),
    ]
    (row,) = summarise(records)["by_model_condition"]
    assert row["n"] == row["metrics"]["accuracy"]["n"] == 1
    assert summarise(records[1:]) == {"by_model_condition": []}
    assert summarise([]) == {"by_model_condition": []}


def test_groups_are_models_and_conditions_in_order(record: Callable) -> None:
    records = [
        record(model=model, condition=condition, reference=model == "z")
        for model, condition in [("z", "b"), ("a", "b"), ("z", "a"), ("z", "b")]
    ]
    assert list(group_records(records)) == [("z", "b"), ("a", "b"), ("z", "a")]
    rows = summarise(records)["by_model_condition"]
    assert [(r["model"], r["condition"], r["n"]) for r in rows] == [
        ("z", "b", 2),
        ("a", "b", 1),
        ("z", "a", 1),
    ]
    assert [r["reference"] for r in rows] == [True, False, True]


def test_means_resample_whole_instances(record: Callable) -> None:
    """Ten repetitions that agree on each of two instances: the interval stays wide."""
    records = [
        record(instance_id=name, repetition=k, metrics={"prefix_accuracy": value})
        for name, value in (("a", 0.0), ("b", 1.0))
        for k in range(10)
    ]
    found = estimate("prefix_accuracy", records)
    assert (found.value, found.low, found.high, found.n) == (0.5, 0.0, 1.0, 20)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_on_a_bare_and_on_a_full_record(name: str, record: Callable) -> None:
    bare = record(verdict="unparsed", reason="empty")
    full = record(
        metrics={**RIGHT, "prefix_accuracy_literal": 0.6},
        verdict_delivered="incomplete",
        usage={"prompt": 10, "completion": 5, "cost": 0.25},
        latency={"model": 1.0, "tools": 0.5, "total": 1.75},
        tool_calls=3,
    )
    metric = METRICS[name]
    assert metric.label
    assert metric.better in ("higher", "lower")
    low, value = values_of(name, [bare, full])
    assert low is None or low == 0
    assert isinstance(value, float | int)
    assert metric.kind == "mean" or value in (0, 1)
    assert estimate(name, [full]).value == value


def test_the_values_that_a_record_gives(record: Callable) -> None:
    full = record(
        verdict="complete",
        verdict_delivered="incomplete",
        usage={"prompt": 10, "completion": 5, "cost": 0.25},
        latency={"total": 1.75},
        tool_calls=3,
    )
    expected = {
        "completion": 1,
        "completion_delivered": 0,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cost": 0.25,
        "seconds": 1.75,
        "tool_calls": 3,
    }
    assert {name: METRICS[name].value(full) for name in expected} == expected
    # Without tools what was delivered is what is judged.
    assert METRICS["completion_delivered"].value(record(verdict="complete")) == 1


def test_a_comparison_by_hand(record: Callable) -> None:
    def both(name: str, before: dict, after: dict, repetition: int = 0) -> list:
        return [
            record(instance_id=name, condition=condition, repetition=repetition, **fields)
            for condition, fields in (("innate", before), ("solver", after))
        ]

    complete = {"verdict": "complete", "metrics": RIGHT}
    illegal = {"verdict": "illegal", "metrics": WRONG}
    unread = {"verdict": "unparsed", "metrics": UNREAD}
    records = [
        *both("a", illegal, complete),
        *both("a", illegal, complete, repetition=1),
        *both("b", unread, complete),
        *both("c", complete, unread),
        *both("d", complete, complete),
        # Without a partner: another instance, another repetition, and a broken partner.
        record(instance_id="e", condition="innate", **complete),
        record(instance_id="a", condition="solver", repetition=2, **complete),
        record(instance_id="f", condition="innate", **complete),
        record(instance_id="f", condition="solver", status="errored", verdict=None),
        # Of no concern here.
        record(instance_id="a", condition="other", **complete),
    ]
    found = compare_conditions(records, baseline="innate", treatment="solver")
    assert (found["baseline"], found["treatment"]) == ("innate", "solver")
    (model,) = found["models"]
    assert (model["model"], model["pairs"], model["unpaired"]) == ("m", 5, 3)
    # Gained a, a, b; lost c: 2 · (1 + 4)/16.
    assert model["mcnemar"] == {"gained": 3, "lost": 1, "p_value": pytest.approx(0.625)}
    assert model["flow"] == {
        "complete": {"complete": 1, "unparsed": 1},
        "illegal": {"complete": 2},
        "unparsed": {"complete": 1},
    }
    accuracy = model["metrics"]["accuracy"]
    # Baseline right on c, d of five pairs; treatment on a, a, b, d.
    assert (accuracy["baseline"], accuracy["treatment"]) == (2 / 5, 4 / 5)
    assert accuracy["difference"] == pytest.approx(2 / 5)
    assert (accuracy["instances"], accuracy["pairs"]) == (4, 5)
    # Defined on both sides for a, a and d: 3 → 1, 3 → 1, 1 → 1.
    distance = model["metrics"]["manhattan_distance"]
    assert (distance["instances"], distance["pairs"]) == (2, 3)
    assert distance["difference"] == pytest.approx(-4 / 3)
    assert "cost" not in model["metrics"]
    assert json.dumps(found, allow_nan=False)


def test_each_model_is_compared_with_itself(record: Callable) -> None:
    records = [
        record(model="x", condition="innate", verdict="illegal"),
        record(model="x", condition="solver", verdict="complete"),
        record(model="y", condition="innate", verdict="complete"),
    ]
    one, other = compare_conditions(records, baseline="innate", treatment="solver")["models"]
    assert (one["model"], one["pairs"], one["unpaired"]) == ("x", 1, 0)
    assert (other["model"], other["pairs"], other["unpaired"]) == ("y", 0, 1)
    assert other["mcnemar"] == {"gained": 0, "lost": 0, "p_value": 1.0}
    assert (other["metrics"], other["flow"]) == ({}, {})
