"""`doctor`: try everything that a run needs, and say what is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import metadata

from llm_modulo.domains import find_benchmark
from llm_modulo.errors import EndpointFailure, LlmModuloError
from llm_modulo.planning import solve_async
from llm_modulo.planning.planners import list_planners

from .models import ChatClient, ModelSettings
from .models.reference import reference_endpoint
from .toolbox import ToolBox

__all__ = ["Finding", "examine"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was tried.

    Attributes:
        state: `ok`, `failed`, or `absent` for what is not set up and not needed.
    """

    name: str
    state: str
    detail: str


async def examine(model: str | None = None, base_url: str | None = None) -> list[Finding]:
    """Try planners, the PDDL readers, the MCP server, the reference endpoint and a model.

    Args:
        model: a model to ask one question; only its endpoint's settings are looked at if
            None.
        base_url: the endpoint; OPENAI_BASE_URL if None.
    """
    findings = [Finding(name="python", state="ok", detail=sys.version.split()[0])]
    for planner in list_planners():
        findings.append(await _tried(f"planner {planner['name']}", _solving(planner["name"])))
    findings.append(await _tried("second PDDL reader", _second_reader))
    findings.append(await _tried("MCP server over stdio", _tools))
    findings.append(await _tried("reference models", _reference))
    findings.append(await _endpoint(model, base_url))
    return findings


async def _tried(name: str, attempt: Callable[[], Awaitable[str]]) -> Finding:
    try:
        return Finding(name=name, state="ok", detail=await attempt())
    except LlmModuloError as error:
        return Finding(name=name, state="failed", detail=str(error))


def _solving(planner: str) -> Callable[[], Awaitable[str]]:
    async def attempt() -> str:
        benchmark = find_benchmark("sokobench")
        instance = benchmark.generate({"lengths": [5], "rotations": [0]})[0]
        result = await solve_async(
            benchmark.domain(), benchmark.problem(instance), planner=planner, time_limit=60
        )
        if result.plan is None:
            raise LlmModuloError(f"{result.outcome}: {result.log_tail[-200:].strip()}")
        return f"{result.planner['version']}, {result.seconds['total']:.2f} s on a corridor of 5"

    return attempt


async def _second_reader() -> str:
    """The `pddl` package reads what we write: two readers that share no code agree."""
    from pddl.parser.domain import DomainParser
    from pddl.parser.problem import ProblemParser

    benchmark = find_benchmark("sokobench")
    instance = benchmark.generate({"lengths": [5], "rotations": [0]})[0]
    try:
        DomainParser()(benchmark.domain())
        ProblemParser()(benchmark.problem(instance))
    except Exception as error:  # the package raises its parser's own errors
        raise LlmModuloError(f"pddl cannot read the bundled domain: {error}") from error
    return f"pddl {metadata.version('pddl')} reads the bundled domain and a written problem"


async def _tools() -> str:
    async with ToolBox.over_stdio(profile="full") as toolbox:
        names = [schema["function"]["name"] for schema in toolbox.schemas]
    return f"{len(names)} tools: {', '.join(names)}"


async def _reference() -> str:
    async with reference_endpoint() as url:
        settings = ModelSettings(name="reference/oracle")
        async with ChatClient(settings, base_url=url, timeout=30, retries=0) as chat:
            task = {"role": "user", "content": "#####\n#@$.#\n#####"}
            answer = await chat.complete([task])
    return f"reference/oracle answered {answer.text!r}"


async def _endpoint(model: str | None, base_url: str | None) -> Finding:
    name = "model endpoint"
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    key = "set" if os.environ.get("OPENAI_API_KEY") else "not set"
    if model is None:
        state = "ok" if address or key == "set" else "absent"
        detail = f"OPENAI_BASE_URL {address or 'not set'}, OPENAI_API_KEY {key}"
        return Finding(name=name, state=state, detail=f"{detail}; not tried without --model")
    settings = ModelSettings(name=model, base_url=base_url, max_tokens=16)
    try:
        async with ChatClient(settings, timeout=60, retries=0) as chat:
            answer = await chat.complete([{"role": "user", "content": "Say: ready"}])
    except EndpointFailure as error:
        return Finding(name=name, state="failed", detail=str(error))
    return Finding(name=name, state="ok", detail=f"{model} answered in {answer.seconds:.1f} s")
