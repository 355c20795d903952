"""The endpoint: the protocol, requests that make no sense, and the process."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion
from starlette.applications import Starlette

from llm_modulo.agent.models.reference import REFERENCE_MODELS
from llm_modulo.domains import Benchmark, Verdict


def test_the_openai_client_understands_it(
    app: Starlette, request_body: Callable, corridor: Callable
) -> None:
    async def ask(body: dict[str, Any]) -> ChatCompletion:
        http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app))
        async with openai.AsyncOpenAI(
            api_key="none", base_url="http://reference/v1", http_client=http
        ) as client:
            return await client.chat.completions.create(**body)

    text = asyncio.run(ask(request_body("oracle", corridor(5))))
    assert text.choices[0].message.content == "MOVES: R,R,R"
    assert text.choices[0].message.tool_calls is None
    assert text.choices[0].finish_reason == "stop"
    assert text.model == "reference/oracle"
    # Four characters a token, rounded up: 12 characters.
    assert text.usage.completion_tokens == 3
    assert text.usage.prompt_tokens > 100
    assert text.usage.total_tokens == text.usage.prompt_tokens + 3
    call = asyncio.run(ask(request_body("oracle", corridor(5), tools=True)))
    assert call.choices[0].finish_reason == "tool_calls"
    (tool_call,) = call.choices[0].message.tool_calls
    assert (tool_call.type, tool_call.function.name) == ("function", "parse_problem")
    assert json.loads(tool_call.function.arguments)["problem"].startswith("(define (problem")
    assert call.choices[0].message.content is None
    with pytest.raises(openai.NotFoundError, match="no reference model 'reference/gpt'"):
        asyncio.run(ask({**request_body("oracle", corridor(5)), "model": "reference/gpt"}))


def test_the_list_of_models(app: Starlette) -> None:
    async def ask() -> Any:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://reference") as client:
            return (await client.get("/v1/models")).json()

    listed = asyncio.run(ask())
    assert [m["id"] for m in listed["data"]] == [f"reference/{name}" for name in REFERENCE_MODELS]


def refused(reply: httpx2.Response, status: int, says: str) -> None:
    assert reply.status_code == status, reply.text
    error = reply.json()["error"]
    assert re.search(says, error["message"]), error["message"]
    assert error["message"].endswith(".")


@pytest.mark.parametrize(
    ("model", "tools", "parameters", "says"),
    [
        ("miscounter", False, {"p_text": -0.1}, r"p_text must lie in \[0, 1\], not -0.1"),
        ("miscounter", False, {"p_text": 1.5}, "p_text"),
        ("miscounter", False, {"p_text": float("nan")}, "p_text"),
        ("miscounter", False, {"p_text": float("inf")}, "p_text"),
        ("miscounter", False, {"p_text": "often"}, "often"),
        ("miscounter", False, {"p_text": None}, "NoneType"),
        ("miscounter", False, {"p_text": [0.1]}, "list"),
        ("miscounter", True, {"p_pddl": 2}, "p_pddl"),
        ("miscounter", False, {"p_txt": 0.1}, "no parameter 'p_txt'; it has p_pddl, p_text, seed"),
        ("oracle", False, {"p_text": 0.1}, "no parameter 'p_text'; it has seed"),
        ("illegal", False, {"position": "middle"}, "middle"),
        ("illegal", False, {"position": None}, "NoneType"),
        ("illegal", False, {"position": float("inf")}, "infinity"),
        ("garbler", False, {"mode": "politely"}, "no mode 'politely'"),
        ("garbler", True, {"mode": "politely"}, "no mode 'politely'"),
    ],
)
def test_bad_parameters(
    model: str,
    tools: bool,
    parameters: dict,
    says: str,
    post: Callable,
    request_body: Callable,
    corridor: Callable,
) -> None:
    body = request_body(model, corridor(5), tools=tools, **parameters)
    refused(post(body), 400, says)


@pytest.mark.parametrize("limit", ["many", [1], float("inf")])
def test_a_bad_token_limit(
    limit: Any, post: Callable, request_body: Callable, corridor: Callable
) -> None:
    refused(post({**request_body("looper", corridor(5)), "max_tokens": limit}), 400, "looper")


MAP = "#####\n#@$.#\n#####"


@pytest.mark.parametrize(
    "messages",
    [
        [],
        None,
        [{"role": "user", "content": "Hello!"}],
        [{"role": "user", "content": None}],
        [{"role": "user"}],
        [{"role": "system", "content": MAP}],
        [{"role": "assistant", "content": MAP}],
        [{"role": "user", "content": MAP}, {"role": "user", "content": "Well?"}],
        [{"role": "user", "content": "#####\n# $.#\n#####"}],
        [{"role": "user", "content": "#####\n#@@$#\n#####"}],
        [{"role": "user", "content": "######\n#@$$.#\n######"}],
        # There is a map, but no plan for it.
        [{"role": "user", "content": "#####\n#@$ #\n#. ##\n#####"}],
    ],
    ids=str,
)
@pytest.mark.parametrize("model", ["oracle", "miscounter", "wanderer", "illegal", "garbler"])
def test_without_a_map_there_is_no_answer(model: str, messages: Any, post: Callable) -> None:
    unsolvable = messages and "#. ##" in str(messages)
    reply = post({"model": f"reference/{model}", "messages": messages})
    if model == "garbler" and unsolvable:
        assert reply.status_code == 200  # it does not plan
    else:
        refused(reply, 400, f"reference/{model}: ")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"\xff",
        b"[" * 100_000,
        {},
        {"messages": []},
        {"model": "reference/oracle", "messages": "hello"},
        {"model": "reference/oracle", "messages": ["hello"]},
        {"model": "reference/oracle", "messages": 5},
        {"model": "reference/oracle", "messages": [], "tools": [{}]},
        {"model": "reference/oracle", "messages": [], "tools": ["solve"]},
        {"model": "reference/oracle", "messages": [], "tools": 3},
        {"model": "reference/oracle", "messages": [], "reference": [1]},
        {"model": "reference/oracle", "messages": [], "reference": "fast"},
    ],
    ids=lambda body: repr(body)[:60],
)
def test_what_is_no_request(body: Any, post: Callable) -> None:
    refused(post(body), 400, "not a chat-completions request")


@pytest.mark.parametrize("name", ["oracle", "gpt-4o", "reference/", "reference/nobody", None, 3])
def test_an_unknown_model(name: Any, post: Callable) -> None:
    body = {"model": name, "messages": [{"role": "user", "content": MAP}]}
    refused(post(body), 404, "no reference model")


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The endpoint as a process in an empty folder; yields its address and the folder."""
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LLM_MODULO")}
    process = subprocess.Popen(
        [sys.executable, "-m", "llm_modulo.agent.models.reference"],
        cwd=folder,
        env={**environment, "HOME": str(folder), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        yield address, folder
    finally:
        process.terminate()
        out, err = process.communicate(timeout=30)
    assert (out, err) == ("", "")


def test_the_process_knows_nothing_but_the_request(
    endpoint: tuple[str, Path], request_body: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    """No instance file is on the disk, and no certificate or id is in what is sent."""
    address, folder = endpoint
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/v1", address)
    instance = corridor(13, 180)
    body = request_body("oracle", instance)
    assert instance.id not in json.dumps(body)
    assert instance.certificate["witness"] not in json.dumps(body)
    with httpx2.Client(base_url=address, trust_env=False) as client:
        reply = client.post("/chat/completions", json=body)
        unknown = client.post("/chat/completions", json={**body, "model": "reference/nobody"})
    assert reply.status_code == 200
    text = reply.json()["choices"][0]["message"]["content"]
    found = sokobench.read_moves(text.removeprefix("MOVES:"))
    assert sokobench.judge(instance, found.moves).verdict is Verdict.COMPLETE
    assert unknown.status_code == 404
    assert list(folder.iterdir()) == []
