"""The local endpoint: reference models behind the chat-completions protocol.

`python -m llm_modulo.agent.models.reference [--port N]` prints its address as the first
line on stdout and serves until it is told to stop or its parent dies.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse
from starlette.routing import Route

from ._models import REFERENCE_MODELS, find_reference_model
from ._request import Reply, Request, UnreadablePrompt

__all__ = ["create_app"]

_PREFIX = "reference/"
_CHARACTERS_PER_TOKEN = 4


def create_app() -> Starlette:
    """The endpoint as an ASGI application: `/v1/chat/completions` and `/v1/models`."""
    return Starlette(
        routes=[
            Route("/v1/chat/completions", _chat, methods=["POST"]),
            Route("/v1/models", _models, methods=["GET"]),
        ]
    )


async def _models(_: HttpRequest) -> JSONResponse:
    entries = [
        {"id": _PREFIX + name, "object": "model", "created": 0, "owned_by": "llm-modulo"}
        for name in REFERENCE_MODELS
    ]
    return JSONResponse({"object": "list", "data": entries})


async def _chat(http: HttpRequest) -> JSONResponse:
    try:
        body = await http.json()
        name = str(body["model"])
        request = Request(body)
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        ClientDisconnect,
    ):
        return _error(400, "The request is not a chat-completions request.")
    model = find_reference_model(name.removeprefix(_PREFIX))
    if not name.startswith(_PREFIX) or model is None:
        return _error(404, f"There is no reference model {name!r}.")
    unknown = sorted(set(request.parameters) - model.parameters)
    if unknown:
        known = ", ".join(sorted(model.parameters))
        return _error(400, f"{name} has no parameter {unknown[0]!r}; it has {known}.")
    try:
        reply = await run_in_threadpool(model.respond, request)
    except (UnreadablePrompt, ValueError, TypeError, OverflowError) as error:
        return _error(400, f"{name}: {error}.")
    return JSONResponse(_completion(name, request, reply))


def _error(status: int, message: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "code": status}
    return JSONResponse({"error": error}, status_code=status)


def _completion(name: str, request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.refusal:
        message["refusal"] = reply.refusal
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{len(request.messages)}_{index}",
                "type": "function",
                "function": {"name": tool, "arguments": arguments},
            }
            for index, (tool, arguments) in enumerate(reply.calls)
        ]
    finish = reply.finish_reason or ("tool_calls" if reply.calls else "stop")
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(request, reply),
    }


def _usage(request: Request, reply: Reply) -> Mapping[str, Any]:
    """Token counts, estimated at four characters a token."""
    said = len(reply.text or "") + sum(len(n) + len(a) for n, a in reply.calls)
    heard = sum(len(str(m)) for m in request.messages) + len(str(request.body.get("tools") or ""))
    prompt = math.ceil(heard / _CHARACTERS_PER_TOKEN)
    completion = math.ceil(said / _CHARACTERS_PER_TOKEN)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "completion_tokens_details": {"reasoning_tokens": 0},
        "prompt_tokens_details": {"cached_tokens": 0},
        "cost": 0.0,
    }
