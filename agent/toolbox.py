"""The tools as the agent sees them: an MCP client, and the schemas for the model.

The loop supplies some arguments itself (the domain, the planner, the time limit). Those
are taken out of the schemas that the model is shown and put into each call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from llm_modulo.errors import ToolServerFailure

__all__ = ["ToolBox", "ToolOutcome", "hide_arguments"]

_START_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOutcome:
    """What a tool call brought back.

    Attributes:
        text: for the model.
        structured: the structured result, or None.
        failed: the call itself failed (`isError`), e.g. for its arguments.
        seconds: wall-clock time.
    """

    text: str
    structured: dict[str, Any] | None
    failed: bool
    seconds: float


class ToolBox:
    """A connection to a server with planning tools; use as an async context manager."""

    def __init__(self, server: Any) -> None:
        """Args: server: what `fastmcp.Client` accepts: a transport, an address, a server."""
        self._server = server
        self._client: Client[Any] | None = None
        self._lock = asyncio.Lock()
        self._tools: list[dict[str, Any]] = []

    @classmethod
    def over_stdio(cls, *, profile: str = "sokobench", max_solves: int | None = None) -> ToolBox:
        """Our own server as a child process."""
        arguments = ["-m", "llm_modulo", "serve", "--profile", profile]
        if max_solves is not None:
            arguments += ["--max-solves", str(max_solves)]
        transport = StdioTransport(
            sys.executable,
            arguments,
            env=dict(os.environ),
            keep_alive=False,
            log_file=_error_stream(),
        )
        return cls(transport)

    async def __aenter__(self) -> Self:
        await self._connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    @property
    def schemas(self) -> Sequence[dict[str, Any]]:
        """The tools as OpenAI function definitions, in the server's order."""
        return self._tools

    def schema_hash(self) -> str:
        """SHA-256 of the schemas."""
        return hashlib.sha256(json.dumps(self._tools, sort_keys=True).encode()).hexdigest()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Call a tool.

        Raises:
            ToolServerFailure: the server is gone or broke off; the next call reconnects.
        """
        start = time.perf_counter()
        client = await self._connect()
        try:
            result = await client.call_tool(name, dict(arguments), raise_on_error=False)
        except Exception as error:  # the client raises many kinds; all mean a broken connection
            await self._drop(client)
            raise ToolServerFailure(
                f"The tool server broke off during {name}: {_sentence(error)}"
            ) from error
        text = "\n".join(block.text for block in result.content if block.type == "text")
        return ToolOutcome(
            text=text,
            structured=result.structured_content,
            failed=bool(result.is_error),
            seconds=time.perf_counter() - start,
        )

    async def _connect(self) -> Client[Any]:
        async with self._lock:
            if self._client is None:
                client: Client[Any] = Client(self._server, init_timeout=_START_SECONDS)
                try:
                    await client.__aenter__()
                    tools = await client.list_tools()
                except Exception as error:
                    await _leave(client)
                    raise ToolServerFailure(
                        f"The tool server cannot be reached: {_sentence(error)}"
                    ) from error
                self._tools = [
                    {
                        "type": "function",
                        "function": {
                            "name": tool.name,
                            "description": tool.description or "",
                            "parameters": tool.input_schema,
                        },
                    }
                    for tool in tools
                ]
                self._client = client
            return self._client

    async def _drop(self, client: Client[Any]) -> None:
        """Forget a broken connection, once."""
        async with self._lock:
            if self._client is client:
                self._client = None
                await _leave(client)

    async def _close(self) -> None:
        async with self._lock:
            if self._client is not None:
                client, self._client = self._client, None
                await _leave(client)


async def _leave(client: Client[Any]) -> None:
    try:
        await client.__aexit__(None, None, None)
        await client.close()
    except Exception:
        return  # it is gone already


def _error_stream() -> Path | None:
    """Where a child's stderr goes: None for ours; nowhere if ours is no file (a notebook)."""
    try:
        sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        return Path(os.devnull)
    return None


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:300] + ("" if text.endswith(".") else ".")


def hide_arguments(
    schemas: Sequence[dict[str, Any]], hidden: Sequence[str]
) -> list[dict[str, Any]]:
    """Return function definitions without the arguments that the loop supplies."""
    shown = []
    for schema in schemas:
        function = dict(schema["function"])
        parameters = dict(function["parameters"])
        parameters["properties"] = {
            k: v for k, v in parameters.get("properties", {}).items() if k not in hidden
        }
        if "required" in parameters:
            parameters["required"] = [r for r in parameters["required"] if r not in hidden]
        function["parameters"] = parameters
        shown.append({**schema, "function": function})
    return shown
