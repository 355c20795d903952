"""Requests to the reference models, over HTTP in this process, and conversations with tools."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

import llm_modulo
from llm_modulo.agent.conditions import find_condition
from llm_modulo.agent.models.reference import create_app
from llm_modulo.agent.prompts import Prompts
from llm_modulo.domains import Benchmark, Instance, find_benchmark
from llm_modulo.domains.sokoban import sokoban_domain
from llm_modulo.server.tools._results import parse_result, solve_result

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("parse_domain", "parse_problem", "solve")
]


@pytest.fixture(scope="session")
def sokobench() -> Benchmark:
    """The benchmark that the models are asked about."""
    return find_benchmark("sokobench")


@pytest.fixture(scope="session")
def app() -> Starlette:
    """The endpoint."""
    return create_app()


@pytest.fixture(scope="session")
def corridor() -> Callable[..., Instance]:
    """(length, rotation=0) → instance."""

    def make(length: int, rotation: int = 0) -> Instance:
        return llm_modulo.instances("sokobench", lengths=[length], rotations=[rotation])[0]

    return make


@pytest.fixture(scope="session")
def request_body(sokobench: Benchmark) -> Callable[..., dict[str, Any]]:
    """The request of a condition: (model, instance, tools=False, seed=0, **parameters) → body."""

    def make(
        model: str, instance: Instance, *, tools: bool = False, seed: int = 0, **parameters: Any
    ) -> dict[str, Any]:
        condition = find_condition("modulo-solver" if tools else "innate")
        messages = condition(condition.Settings(), Prompts()).messages(instance, sokobench)
        body: dict[str, Any] = {"model": f"reference/{model}", "messages": messages, "seed": seed}
        if tools:
            body["tools"] = TOOLS
        if parameters:
            body["reference"] = parameters
        return body

    return make


@pytest.fixture(scope="session")
def post(app: Starlette) -> Callable[[Any], httpx2.Response]:
    """Send a body, or bytes as they are, to the endpoint."""

    async def send(body: Any) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://reference") as client:
            return await client.post("/v1/chat/completions", content=content)

    return lambda body: asyncio.run(send(body))


@dataclass
class Talk:
    """A conversation with tools: what the model said, called and got."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    plan: tuple[str, ...] | None = None
    answer: str | None = None
    finish_reason: str = ""


def use_tool(name: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    """What our tools answer: the result, and its text for the model."""
    problem = arguments["problem"]
    if name == "solve":
        result = llm_modulo.solve(sokoban_domain(), problem)
        return result, solve_result(result).content[0].text
    checked = llm_modulo.check(sokoban_domain(), problem)
    texts = {"domain": sokoban_domain(), "problem": problem}
    return checked, parse_result(checked, texts, "Call solve.").content[0].text


@pytest.fixture(scope="session")
def talk(request_body: Callable, post: Callable) -> Callable[..., Talk]:
    """Let a model use the tools until it answers, at most five rounds: as `request_body`."""

    def run(model: str, instance: Instance, **options: Any) -> Talk:
        body = request_body(model, instance, tools=True, **options)
        done = Talk(messages=body["messages"])
        for _ in range(5):
            choice = post(body).raise_for_status().json()["choices"][0]
            message, done.finish_reason = choice["message"], choice["finish_reason"]
            body["messages"] = done.messages = [*done.messages, message]
            if "tool_calls" not in message:
                done.answer = message["content"]
                return done
            for call in message["tool_calls"]:
                name, arguments = call["function"]["name"], call["function"]["arguments"]
                done.calls.append((name, arguments))
                result, text = use_tool(name, json.loads(arguments))
                done.results.append(result)
                if name == "solve" and result.plan is not None:
                    done.plan = result.plan
                done.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
        return done

    return run
