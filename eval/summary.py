"""Scores of a run or of answers made elsewhere, summed up by model and condition."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llm_modulo.domains import Instance, find_benchmark, read_instances
from llm_modulo.errors import MalformedRecord
from llm_modulo.files import read_json_lines

from .experiment import trial_key
from .folder import now, prepare_folder
from .metrics import all_metrics, values_of
from .scoring import Outcome, score_answer
from .statistics import Estimate, mean_interval, share_interval
from .store import TrialRecord, TrialStore

__all__ = ["estimate", "group_records", "score", "summarise"]


def score(
    instances: str | os.PathLike[str],
    answers: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    trials: bool = False,
) -> dict[str, Any]:
    """Score answers made anywhere.

    Args:
        instances: file of instances (JSON lines).
        answers: file of answers: `{"instance_id", "model", "condition", "repetition",
            "text"}` a line.
        out: also make a run folder of them there.
        trials: list each trial in the result.

    Returns:
        `{"by_model_condition": […]}`, see `summarise`; with `trials` also `"trials"`.

    Raises:
        MalformedRecord: a line breaks its format, names an unknown instance, or repeats
            another's model, condition, instance and repetition.
        ExperimentError: `out` holds something else, other answers included.
    """
    known = {i.id: i for i in read_instances(instances)}
    records = [_scored_answer(n, line, known, answers) for n, line in read_json_lines(answers)]
    keys = Counter(r.key for r in records)
    if (twice := next((r for r in records if keys[r.key] > 1), None)) is not None:
        raise MalformedRecord(
            f"{answers}: two answers of {twice.model} in {twice.condition} to"
            f" {twice.instance_id}, repetition {twice.repetition}."
        )
    if out is not None:
        _write_folder(Path(out), known, records)
    result = summarise(records)
    if trials:
        result["trials"] = [r.model_dump(mode="json", exclude_none=True) for r in records]
    return result


def _scored_answer(
    number: int,
    line: Mapping[str, Any],
    known: Mapping[str, Instance],
    origin: str | os.PathLike[str],
) -> TrialRecord:
    def field(name: str, default: Any, kind: type) -> Any:
        value = line.get(name, default)
        fits = isinstance(value, kind) and not isinstance(value, bool)
        if not fits or (kind is int and not 0 <= value <= _MAX_REPETITION):
            raise MalformedRecord(f"{origin}, line {number}: {name!r} must be {_NAMES[kind]}.")
        return value

    instance = known.get(field("instance_id", None, str))
    if instance is None:
        raise MalformedRecord(
            f"{origin}, line {number}: no instance has the id {line['instance_id']!r}."
        )
    model = field("model", "unnamed", str)
    condition = field("condition", "unnamed", str)
    repetition = field("repetition", 0, int)
    text = field("text", None, str)
    scored = score_answer(instance, find_benchmark(instance.benchmark), text)
    return TrialRecord(
        key=trial_key(instance.id, {"name": condition}, {"name": model}, repetition),
        instance_id=instance.id,
        condition=condition,
        model=model,
        model_asked=model,
        repetition=repetition,
        started=now(),
        ended=now(),
        status="done",
        answer_text=text,
        **scored.fields(),
    )


_NAMES: dict[type, str] = {str: "text", int: "a whole number from 0"}
_MAX_REPETITION = 2**63 - 1  # what the store can hold


def _write_folder(
    folder: Path, instances: Mapping[str, Instance], records: Sequence[TrialRecord]
) -> None:
    given = json.dumps(sorted((r.key, r.answer_text) for r in records))
    digest = hashlib.sha256(given.encode()).hexdigest()
    # A folder of other answers is another experiment: a done trial is never overwritten.
    experiment = {"name": "scored answers", "answers_sha256": digest}
    with TrialStore(folder, write=True) as store:
        prepare_folder(folder, experiment, list(instances.values()), len(records))
        for record in records:
            outcome = Outcome(answer=record.answer_text, stop_reason="answered", with_tools=False)
            store.write(record, asdict(outcome))


def group_records(
    records: Iterable[TrialRecord],
) -> dict[tuple[str, str], list[TrialRecord]]:
    """Trials with a verdict by (model, condition), in order of first appearance."""
    groups: dict[tuple[str, str], list[TrialRecord]] = {}
    for record in records:
        if record.status == "done":
            groups.setdefault((record.model, record.condition), []).append(record)
    return groups


def summarise(records: Iterable[TrialRecord]) -> dict[str, Any]:
    """Sum up trials with a verdict.

    Returns:
        `{"by_model_condition": [{"model", "condition", "reference", "n", "metrics":
        {name: {"value", "low", "high", "n"}}, "verdicts": {…}}]}`; an undefined value is
        null; a measure that no trial has is left out.
    """
    rows = []
    for (model, condition), group in group_records(records).items():
        estimates = {name: estimate(name, group) for name in all_metrics()}
        rows.append(
            {
                "model": model,
                "condition": condition,
                "reference": group[0].reference,
                "n": len(group),
                "metrics": {
                    name: found.to_json()
                    for name, found in estimates.items()
                    if found.n > 0 or any(name in r.metrics for r in group)
                },
                "verdicts": _verdict_counts(group),
            }
        )
    return {"by_model_condition": rows}


def estimate(name: str, records: Sequence[TrialRecord]) -> Estimate:
    """A measure over trials with its 95% interval.

    A share gets Wilson's interval over trials, a mean a percentile bootstrap over whole
    instances. Trials where the measure is undefined are left out; `n` counts the others.
    """
    pairs = [
        (value, record.instance_id)
        for value, record in zip(values_of(name, list(records)), records, strict=True)
        if value is not None
    ]
    if all_metrics()[name].kind == "share":
        return share_interval(int(sum(value for value, _ in pairs)), len(pairs))
    return mean_interval([value for value, _ in pairs], [i for _, i in pairs])


def _verdict_counts(records: Sequence[TrialRecord]) -> dict[str, int]:
    """Counts of verdicts; `gave_up` is the part of `unparsed` that said there is no plan."""
    verdicts = Counter(r.verdict for r in records)
    counts = {v: verdicts.get(v, 0) for v in ("complete", "incomplete", "illegal", "unparsed")}
    counts["gave_up"] = sum(r.reason == "gave_up" for r in records)
    return counts
