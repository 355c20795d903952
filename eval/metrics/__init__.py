"""What is measured of a trial, and how a measure is summed up.

Values come from the benchmark and from the trial's record; this registry says what each
is called, whether it is a share of trials or a mean, and which way is better. Third parties
add one by an entry point in the group `llm_modulo.metrics` that loads a `Metric`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Literal

from llm_modulo.eval.store import TrialRecord

__all__ = ["METRICS", "Metric", "all_metrics", "values_of"]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One measure.

    Attributes:
        label: how tables call it.
        kind: `share` (0 or 1 for each trial) or `mean`.
        better: `higher` or `lower`.
        value: of a trial; None where it is undefined.
        in_tables: shown in the short tables of terminal and report.
    """

    label: str
    kind: Literal["share", "mean"]
    better: Literal["higher", "lower"]
    value: Callable[[TrialRecord], float | None]
    in_tables: bool = False


def _stored(name: str) -> Callable[[TrialRecord], float | None]:
    return lambda record: record.metrics.get(name)


def _used(name: str) -> Callable[[TrialRecord], float | None]:
    return lambda record: record.usage.get(name)


def _delivered_complete(record: TrialRecord) -> float | None:
    return float((record.verdict_delivered or record.verdict) == "complete")


METRICS: dict[str, Metric] = {
    "accuracy": Metric(
        label="accuracy",
        kind="share",
        better="higher",
        value=_stored("accuracy"),
        in_tables=True,
    ),
    "prefix_accuracy": Metric(
        label="prefix accuracy",
        kind="mean",
        better="higher",
        value=_stored("prefix_accuracy"),
        in_tables=True,
    ),
    "prefix_accuracy_literal": Metric(
        label="prefix accuracy (literal)",
        kind="mean",
        better="higher",
        value=_stored("prefix_accuracy_literal"),
    ),
    "manhattan_distance": Metric(
        label="Manhattan distance",
        kind="mean",
        better="lower",
        value=_stored("manhattan_distance"),
        in_tables=True,
    ),
    "completion": Metric(
        label="complete",
        kind="share",
        better="higher",
        value=lambda record: float(record.verdict == "complete"),
    ),
    "completion_delivered": Metric(
        label="complete as delivered", kind="share", better="higher", value=_delivered_complete
    ),
    "completion_tokens": Metric(
        label="completion tokens",
        kind="mean",
        better="lower",
        value=_used("completion"),
        in_tables=True,
    ),
    "prompt_tokens": Metric(
        label="prompt tokens", kind="mean", better="lower", value=_used("prompt")
    ),
    "cost": Metric(label="cost", kind="mean", better="lower", value=_used("cost")),
    "seconds": Metric(
        label="seconds",
        kind="mean",
        better="lower",
        value=lambda record: record.latency.get("total"),
        in_tables=True,
    ),
    "tool_calls": Metric(
        label="tool calls",
        kind="mean",
        better="lower",
        value=lambda record: float(record.tool_calls),
    ),
}


@cache
def all_metrics() -> dict[str, Metric]:
    """Our measures, then third parties', by name."""
    found = {e.name: e.load() for e in metadata.entry_points(group="llm_modulo.metrics")}
    return METRICS | {name: found[name] for name in sorted(found.keys() - METRICS.keys())}


def values_of(name: str, records: list[TrialRecord]) -> list[float | None]:
    """A measure of each record, in order."""
    return [all_metrics()[name].value(record) for record in records]
