"""Two conditions on identical instances: what did the treatment change?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from llm_modulo.errors import UsageError

from .folder import RunFolder, open_run
from .metrics import all_metrics
from .statistics import mcnemar_exact, paired_difference
from .store import TrialRecord

__all__ = ["compare", "compare_conditions"]

Pairs = list[tuple[TrialRecord, TrialRecord]]


def compare(
    run: RunFolder | str | os.PathLike[str], *, baseline: str, treatment: str
) -> dict[str, Any]:
    """Compare two conditions of a run, model by model; see `compare_conditions`.

    Raises:
        UsageError: the run has no trial in one of the conditions.
        ExperimentError: it is no run folder.
    """
    if not isinstance(run, RunFolder):
        run = open_run(run)
    known = list(dict.fromkeys(r.condition for r in run.done))
    for name in (baseline, treatment):
        if name not in known:
            raise UsageError(
                f"The run has no trial in condition {name!r}; it has {', '.join(known) or 'none'}."
            )
    return compare_conditions(run.done, baseline=baseline, treatment=treatment)


def compare_conditions(
    records: Sequence[TrialRecord], *, baseline: str, treatment: str
) -> dict[str, Any]:
    """Pair trials by model, instance and repetition, and compare.

    Returns:
        `{"baseline", "treatment", "models": [{"model", "reference", "pairs", "unpaired",
        "metrics": {name: PairedDifference}, "flow": {baseline verdict: {treatment
        verdict: count}}, "mcnemar": {"gained", "lost", "p_value"}}]}`. The exact McNemar
        test is over pairs of trials and looks at complete plans; repetitions of an
        instance are taken as independent there. The intervals resample whole instances.
    """
    models = list(dict.fromkeys(r.model for r in records))
    return {
        "baseline": baseline,
        "treatment": treatment,
        "models": [_compare_model(m, records, baseline, treatment) for m in models],
    }


def _compare_model(
    model: str, records: Sequence[TrialRecord], baseline: str, treatment: str
) -> dict[str, Any]:
    own = [r for r in records if r.model == model and r.status == "done"]
    sides = [
        {(r.instance_id, r.repetition): r for r in own if r.condition == condition}
        for condition in (baseline, treatment)
    ]
    shared = sorted(sides[0].keys() & sides[1].keys())
    pairs = [(sides[0][key], sides[1][key]) for key in shared]
    gained = sum(b.verdict != "complete" and t.verdict == "complete" for b, t in pairs)
    lost = sum(b.verdict == "complete" and t.verdict != "complete" for b, t in pairs)
    return {
        "model": model,
        "reference": any(r.reference for r in own),
        "pairs": len(pairs),
        "unpaired": len(sides[0].keys() ^ sides[1].keys()),
        "metrics": _differences(pairs),
        "flow": _flow(pairs),
        "mcnemar": {"gained": gained, "lost": lost, "p_value": mcnemar_exact(gained, lost)},
    }


def _differences(pairs: Pairs) -> dict[str, Any]:
    found = {}
    for name, metric in all_metrics().items():
        by_instance: dict[str, list[tuple[float, float]]] = {}
        for baseline, treatment in pairs:
            b, t = metric.value(baseline), metric.value(treatment)
            if b is not None and t is not None:
                by_instance.setdefault(baseline.instance_id, []).append((b, t))
        if by_instance:
            found[name] = asdict(paired_difference(by_instance))
    return found


def _flow(pairs: Pairs) -> dict[str, dict[str, int]]:
    counts = Counter((str(b.verdict), str(t.verdict)) for b, t in pairs)
    flow: dict[str, dict[str, int]] = {}
    for (before, after), count in sorted(counts.items()):
        flow.setdefault(before, {})[after] = count
    return flow
