"""A chat completion: what an endpoint sent, checked, and what it means.

A body that is no chat completion (HTML, half a JSON, an error with status 200) is a failure
of the endpoint, never an answer of the model. Endpoints also bend the protocol where the
meaning is plain: arguments as an object, content in parts, calls without id or type.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field, ValidationError

__all__ = ["Completion", "ToolCall", "UnreadableBody", "Usage", "read_completion"]

_TEXT_PARTS = (None, "text", "output_text")
"""Types of content parts that are the answer; others hold reasoning or references."""


class UnreadableBody(Exception):
    """A body that is no chat completion; the text completes "The endpoint …".

    Attributes:
        kind: of the `EndpointFailure`: `malformed` or `server_error`.
    """

    def __init__(self, what: str, *, kind: str = "malformed") -> None:
        super().__init__(what)
        self.kind = kind


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A tool call as the model wrote it; `arguments` is the raw text, not yet JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """Tokens and money of one or more completions; None where the endpoint is silent."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        def total(a: float | None, b: float | None) -> Any:
            return b if a is None else a if b is None else a + b

        return Usage(
            prompt=total(self.prompt, other.prompt),
            completion=total(self.completion, other.completion),
            reasoning=total(self.reasoning, other.reasoning),
            cached=total(self.cached, other.cached),
            cost=total(self.cost, other.cost),
        )


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One response of a model.

    Attributes:
        message: the assistant's message, as it goes back into the conversation.
        text: its text; "" if it has none.
        refusal: the endpoint's refusal text, or None.
        finish_reason: `stop`, `length`, `tool_calls`, `content_filter` or another word.
        served: the model name that the endpoint reports.
        raw: the response body.
        seconds: wall-clock time including retries.
        request: the request's parameters, without its messages.
    """

    message: dict[str, Any]
    text: str
    tool_calls: tuple[ToolCall, ...]
    refusal: str | None
    finish_reason: str
    usage: Usage
    served: str
    raw: dict[str, Any]
    seconds: float
    request: dict[str, Any] = field(default_factory=dict)


class _Function(BaseModel):
    name: str | None = None
    arguments: Any = None


class _Call(BaseModel):
    id: str | None = None
    function: _Function = Field(default_factory=_Function)


class _Part(BaseModel):
    type: str | None = None
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part | str] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    error: Any = None


class _Body(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None


def read_completion(
    data: bytes, *, seconds: float, request: Mapping[str, Any] | None = None
) -> Completion:
    """Read the body of a response with status 200.

    Args:
        data: the body.
        seconds, request: as `Completion` keeps them.

    Raises:
        UnreadableBody: it is no chat completion.
    """
    raw = _json_object(data)
    body = _checked(raw)
    choice = body.choices[0]
    message = choice.message
    calls = tuple(
        ToolCall(
            id=call.id or f"call_{index}",
            name=call.function.name or "",
            arguments=_arguments(call.function.arguments),
        )
        for index, call in enumerate(message.tool_calls or ())
    )
    return Completion(
        message=_to_send_back(raw["choices"][0]["message"], calls),
        text=_text(message.content),
        tool_calls=calls,
        refusal=message.refusal,
        finish_reason=choice.finish_reason or "stop",
        usage=_usage(raw.get("usage")),
        served=body.model or "",
        raw=raw,
        seconds=seconds,
        request=dict(request or {}),
    )


def _json_object(data: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(data)
        # Half a surrogate pair can be written in JSON, but neither sent nor stored as UTF-8.
        raw = json.loads(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        start = " ".join(data[:60].decode("utf-8", "replace").split())
        raise UnreadableBody(f"sent a body that is not JSON: {start!r}") from error
    if not isinstance(raw, dict):
        raise UnreadableBody("sent JSON that is no chat completion")
    return raw


def _checked(raw: dict[str, Any]) -> _Body:
    if not raw.get("choices"):
        if raw.get("error"):
            said = _said(raw["error"])
            raise UnreadableBody(f"sent an error with status 200: {said}", kind="server_error")
        raise UnreadableBody("sent a chat completion without choices")
    try:
        body = _Body.model_validate(raw)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnreadableBody(f"sent JSON that is no chat completion: see {place}") from error
    choice = body.choices[0]
    if choice.error or choice.finish_reason == "error":
        raise UnreadableBody(f"broke its answer off: {_said(choice.error)}", kind="server_error")
    return body


def _said(error: Any) -> str:
    """The words of an error object, in one line."""
    message = error.get("message") if isinstance(error, dict) else error
    return " ".join(str(message or "no reason given").split()).rstrip(".")


def _text(content: str | Sequence[_Part | str] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    parts = [_Part(text=part) if isinstance(part, str) else part for part in content]
    return "".join(part.text or "" for part in parts if part.type in _TEXT_PARTS)


def _arguments(value: Any) -> str:
    """Arguments as text; some endpoints send the object itself."""
    return value if isinstance(value, str) else json.dumps(value or {})


def _to_send_back(message: dict[str, Any], calls: Sequence[ToolCall]) -> dict[str, Any]:
    """The message with all that it holds (reasoning, signatures), its calls in standard form."""
    kept = {"role": "assistant", "content": message.get("content")}
    kept |= {k: v for k, v in message.items() if v is not None and k not in ("role", "tool_calls")}
    if calls:
        kept["tool_calls"] = [
            {
                **sent,
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for sent, call in zip(message["tool_calls"], calls, strict=True)
        ]
    return kept


def _usage(value: Any) -> Usage:
    return Usage(
        prompt=_number(value, "prompt_tokens"),
        completion=_number(value, "completion_tokens"),
        reasoning=_number(value, "completion_tokens_details", "reasoning_tokens"),
        cached=_number(value, "prompt_tokens_details", "cached_tokens"),
        cost=_number(value, "cost"),
    )


def _number(value: Any, *path: str) -> Any:
    """The number at a place in nested objects, or None: endpoints agree on little here."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) else None
