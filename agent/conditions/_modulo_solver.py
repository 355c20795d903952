"""`modulo-solver`: the model writes the PDDL problem, a planner finds the plan.

The LLM-Modulo pipeline of SokoBench (arXiv 2601.20856): the domain is given; the model
may check its problem and solve it; three failed solve attempts end the session.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from llm_modulo.domains import Benchmark, Instance
from llm_modulo.errors import UsageError
from llm_modulo.planning import MAX_SECONDS
from llm_modulo.planning.planners import find_planner

from ..loop import Conversation, ToolBudget, converse
from ..models import ChatClient
from ..prompts import Prompts
from ..toolbox import ToolBox
from ._condition import ConditionSettings

__all__ = ["ModuloSolver"]

_TOOLS = ("parse_domain", "parse_problem", "solve")


class ModuloSolverSettings(ConditionSettings):
    """Settings of `modulo-solver`.

    `planner`, `time_limit` (seconds a solve), `attempts` (failed solve calls that end the
    session), `tool_calls` (at most, of any tool), `session_limit` (seconds in all),
    `example`: show one solved example.
    """

    planner: str = "fast-downward"
    time_limit: float = Field(default=60.0, gt=0, le=MAX_SECONDS)
    attempts: int = Field(default=3, ge=1)
    tool_calls: int = Field(default=40, ge=1)
    session_limit: float = Field(default=3600.0, gt=0)
    example: bool = True

    def check_machine(self) -> None:
        """See `ConditionSettings.check_machine`; else the model would pay for the name."""
        find_planner(self.planner)


class ModuloSolver:
    """Rules, example and task as in `innate`; the domain and the tools besides."""

    name: ClassVar[str] = "modulo-solver"
    uses_tools: ClassVar[bool] = True
    Settings: ClassVar[type[ConditionSettings]] = ModuloSolverSettings

    def __init__(self, settings: ModuloSolverSettings, prompts: Prompts) -> None:
        self._settings = settings
        self._prompts = prompts

    def messages(self, instance: Instance, benchmark: Benchmark) -> list[dict[str, Any]]:
        """See `Condition.messages`."""
        fill, name = self._prompts.fill, benchmark.name
        parts = [
            fill(f"{name}-rules"),
            fill(
                "modulo-solver",
                attempts=str(self._settings.attempts),
                domain=benchmark.domain().strip(),
            ),
            fill(f"{name}-answer"),
        ]
        if self._settings.example:
            parts.append(fill(f"{name}-example"))
        task = fill(f"{name}-task", problem=benchmark.render(instance))
        return [
            {"role": "system", "content": "\n\n".join(parts)},
            {"role": "user", "content": task},
        ]

    async def run(
        self,
        instance: Instance,
        benchmark: Benchmark,
        chat: ChatClient,
        toolbox: ToolBox | None,
        *,
        seed: int | None,
    ) -> Conversation:
        """See `Condition.run`."""
        if toolbox is None:
            raise UsageError("The condition modulo-solver needs a tool server.")
        settings = self._settings
        return await converse(
            chat,
            toolbox,
            self.messages(instance, benchmark),
            domain=benchmark.domain(),
            supplied={"planner": settings.planner, "time_limit": settings.time_limit},
            tools=_TOOLS,
            budget=ToolBudget(
                attempts=settings.attempts,
                tool_calls=settings.tool_calls,
                seconds=settings.session_limit,
            ),
            seed=seed,
        )
