"""The server as a process: what it says on stdout and stderr, what it refuses, how it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from llm_modulo.errors import UsageError
from llm_modulo.server import serve

SERVE = [sys.executable, "-m", "llm_modulo", "serve"]


def request(number: int, method: str, **params: Any) -> bytes:
    """A JSON-RPC request in one line."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode() + b"\n"


def initialize(number: int = 1) -> bytes:
    return request(
        number,
        "initialize",
        protocolVersion="2025-11-25",
        capabilities={},
        clientInfo={"name": "test", "version": "1"},
    )


@pytest.fixture
def serving() -> Any:
    """A server over stdio whose pipes are ours."""
    pipe = subprocess.PIPE
    with subprocess.Popen(SERVE, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process
        process.kill()


def test_stdout_holds_the_protocol_and_nothing_else(serving: Any, problem: str) -> None:
    """From the first byte on: a stray line would break the client."""
    given = {"domain": "bundled:sokoban", "problem": problem}
    serving.stdin.write(initialize())
    for number, planner in enumerate(["fast-downward", "fast-downward-opt"], start=2):
        given["planner"] = planner
        serving.stdin.write(request(number, "tools/call", name="solve", arguments=given))
    serving.stdin.flush()
    answers = [json.loads(serving.stdout.readline()) for _ in range(3)]
    assert answers[0]["result"]["serverInfo"]["name"] == "llm-modulo"
    assert sorted(answer["id"] for answer in answers) == [1, 2, 3]
    for answer in answers[1:]:
        assert answer["result"]["structuredContent"]["outcome"].startswith("solved")
    serving.stdin.close()
    assert serving.wait(5) == 0, "the end of stdin is the end of a session"
    assert serving.stdout.read() == b""
    assert serving.stderr.read() == b""


def test_a_failed_call_leaves_no_trace_on_stderr(serving: Any) -> None:
    """Else a model's mistakes would be printed into the progress of a run."""
    serving.stdin.write(initialize())
    mistakes = [{"domain": "bundled:chess", "problem": ""}, {"effort": 3}, {"time_limit": 0}]
    for number, given in enumerate(mistakes, start=2):
        serving.stdin.write(request(number, "tools/call", name="solve", arguments=given))
    serving.stdin.flush()
    answers = [json.loads(serving.stdout.readline())["result"] for _ in range(4)]
    assert [answer.get("isError") for answer in answers[1:]] == [True] * 3
    serving.stdin.close()
    assert serving.wait(5) == 0
    assert serving.stderr.read() == b""


def test_a_line_that_is_no_message_does_not_end_the_server(serving: Any) -> None:
    serving.stdin.write(b"hello\n\xff\xfe\n{}\n" + initialize(7))
    serving.stdin.flush()
    while (answer := json.loads(serving.stdout.readline())).get("id") != 7:
        assert "error" in answer
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_an_interrupt_ends_a_server_that_waits_for_its_client(serving: Any) -> None:
    serving.stdin.write(initialize())
    serving.stdin.flush()
    serving.stdout.readline()
    serving.send_signal(signal.SIGINT)
    assert serving.wait(5) == -signal.SIGINT
    assert b"Traceback" not in serving.stderr.read()


def ask(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> Any:
    """(status, body) of one HTTP request; underscores in names of headers become dashes."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request(method, path, body=body, headers=sent)
    response = connection.getresponse()
    found = (response.status, response.read())
    connection.close()
    return found


def test_health_answers(http_server: Any) -> None:
    status, body = ask(http_server.port, "GET", "/health")
    assert (status, json.loads(body)) == (200, {"status": "ok"})


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "localhost"])
def test_the_hosts_names_are_accepted(http_server: Any, host: str) -> None:
    host = host.format(port=http_server.port)
    status, body = ask(http_server.port, "POST", "/mcp", initialize(), Host=host)
    assert status == 200
    assert b"llm-modulo" in body


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example"])
def test_a_foreign_host_header_is_refused(http_server: Any, host: str) -> None:
    """A page that a browser was lured to cannot call the tools under its own name."""
    host = host.format(port=http_server.port)
    status, body = ask(http_server.port, "POST", "/mcp", initialize(), Host=host)
    assert status == 421
    assert b"llm-modulo" not in body


def test_a_foreign_origin_is_refused(http_server: Any) -> None:
    status, _ = ask(http_server.port, "POST", "/mcp", initialize(), Origin="http://evil.example")
    assert status == 403


def test_a_body_of_5_mb_is_refused_and_the_server_goes_on(http_server: Any) -> None:
    given = {"domain": "(" * 5_000_000}
    body = request(2, "tools/call", name="parse_domain", arguments=given)
    assert ask(http_server.port, "POST", "/mcp", body)[0] == 413
    assert ask(http_server.port, "GET", "/health")[0] == 200


def test_the_address_is_announced_on_stderr(http_server: Any) -> None:
    assert http_server.announced == f"Serving MCP at http://127.0.0.1:{http_server.port}/mcp\n"


def test_sigterm_ends_an_idle_server(start_http: Callable[..., Any]) -> None:
    server = start_http()
    server.process.terminate()
    assert server.process.wait(2) == -signal.SIGTERM
    assert server.process.stderr.read() == ""


def test_a_host_beyond_loopback_is_refused_on_the_command_line() -> None:
    ended = subprocess.run(
        [*SERVE, "--transport", "http", "--host", "0.0.0.0", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr == (
        "Refusing to listen on 0.0.0.0: anybody who reaches it could run planners here."
        " Use --host 127.0.0.1, or --allow-unauthenticated if that is meant.\n"
    )


@pytest.mark.parametrize("host", ["::", "192.0.2.1", "example.org", "127.0.0.1.example.org", ""])
def test_a_host_beyond_loopback_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="anybody who reaches it could run planners here"):
        serve(transport="http", host=host, port=0)


def test_beyond_loopback_with_leave(start_http: Callable[..., Any]) -> None:
    server = start_http("--host", "0.0.0.0", "--allow-unauthenticated")
    assert server.url == f"http://0.0.0.0:{server.port}/mcp"
    assert ask(server.port, "POST", "/mcp", initialize())[0] == 200


@pytest.mark.parametrize(
    ("host", "port", "reason"),
    [
        ("127.0.0.1", 99_999, "a port is 0 to 65535"),
        ("127.0.0.1", -1, "a port is 0 to 65535"),
        ("192.0.2.1", 0, os.strerror(99)),
        ("no-such-host.invalid", 0, "Name or service not known|Temporary failure|No address"),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_bad_usage(
    host: str, port: int, reason: str
) -> None:
    announced: list[str] = []
    with pytest.raises(UsageError, match=rf"Cannot listen on {host}, port {port}: .*({reason})"):
        serve(
            transport="http",
            host=host,
            port=port,
            allow_unauthenticated=True,
            announce=announced.append,
        )
    assert announced == []


def test_a_port_in_use_is_bad_usage() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}: Address already in use"):
            serve(transport="http", port=port)


def test_a_profile_or_a_number_of_planners_that_makes_no_sense_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="Unknown profile 'chess'"):
        serve(profile="chess")
    with pytest.raises(UsageError, match="At least one planner"):
        serve(max_solves=0)
