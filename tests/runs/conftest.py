"""Experiments to run, endpoints to run them on, and the command line."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.cli import main


@pytest.fixture(autouse=True)
def no_endpoint_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer's shell is set up for must not reach the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def toml(value: Any) -> str:
    """A value as TOML; tables are written inline."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(v)}" for key, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(value)


@pytest.fixture(scope="session")
def experiment_text() -> Callable[..., str]:
    """Makes the text of an experiment: the oracle alone on two corridors, with changes."""

    def make(**changes: Any) -> str:
        parts = {
            "name": "small",
            "instances": {
                "benchmark": "sokobench",
                "options": {"lengths": [5, 7], "rotations": [0]},
            },
            "models": [{"name": "reference/oracle"}],
            "conditions": [{"name": "innate"}],
            **changes,
        }
        return "".join(f"{key} = {toml(v)}\n" for key, v in parts.items() if v is not None)

    return make


@pytest.fixture
def experiment_file(tmp_path: Path, experiment_text: Callable[..., str]) -> Callable[..., Path]:
    """Writes such an experiment to `experiment.toml`, or to the file of another name."""

    def write(file: str = "experiment.toml", **changes: Any) -> Path:
        path = tmp_path / file
        path.write_text(experiment_text(**changes), encoding="utf-8")
        return path

    return write


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one sentence on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Calls the command line in this process: quick, but not for what kills processes."""

    def call(*arguments: Any) -> Ended:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stop:
            main([str(a) for a in arguments])
        captured = capfd.readouterr()
        code = stop.value.code
        return Ended(code if isinstance(code, int) else -1, captured.out, captured.err)

    return call


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts the command line as a process in a session of its own; what is left is killed."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "llm_modulo", *(str(a) for a in arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:  # not read to its end: a lost child may hold the other one
                pipe.close()


@pytest.fixture(scope="session")
def outcome() -> Callable[[subprocess.Popen[str]], Ended]:
    """Waits for a started process."""

    def wait(process: subprocess.Popen[str]) -> Ended:
        out, err = process.communicate(timeout=100)
        return Ended(process.returncode, out, err)

    return wait


@pytest.fixture
def ended(
    started: Callable[..., subprocess.Popen[str]],
    outcome: Callable[[subprocess.Popen[str]], Ended],
) -> Callable[..., Ended]:
    """Runs the command line as a process to its end."""
    return lambda *arguments: outcome(started(*arguments))


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., None]:
    """Waits for a condition; fails after some seconds."""

    def wait(condition: Callable[[], object], *, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds:g} s"
            time.sleep(0.01)

    return wait


@pytest.fixture
def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def reference_models(port: int) -> Iterator[str]:
    command = [sys.executable, "-m", "llm_modulo.agent.models.reference", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture(scope="session")
def reference_url() -> Iterator[str]:
    """The reference models, served once for all tests."""
    with reference_models(0) as url:
        yield url


@pytest.fixture(scope="session")
def serve_reference_models() -> Callable[[int], contextlib.AbstractContextManager[str]]:
    """Serves the reference models on a given port while the context lasts."""
    return reference_models


Answer = tuple[int, str]
"""An HTTP status and a body."""


@dataclass
class Endpoint:
    """A model's endpoint whose answers a test decides: `respond` gets the request's body."""

    url: str = ""
    respond: Callable[[dict[str, Any]], Answer] = lambda _: (500, "")
    requests: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, body: bytes) -> Answer:
        """Note the request and answer it."""
        request = json.loads(body)
        self.requests.append(request)
        return self.respond(request)

    @staticmethod
    def says(text: str) -> Answer:
        """A chat completion with this text."""
        message = {"role": "assistant", "content": text}
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        }
        return 200, json.dumps(body)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint in this process."""
    scripted = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, text = scripted.answer(body)
            kind = "text/html" if text.startswith("<") else "application/json"
            with contextlib.suppress(OSError):  # the client may be dead
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """A client that leaves early is part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    scripted.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield scripted
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="session")
def descendants() -> Callable[[int], set[int]]:
    """The living processes below one, from /proc."""

    def below(process: int) -> set[int]:
        parents = {}
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError, ValueError):
                stat = Path(f"/proc/{int(entry)}/stat").read_text()
                state, parent = stat.rpartition(")")[2].split()[:2]
                if state != "Z":
                    parents[int(entry)] = int(parent)
        found = {process}
        while more := {p for p, parent in parents.items() if parent in found} - found:
            found |= more
        return found - {process}

    return below


@pytest.fixture(scope="session")
def check_gone(wait_until: Callable[..., None]) -> Callable[[set[int]], None]:
    """Fails if processes are not gone soon, and leaves none of them behind."""

    def check(processes: set[int]) -> None:
        try:
            wait_until(
                lambda: not any(Path(f"/proc/{process}").exists() for process in processes),
                seconds=5,
            )
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    return check
