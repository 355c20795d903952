"""A call that may take long: its client hears of it, and it ends when the client is gone.

Cancellation reaches a tool by itself over stdio and from clients of the current protocol
revision over HTTP. A client of the previous revision that dies over HTTP cancels nothing:
it might come back for the answer. Ours could not, since no answer is kept for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastmcp import Context
from fastmcp.exceptions import ToolError

__all__ = ["attended"]

PROGRESS_SECONDS = 5.0
WATCH_SECONDS = 0.2


@asynccontextmanager
async def attended(ctx: Context | None, time_limit: float) -> AsyncIterator[None]:
    """Report progress while the body runs, and cancel it when the HTTP client hangs up.

    Args:
        ctx: the call's context; nobody attends without one.
        time_limit: seconds that stand for the whole in the progress.

    Raises:
        ToolError: the client is gone.
    """
    if ctx is None:
        yield
        return
    try:
        async with asyncio.timeout(None) as stop:
            companions = [
                asyncio.create_task(_report_progress(ctx, time_limit)),
                asyncio.create_task(_watch_client(ctx, stop)),
            ]
            try:
                yield
            finally:
                for companion in companions:
                    companion.cancel()
    except TimeoutError:
        raise ToolError("The client has hung up.", log_level=logging.DEBUG) from None


async def _report_progress(ctx: Context, time_limit: float) -> None:
    """Tell the client every few seconds that the planner is still at work."""
    elapsed = 0.0
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        elapsed += PROGRESS_SECONDS
        await ctx.report_progress(min(elapsed, time_limit), time_limit, "searching")


async def _watch_client(ctx: Context, stop: asyncio.Timeout) -> None:
    """Make `stop` expire when the connection of the request is closed."""
    request = ctx.request_context.request if ctx.request_context else None
    if request is None:
        return
    while not await request.is_disconnected():  # noqa: ASYNC110 (no event tells)
        await asyncio.sleep(WATCH_SECONDS)
    stop.reschedule(asyncio.get_running_loop().time())
