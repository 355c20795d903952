"""The command `serve`."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from llm_modulo.console import Output, OutputOption

__all__ = ["serve"]


def serve(
    *,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8000,
    profile: str = "full",
    max_solves: int | None = None,
    allow_unauthenticated: Annotated[bool, Parameter(negative="")] = False,
    output: OutputOption = Output(),
) -> int:
    """Serve the planning tools over the Model Context Protocol.

    Parameters
    ----------
    transport: Literal["stdio", "http"]
        stdio, or http: streamable HTTP at /mcp, with /health.
    host: str
        Address that HTTP listens on.
    port: int
        Port that HTTP listens on; 0 for any free one.
    profile: str
        Which tools: static (checks only), sokobench (checks and solve), full.
    max_solves: int
        Planners at once; the number of processors if absent.
    allow_unauthenticated: bool
        Listen beyond loopback although anybody who reaches the port can run planners.
    """
    from llm_modulo.server import serve as serve_forever

    serve_forever(
        transport=transport,
        host=host,
        port=port,
        profile=profile,
        max_solves=max_solves,
        allow_unauthenticated=allow_unauthenticated,
        announce=lambda address: output.remark(f"Serving MCP at {address}"),
    )
    return 0
