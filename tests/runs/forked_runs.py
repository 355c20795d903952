"""Runs an experiment again and again, each time in a forked child that may be killed.

A script for test_killed.py: it imports everything once, so that a run takes a fraction of
a second. Standard input: {"experiment": TOML, "jobs": [job, …]}; a job is {"folder": F}
with, if it is to be killed, either {"point": "before" | "during" | "after", "write": n}
(the n-th write of a trial) or {"fraction": x} (of the time that the first job took).
Standard output: for each job {"signal", "seconds", "summary", "done": {key: record}}.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import llm_modulo.eval.runner
import llm_modulo.server
from llm_modulo.errors import ExperimentError
from llm_modulo.eval import TrialRecord, TrialStore, parse_experiment, run_async


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class KillingStore(TrialStore):
    """Kills its own process before, during or after one write.

    During: when the row is inserted, and the transaction is about to be committed.
    """

    def __init__(self, folder: Path, point: str | None, write: int) -> None:
        super().__init__(folder, write=True)
        self._point = point
        self._left = write

    def write(self, record: TrialRecord, transcript: dict[str, Any] | None) -> None:
        self._left -= 1
        point = self._point if self._left == 0 else None
        if point == "before":
            die()
        if point == "during":
            self._db.set_trace_callback(lambda sql: die() if sql == "COMMIT" else None)
        super().write(record, transcript)
        if point == "after":
            die()


def run(text: str, job: dict[str, Any]) -> dict[str, Any]:
    """One run, in a child."""
    summary = asyncio.run(
        run_async(
            parse_experiment(text),
            job["folder"],
            server=lambda: llm_modulo.server.create_server("sokobench"),
            store=lambda path: KillingStore(path, job.get("point"), job.get("write", 0)),
        )
    )
    return asdict(summary)


def done(folder: Path) -> dict[str, str]:
    """The records of trials that are done, as stored."""
    try:
        store = TrialStore(folder)
    except ExperimentError as error:  # killed before or while the store was made
        if str(error).endswith(("it has no run.db.", "its run.db is empty.")):
            return {}
        raise
    with store:
        return {r.key: r.model_dump_json() for r in store.records() if r.status == "done"}


def main() -> None:
    task = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:  # loads what is loaded on first use
        run(task["experiment"], {"folder": folder})
    results: list[dict[str, Any]] = []
    for job in task["jobs"]:
        start = time.perf_counter()
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            os.write(writing, json.dumps(run(task["experiment"], job)).encode())
            os._exit(0)
        os.close(writing)
        if "fraction" in job:
            time.sleep(job["fraction"] * results[0]["seconds"])
            os.kill(child, signal.SIGKILL)
        with os.fdopen(reading) as pipe:
            summary = pipe.read()
        _, status = os.waitpid(child, 0)
        results.append(
            {
                "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
                "seconds": time.perf_counter() - start,
                "summary": json.loads(summary) if summary else None,
                "done": done(Path(job["folder"])),
            }
        )
    json.dump(results, sys.stdout)


main()
