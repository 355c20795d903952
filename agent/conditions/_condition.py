"""What a condition is: a way to ask a model about an instance, with its settings."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from llm_modulo.domains import Benchmark, Instance

from ..loop import Conversation
from ..models import ChatClient
from ..prompts import Prompts
from ..toolbox import ToolBox

__all__ = ["Condition", "ConditionSettings"]


class ConditionSettings(BaseModel):
    """Settings of a condition; every field has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def check_machine(self) -> None:
        """Raise `UsageError` for a setting that cannot be met with this machine's tools."""


class Condition(Protocol):
    """One entry of the registry.

    Attributes:
        name: its key.
        uses_tools: it needs an MCP server.
        Settings: the pydantic model of its settings.
    """

    name: ClassVar[str]
    uses_tools: ClassVar[bool]
    Settings: ClassVar[type[ConditionSettings]]

    def __init__(self, settings: Any, prompts: Prompts) -> None: ...

    def messages(self, instance: Instance, benchmark: Benchmark) -> list[dict[str, Any]]:
        """The messages that a conversation starts with."""

    async def run(
        self,
        instance: Instance,
        benchmark: Benchmark,
        chat: ChatClient,
        toolbox: ToolBox | None,
        *,
        seed: int | None,
    ) -> Conversation:
        """Ask; raises `EnvironmentFailure` if the world around the model fails."""
