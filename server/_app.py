"""The MCP server: tools behind stdio or streamable HTTP. An adapter, without logic."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Callable
from importlib import metadata
from typing import Any, Literal

from fastmcp import FastMCP
from mcp_types import ToolAnnotations
from starlette.requests import Request
from starlette.responses import JSONResponse

from llm_modulo.errors import UsageError
from llm_modulo.planning import set_concurrency

from ._arguments import ArgumentFaults
from .tools import PROFILES, TOOLS

__all__ = ["create_server", "serve"]

_INSTRUCTIONS = (
    "Sound planning tools for PDDL. Write the domain and the problem as PDDL text; check them"
    " with parse_problem; call solve; deliver the plan unchanged. Texts are passed whole."
)
_GRACE_SECONDS = 0.3
"""How long a server that is told to stop lets calls go on: planners are gone within a second."""


def create_server(profile: str = "full") -> FastMCP[Any]:
    """Make the server with the tools of one profile.

    Args:
        profile: `static` (only the checks), `sokobench` (checks and solve) or `full`.

    Raises:
        UsageError: an unknown profile.
    """
    if profile not in PROFILES:
        raise UsageError(f"Unknown profile {profile!r}; there are {', '.join(PROFILES)}.")
    mcp: FastMCP[Any] = FastMCP(
        "llm-modulo", version=metadata.version("llm-modulo"), instructions=_INSTRUCTIONS
    )
    mcp.add_middleware(ArgumentFaults())
    for name, entry in TOOLS.items():
        if profile in entry.profiles:
            mcp.tool(
                name=name,
                tags=set(entry.profiles),
                output_schema=entry.result.model_json_schema(),
                annotations=ToolAnnotations(
                    read_only_hint=True,
                    idempotent_hint=True,
                    destructive_hint=False,
                    open_world_hint=False,
                ),
            )(entry.function)

    @mcp.custom_route("/health", methods=["GET"])
    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    return mcp


def serve(
    *,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8000,
    profile: str = "full",
    max_solves: int | None = None,
    allow_unauthenticated: bool = False,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve MCP until the client leaves (stdio) or the process is told to stop (HTTP).

    Args:
        transport: `stdio`, or `http` for streamable HTTP at `/mcp`, with `/health`.
        host, port: where HTTP listens; port 0: any free one.
        profile: see `create_server`.
        max_solves: planners at once; the number of processors if None.
        allow_unauthenticated: listen beyond loopback although anybody could then call.
        announce: called with the address once HTTP listens.

    Raises:
        UsageError: an unknown profile, a host beyond loopback without that flag, or an
            address that cannot be listened on.
    """
    server = create_server(profile)
    if max_solves is not None:
        set_concurrency(max_solves)
    if transport == "stdio":
        _serve_stdio(server)
        return
    if not _is_loopback(host) and not allow_unauthenticated:
        raise UsageError(
            f"Refusing to listen on {host}: anybody who reaches it could run planners here."
            " Use --host 127.0.0.1, or --allow-unauthenticated if that is meant."
        )
    listener = _listen(host, port)
    if announce is not None:
        shown = f"[{host}]" if ":" in host else host
        announce(f"http://{shown}:{listener.getsockname()[1]}/mcp")
    server.run(
        transport="http",
        host=host,
        sockets=[listener],
        show_banner=False,
        log_level="ERROR",
        host_origin_protection="auto",
        uvicorn_config={"timeout_graceful_shutdown": _GRACE_SECONDS},
    )


def _serve_stdio(server: FastMCP[Any]) -> None:
    """Serve until stdin ends or nobody reads stdout any more."""
    # The thread that waits for stdin would hold up an exit by KeyboardInterrupt.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        server.run(transport="stdio", show_banner=False, log_level="ERROR")
    except* BrokenPipeError:
        pass  # the client is gone: the end of a session, not a fault


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65_535:
        raise UsageError(f"Cannot listen on {host}, port {port}: a port is 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        # Python puts the address into `strerror`; a host that is not found has no `errno` proper.
        number = error.errno or 0
        reason = os.strerror(number) if number > 0 else error.strerror
        raise UsageError(f"Cannot listen on {host}, port {port}: {reason}.") from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
