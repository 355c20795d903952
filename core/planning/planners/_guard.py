"""Puts the work of a process under a guard that kills whatever the work started.

unified-planning gives engines sessions of their own, where killing our process group does not
reach them, and an engine's process may start others. Loaded by its path in the process of a
planner call; see `_child.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
LOCK = "guard"
"""A file in the working directory, locked for as long as the guard lives."""


def guard() -> None:
    """Return in a process whose descendants all die with it, and with this one (Linux).

    This process becomes one that only waits, and ends as the work ended. Between the two
    stands the guard, in a session of its own: every orphan of the work falls to it, and
    when the work ends, or this process is killed, it kills all that is left.
    """
    if sys.platform != "linux":
        return
    lock = os.open(LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    me = os.getpid()
    if guardian := os.fork():
        _end_like(os.waitpid(guardian, 0)[1])
    os.setsid()
    prctl = ctypes.CDLL(None).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1)
    awaited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != me:
        os._exit(35)
    if worker := os.fork():
        _end_like(_watch(worker, awaited))
    prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, awaited)
    os.close(lock)


def _watch(worker: int, awaited: set[signal.Signals]) -> int:
    """Wait for the work or for the order to end it; kill all that is left of it."""
    status = signal.SIGKILL.value
    ended = False
    while not ended and signal.sigwait(awaited) is signal.SIGCHLD:
        with contextlib.suppress(ChildProcessError):
            while (reaped := os.waitpid(-1, os.WNOHANG))[0]:
                if reaped[0] == worker:
                    status, ended = reaped[1], True
    with contextlib.suppress(ChildProcessError):
        while True:  # the children of those that die here become ours
            for child in _children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)
    return status


def _children() -> list[int]:
    me = str(os.getpid())
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                stat = Path("/proc", entry, "stat").read_text(errors="replace")
                if stat.rpartition(")")[2].split()[1] == me:
                    found.append(int(entry))
    return found


def _end_like(status: int) -> None:
    """End this process as another one ended."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
