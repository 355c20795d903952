"""The MCP tools: each parses its arguments, calls one function, serialises the result.

`TOOLS` is the registry: name → function, the model of its structured result, and the
profiles that it belongs to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastmcp.tools.base import ToolResult
from pydantic import BaseModel

from ._pddl import parse_domain, parse_problem
from ._planning import list_planners, solve, validate_plan
from ._results import ParseModel, PlannersModel, SolveModel, ValidationModel

__all__ = ["PROFILES", "TOOLS", "ToolEntry"]


@dataclass(frozen=True, kw_only=True)
class ToolEntry:
    """One tool of the server."""

    function: Callable[..., Awaitable[ToolResult]]
    result: type[BaseModel]
    profiles: frozenset[str]


TOOLS: dict[str, ToolEntry] = {
    "parse_domain": ToolEntry(
        function=parse_domain,
        result=ParseModel,
        profiles=frozenset({"static", "sokobench", "full"}),
    ),
    "parse_problem": ToolEntry(
        function=parse_problem,
        result=ParseModel,
        profiles=frozenset({"static", "sokobench", "full"}),
    ),
    "solve": ToolEntry(
        function=solve, result=SolveModel, profiles=frozenset({"sokobench", "full"})
    ),
    "validate_plan": ToolEntry(
        function=validate_plan, result=ValidationModel, profiles=frozenset({"full"})
    ),
    "list_planners": ToolEntry(
        function=list_planners, result=PlannersModel, profiles=frozenset({"full"})
    ),
}

PROFILES = ("static", "sokobench", "full")
