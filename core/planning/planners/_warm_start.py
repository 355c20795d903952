"""Planner processes that need not start Python and load the translator first.

One forkserver (see `_forkserver.py`) belongs to this process; it is started with the
first task, again when it has died, and anew after a fork of this process. The promises
are those of `_process.py`: when `run_forked` returns or raises, the task's process group
is dead and reaped.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["WarmStartUnavailable", "prepare", "run_forked", "stop"]

_CODE_BYTES = 64
_GRACE_SECONDS = 2.0
"""So long a forkserver may take to say that a task which it was told to kill is dead."""


class WarmStartUnavailable(Exception):
    """The task was not started: there is no forkserver here that could."""


class _Owner:
    """A forkserver, and our end of the socket on which it takes tasks."""

    def __init__(self, environment: dict[str, str]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", _script(), str(theirs.fileno()), str(os.getpid())],
                    pass_fds=[theirs.fileno()],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # an interrupt from the terminal is not for it
                )
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)  # a forkserver that does not take tasks must not hold us up
        self.control = ours
        self.pid = os.getpid()

    def is_usable(self) -> bool:
        """Whether it is ours, not that of the process which forked us, and alive."""
        return self.pid == os.getpid() and self.process.poll() is None

    def close(self) -> None:
        """End it, and with it the tasks that it has running."""
        self.control.close()
        if self.pid != os.getpid():
            self.process.returncode = 0  # it is not our child: nobody here waits for it
            return
        try:
            self.process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_lock = threading.Lock()
_owner: _Owner | None = None


def _script() -> str:
    return str(Path(__file__).with_name("_forkserver.py"))


def prepare(environment: dict[str, str]) -> None:
    """Start the forkserver, if it is not running; it gets ready while others work.

    Args:
        environment: the environment of the planners.

    Raises:
        WarmStartUnavailable: it cannot be started on this system.
    """
    global _owner
    if not hasattr(os, "pidfd_open"):
        raise WarmStartUnavailable("this system has no pidfd_open")
    with _lock:
        if _owner is not None and _owner.is_usable():
            return
        if _owner is not None:
            _owner.close()
        try:
            _owner = _Owner(environment)
        except OSError as error:
            _owner = None
            raise WarmStartUnavailable(str(error)) from error


def _after_fork_in_child() -> None:
    """The forkserver is our parent's, and so may the lock be."""
    global _lock, _owner
    _lock = threading.Lock()
    if _owner is not None:
        _owner.close()
    _owner = None


def stop() -> None:
    """End the forkserver; the next task starts another one."""
    global _owner
    with _lock:
        if _owner is not None:
            _owner.close()
        _owner = None


def _submit(task: dict[str, Any], environment: dict[str, str]) -> tuple[_Owner, socket.socket]:
    """Hand a task to the forkserver; returns that, and our end of the task's channel."""
    prepare(environment)
    ours, theirs = socket.socketpair()
    with theirs, _lock:
        try:
            if _owner is None:
                raise WarmStartUnavailable("the forkserver was stopped")
            owner = _owner
            socket.send_fds(owner.control, [json.dumps(task).encode()], [theirs.fileno()])
        except (OSError, WarmStartUnavailable) as error:
            ours.close()
            raise WarmStartUnavailable(str(error)) from error
    ours.setblocking(False)
    return owner, ours


async def run_forked(
    task: dict[str, Any], *, environment: dict[str, str], time_limit: float
) -> tuple[int | None, bool]:
    """Run a task of `_child.py` in a child of the forkserver.

    Args:
        task: with `folder`, the child's working directory; its output goes to `log` there.
        environment: of the forkserver, if it has to be started.
        time_limit: wall-clock seconds.

    Returns:
        The exit code (negative for a signal), None if the forkserver died and took the
        child along; and whether the child was killed because its time was up.

    Raises:
        WarmStartUnavailable: the task was not started.
    """
    loop = asyncio.get_running_loop()
    owner, channel = _submit(task, environment)
    timed_out = False
    try:
        try:
            code = await asyncio.wait_for(loop.sock_recv(channel, _CODE_BYTES), time_limit)
        except TimeoutError:
            timed_out = True
            code = await _killed(owner, channel)
        except asyncio.CancelledError:
            await _killed(owner, channel)
            raise
    finally:
        channel.close()
    return (int(code) if code else None), timed_out


async def _killed(owner: _Owner, channel: socket.socket) -> bytes:
    """Have a task killed and wait for its exit code, even while this one is cancelled.

    A forkserver that does not answer is killed; the kernel kills its children with it.
    """
    with suppress(OSError):
        channel.send(b"kill")
    loop = asyncio.get_running_loop()
    waiter = asyncio.ensure_future(loop.sock_recv(channel, _CODE_BYTES))
    patience = loop.time() + _GRACE_SECONDS
    cancelled = False
    while not waiter.done():
        try:
            await asyncio.wait([waiter], timeout=max(0.0, patience - loop.time()))
        except asyncio.CancelledError:
            cancelled = True
        if not waiter.done() and loop.time() >= patience:
            patience = loop.time() + _GRACE_SECONDS
            owner.process.kill()
    if cancelled:
        raise asyncio.CancelledError
    return b"" if waiter.exception() else waiter.result()


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
