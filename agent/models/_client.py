"""Chat completions over the OpenAI protocol, with every failure named.

An answer of the endpoint that is no chat completion (HTML, half a JSON, an error body
with status 200) is a failure of the endpoint, never an answer of the model.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, cast

import openai
from openai.types.chat import ChatCompletion

from llm_modulo.errors import EndpointFailure

from ._settings import ModelSettings

__all__ = ["ChatClient", "Completion", "ToolCall", "Usage"]

_MAX_WAIT_BETWEEN_RETRIES = 130.0


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


class ChatClient:
    """A model behind an endpoint; use as an async context manager."""

    def __init__(
        self,
        settings: ModelSettings,
        *,
        base_url: str | None = None,
        timeout: float = 600.0,
        retries: int = 4,
    ) -> None:
        """Make a client.

        Args:
            settings: the model.
            base_url: overrides the settings' address (the local reference endpoint).
            timeout: seconds for one request.
            retries: repeats after timeouts, 408, 409, 429 and 5xx, with growing pauses.
        """
        self.settings = settings
        self._timeout = timeout
        self._retries = retries
        self.address = base_url or settings.base_url or os.environ.get("OPENAI_BASE_URL")
        key = os.environ.get(settings.api_key_env)
        self._client = openai.AsyncOpenAI(
            base_url=self.address,
            api_key=key or "none",
            timeout=timeout,
            max_retries=retries,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.close()

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: Sequence[dict[str, Any]] = (),
        seed: int | None = None,
    ) -> Completion:
        """Ask for one response.

        Raises:
            EndpointFailure: the endpoint is down, refuses, or answers nonsense.
        """
        request = self._request(tools, seed)
        start = time.perf_counter()
        longest = (self._retries + 1) * self._timeout + self._retries * _MAX_WAIT_BETWEEN_RETRIES
        try:
            async with asyncio.timeout(longest):
                response = await self._client.chat.completions.create(
                    messages=cast(Any, list(messages)), **request
                )
        except TimeoutError as error:
            raise self._failure("timeout", f"gave no answer in {longest:.0f} s") from error
        except openai.APIError as error:
            raise self._translated(error) from error
        except (ValueError, TypeError, RecursionError) as error:
            raise self._failure("malformed", "sent a body that is not JSON") from error
        return self._completion(response, time.perf_counter() - start, request)

    def _request(self, tools: Sequence[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        s = self.settings
        request: dict[str, Any] = {"model": s.name}
        if s.temperature is not None:
            request["temperature"] = s.temperature
        if s.top_p is not None:
            request["top_p"] = s.top_p
        if s.max_tokens is not None:
            request[s.max_tokens_parameter] = s.max_tokens
        if seed is not None and s.sends_seed:
            request["seed"] = seed
        if tools:
            request["tools"] = list(tools)
        extra = dict(s.extra_body)
        if s.is_reference and s.parameters:
            extra["reference"] = s.parameters
        if extra:
            request["extra_body"] = extra
        return request

    def _failure(self, kind: str, what: str) -> EndpointFailure:
        where = self.address or "https://api.openai.com/v1"
        return EndpointFailure(f"The model endpoint {where} {what}.", kind=kind)

    def _translated(self, error: openai.APIError) -> EndpointFailure:
        match error:
            case openai.APITimeoutError():
                return self._failure("timeout", f"gave no answer in {self._timeout:g} s")
            case openai.APIConnectionError():
                return self._failure("unreachable", "cannot be reached")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return self._failure(
                    "unauthorized",
                    f"refuses the key in {self.settings.api_key_env} (HTTP {error.status_code})",
                )
            case openai.NotFoundError():
                return self._failure(
                    "not_found", f"does not know the model {self.settings.name!r} (HTTP 404)"
                )
            case openai.RateLimitError():
                return self._failure("rate_limited", "limits our requests (HTTP 429)")
            case openai.APIStatusError(status_code=status) if status < 500:
                what = f"rejects the request (HTTP {status}): {_said(error)}"
                return self._failure("rejected", what)
            case openai.APIStatusError(status_code=status):
                return self._failure("server_error", f"failed (HTTP {status})")
        return self._failure("malformed", f"sent an unreadable answer ({type(error).__name__})")

    def _completion(
        self, response: ChatCompletion | Any, seconds: float, request: dict[str, Any]
    ) -> Completion:
        """Check that a response is a chat completion, and take it apart."""
        if not isinstance(response, ChatCompletion):
            raise self._failure("malformed", "sent a page that is no chat completion")
        if not response.choices:
            body = (response.model_extra or {}).get("error")
            said = body.get("message") if isinstance(body, dict) else body
            raise self._failure(
                "server_error", f"sent an error with status 200: {str(said or 'no choices')[:200]}"
            )
        choice = response.choices[0]
        message = choice.message
        if message is None:
            raise self._failure("malformed", "sent a choice without a message")
        calls = tuple(
            ToolCall(
                id=str(call.id or f"call_{index}"),
                name=str(call.function.name or ""),
                arguments=_arguments(call.function.arguments),
            )
            for index, call in enumerate(message.tool_calls or ())
            if call.type == "function" and call.function is not None
        )
        raw = response.model_dump(exclude_none=True)
        kept = {"role": "assistant", "content": message.content}
        kept |= {k: v for k, v in message.model_dump(exclude_none=True).items() if k != "role"}
        return Completion(
            message=kept,
            text=message.content if isinstance(message.content, str) else "",
            tool_calls=calls,
            refusal=message.refusal,
            finish_reason=str(choice.finish_reason or "stop"),
            usage=_usage(response),
            served=str(response.model or ""),
            raw=raw,
            seconds=seconds,
            request=request,
        )


def _arguments(value: Any) -> str:
    """Arguments as text; some endpoints send the object itself."""
    return value if isinstance(value, str) else json.dumps(value or {})


def _said(error: openai.APIStatusError) -> str:
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return str(message or error.message)[:200]


def _usage(response: ChatCompletion) -> Usage:
    usage = response.usage
    if usage is None:
        return Usage()
    completion, prompt = usage.completion_tokens_details, usage.prompt_tokens_details
    cost = (usage.model_extra or {}).get("cost")
    return Usage(
        prompt=usage.prompt_tokens,
        completion=usage.completion_tokens,
        reasoning=completion.reasoning_tokens if completion else None,
        cached=prompt.cached_tokens if prompt else None,
        cost=float(cost) if isinstance(cost, int | float) else None,
    )
