"""A disk that is full: one sentence, exit 3, nothing that was recorded is lost."""

import contextlib
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.eval import TrialStore, open_run

TRIALS = 60


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB of our own; skipped where we may not mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("only root may mount a small file system")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.fixture
def experiment(endpoint: Any, experiment_file: Callable[..., Path]) -> Path:
    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    return experiment_file(
        models=[{"name": "m", "base_url": endpoint.url}],
        repetitions=TRIALS // 2,
        limits={"concurrent_trials": 3},
    )


def check_stopped(ended: Any, folder: Path, endpoint: Any) -> int:
    """The run said what is wrong, and what it had stored is all there; returns how much."""
    assert (ended.code, ended.out) == (3, "")
    assert f"Cannot write to {folder / 'run.db'}" in ended.sentence
    records = open_run(folder).records
    assert {r.status for r in records} == {"done"}
    # All that were asked are stored, but for those in flight when the disk was full.
    assert len(endpoint.requests) - 3 <= len(records) < len(endpoint.requests) < TRIALS
    with TrialStore(folder) as store:
        assert all(store.transcript(r.key) for r in records)
    return len(records)


def check_resumed(ended: Any, folder: Path, before: int) -> None:
    assert ended.code == 0, ended.err
    assert f"{before} of {TRIALS} trials were done before." in ended.err
    assert len(open_run(folder).done) == TRIALS


def test_a_full_disk(
    small_disk: Path, cli: Callable[..., Any], experiment: Path, endpoint: Any
) -> None:
    folder = small_disk / "run"
    before = check_stopped(cli("run", experiment, "--out", folder), folder, endpoint)
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    check_resumed(cli("run", experiment, "--out", folder), folder, before)


def test_a_file_that_may_grow_no_further(
    tmp_path: Path,
    started: Callable[..., subprocess.Popen[str]],
    outcome: Callable[[subprocess.Popen[str]], Any],
    cli: Callable[..., Any],
    experiment: Path,
    endpoint: Any,
) -> None:
    folder = tmp_path / "run"
    process = started("run", experiment, "--out", folder)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (200_000, 200_000))
    before = check_stopped(outcome(process), folder, endpoint)
    check_resumed(cli("run", experiment, "--out", folder), folder, before)


@pytest.mark.parametrize("command", ["report", "rescore"])
def test_a_full_disk_after_the_run(
    tmp_path: Path,
    small_disk: Path,
    cli: Callable[..., Any],
    experiment: Path,
    command: str,
) -> None:
    """What is made from a run says the same, and leaves what was there."""
    subprocess.run(["mount", "-o", "remount,size=50m", str(small_disk)], check=True)
    folder = small_disk / "run"
    assert cli("run", experiment, "--out", folder).code == 0
    report = (folder / "report.html").read_bytes()
    with contextlib.suppress(OSError), open(small_disk / "ballast", "wb") as ballast:
        ballast.write(b"x" * 100_000_000)
    ended = cli(command, folder)
    assert ended.code == 3
    assert "Cannot" in ended.sentence
    assert len(open_run(folder).done) == TRIALS
    assert (folder / "report.html").read_bytes() == report
