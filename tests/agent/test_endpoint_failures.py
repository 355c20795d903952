"""Whatever is wrong with an endpoint, it is one failure of a known kind, in one clear sentence.

The endpoint echoes the API key wherever it can: no failure repeats it.
"""

import asyncio
import json
import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.agent import ChatClient, ModelSettings
from llm_modulo.errors import EndpointFailure
from llm_modulo.eval import parse_experiment, run

KINDS = {
    "unreachable",
    "timeout",
    "unauthorized",
    "not_found",
    "rate_limited",
    "server_error",
    "rejected",
    "malformed",
}
WHOLE = json.dumps(
    {
        "choices": [{"message": {"role": "assistant", "content": "R"}, "finish_reason": "stop"}],
        "model": "m",
    }
)
HALF = WHOLE[: len(WHOLE) // 2]
HTML = "<html><body>Please log in, KEY</body></html>"


def error(message: Any) -> dict[str, Any]:
    return {"error": {"message": message, "code": 1}}


def choice(value: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [value]}


# (status, body, kind of the failure, words of its sentence). The body is text, bytes, or a value
# to be sent as JSON; KEY in it becomes the API key.
FAULTS: dict[str, tuple[int, Any, str, str]] = {
    "401": (
        401,
        error("Wrong key KEY."),
        "unauthorized",
        "refuses the key in OPENAI_API_KEY (HTTP",
    ),
    "403": (403, error("KEY"), "unauthorized", "refuses the key in OPENAI_API_KEY (HTTP 403)"),
    "404": (404, error("KEY"), "not_found", "does not know the model 'scripted', or its address"),
    "400": (400, error("No tools\nfor KEY."), "rejected", "(HTTP 400): No tools for [key]."),
    "413": (413, HTML, "rejected", "rejects the request (HTTP 413)"),
    "422": (422, {"detail": [{"loc": ["KEY"]}]}, "rejected", "rejects the request (HTTP 422)"),
    "302": (302, "", "rejected", "rejects the request (HTTP 302)"),
    "408": (408, error("KEY"), "server_error", "failed (HTTP 408)"),
    "429": (429, error("KEY"), "rate_limited", "limits our requests (HTTP 429)"),
    "500": (500, error("KEY"), "server_error", "failed (HTTP 500)"),
    "502 as HTML": (502, HTML, "server_error", "failed (HTTP 502)"),
    "HTML": (200, HTML, "malformed", "sent a body that is not JSON: '<html><body>Please log in"),
    "nothing": (200, b"", "malformed", "sent a body that is not JSON: ''"),
    "half a JSON": (200, HALF, "malformed", "sent a body that is not JSON: '{"),
    "not UTF-8": (200, WHOLE.replace("R", "é").encode("latin-1"), "malformed", "is not JSON"),
    "deep": (200, "[" * 100_000, "malformed", "sent a body that is not JSON: '[[["),
    "number": (200, 5, "malformed", "sent JSON that is no chat completion"),
    "null": (200, None, "malformed", "sent JSON that is no chat completion"),
    "list": (200, [1], "malformed", "sent JSON that is no chat completion"),
    "string": (200, '"R,R"', "malformed", "sent JSON that is no chat completion"),
    "empty object": (200, {}, "malformed", "sent a chat completion without choices"),
    "no choices": (200, {"choices": []}, "malformed", "sent a chat completion without choices"),
    "null choices": (200, {"choices": None}, "malformed", "a chat completion without choices"),
    "choices in text": (200, {"choices": "R"}, "malformed", "no chat completion: see choices."),
    "choices in object": (200, {"choices": {"a": 1}}, "malformed", "completion: see choices."),
    "null choice": (200, choice(None), "malformed", "no chat completion: see choices.0."),
    "no message": (200, choice({"finish_reason": "stop"}), "malformed", "see choices.0.message."),
    "null message": (200, choice({"message": None}), "malformed", "see choices.0.message."),
    "message in text": (200, choice({"message": "R"}), "malformed", "see choices.0.message."),
    "message in list": (200, choice({"message": ["R"]}), "malformed", "see choices.0.message."),
    "numeric content": (200, choice({"message": {"content": 5}}), "malformed", "message.content"),
    "calls in text": (
        200,
        choice({"message": {"tool_calls": ["a"]}}),
        "malformed",
        "tool_calls.0.",
    ),
    "error with 200": (
        200,
        error("No provider\nfor KEY."),
        "server_error",
        "sent an error with status 200: No provider for [key].",
    ),
    "error in text": (200, {"error": "overloaded"}, "server_error", "status 200: overloaded."),
    "error and no choices": (
        200,
        {**error(None), "choices": []},
        "server_error",
        "sent an error with status 200: no reason given.",
    ),
    "broken off": (
        200,
        choice({"message": {"content": "R"}, **error("lost")}),
        "server_error",
        "broke its answer off: lost.",
    ),
    "finished by an error": (
        200,
        choice({"message": {"content": "R"}, "finish_reason": "error"}),
        "server_error",
        "broke its answer off: no reason given.",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_endpoint_is_named(
    complete: Callable[..., Any], reply: Any, secret: str, fault: str
) -> None:
    status, body, kind, words = FAULTS[fault]
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    data = data.replace("KEY", secret) if isinstance(data, str) else data
    content_type = "text/html" if data is body else "application/json"
    with pytest.raises(EndpointFailure) as caught:
        complete(reply.page(data, status=status, kind=content_type))
    failure = caught.value
    assert failure.kind == kind
    assert failure.fatal is (kind in ("unauthorized", "not_found", "rejected"))
    assert_one_clear_sentence(failure, secret)
    assert words in str(failure)


@pytest.mark.parametrize("body", [HTML, HALF])
def test_what_is_called_json_need_not_be_json(
    complete: Callable[..., Any], reply: Any, secret: str, body: str
) -> None:
    with pytest.raises(EndpointFailure, match="sent a body that is not JSON") as caught:
        complete(reply.page(body, kind="application/json"))
    assert caught.value.kind == "malformed"
    assert_one_clear_sentence(caught.value, secret)


def test_a_connection_that_is_closed_midway(
    complete: Callable[..., Any], reply: Any, secret: str
) -> None:
    with pytest.raises(EndpointFailure, match="closed the connection during its") as caught:
        complete(reply.page(HALF, drop=400))
    assert (caught.value.kind, caught.value.fatal) == ("unreachable", False)
    assert_one_clear_sentence(caught.value, secret)


def assert_one_clear_sentence(failure: EndpointFailure, secret: str) -> None:
    said = str(failure)
    assert re.match(r"The model endpoint http://127\.0\.0\.1:\d+/v1 [a-z]", said)
    assert said.endswith(".")
    assert not said.endswith("..")
    assert "\n" not in said
    assert "Traceback" not in said
    assert len(said) < 400
    assert secret not in said
    assert secret not in repr(failure)


def test_the_kinds_are_those_that_are_documented() -> None:
    assert {kind for _, _, kind, _ in FAULTS.values()} <= KINDS
    assert set(re.findall(r"`([a-z_]+)`", EndpointFailure.__doc__ or "")) == KINDS


def test_an_endpoint_that_is_down(secret: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(EndpointFailure, match="cannot be reached") as caught:
        ask(f"http://127.0.0.1:{port}/v1")
    assert (caught.value.kind, caught.value.fatal) == ("unreachable", False)
    assert_one_clear_sentence(caught.value, secret)


def test_an_endpoint_that_hangs_up_without_a_word(secret: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        async def main() -> None:
            server = await asyncio.start_server(lambda _, w: w.close(), sock=listener)
            async with server:
                await asked(f"http://127.0.0.1:{port}/v1")

        with pytest.raises(EndpointFailure, match="closed the connection") as caught:
            asyncio.run(main())
    assert caught.value.kind == "unreachable"
    assert_one_clear_sentence(caught.value, secret)


def test_no_answer_within_the_time_limit(
    complete: Callable[..., Any], reply: Any, secret: str
) -> None:
    silent = reply.page(WHOLE, wait=60)
    start = time.monotonic()
    with pytest.raises(EndpointFailure, match=r"gave no answer in 0\.3 s\.") as caught:
        complete(silent, timeout=0.3)
    assert time.monotonic() - start < 3
    assert (caught.value.kind, caught.value.fatal) == ("timeout", False)
    assert_one_clear_sentence(caught.value, secret)


def test_an_answer_that_is_json_is_read_whatever_it_is_called(
    complete: Callable[..., Any], reply: Any
) -> None:
    assert complete(reply.page(WHOLE, kind="text/html")).text == "R"
    assert complete(reply.page(WHOLE.encode("utf-16"), kind="application/json")).text == "R"


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_a_passing_fault_is_tried_again(scripted: Any, reply: Any, status: int) -> None:
    endpoint = scripted([reply.error(status, retry_after_ms="1"), reply.say("R")])
    completion = ask(endpoint.url, retries=2)
    assert completion.text == "R"
    assert len(endpoint.requests) == 2


def test_a_lasting_limit_of_requests_is_reported_after_the_retries(
    scripted: Any, reply: Any
) -> None:
    endpoint = scripted([reply.error(429, retry_after_ms="1")])
    with pytest.raises(EndpointFailure) as caught:
        ask(endpoint.url, retries=1)
    assert caught.value.kind == "rate_limited"
    assert len(endpoint.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_would_fail_again_is_not_tried_again(scripted: Any, reply: Any, status: int) -> None:
    endpoint = scripted([reply.error(status), reply.say("R")])
    with pytest.raises(EndpointFailure) as caught:
        ask(endpoint.url, retries=2)
    assert caught.value.fatal
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("address", ["http://me:{key}@{host}", "http://{host}?api_key={key}"])
def test_a_key_in_the_address_is_not_shown(
    scripted: Any, reply: Any, secret: str, address: str
) -> None:
    endpoint = scripted([reply.error(500)])
    host = endpoint.url.removeprefix("http://")
    with pytest.raises(EndpointFailure) as caught:
        ask(address.format(key="hunter2hunter2", host=host))
    assert "hunter2" not in str(caught.value)
    assert_one_clear_sentence(caught.value, secret)


def test_a_failure_during_a_conversation_is_no_answer(talk: Callable[..., Any], reply: Any) -> None:
    with pytest.raises(EndpointFailure) as caught:
        talk(reply.call(("parse_domain", {})), reply.error(500))
    assert caught.value.kind == "server_error"


def test_no_file_of_a_run_holds_the_key(
    scripted: Any, reply: Any, secret: str, tmp_path: Path
) -> None:
    """Neither the records of broken trials nor transcripts nor the manifest."""
    endpoint = scripted(
        [reply.json(error(f"No provider for {secret}.")), reply.say("MOVES: R,R,R")]
    )
    two = '{ benchmark = "sokobench", options = { lengths = [5], rotations = [0, 90] } }'
    experiment = parse_experiment(
        f"""
        name = "secrets"
        instances = {two}
        models = [{{ name = "scripted", base_url = "{endpoint.url}" }}]
        conditions = [{{ name = "innate" }}]
        limits = {{ concurrent_trials = 1, retries = 0 }}
        """
    )
    summary = run(experiment, tmp_path)
    assert (summary.done, summary.errored) == (1, 1)
    assert "No provider for [key]." in (summary.last_error or "")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    for file in files:
        assert secret.encode() not in file.read_bytes(), file
    assert endpoint.requests[0]["headers"]["authorization"] == f"Bearer {secret}"


async def asked(address: str, retries: int = 0) -> Any:
    settings = ModelSettings(name="scripted")
    async with ChatClient(settings, base_url=address, timeout=5, retries=retries) as chat:
        return await chat.complete([{"role": "user", "content": "Plan."}])


def ask(address: str, retries: int = 0) -> Any:
    return asyncio.run(asked(address, retries))
