"""What is read from an endpoint's answer, and what is kept of it."""

import asyncio
import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from llm_modulo.agent import ChatClient, Completion, ModelSettings
from llm_modulo.agent.models import Usage
from llm_modulo.errors import UsageError

CALL = {
    "id": "a",
    "type": "function",
    "function": {"name": "solve", "arguments": '{"problem":"p"}'},
}


def message(*calls: Any, **more: Any) -> dict[str, Any]:
    """A message of the assistant with tool calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def without(call: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in call.items() if k != key}


@pytest.fixture
def ask() -> Callable[..., Completion]:
    """Asks a model with settings for one completion."""

    def run(settings: ModelSettings, *, seed: int | None = None) -> Completion:
        async def main() -> Completion:
            async with ChatClient(settings, timeout=10, retries=0) as chat:
                return await chat.complete([{"role": "user", "content": "Plan."}], seed=seed)

        return asyncio.run(main())

    return run


def test_an_answer_in_text(complete: Callable[..., Completion], reply: Any) -> None:
    found = complete(reply.say("MOVES: R,R"))
    assert (found.text, found.tool_calls, found.refusal) == ("MOVES: R,R", (), None)
    assert found.finish_reason == "stop"
    assert found.served == "scripted/served"
    assert found.message == {"role": "assistant", "content": "MOVES: R,R"}
    assert 0 < found.seconds < 10


def test_the_raw_response_is_the_body_itself(
    complete: Callable[..., Completion], reply: Any
) -> None:
    answer = reply.message(
        {"role": "assistant", "content": None, "reasoning": "hm", "refusal": None},
        provider={"name": "P"},
        system_fingerprint=None,
    )
    assert complete(answer).raw == json.loads(answer.body)


def test_reasoning_and_signatures_go_back_into_the_conversation(
    complete: Callable[..., Completion], reply: Any
) -> None:
    """Some endpoints refuse the next request without them."""
    call = {**CALL, "extra_content": {"signature": "s"}}
    found = complete(reply.message(message(call, reasoning_content="hm", refusal=None)))
    assert found.message == message(call, reasoning_content="hm")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        ([{"type": "text", "text": "MOVES: "}, {"type": "text", "text": "R"}], "MOVES: R"),
        ([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "MOVES: R"}], "MOVES: R"),
        ([{"type": "thinking", "thinking": [{"text": "hm"}]}, "MOVES: R"], "MOVES: R"),
        ([{"type": "image_url", "image_url": {"url": "data:"}}], ""),
        ("half a pair: \ud83d!", "half a pair: ?!"),
    ],
)
def test_the_text_of_a_message(
    complete: Callable[..., Completion], reply: Any, content: Any, text: str
) -> None:
    found = complete(reply.message({"role": "assistant", "content": content}))
    assert found.text == text
    json.dumps(found.raw, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (CALL, ("a", "solve", '{"problem":"p"}')),
        (without(CALL, "type"), ("a", "solve", '{"problem":"p"}')),
        (without(CALL, "id"), ("call_0", "solve", '{"problem":"p"}')),
        (
            {**CALL, "function": {"name": "solve", "arguments": {"n": 1}}},
            ("a", "solve", '{"n": 1}'),
        ),
        ({**CALL, "function": {"name": "solve", "arguments": None}}, ("a", "solve", "{}")),
        ({**CALL, "function": {"name": "solve"}}, ("a", "solve", "{}")),
        ({**CALL, "function": {"name": "solve", "arguments": "{"}}, ("a", "solve", "{")),
        ({**CALL, "function": {"arguments": "{}"}}, ("a", "", "{}")),
        (without(CALL, "function"), ("a", "", "{}")),
    ],
)
def test_tool_calls_are_read_as_they_are_meant(
    complete: Callable[..., Completion], reply: Any, call: Any, expected: tuple[str, str, str]
) -> None:
    """And go back in the form of the protocol, so that the answer to a call finds it."""
    found = complete(reply.message(message(call)))
    (read,) = found.tool_calls
    assert (read.id, read.name, read.arguments) == expected
    (kept,) = found.message["tool_calls"]
    assert kept["type"] == "function"
    function = {"name": expected[1], "arguments": expected[2]}
    assert (kept["id"], kept["function"]) == (expected[0], function)


@pytest.mark.parametrize("calls", [None, []])
def test_no_tool_calls_are_no_tool_calls(
    complete: Callable[..., Completion], reply: Any, calls: Any
) -> None:
    found = complete(reply.message({"role": "assistant", "content": "R", "tool_calls": calls}))
    assert found.tool_calls == ()
    assert found.message == {"role": "assistant", "content": "R"}, (
        "an empty list is refused by some"
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (..., Usage()),
        (None, Usage()),
        ({}, Usage()),
        ([], Usage()),
        ("many", Usage()),
        ({"prompt_tokens": 7, "completion_tokens": 3}, Usage(prompt=7, completion=3)),
        ({"prompt_tokens": "7", "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 7, "prompt_tokens_details": []}, Usage(prompt=7)),
        ({"completion_tokens_details": None, "cost": 0}, Usage(cost=0)),
        ({"cost": "0.5"}, Usage()),
        ({"cost": math.inf, "prompt_tokens": math.nan}, Usage()),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
                "cost": 0.5,
            },
            Usage(prompt=7, completion=5, reasoning=2, cached=4, cost=0.5),
        ),
    ],
)
def test_usage(complete: Callable[..., Completion], reply: Any, usage: Any, expected: Any) -> None:
    assert complete(reply.say("R", usage=usage)).usage == expected


def test_usage_adds_up_and_silence_adds_nothing() -> None:
    total = Usage(prompt=7, cost=0.5) + Usage(prompt=3, completion=2) + Usage()
    assert total == Usage(prompt=10, completion=2, reasoning=None, cached=None, cost=0.5)


@pytest.mark.parametrize(("finish", "read"), [("length", "length"), (None, "stop"), ("x", "x")])
def test_finish_reason(
    complete: Callable[..., Completion], reply: Any, finish: Any, read: str
) -> None:
    assert complete(reply.say("R", finish=finish)).finish_reason == read


def test_a_request_carries_what_the_settings_say(scripted: Any, reply: Any, ask: Any) -> None:
    endpoint = scripted([reply.say("R")])
    settings = ModelSettings(
        name="some/model",
        base_url=endpoint.url,
        temperature=0.5,
        top_p=0.9,
        max_tokens=64,
        max_tokens_parameter="max_completion_tokens",
        seeded=True,
        extra_body={"provider": {"order": ["P"]}},
        parameters={"p_text": 0.5},
    )
    ask(settings, seed=7)
    (body,) = endpoint.bodies
    assert body == {
        "model": "some/model",
        "messages": [{"role": "user", "content": "Plan."}],
        "temperature": 0.5,
        "top_p": 0.9,
        "max_completion_tokens": 64,
        "seed": 7,
        "provider": {"order": ["P"]},
    }
    assert endpoint.requests[0]["path"] == "/v1/chat/completions"


def test_a_request_carries_nothing_that_was_not_asked_for(
    scripted: Any, reply: Any, ask: Any, secret: str
) -> None:
    endpoint = scripted([reply.say("R")])
    ask(ModelSettings(name="m", base_url=endpoint.url), seed=7)
    (request,) = endpoint.requests
    assert request["body"] == {"model": "m", "messages": [{"role": "user", "content": "Plan."}]}
    assert request["headers"]["authorization"] == f"Bearer {secret}"


def test_reference_models_get_their_parameters_and_a_seed(
    scripted: Any, reply: Any, ask: Any
) -> None:
    endpoint = scripted([reply.say("R")])
    settings = ModelSettings(
        name="reference/miscounter", base_url=endpoint.url, parameters={"p_text": 0.5}
    )
    ask(settings, seed=7)
    (body,) = endpoint.bodies
    assert (body["seed"], body["reference"]) == (7, {"p_text": 0.5})


def test_the_key_comes_from_the_variable_that_the_settings_name(
    scripted: Any, reply: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "another-key\n")
    endpoint = scripted([reply.say("R")])
    ask(ModelSettings(name="m", base_url=endpoint.url, api_key_env="OTHER_KEY"))
    assert endpoint.requests[0]["headers"]["authorization"] == "Bearer another-key"


@pytest.mark.parametrize("key", ["sécret", "two\nlines", "a\tb"])
def test_a_key_that_cannot_be_sent_is_bad_usage_and_is_not_shown(
    ask: Any, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="The key in OPENAI_API_KEY holds characters") as caught:
        ask(ModelSettings(name="m", base_url="http://127.0.0.1:9/v1"))
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["localhost:8000/v1", "ftp://host/v1", "http://[::1", "http://"]
)
def test_an_address_that_is_none_is_bad_usage(ask: Any, address: str) -> None:
    with pytest.raises(UsageError, match="The address of a model endpoint looks like http://HOST"):
        ask(ModelSettings(name="m", base_url=address))
