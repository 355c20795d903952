"""Calls with wrong arguments fail with one sentence that names each of them."""

from __future__ import annotations

import logging

from fastmcp.exceptions import ToolError, ValidationError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import ToolResult
from mcp_types import CallToolRequestParams
from pydantic import ValidationError as PydanticValidationError

__all__ = ["ArgumentFaults"]


class ArgumentFaults(Middleware):
    """Replaces pydantic's report, which takes four lines and an address for each fault."""

    async def on_call_tool(
        self,
        context: MiddlewareContext[CallToolRequestParams],
        call_next: CallNext[CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Raises `ToolError` where the arguments do not fit the tool."""
        try:
            return await call_next(context)
        except ValidationError as error:
            if not isinstance(error.__cause__, PydanticValidationError):
                raise
            sentence = _sentence(context.message.name, error.__cause__)
            raise ToolError(sentence, log_level=logging.DEBUG) from error


def _sentence(tool: str, error: PydanticValidationError) -> str:
    faults: dict[str, list[str]] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        said = fault["msg"][:1].lower() + fault["msg"][1:]
        faults.setdefault(str(fault["loc"][0]), []).append(said)
    listed = "; ".join(f"`{name}`: {' or '.join(said)}" for name, said in faults.items())
    return f"{tool} cannot be called like this: {listed}."
