"""A run that is killed and resumed ends with exactly the planned trials, once each."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.errors import EnvironmentFailure
from llm_modulo.eval import TrialStore, open_run, parse_experiment, run, run_async
from llm_modulo.planning import run_sync

SCRIPT = Path(__file__).with_name("forked_runs.py")
SEED = 20261129
MOMENTS = 10


@pytest.fixture(scope="module")
def text(experiment_text: Callable[..., str], reference_url: str) -> str:
    """Six trials, half of them with tools."""
    return experiment_text(
        instances={
            "benchmark": "sokobench",
            "options": {"lengths": [5, 6, 7], "rotations": [0]},
        },
        models=[{"name": "reference/oracle", "base_url": reference_url}],
        conditions=[{"name": "innate"}, {"name": "modulo-solver"}],
        limits={"concurrent_trials": 2},
        tools={"transport": "memory"},
    )


@pytest.fixture(scope="module")
def planned(text: str) -> set[str]:
    experiment = parse_experiment(text)
    return {trial.key for trial in experiment.trials(experiment.instances.load())}


@pytest.fixture(scope="module")
def forked_runs(text: str) -> Callable[..., list[dict[str, Any]]]:
    """Runs the jobs of `forked_runs.py` on the experiment."""

    def run(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, str(SCRIPT)],
            input=json.dumps({"experiment": text, "jobs": jobs}),
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        results: list[dict[str, Any]] = json.loads(done.stdout)
        return results

    return run


def check_resumed(killed: dict[str, Any], resumed: dict[str, Any], planned: set[str]) -> None:
    """What the killed run had stored is still there, unchanged, and the rest was added."""
    assert killed["signal"] == signal.SIGKILL
    assert resumed["signal"] == 0
    assert killed["done"].keys() <= planned
    assert resumed["done"].keys() == planned
    assert killed["done"].items() <= resumed["done"].items()
    summary = resumed["summary"]
    assert (summary["planned"], summary["done"]) == (len(planned), len(planned))
    assert summary["before"] == len(killed["done"])
    assert summary["errored"] == 0


def check_folder(folder: Path, planned: set[str]) -> None:
    """Each planned trial stands in the folder once, is done, and has its transcript."""
    records = open_run(folder).records
    assert sorted(r.key for r in records) == sorted(planned)
    assert {r.status for r in records} == {"done"}
    assert {r.verdict for r in records} == {"complete"}
    with TrialStore(folder) as store:
        assert all(store.transcript(key) for key in planned)


WRITES = (1, 4)
POINTS = {"before": -1, "during": -1, "after": 0}
"""Where a run is killed, and how many trials more than the write's number are stored then."""


@pytest.fixture(scope="module")
def killed_around_writes(
    tmp_path_factory: pytest.TempPathFactory, forked_runs: Callable[..., list[dict[str, Any]]]
) -> dict[tuple[str, int], tuple[Path, dict[str, Any], dict[str, Any]]]:
    """For each point and write: the folder, the killed run, and the one that went on.

    And under ("again", 1) a run that was killed twice before, after its first write each time.
    """
    cases = {
        (point, write): tmp_path_factory.mktemp(f"{point}-{write}")
        for point, write in [*itertools.product(POINTS, WRITES), ("again", 1)]
    }
    jobs: list[dict[str, Any]] = []
    for (point, write), path in cases.items():
        folder = {"folder": str(path)}
        if point == "again":
            jobs += [{**folder, "point": "after", "write": write}] * 3 + [folder]
        else:
            jobs += [{**folder, "point": point, "write": write}, folder]
    results = forked_runs(jobs)
    assert [len(r["done"]) for r in results[-4:-1]] == [1, 2, 3]
    del results[-4:-2]
    pairs = zip(results[::2], results[1::2], strict=True)
    return {case: (path, *pair) for (case, path), pair in zip(cases.items(), pairs, strict=True)}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("point", POINTS)
def test_killed_around_a_write(
    killed_around_writes: dict[tuple[str, int], tuple[Path, dict[str, Any], dict[str, Any]]],
    planned: set[str],
    point: str,
    write: int,
) -> None:
    folder, killed, resumed = killed_around_writes[point, write]
    assert len(killed["done"]) == write + POINTS[point]
    check_resumed(killed, resumed, planned)
    check_folder(folder, planned)


def test_killed_again_and_again(
    killed_around_writes: dict[tuple[str, int], tuple[Path, dict[str, Any], dict[str, Any]]],
    planned: set[str],
) -> None:
    """A run that dies after each trial still gets on."""
    folder, killed, resumed = killed_around_writes["again", 1]
    check_resumed(killed, resumed, planned)
    check_folder(folder, planned)


def test_killed_at_ten_random_moments(
    tmp_path: Path, forked_runs: Callable[..., list[dict[str, Any]]], planned: set[str]
) -> None:
    moments = random.Random(SEED)
    jobs: list[dict[str, Any]] = [{"folder": str(tmp_path / "unkilled")}]
    for number in range(MOMENTS):
        folder = {"folder": str(tmp_path / str(number))}
        jobs += [{**folder, "fraction": moments.random()}, folder]
    _, *results = forked_runs(jobs)
    for number in range(MOMENTS):
        killed, resumed = results[2 * number : 2 * number + 2]
        if killed["signal"] == 0:  # it was quicker than the first run, and ended before
            assert killed["done"].keys() == planned
            continue
        check_resumed(killed, resumed, planned)
        check_folder(tmp_path / str(number), planned)
    assert sum(r["signal"] != 0 for r in results) >= MOMENTS // 2
    stored = {len(r["done"]) for r in results[::2]}
    assert len(stored) > 2, "the moments are not spread over the run"


def test_the_processes_of_a_killed_run_are_gone_and_the_same_command_goes_on(
    tmp_path: Path,
    started: Callable[..., subprocess.Popen[str]],
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    descendants: Callable[[int], set[int]],
    wait_until: Callable[..., None],
    check_gone: Callable[[set[int]], None],
) -> None:
    """Over the real wire: the endpoint, the MCP server and its planners are processes."""
    file = experiment_file(
        instances={"benchmark": "sokobench", "options": {"lengths": [5], "rotations": [0, 90]}},
        conditions=[{"name": "innate"}, {"name": "modulo-solver", "planner": "pyperplan"}],
        limits={"concurrent_trials": 4},
    )
    folder = tmp_path / "run"
    process = started("run", file, "--out", folder)
    wait_until(lambda: (folder / "manifest.json").exists() and open_run(folder).done)
    wait_until(lambda: len(descendants(process.pid)) >= 3)  # endpoint, server, a planner
    below = descendants(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    check_gone(below)

    first = {r.key: r for r in open_run(folder).done}
    assert 0 < len(first) < 4
    again = cli("run", file, "--out", folder, "--json")
    assert again.code == 0, again.err
    assert (again.document["planned"], again.document["done"]) == (4, 4)
    assert f"{len(first)} of 4 trials were done before." in again.err
    second = {r.key: r for r in open_run(folder).done}
    assert len(second) == 4
    assert first.items() <= second.items()


def test_a_trial_that_is_done_is_not_asked_again(
    tmp_path: Path, endpoint: Any, experiment_text: Callable[..., str]
) -> None:
    """Counted where it costs: at the endpoint."""

    class Failing(TrialStore):
        """Breaks off in the third write."""

        left = 3

        def write(self, *arguments: Any) -> None:
            self.left -= 1
            if self.left == 0:
                raise EnvironmentFailure("The disk is gone.")
            super().write(*arguments)

    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    experiment = parse_experiment(
        experiment_text(
            models=[{"name": "m", "base_url": endpoint.url}],
            repetitions=4,
            limits={"concurrent_trials": 1},
        )
    )
    folder = tmp_path / "run"
    with pytest.raises(EnvironmentFailure, match="The disk is gone"):
        run_sync(run_async(experiment, folder, store=lambda path: Failing(path, write=True)))
    assert len(endpoint.requests) == 3
    summary = run(experiment, folder)
    assert (summary.before, summary.done) == (2, 8)
    assert len(endpoint.requests) == 3 + 6
    assert run(experiment, folder).before == 8
    assert len(endpoint.requests) == 9
