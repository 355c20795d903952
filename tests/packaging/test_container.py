"""The container's steps (scripts/container.sh), run as an ordinary user instead of in an image.

Building the image itself is not tested: that takes a container engine.
"""

import asyncio
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

LIBRARIES = sysconfig.get_path("purelib")
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, kw_only=True)
class OrdinaryUser:
    """A user who is not root, with a folder of its own and a Python that it may run."""

    identity: dict[str, Any]
    home: Path
    python: str

    def environment(self, **variables: str) -> dict[str, str]:
        return {"PATH": os.defpath, "HOME": str(self.home), "TMPDIR": str(self.home), **variables}

    def run(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            **self.identity,
            cwd=self.home,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def user(checkout: Path) -> Iterator[OrdinaryUser]:
    """Ourselves, or `nobody` if we are root."""
    home = Path(tempfile.mkdtemp(prefix="llm-modulo-container-"))
    identity: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        identity = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
    # Root's own Python may lie where nobody else can read it.
    pythons = [os.path.realpath(sys.executable), f"/usr/bin/python{VERSION}"]
    probe = (
        f"import os, sys; sys.path.insert(0, {LIBRARIES!r}); import pydantic_core; "
        f"assert '%d.%d' % sys.version_info[:2] == {VERSION!r}; "
        f"assert os.access({str(checkout / 'core')!r}, os.R_OK | os.X_OK)"
    )
    for python in pythons:
        found = OrdinaryUser(identity=identity, home=home, python=python)
        try:
            usable = found.run(python, "-c", probe).returncode == 0
        except OSError:
            continue
        if usable:
            yield found
            break
    else:
        home.rmdir()
        pytest.skip(f"no Python {VERSION} that can read the checkout as an ordinary user")
    shutil.rmtree(home)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def serve_and_stop(user: OrdinaryUser, prefix: Path) -> None:
    """Starts the installed server, asks it for its tools, and stops it with SIGTERM."""
    script = prefix / "bin" / "container.sh"
    port = str(free_port())
    where = {"LLM_MODULO_HOST": "127.0.0.1", "LLM_MODULO_PORT": port}
    assert user.run(script, "healthcheck", **where).returncode == 1

    log = user.home / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [script, "run"],
            **user.identity,
            cwd=user.home,
            env=user.environment(**where),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 30
        while user.run(script, "healthcheck", **where).returncode != 0:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        assert "solve" in asyncio.run(tools(f"http://127.0.0.1:{port}/mcp"))
        server.send_signal(signal.SIGTERM)
        # Uvicorn stops in order and then ends as the signal would have ended it.
        assert server.wait(timeout=10) in {0, -signal.SIGTERM}, log.read_text()
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
    assert user.run(script, "healthcheck", **where).returncode == 1


async def tools(url: str) -> set[str]:
    from fastmcp import Client

    async with Client(url) as client:
        return {tool.name for tool in await client.list_tools()}


def test_install_from_the_checkout_with_libraries_already_here_then_serve(
    user: OrdinaryUser, checkout: Path
) -> None:
    prefix = user.home / "prefix"
    script = checkout / "scripts" / "container.sh"
    done = user.run(script, "install", prefix, "--libraries", LIBRARIES, PYTHON=user.python)
    assert done.returncode == 0, done.stderr

    where = user.run(prefix / "bin" / "python", "-c", "import llm_modulo as m; print(m.__file__)")
    assert Path(where.stdout).is_relative_to(prefix), where.stderr
    serve_and_stop(user, prefix)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_install_from_the_checkout_with_downloads_then_serve(
    user: OrdinaryUser, checkout: Path
) -> None:
    prefix = user.home / "prefix"
    script = checkout / "scripts" / "container.sh"
    # How this machine reaches its package index is the machine's affair, not the image's.
    pip = {name: value for name, value in os.environ.items() if re.match("PIP_|SSL_", name)}
    done = user.run(script, "install", prefix, PYTHON=user.python, **pip)
    assert done.returncode == 0, done.stderr
    serve_and_stop(user, prefix)


@pytest.mark.parametrize("arguments", [[], ["instal"], ["install"], ["install", "x", "--here"]])
def test_a_wrong_call_shows_the_usage_and_makes_nothing(
    tmp_path: Path, checkout: Path, arguments: list[str]
) -> None:
    script = checkout / "scripts" / "container.sh"
    done = subprocess.run(
        [script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "install PREFIX" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_dockerfile_calls_steps_that_exist_and_is_not_root(checkout: Path) -> None:
    dockerfile = (checkout / "Dockerfile").read_text(encoding="utf-8")
    script = (checkout / "scripts" / "container.sh").read_text(encoding="utf-8")
    instructions = re.sub(r"^#.*\n", "", dockerfile, flags=re.MULTILINE)
    called = re.findall(r'container\.sh"?,? "?([a-z]+)', instructions)
    assert called == ["install", "healthcheck", "run"]
    assert all(f"{step}() {{" in script for step in called)
    last_stage = instructions.rpartition("FROM")[2]
    assert re.search(r"^USER (?!root)\S+$", last_stage, re.MULTILINE)
