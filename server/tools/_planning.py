"""Tools that solve and validate."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastmcp import Context
from fastmcp.tools.base import ToolResult
from pydantic import Field

from llm_modulo.planning import DEFAULT_PLANNER, MAX_SECONDS, solve_async
from llm_modulo.planning import validate as validate_text
from llm_modulo.planning.planners import list_planners as planning_list

from ._attended import attended
from ._errors import failed_calls
from ._results import PlannerModel, PlannersModel, solve_result, validation_result
from ._texts import DOMAIN, PROBLEM, domain_text

__all__ = ["list_planners", "solve", "validate_plan"]


async def solve(
    domain: Annotated[str, Field(description=DOMAIN)],
    problem: Annotated[str, Field(description=PROBLEM)],
    planner: Annotated[
        str, Field(description="fast-downward: a plan quickly; fast-downward-opt: a shortest one")
    ] = DEFAULT_PLANNER,
    time_limit: Annotated[float, Field(description="seconds", gt=0, le=MAX_SECONDS)] = 60.0,
    ctx: Context | None = None,
) -> ToolResult:
    """Find a plan for a PDDL problem with a planner. The outcome says solved (with the plan,
    replayed step by step), unsolvable (proved: the problem as written has no plan), timeout,
    invalid_input (with the faults), and what to do next.
    """
    async with attended(ctx, time_limit):
        with failed_calls():
            result = await solve_async(
                domain_text(domain), problem, planner=planner, time_limit=time_limit
            )
    return solve_result(result)


async def validate_plan(
    domain: Annotated[str, Field(description=DOMAIN)],
    problem: Annotated[str, Field(description=PROBLEM)],
    plan: Annotated[
        str | list[str], Field(description="steps `(action object …)`, a list or a line each")
    ],
) -> ToolResult:
    """Execute a plan: whether it is legal and reaches the goal, else the first step that fails
    (0-based) with its false preconditions, or the goal facts that are missing.
    """
    with failed_calls():
        text = domain_text(domain)
        validation = await asyncio.to_thread(validate_text, text, problem, plan)
    return validation_result(validation)


async def list_planners() -> ToolResult:
    """List the planners that solve accepts, with versions; version null: not installed.

    up:NAME for a further engine of unified-planning is accepted too."""
    found = await asyncio.to_thread(planning_list, ask=False)
    planners = [PlannerModel(**entry) for entry in found]
    model = PlannersModel(planners=planners)
    text = "\n".join(f"{p.name}: {p.summary} ({p.version or 'not installed'})" for p in planners)
    return ToolResult(content=text, structured_content=model.model_dump(mode="json"))
