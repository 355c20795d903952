"""A scripted model endpoint, and conversations with it over the real wire."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from llm_modulo.agent import (
    ChatClient,
    Completion,
    Conversation,
    ModelSettings,
    ToolBox,
    ToolBudget,
    converse,
)
from llm_modulo.domains.sokoban import sokoban_domain
from llm_modulo.server import create_server

SECRET = "sk-local-0123456789abcdef"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the endpoint sends for one request.

    Attributes:
        body: the bytes of the response's body.
        wait: seconds before anything is sent; ends early when the endpoint is closed.
        drop: bytes that the header Content-Length promises and that never come.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    drop: int = 0


Step = Answer | Callable[[dict[str, Any]], Answer]


class ScriptedEndpoint:
    """A chat-completions endpoint on loopback that answers request after request by a script.

    The last step of the script is repeated for ever. A step may be a function of the
    request's body. Use as a context manager; `url` is the base URL for a client.

    Attributes:
        requests: `{"path", "headers", "body"}` of each request so far; headers in lower case.
    """

    def __init__(self, script: Sequence[Step]) -> None:
        self._script = list(script)
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> "ScriptedEndpoint":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON bodies of the requests so far."""
        return [request["body"] for request in self.requests]

    def _next(self, request: dict[str, Any]) -> Answer:
        with self._lock:
            step = self._script[min(len(self.requests), len(self._script) - 1)]
            self.requests.append(request)
        return step(request["body"]) if callable(step) else step

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = {"path": self.path, "headers": headers, "body": body}
                answer = endpoint._next(request)
                endpoint._closing.wait(answer.wait)
                try:
                    self.send_response(answer.status)
                    sent = {"Content-Type": "application/json", **answer.headers}
                    for name, value in sent.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(answer.body) + answer.drop))
                    self.send_header("Connection", "close")
                    self.end_headers()
                    self.wfile.write(answer.body)
                except ConnectionError:
                    return  # the client did not want to wait

            def log_message(self, *_: object) -> None:
                return

        return Handler


class Replies:
    """Makes the answers of a script."""

    USAGE: ClassVar = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 12},
        "cost": 0.25,
    }

    @classmethod
    def message(
        cls, message: Mapping[str, Any], *, finish: str | None = "stop", **top: Any
    ) -> Answer:
        """A chat completion with one message; `top` replaces fields of the completion."""
        completion = {
            "id": "completion-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted/served",
            "choices": [{"index": 0, "message": dict(message), "finish_reason": finish}],
            "usage": cls.USAGE,
            **top,
        }
        return cls.json({k: v for k, v in completion.items() if v is not ...})

    @classmethod
    def say(cls, text: str | None, *, finish: str | None = "stop", **top: Any) -> Answer:
        """An answer in text."""
        return cls.message({"role": "assistant", "content": text}, finish=finish, **top)

    @classmethod
    def call(cls, *calls: tuple[str, Any], text: str | None = None, **top: Any) -> Answer:
        """Tool calls `(name, arguments)` in one message; arguments that are text stay as they are.

        Their ids are `call-0`, `call-1` and so on.
        """
        tool_calls = [
            {
                "id": f"call-{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for index, (name, given) in enumerate(calls)
        ]
        message = {"role": "assistant", "content": text, "tool_calls": tool_calls}
        return cls.message(message, finish="tool_calls", **top)

    @staticmethod
    def json(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
        """Any JSON document."""
        return Answer(body=json.dumps(value).encode(), status=status, headers=headers or {})

    @staticmethod
    def page(body: bytes | str, *, kind: str = "text/html", **more: Any) -> Answer:
        """A body that need not be JSON; see `Answer` for `more`."""
        data = body.encode() if isinstance(body, str) else body
        return Answer(body=data, headers={"Content-Type": kind}, **more)

    @classmethod
    def error(cls, status: int, message: str = "boom", **headers: str) -> Answer:
        """An error of the endpoint as OpenAI writes them; `retry_after` becomes Retry-After."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls.json({"error": {"message": message}}, status=status, headers=named)


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> str:
    """The API key; nothing else of the developer's shell reaches a test."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    return SECRET


@pytest.fixture
def reply() -> type[Replies]:
    """Makes the answers of a script."""
    return Replies


@pytest.fixture
def scripted() -> Iterator[Callable[[Sequence[Step]], ScriptedEndpoint]]:
    """Starts an endpoint with a script; it is closed at the end of the test."""
    started: list[ScriptedEndpoint] = []

    def start(script: Sequence[Step]) -> ScriptedEndpoint:
        started.append(ScriptedEndpoint(script).__enter__())
        return started[-1]

    yield start
    for endpoint in started:
        endpoint.__exit__()


@pytest.fixture
def complete(scripted: Callable[..., ScriptedEndpoint]) -> Callable[..., Completion]:
    """Asks an endpoint with a script for one completion; by default without retries."""

    def ask(*script: Step, settings: ModelSettings | None = None, **options: Any) -> Completion:
        endpoint = scripted(script)
        options = {"base_url": endpoint.url, "timeout": 10, "retries": 0, **options}

        async def main() -> Completion:
            async with ChatClient(settings or ModelSettings(name="scripted"), **options) as chat:
                return await chat.complete([{"role": "user", "content": "Plan."}])

        return asyncio.run(main())

    return ask


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A conversation, the requests that it made, and the calls that reached the tool server."""

    conversation: Conversation
    endpoint: ScriptedEndpoint
    sent: list[tuple[str, dict[str, Any]]]


class RecordingToolBox(ToolBox):
    """A tool box that also keeps what it sent."""

    def __init__(self, server: Any) -> None:
        super().__init__(server)
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        self.sent.append((name, dict(arguments)))
        return await super().call(name, arguments)


@pytest.fixture
def talk(scripted: Callable[..., ScriptedEndpoint]) -> Callable[..., Talk]:
    """Lets a scripted model use the tools of a server in memory, until the loop ends."""

    def run(
        *script: Step,
        settings: ModelSettings | None = None,
        planner: str = "fast-downward",
        time_limit: float = 10.0,
        tools: Sequence[str] = ("parse_domain", "parse_problem", "solve"),
        profile: str = "sokobench",
        seed: int | None = None,
        domain: str | None = None,
        **budget: Any,
    ) -> Talk:
        endpoint = scripted(script)
        toolbox = RecordingToolBox(create_server(profile))

        async def main() -> Conversation:
            model = settings or ModelSettings(name="scripted")
            chat = ChatClient(model, base_url=endpoint.url, timeout=10, retries=0)
            async with chat, toolbox:
                return await converse(
                    chat,
                    toolbox,
                    [{"role": "system", "content": "Use the tools."}, TASK],
                    domain=domain or sokoban_domain(),
                    supplied={"planner": planner, "time_limit": time_limit},
                    tools=tools,
                    budget=ToolBudget(**budget),
                    seed=seed,
                )

        conversation = asyncio.run(main())
        return Talk(conversation=conversation, endpoint=endpoint, sent=toolbox.sent)

    return run


TASK = {"role": "user", "content": "Find a plan for this map."}
