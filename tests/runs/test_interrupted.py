"""Ctrl-C ends a run with 130, and the same command goes on with it."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llm_modulo.eval import open_run


def slowly(endpoint: Any) -> Callable[[Any], Any]:
    def answer(_: Any) -> Any:
        time.sleep(0.05)
        return endpoint.says("MOVES: R,R,R")

    return answer


def test_an_interrupted_run_goes_on(
    tmp_path: Path,
    started: Callable[..., subprocess.Popen[str]],
    outcome: Callable[..., Any],
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    endpoint: Any,
    wait_until: Callable[..., None],
) -> None:
    endpoint.respond = slowly(endpoint)
    file = experiment_file(
        models=[{"name": "m", "base_url": endpoint.url}],
        repetitions=20,
        limits={"concurrent_trials": 2},
    )
    folder = tmp_path / "run"
    process = started("run", file, "--out", folder)
    wait_until(lambda: len(endpoint.requests) >= 10)
    process.send_signal(signal.SIGINT)
    ended = outcome(process)
    assert (ended.code, ended.out) == (130, "")
    assert ended.sentence == "Cancelled."

    records = open_run(folder).records
    assert {r.status for r in records} == {"done"}  # what was interrupted is not a failure
    assert 8 <= len(records) < 40
    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    again = cli("run", file, "--out", folder, "--json")
    assert (again.code, again.document["done"]) == (0, 40)
    assert f"{len(records)} of 40 trials were done before." in again.err


def test_ctrl_c_in_a_terminal_reaches_every_process_and_leaves_none(
    tmp_path: Path,
    started: Callable[..., subprocess.Popen[str]],
    outcome: Callable[..., Any],
    experiment_file: Callable[..., Path],
    descendants: Callable[[int], set[int]],
    wait_until: Callable[..., None],
    check_gone: Callable[[set[int]], None],
) -> None:
    """A terminal signals the whole group: the run, the tool server, the endpoint."""
    file = experiment_file(conditions=[{"name": "modulo-solver"}], repetitions=500)
    folder = tmp_path / "run"
    process = started("run", file, "--out", folder, "--json")
    wait_until(lambda: (folder / "manifest.json").exists() and open_run(folder).done)
    below = descendants(process.pid)
    assert len(below) >= 2
    os.killpg(process.pid, signal.SIGINT)
    ended = outcome(process)
    assert ended.code == 130
    assert ended.sentence == "Cancelled."
    assert ended.document == {"error": "Cancelled."}
    check_gone(below)
    assert {r.status for r in open_run(folder).records} == {"done"}
