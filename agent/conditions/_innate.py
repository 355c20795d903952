"""`innate`: one response, no tools: what the model can do alone."""

from __future__ import annotations

from typing import Any, ClassVar

from llm_modulo.domains import Benchmark, Instance

from ..loop import Conversation, ask
from ..models import ChatClient
from ..prompts import Prompts
from ..toolbox import ToolBox
from ._condition import ConditionSettings

__all__ = ["Innate"]


class InnateSettings(ConditionSettings):
    """Settings of `innate`.

    `example`: show one solved example.
    """

    example: bool = True


class Innate:
    """Instructions, the map's symbols, one solved example, the task; one response."""

    name: ClassVar[str] = "innate"
    uses_tools: ClassVar[bool] = False
    Settings: ClassVar[type[ConditionSettings]] = InnateSettings

    def __init__(self, settings: InnateSettings, prompts: Prompts) -> None:
        self._settings = settings
        self._prompts = prompts

    def messages(self, instance: Instance, benchmark: Benchmark) -> list[dict[str, Any]]:
        """See `Condition.messages`."""
        parts = ["rules", "answer"] + (["example"] if self._settings.example else [])
        system = "\n\n".join(self._prompts.fill(f"{benchmark.name}-{part}") for part in parts)
        task = self._prompts.fill(f"{benchmark.name}-task", problem=benchmark.render(instance))
        return [{"role": "system", "content": system}, {"role": "user", "content": task}]

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
        return await ask(chat, self.messages(instance, benchmark), seed=seed)
