"""Tools that diagnose PDDL."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastmcp.tools.base import ToolResult
from pydantic import Field

from llm_modulo.pddl import check

from ._errors import failed_calls
from ._results import parse_result
from ._texts import DOMAIN, PROBLEM, domain_text

__all__ = ["parse_domain", "parse_problem"]


async def parse_domain(domain: Annotated[str, Field(description=DOMAIN)]) -> ToolResult:
    """Check a PDDL domain: every fault with line, column and how to mend it, or a summary."""
    with failed_calls():
        text = domain_text(domain)
        checked = await asyncio.to_thread(check, text)
    return parse_result(checked, {"domain": text}, "The domain is sound. Now the problem.")


async def parse_problem(
    domain: Annotated[str, Field(description=DOMAIN)],
    problem: Annotated[str, Field(description=PROBLEM)],
) -> ToolResult:
    """Check a PDDL problem against its domain: every fault with line, column and how to mend
    it, or a summary of objects, initial facts and goal. Costs nothing: call it before solve.
    """
    with failed_calls():
        text = domain_text(domain)
        checked = await asyncio.to_thread(check, text, problem)
    texts = {"domain": text, "problem": problem}
    return parse_result(checked, texts, "The problem is well-formed. Now call solve.")
