"""Start the local endpoint as a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator

from llm_modulo.errors import EndpointFailure

__all__ = ["reference_endpoint"]

_START_SECONDS = 60.0


@contextlib.asynccontextmanager
async def reference_endpoint() -> AsyncIterator[str]:
    """Run the endpoint while the context lasts; yields its base URL.

    Raises:
        EndpointFailure: it did not start.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "llm_modulo.agent.models.reference",
        "--parent",
        str(os.getpid()),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        try:
            line = await asyncio.wait_for(process.stdout.readline(), _START_SECONDS)
        except TimeoutError:
            line = b""
        if not line.startswith(b"http"):
            raise EndpointFailure(
                "The local endpoint of the reference models did not start.", kind="unreachable"
            )
        yield line.decode().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
