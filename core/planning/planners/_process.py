"""One planner process: its own session and folder, limits, and a certain death.

Whatever happens (end, timeout, cancellation, an error of ours) the whole process group
is killed and reaped before control returns. When this process dies instead, the kernel
kills the child: every child calls `bind_to_parent` first (see `_child.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ._planner import Limits
from ._warm_start import WarmStartUnavailable, prepare, run_forked

__all__ = [
    "ProcessEnd",
    "prepare_warm_start",
    "read_log",
    "run_child",
    "run_process",
    "run_warm_child",
]

LOG_BYTES = 64_000
FILE_BYTES = 4_000_000_000
"""Largest file that a planner may write."""
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",  # it reserves address space for each, which is what we limit
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessEnd:
    """How a process ended.

    Attributes:
        returncode: exit code; negative for a signal.
        timed_out: it was killed because its time was up.
        seconds: wall-clock time from start to end.
    """

    returncode: int
    timed_out: bool
    seconds: float

    @property
    def out_of_time(self) -> bool:
        """Killed by us for its wall-clock time, or by the kernel for its processor time."""
        return self.timed_out or self.returncode == -signal.SIGXCPU


async def run_child(task: dict[str, Any], *, folder: Path, limits: Limits) -> ProcessEnd:
    """Run `_child.py` on a task within limits; see there for what a task holds."""
    request = _request(task, limits)
    script = Path(__file__).with_name("_child.py")
    argv = [sys.executable, "-P", str(script), json.dumps(request)]
    return await run_process(argv, folder=folder, time_limit=limits.seconds)


async def run_warm_child(task: dict[str, Any], *, folder: Path, limits: Limits) -> ProcessEnd:
    """`run_child` for a task that needs the translator, which is loaded already.

    Where that cannot be had, the process is started afresh.
    """
    loop = asyncio.get_running_loop()
    begin = loop.time()
    request = {**_request(task, limits), "folder": str(folder)}
    (folder / "log").touch()
    try:
        code, timed_out = await run_forked(
            request, environment={**os.environ, **_ENVIRONMENT}, time_limit=limits.seconds
        )
    except WarmStartUnavailable:
        return await run_child(task, folder=folder, limits=limits)
    if code is None and not timed_out:  # not started, or dead with the forkserver
        rest = replace(limits, seconds=max(0.0, limits.seconds - (loop.time() - begin)))
        return await run_child(task, folder=folder, limits=rest)
    return ProcessEnd(
        returncode=-signal.SIGKILL if code is None else code,
        timed_out=timed_out,
        seconds=loop.time() - begin,
    )


def prepare_warm_start() -> None:
    """Have the translator loaded while something else is done, where that is possible."""
    with contextlib.suppress(WarmStartUnavailable):
        prepare({**os.environ, **_ENVIRONMENT})


def _request(task: dict[str, Any], limits: Limits) -> dict[str, Any]:
    return {
        "parent": os.getpid(),
        "memory": limits.memory_mb * 1_000_000,
        "cpu": math.ceil(limits.seconds) + 1,
        "file_size": FILE_BYTES,
        **task,
    }


async def run_process(argv: Sequence[str], *, folder: Path, time_limit: float) -> ProcessEnd:
    """Run a command in `folder` until it ends or its time is up; output goes to `log`.

    Args:
        argv: the command and its arguments.
        folder: its working directory; receives the file `log`.
        time_limit: wall-clock seconds.

    Raises:
        OSError: the process cannot be started, or the log not written.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    with open(folder / "log", "wb") as log:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    timed_out = False
    try:
        await asyncio.wait_for(process.wait(), timeout=max(0.0, time_limit))
    except TimeoutError:
        timed_out = True
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await _reap(process)
    assert process.returncode is not None
    return ProcessEnd(
        returncode=process.returncode, timed_out=timed_out, seconds=loop.time() - start
    )


async def _reap(process: asyncio.subprocess.Process) -> None:
    """Wait for a killed process even if this task is being cancelled."""
    waiter = asyncio.ensure_future(process.wait())
    cancelled = False
    while not waiter.done():
        try:
            await asyncio.shield(waiter)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def read_log(folder: Path) -> str:
    """The log's beginning and end, as text; what lies between is left out beyond 128 kB."""
    with open(folder / "log", "rb") as log:
        size = os.fstat(log.fileno()).st_size
        head = log.read(LOG_BYTES)
        if size <= LOG_BYTES:
            return head.decode("utf-8", "replace")
        log.seek(max(LOG_BYTES, size - LOG_BYTES))
        tail = log.read()
    gap = b"" if size <= 2 * LOG_BYTES else b"\n[...]\n"
    return (head + gap + tail).decode("utf-8", "replace")
