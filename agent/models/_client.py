"""Chat completions over the OpenAI protocol, with every failure named."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit, urlunsplit

import httpx2
import openai

from llm_modulo.errors import EndpointFailure, UsageError

from ._completion import Completion, UnreadableBody, read_completion
from ._settings import ModelSettings

__all__ = ["ChatClient"]

_MARGIN = 1.0  # the client's own limit, which says more, comes first
_MAX_WAIT_BETWEEN_RETRIES = 130.0
_RETRIED = (408, 409)
"""Statuses below 500, besides 429, that the `openai` client tries again: none is for ever."""
_SHOWN = 300
"""Characters of a failure, which may quote the endpoint."""


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

        Raises:
            UsageError: an address or a key that cannot be used.
        """
        self.settings = settings
        self._timeout = timeout
        self._retries = retries
        self.address = base_url or settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
        self._key = os.environ.get(settings.api_key_env, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise UsageError(f"The key in {settings.api_key_env} holds characters that no key has.")
        if self.address is not None:
            _checked_address(self.address)
        self._client = openai.AsyncOpenAI(
            base_url=self.address,
            api_key=self._key or "none",
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
        waits = self._retries * _MAX_WAIT_BETWEEN_RETRIES + _MARGIN
        longest = (self._retries + 1) * self._timeout + waits
        try:
            async with asyncio.timeout(longest):
                response = await self._client.chat.completions.with_raw_response.create(
                    messages=cast(Any, list(messages)), **request
                )
        except TimeoutError as error:
            raise self._failure("timeout", f"gave no answer in {longest:g} s") from error
        except openai.APIError as error:
            raise self._translated(error) from error
        try:
            return read_completion(
                response.content, seconds=time.perf_counter() - start, request=request
            )
        except UnreadableBody as error:
            raise self._failure(error.kind, str(error)) from error

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
        where = _without_secrets(self.address) if self.address else "https://api.openai.com/v1"
        if self._key:
            what = what.replace(self._key, "[key]")
        return EndpointFailure(f"The model endpoint {where} {what[:_SHOWN]}.", kind=kind)

    def _translated(self, error: openai.APIError) -> EndpointFailure:
        match error:
            case openai.APITimeoutError():
                return self._failure("timeout", f"gave no answer in {self._timeout:g} s")
            case openai.APIConnectionError(
                __cause__=httpx2.RemoteProtocolError() | httpx2.ReadError()
            ):
                return self._failure("unreachable", "closed the connection during its answer")
            case openai.APIConnectionError():
                return self._failure("unreachable", "cannot be reached")
            case openai.AuthenticationError() | openai.PermissionDeniedError():
                return self._failure(
                    "unauthorized",
                    f"refuses the key in {self.settings.api_key_env} (HTTP {error.status_code})",
                )
            case openai.NotFoundError():
                return self._failure(
                    "not_found",
                    f"does not know the model {self.settings.name!r}, or its address lacks a part"
                    " such as /v1 (HTTP 404)",
                )
            case openai.RateLimitError():
                return self._failure("rate_limited", "limits our requests (HTTP 429)")
            case openai.APIStatusError(status_code=status) if (
                status < 500 and status not in _RETRIED
            ):
                what = f"rejects the request (HTTP {status}): {_said(error)}"
                return self._failure("rejected", what)
            case openai.APIStatusError(status_code=status):
                return self._failure("server_error", f"failed (HTTP {status})")
        return self._failure("malformed", f"sent an unreadable answer ({type(error).__name__})")


def _checked_address(address: str) -> None:
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise UsageError(
            f"The address of a model endpoint looks like http://HOST:PORT/v1, not {address!r}."
        )


def _without_secrets(address: str) -> str:
    """The address without user, password and query."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _said(error: openai.APIStatusError) -> str:
    """The endpoint's own words, in one line."""
    body = error.body
    message = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(message or error.message).split()).rstrip(".")
