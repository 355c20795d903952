"""The MCP server: tools behind stdio or streamable HTTP. An adapter, without logic."""

from __future__ import annotations

import ipaddress
from importlib import metadata
from typing import Any, Literal

from fastmcp import FastMCP
from mcp_types import ToolAnnotations
from starlette.requests import Request
from starlette.responses import JSONResponse

from llm_modulo.errors import UsageError
from llm_modulo.planning import set_concurrency

from .tools import PROFILES, TOOLS

__all__ = ["create_server", "serve"]

_INSTRUCTIONS = (
    "Sound planning tools for PDDL. Write the domain and the problem as PDDL text; check them"
    " with parse_problem; call solve; deliver the plan unchanged. Texts are passed whole."
)


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
) -> None:
    """Serve MCP until the client leaves (stdio) or the process is told to stop (HTTP).

    Args:
        transport: `stdio`, or `http` for streamable HTTP at `/mcp`, with `/health`.
        host, port: where HTTP listens.
        profile: see `create_server`.
        max_solves: planners at once; the number of processors if None.
        allow_unauthenticated: listen beyond loopback although anybody could then call.

    Raises:
        UsageError: an unknown profile, or a host beyond loopback without that flag.
    """
    server = create_server(profile)
    if max_solves is not None:
        set_concurrency(max_solves)
    if transport == "stdio":
        server.run(transport="stdio", show_banner=False, log_level="WARNING")
        return
    if not _is_loopback(host) and not allow_unauthenticated:
        raise UsageError(
            f"Refusing to listen on {host}: anybody who reaches it could run planners here."
            " Use --host 127.0.0.1, or --allow-unauthenticated if that is meant."
        )
    server.run(
        transport="http",
        host=host,
        port=port,
        show_banner=False,
        log_level="WARNING",
        host_origin_protection="auto",
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
