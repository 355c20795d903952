"""What a reference model finds in a chat-completions request, and nothing else.

A reference model is a program in a process of its own. All it knows of a task is the
HTTP body: the map in the last user message, the tools offered, the results so far.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llm_modulo.domains.sokoban import Level
from llm_modulo.errors import MalformedRecord

__all__ = ["Reply", "Request", "UnreadablePrompt"]

_MAP_SYMBOLS = frozenset("#@+$*. ")


class UnreadablePrompt(Exception):
    """No task is found in the prompt."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model says: text, tool calls `(name, raw arguments)`, and how it ends."""

    text: str | None = None
    calls: Sequence[tuple[str, str]] = ()
    finish_reason: str | None = None
    refusal: str | None = None

    @classmethod
    def call(cls, name: str, **arguments: Any) -> Reply:
        """One well-formed tool call."""
        return cls(calls=[(name, json.dumps(arguments))])

    @classmethod
    def moves(cls, letters: str) -> Reply:
        """An answer in the format that the prompts ask for."""
        return cls(text=f"MOVES: {','.join(letters)}")


class Request:
    """A request body, with the parts that reference models look at."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        """Raises `TypeError`, `KeyError` or `AttributeError` if it is no such body."""
        self.body = body
        self.messages: list[dict[str, Any]] = [{**m} for m in body.get("messages") or ()]
        self.tools = [t["function"]["name"] for t in body.get("tools") or ()]
        self.parameters: dict[str, Any] = {**(body.get("reference") or {})}

    @property
    def max_tokens(self) -> int:
        """The completion's limit in tokens."""
        return int(self.body.get("max_tokens") or self.body.get("max_completion_tokens") or 4096)

    @cached_property
    def level(self) -> Level:
        """The map in the last user message.

        Raises:
            UnreadablePrompt: there is no map.
        """
        users = [m for m in self.messages if m.get("role") == "user"]
        text = str(users[-1].get("content") or "") if users else ""
        block: list[str] = []
        for line in [*text.split("\n"), ""]:
            if line.strip() and set(line) <= _MAP_SYMBOLS:
                block.append(line)
            elif "#" in "".join(block):
                break
            else:
                block = []
        try:
            return Level.from_xsb(block)
        except MalformedRecord as error:
            raise UnreadablePrompt(str(error)) from error

    @property
    def results(self) -> list[str]:
        """Texts of the tool results since the last user message."""
        found: list[str] = []
        for message in self.messages:
            match message.get("role"):
                case "user":
                    found = []
                case "tool":
                    found.append(str(message.get("content") or ""))
        return found

    def random(self, *purpose: str) -> random.Random:
        """Randomness fixed by the request's seed, its task and a purpose.

        Rounds of one conversation share it: what a model has lost stays lost.
        """
        start = [m for m in self.messages if m.get("role") in ("system", "user")]
        key = json.dumps([self.body.get("seed"), start, self.parameters, *purpose], sort_keys=True)
        return random.Random(hashlib.sha256(key.encode()).digest())
