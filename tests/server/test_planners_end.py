"""No planner outlives its call: whoever goes away, it is dead a second later.

The planners of a server are the processes whose working directory lies in the server's private
folder for temporary files; see conftest.py.
"""

import concurrent.futures
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MODES = ["auto", "legacy"]


def test_calls_are_answered_during_a_solve(far_peer: Any, hard: dict[str, Any]) -> None:
    solve = far_peer.start("solve", **hard)
    far_peer.planners.wait_until_searching()
    start = time.monotonic()
    assert far_peer.call("list_planners").is_error is False
    assert far_peer.call("parse_domain", domain="bundled:sokoban").structured_content["ok"]
    if far_peer.mode == "legacy":  # the current revision has no ping
        assert far_peer.ping()
    assert time.monotonic() - start < 2
    assert not solve.done()
    solve.cancel()
    assert far_peer.planners.seconds_until_gone() < 1


def test_two_solves_run_at_once_and_only_the_cancelled_one_ends(
    far_peer: Any, hard: dict[str, Any]
) -> None:
    first = far_peer.start("solve", **hard)
    far_peer.planners.wait_until_searching()
    (planner,) = far_peer.planners.alive()
    second = far_peer.start("solve", **hard)
    far_peer.planners.wait_until_searching(2)
    second.cancel()
    deadline = time.monotonic() + 1
    while len(far_peer.planners.alive()) == 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert far_peer.planners.alive() == [planner]
    assert not first.done()
    first.cancel()
    assert far_peer.planners.seconds_until_gone() < 1


def test_a_cancelled_call_leaves_no_planner(
    far_peer: Any, problem: str, hard: dict[str, Any]
) -> None:
    solve = far_peer.start("solve", **hard)
    far_peer.planners.wait_until_searching()
    solve.cancel()
    assert far_peer.planners.seconds_until_gone() < 1
    with contextlib.suppress(concurrent.futures.CancelledError):
        solve.result(5)
    again = far_peer.call("solve", domain="bundled:sokoban", problem=problem)
    assert again.structured_content["outcome"] == "solved", "the server goes on"
    assert list(far_peer.planners.folder.iterdir()) == [], "no folder is left either"


def test_a_call_that_the_client_gives_up_leaves_no_planner(
    far_peer: Any, hard: dict[str, Any]
) -> None:
    solve = far_peer.start("solve", **hard, client_timeout=0.7)
    far_peer.planners.wait_until_searching()
    with pytest.raises(Exception, match="timed out"):
        solve.result(10)
    assert far_peer.planners.seconds_until_gone() < 1


@pytest.mark.parametrize("mode", MODES)
def test_a_cancelled_call_in_memory_leaves_no_planner(
    peers: Callable[..., Any],
    request: pytest.FixtureRequest,
    hard: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planners_in: Callable[[Path], Any],
    mode: str,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    planners = planners_in(tmp_path)
    solve = peers("memory", mode, request).start("solve", **hard)
    planners.wait_until_searching()
    solve.cancel()
    assert planners.seconds_until_gone() < 1


@pytest.fixture
def start_client(hard: dict[str, Any], tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Starts a client process that calls `solve` on a server in a mode."""
    script = str(Path(__file__).with_name("client_process.py"))
    clients: list[subprocess.Popen[bytes]] = []

    def start(target: str | list[str], mode: str) -> subprocess.Popen[bytes]:
        job = json.dumps({"target": target, "mode": mode, "arguments": hard})
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        clients.append(
            subprocess.Popen([sys.executable, script, job], env=environment, stderr=subprocess.PIPE)
        )
        return clients[-1]

    yield start
    for client in clients:
        client.kill()
        client.communicate()


def test_a_killed_client_over_http_leaves_no_planner(
    start_http: Callable[..., Any], start_client: Callable[..., Any]
) -> None:
    server = start_http("--max-solves", "2")
    clients = [start_client(server.url, mode) for mode in MODES]
    server.planners.wait_until_searching(2)
    for client in clients:
        client.kill()
    assert server.planners.seconds_until_gone() < 1
    server.process.terminate()
    assert server.process.stderr.read() == "", "a client that goes is no fault of the server"


def test_a_killed_client_over_stdio_leaves_no_planner_and_no_server(
    start_client: Callable[..., Any], tmp_path: Path, planners_in: Callable[[Path], Any]
) -> None:
    planners = planners_in(tmp_path)
    serve = [sys.executable, "-m", "llm_modulo", "serve"]
    clients = [start_client(serve, mode) for mode in MODES]
    planners.wait_until_searching(2)
    for client in clients:
        client.kill()
    assert planners.seconds_until_gone() < 1
    for client in clients:  # the server has the same stderr, so this waits for its end
        assert client.communicate(timeout=5)[1] == b"", "nor does it complain"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_a_killed_server_over_http_leaves_no_planner(
    how: signal.Signals,
    start_http: Callable[..., Any],
    connect: Callable[..., Any],
    hard: dict[str, Any],
) -> None:
    server = start_http("--max-solves", "2")
    solves = [connect(server.url, mode).start("solve", **hard) for mode in MODES]
    server.planners.wait_until_searching(2)
    server.process.send_signal(how)
    assert server.planners.seconds_until_gone() < 1
    assert server.process.wait(2) == -how
    for solve in solves:
        with pytest.raises(Exception, match=r"closed|ended|error response"):
            solve.result(5)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=lambda how: how.name)
def test_a_killed_server_over_stdio_leaves_no_planner(
    how: signal.Signals,
    connect_stdio: Callable[[str], Any],
    parent_of: Callable[[int], int],
    hard: dict[str, Any],
) -> None:
    peers = [connect_stdio(mode) for mode in MODES]
    solves = [peer.start("solve", **hard) for peer in peers]
    for peer in peers:
        peer.planners.wait_until_searching()
    for peer in peers:
        forkserver = parent_of(peer.planners.alive()[0])
        os.kill(parent_of(forkserver), how)
    for peer, solve in zip(peers, solves, strict=True):
        assert peer.planners.seconds_until_gone() < 1
        with pytest.raises(Exception, match="closed"):
            solve.result(5)


def test_progress_is_reported_during_a_solve(
    local: Any, hard: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llm_modulo.server.tools._attended.PROGRESS_SECONDS", 0.2)
    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    result = local.call("solve", **{**hard, "time_limit": 0.7}, progress=note)
    assert result.structured_content["outcome"] == "timeout"
    assert [total for _, total in seen] == [0.7] * len(seen)
    assert [pytest.approx(progress) for progress, _ in seen][:2] == [0.2, 0.4]
