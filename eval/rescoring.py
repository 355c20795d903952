"""Score stored transcripts again; nobody is asked anything."""

from __future__ import annotations

import os

from llm_modulo.domains import find_benchmark

from .folder import open_run
from .scoring import Outcome, score_outcome
from .store import TrialStore

__all__ = ["rescore"]


def rescore(folder: str | os.PathLike[str]) -> tuple[int, int]:
    """Score every done trial of a run folder again from its transcript.

    Returns:
        How many trials were scored, and how many got another verdict.

    Raises:
        ExperimentError: it is no run folder, or a run is writing to it.
    """
    instances = open_run(folder).instances
    scored = changed = 0
    with TrialStore(folder, write=True) as store:
        for record in list(store.records()):
            transcript = store.transcript(record.key)
            if record.status != "done" or transcript is None:
                continue
            instance = instances[record.instance_id]
            outcome = Outcome.of_transcript(transcript)
            new = score_outcome(instance, find_benchmark(instance.benchmark), outcome)
            scored += 1
            changed += str(new.verdict.verdict) != record.verdict
            store.rescore(record.model_copy(update=new.fields()))
    return scored, changed
