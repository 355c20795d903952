"""Clients of the server: in memory, over stdio and over HTTP, in both revisions of the protocol.

Servers and clients live for the whole session, on an event loop in a thread of its own, so a
test is a plain function and pays for no start. Each server has a private folder for temporary
files: the planners that it started are the processes whose working directory lies there.
"""

import asyncio
import concurrent.futures
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from fastmcp.client.client import CallToolResult
from fastmcp.client.transports import StdioTransport

from llm_modulo.domains.sokoban import Level, corridor, write_problem
from llm_modulo.server import create_server

SERVE = [sys.executable, "-m", "llm_modulo", "serve"]
MODES = ["auto", "legacy"]
"""The current revision of the protocol, without a handshake, and the one before."""


class LoopThread:
    """An event loop that runs in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> concurrent.futures.Future[Any]:
        """Start a coroutine; cancelling the future cancels it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def run(self, coroutine: Coroutine[Any, Any, Any], timeout: float = 60) -> Any:
        """Run a coroutine to its end."""
        return self.start(coroutine).result(timeout)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Planners:
    """The planner processes of the server whose temporary files lie in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def alive(self) -> list[int]:
        """Process ids, zombies not counted."""
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                with contextlib.suppress(OSError):
                    if Path(os.readlink(f"/proc/{entry}/cwd")).is_relative_to(self.folder):
                        found.append(int(entry))
        return found

    def wait_until_searching(self, number: int = 1) -> None:
        """Wait until planners run, and have run for a moment."""
        deadline = time.monotonic() + 20
        while len(self.alive()) < number:
            assert time.monotonic() < deadline, "no planner was started"
            time.sleep(0.02)
        time.sleep(0.2)
        assert len(self.alive()) == number

    def seconds_until_gone(self) -> float:
        """How long it takes until none is left; infinity if that is over 5 seconds."""
        start = time.monotonic()
        while self.alive():
            if time.monotonic() - start > 5:
                return float("inf")
            time.sleep(0.01)
        return time.monotonic() - start


class HttpServer:
    """`llm-modulo serve --transport http` in a process of its own, on a free port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.planners = Planners(folder)
        self.process = subprocess.Popen(
            [*SERVE, "--transport", "http", "--port", "0", *options],
            env={**os.environ, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.announced = self.process.stderr.readline()
        self.url = self.announced.split()[-1]
        self.port = int(self.url.split(":")[-1].split("/")[0])
        self.clients: list[Peer] = []

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class Peer:
    """A connected client."""

    def __init__(self, loop: LoopThread, target: Any, mode: str, planners: Planners | None) -> None:
        self._loop = loop
        self.mode = mode
        self.planners = planners
        self.client = Client(target, mode=mode)
        self._loop.run(self.client.__aenter__())

    def close(self) -> None:
        with contextlib.suppress(Exception):  # some tests kill the server
            self._loop.run(self.client.__aexit__(None, None, None))
        with contextlib.suppress(Exception):
            self._loop.run(self.client.close())

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self._loop.run(self.client.list_tools())}

    def ping(self) -> bool:
        return self._loop.run(self.client.ping(), 5)

    def start(self, name: str, /, **arguments: Any) -> concurrent.futures.Future[CallToolResult]:
        """Start a call.

        Args:
            client_timeout: the client's own limit in seconds.
            progress: hears of the progress.
        """
        own = {
            "timeout": arguments.pop("client_timeout", None),
            "progress_handler": arguments.pop("progress", None),
        }
        return self._loop.start(self.client.call_tool(name, arguments, raise_on_error=False, **own))

    def call(self, name: str, /, **arguments: Any) -> CallToolResult:
        return self.start(name, **arguments).result(60)


@pytest.fixture(scope="session")
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def stdio(folder: Path) -> StdioTransport:
    environment = {**os.environ, "TMPDIR": str(folder)}
    return StdioTransport(SERVE[0], SERVE[1:], env=environment, keep_alive=False)


@pytest.fixture
def connect_stdio(loop: LoopThread, tmp_path: Path) -> Iterator[Callable[[str], Peer]]:
    """Starts a server of the test's own and connects to it over stdio in a mode."""
    peers: list[Peer] = []

    def connect(mode: str) -> Peer:
        folder = tmp_path / f"{len(peers)}"
        folder.mkdir()
        peers.append(Peer(loop, stdio(folder), mode, Planners(folder)))
        return peers[-1]

    yield connect
    for peer in peers:
        peer.close()


@pytest.fixture(scope="session")
def http_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server over HTTP that the session shares."""
    server = HttpServer(tmp_path_factory.mktemp("http"))
    yield server
    server.close()


@pytest.fixture
def start_http(tmp_path: Path) -> Iterator[Callable[..., HttpServer]]:
    """Starts a server over HTTP that is the test's own."""
    servers: list[HttpServer] = []

    def start(*options: str) -> HttpServer:
        servers.append(HttpServer(tmp_path, *options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def connect(loop: LoopThread) -> Iterator[Callable[..., Peer]]:
    """Connects to what `fastmcp.Client` accepts, in a mode; closed at the end of the session."""
    peers: list[Peer] = []

    def to(target: Any, mode: str = "auto", planners: Planners | None = None) -> Peer:
        peers.append(Peer(loop, target, mode, planners))
        return peers[-1]

    yield to
    for peer in reversed(peers):
        peer.close()


@pytest.fixture(scope="session")
def peers(
    connect: Callable[..., Peer], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str, pytest.FixtureRequest], Peer]:
    """Returns the session's client for a transport and a mode."""
    known: dict[tuple[str, str], Peer] = {}

    def find(transport: str, mode: str, request: pytest.FixtureRequest) -> Peer:
        if (transport, mode) not in known:
            if transport == "memory":
                peer = connect(create_server(), mode)
            elif transport == "stdio":
                folder = tmp_path_factory.mktemp("stdio")
                peer = connect(stdio(folder), mode, Planners(folder))
            else:
                server: HttpServer = request.getfixturevalue("http_server")
                peer = connect(server.url, mode, server.planners)
                server.clients.append(peer)
            known[transport, mode] = peer
        return known[transport, mode]

    return find


@pytest.fixture(params=[(t, m) for t in ("memory", "stdio", "http") for m in MODES], ids="-".join)
def peer(request: pytest.FixtureRequest, peers: Callable[..., Peer]) -> Peer:
    """A client over every transport in every mode."""
    return peers(*request.param, request)


@pytest.fixture(params=[(t, m) for t in ("stdio", "http") for m in MODES], ids="-".join)
def far_peer(request: pytest.FixtureRequest, peers: Callable[..., Peer]) -> Peer:
    """A client whose server is another process; its planners are known."""
    return peers(*request.param, request)


@pytest.fixture
def planners_in() -> type[Planners]:
    """The planners of a server that has a given folder for its temporary files."""
    return Planners


@pytest.fixture
def parent_of() -> Callable[[int], int]:
    """The id of a process's parent."""

    def find(process: int) -> int:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith("PPid:")]
        return int(line.split()[1])

    return find


@pytest.fixture(scope="session")
def local(connect: Callable[..., Peer]) -> Peer:
    """A client in memory, for what does not depend on the transport."""
    return connect(create_server())


@pytest.fixture(scope="session")
def problem() -> str:
    """A corridor of five cells, over the bundled domain; its plan has three steps."""
    return write_problem(corridor(5))


@pytest.fixture(scope="session")
def hard() -> dict[str, Any]:
    """Arguments of a solve that takes its 60 seconds: six boxes in an open room, optimally."""
    room = [
        "##########",
        "#        #",
        "# $ $ $  #",
        "#  $ $ $ #",
        "#   @    #",
        "# ...... #",
        "#        #",
        "##########",
    ]
    return {
        "domain": "bundled:sokoban",
        "problem": write_problem(Level.from_xsb(room)),
        "planner": "fast-downward-opt",
        "time_limit": 60,
    }
