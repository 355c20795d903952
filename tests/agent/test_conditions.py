"""What each condition shows to a model."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from llm_modulo.agent import (
    CONDITIONS,
    ChatClient,
    ModelSettings,
    Prompts,
    StopReason,
    ToolBox,
    find_condition,
)
from llm_modulo.domains import Benchmark, Instance, find_benchmark, instances
from llm_modulo.domains.sokoban import Level, sokoban_domain
from llm_modulo.errors import UsageError
from llm_modulo.server import create_server

GOLDEN = Path(__file__).with_name("golden")
SYMBOLS = {
    "#": "wall",
    "@": "player",
    "+": "player standing on a goal",
    "$": "box",
    "*": "box standing on a goal",
    ".": "goal",
    "(space)": "free floor",
}


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return find_benchmark("sokobench")


@pytest.fixture(scope="module")
def instance() -> Instance:
    """A corridor of six cells whose plan goes to the left."""
    return instances("sokobench", lengths=[6], rotations=[180])[0]


@pytest.fixture
def prompt(instance: Instance, benchmark: Benchmark) -> Callable[..., tuple[str, str]]:
    """(system, user) of a condition with settings."""

    def make(name: str, **settings: Any) -> tuple[str, str]:
        kind = find_condition(name)
        condition = kind(kind.Settings(**settings), Prompts())
        system, user = condition.messages(instance, benchmark)
        assert (system["role"], user["role"]) == ("system", "user")
        return system["content"], user["content"]

    return make


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_prompt_is_the_one_that_was_agreed_on(
    prompt: Callable[..., tuple[str, str]], name: str
) -> None:
    """To agree on another one, write it to the file. The domain has a test of its own."""
    system, user = prompt(name)
    shown = f"{system.replace(sokoban_domain().strip(), '[the domain]')}\n\n[user]\n{user}\n"
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_symbol_is_explained(prompt: Callable[..., tuple[str, str]], name: str) -> None:
    system, _ = prompt(name)
    found = dict(re.findall(r"^  (\S+)  (.+)$", system, re.M))
    assert found == SYMBOLS


@pytest.mark.parametrize("name", CONDITIONS)
def test_one_example_is_shown_and_its_answer_is_right(
    prompt: Callable[..., tuple[str, str]], name: str, instance: Instance, benchmark: Benchmark
) -> None:
    system, _ = prompt(name)
    (rows,) = re.findall(r"For the map\n\n((?:#.*\n)+)", system)
    (answer,) = re.findall(r"^MOVES: .*", system, re.M)
    level = Level.from_xsb(rows.splitlines())
    moves = benchmark.read_moves(answer.removeprefix("MOVES:").strip())
    assert moves is not None
    assert moves.notation == "comma-separated"
    assert level.replay(moves.moves)[0].solved
    assert level.to_xsb() not in [i.payload["map"] for i in instances("sokobench")]
    assert "example" not in prompt(name, example=False)[0].lower()


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_task_is_the_map_alone(
    prompt: Callable[..., tuple[str, str]], name: str, instance: Instance
) -> None:
    system, user = prompt(name)
    map_text = "\n".join(instance.payload["map"])
    assert map_text == "########\n#.  $ @#\n########"
    assert user == f"Find a plan for this map:\n\n{map_text}"
    assert map_text not in system
    assert instance.certificate["witness"] not in system + user


def test_only_modulo_solver_shows_the_domain_and_names_the_tools(
    prompt: Callable[..., tuple[str, str]],
) -> None:
    innate, modulo = prompt("innate")[0], prompt("modulo-solver")[0]
    assert sokoban_domain().strip() in modulo
    assert modulo.count("(define (domain") == 1
    for word in ("(define", "PDDL", "solve", "parse_problem", "tool"):
        assert word in modulo
        assert word not in innate
    shared = prompt("innate", example=False)[0].split("\n\nGive the whole plan")[0]
    assert modulo.startswith(shared), "the rules are told in the same words"


def test_the_number_of_attempts_is_told(prompt: Callable[..., tuple[str, str]]) -> None:
    assert "After 3 solve calls without a plan the session ends." in prompt("modulo-solver")[0]
    assert "After 5 solve calls" in prompt("modulo-solver", attempts=5)[0]


def test_the_limits_are_those_of_the_pipeline() -> None:
    settings = find_condition("modulo-solver").Settings()
    assert settings.model_dump() == {
        "planner": "fast-downward",
        "time_limit": 60.0,
        "attempts": 3,
        "tool_calls": 40,
        "session_limit": 3600.0,
        "example": True,
    }


@pytest.mark.parametrize(
    "settings", [{"attempts": 0}, {"tool_calls": 0}, {"time_limit": 0}, {"attempt": 3}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        find_condition("modulo-solver").Settings(**settings)


def test_an_unknown_condition_is_named() -> None:
    with pytest.raises(
        UsageError, match=r"Unknown condition 'tools'; known: innate, modulo-solver"
    ):
        find_condition("tools")


def converse(
    name: str, instance: Instance, benchmark: Benchmark, url: str, with_tools: bool, **settings: Any
) -> Any:
    kind = find_condition(name)
    condition = kind(kind.Settings(**settings), Prompts())

    async def main() -> Any:
        async with ChatClient(ModelSettings(name="scripted"), base_url=url, retries=0) as chat:
            if not with_tools:
                return await condition.run(instance, benchmark, chat, None, seed=None)
            async with ToolBox(create_server("full")) as toolbox:
                return await condition.run(instance, benchmark, chat, toolbox, seed=None)

    return asyncio.run(main())


def test_innate_asks_once_and_offers_nothing(
    scripted: Any, reply: Any, instance: Instance, benchmark: Benchmark
) -> None:
    endpoint = scripted([reply.say("MOVES: L,L,L,L")])
    conversation = converse("innate", instance, benchmark, endpoint.url, with_tools=False)
    (body,) = endpoint.bodies
    assert body.keys() == {"model", "messages"}
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert (conversation.answer, conversation.tools) == ("MOVES: L,L,L,L", [])
    assert len(conversation.model_calls) == 1


def test_innate_asks_once_even_if_the_model_calls_a_tool(
    scripted: Any, reply: Any, instance: Instance, benchmark: Benchmark
) -> None:
    endpoint = scripted([reply.call(("solve", {}))])
    conversation = converse("innate", instance, benchmark, endpoint.url, with_tools=False)
    assert len(endpoint.requests) == 1
    assert (conversation.answer, conversation.tool_calls) == ("", [])


def test_modulo_solver_offers_three_tools_of_a_server_that_has_more(
    scripted: Any, reply: Any, instance: Instance, benchmark: Benchmark
) -> None:
    problem = benchmark.problem(instance)
    endpoint = scripted([reply.call(("solve", {"problem": problem})), reply.say("MOVES: L,L,L,L")])
    conversation = converse("modulo-solver", instance, benchmark, endpoint.url, with_tools=True)
    offered = [tool["function"]["name"] for tool in endpoint.bodies[0]["tools"]]
    assert offered == ["parse_domain", "parse_problem", "solve"]
    assert benchmark.moves_of_plan(conversation.plan) == "LLLL"
    assert conversation.tool_calls[0]["arguments"]["time_limit"] == 60


def test_the_settings_of_modulo_solver_are_its_budget(
    scripted: Any, reply: Any, instance: Instance, benchmark: Benchmark
) -> None:
    def run(call: tuple[str, Any], **settings: Any) -> Any:
        url = scripted([reply.call(call)]).url
        return converse("modulo-solver", instance, benchmark, url, with_tools=True, **settings)

    assert len(run(("solve", {}), attempts=2).solve_outcomes) == 2
    looped = run(("parse_domain", {}), tool_calls=4)
    assert (len(looped.tool_calls), looped.stop_reason) == (4, StopReason.LOOP_LIMIT)
    timed = run(("parse_domain", {}), session_limit=1e-9)
    assert (timed.model_calls, timed.stop_reason) == ([], StopReason.TIME_LIMIT)


def test_modulo_solver_without_a_tool_server_is_bad_usage(
    scripted: Any, reply: Any, instance: Instance, benchmark: Benchmark
) -> None:
    url = scripted([reply.say("R")]).url
    with pytest.raises(UsageError, match="needs a tool server"):
        converse("modulo-solver", instance, benchmark, url, with_tools=False)
