"""The connection to the tool server: shared by conversations, lost, found again, refused."""

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from fastmcp.client.transports import StdioTransport

from llm_modulo.agent import ChatClient, ModelSettings, ToolBox, ToolBudget, converse
from llm_modulo.agent.toolbox import hide_arguments
from llm_modulo.domains.sokoban import corridor, sokoban_domain, write_problem
from llm_modulo.errors import ToolServerFailure
from llm_modulo.planning.planners import PLANNERS, FastDownward, Limits, PlannerReport
from llm_modulo.server import create_server


def servers() -> list[int]:
    """Ids of the tool servers that this process has as children; zombies are no servers."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
            command = status.with_name("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        is_ours = lines["PPid"] == str(os.getpid()) and not lines["State"].startswith("Z")
        if is_ours and b"serve" in command:
            found.append(int(status.parent.name))
    return found


def arguments(length: int) -> dict[str, Any]:
    return {"domain": sokoban_domain(), "problem": write_problem(corridor(length))}


async def steps(toolbox: ToolBox, length: int) -> int:
    """Steps of the plan for a corridor."""
    outcome = await toolbox.call("solve", arguments(length))
    assert outcome.failed is False
    return len((outcome.structured or {})["plan"])


def run(main: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(main, 60))


def test_calls_of_many_at_once_get_their_own_results_and_the_server_ends_with_them() -> None:
    async def main() -> list[int]:
        async with ToolBox.over_stdio(max_solves=2) as toolbox:
            assert len(servers()) == 1
            return await asyncio.gather(*(steps(toolbox, length) for length in range(5, 17)))

    assert run(main()) == list(range(3, 15))
    assert servers() == []


def test_conversations_share_a_tool_box(scripted: Callable[..., Any], reply: Any) -> None:
    """Each model solves its own corridor, in the same messages' time."""

    def answer(body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return reply.say(last["content"])
        length = int(last["content"])
        return reply.call(("solve", {"problem": arguments(length)["problem"]}))

    endpoint = scripted([answer])

    async def main() -> list[Any]:
        chat = ChatClient(ModelSettings(name="scripted"), base_url=endpoint.url, retries=0)
        async with chat, ToolBox(create_server("sokobench")) as toolbox:
            return await asyncio.gather(
                *(
                    converse(
                        chat,
                        toolbox,
                        [{"role": "user", "content": str(length)}],
                        domain=sokoban_domain(),
                        supplied={},
                        tools=["solve"],
                        budget=ToolBudget(),
                    )
                    for length in range(5, 13)
                )
            )

    for length, conversation in zip(range(5, 13), run(main()), strict=True):
        assert len(conversation.plan) == length - 2
        assert f"plan of {length - 2} steps" in conversation.answer
        assert len(conversation.tool_calls) == 1


def test_a_killed_server_fails_its_calls_and_is_started_again() -> None:
    async def main() -> None:
        async with ToolBox.over_stdio() as toolbox:
            assert await steps(toolbox, 5) == 3
            (server,) = servers()
            slow = {**arguments(100), "planner": "pyperplan-opt"}
            calls = [asyncio.create_task(toolbox.call("solve", slow)) for _ in range(3)]
            await asyncio.sleep(0.3)
            os.kill(server, signal.SIGKILL)
            for failure in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(failure, ToolServerFailure)
                assert str(failure) == "The tool server broke off during solve: Connection closed."
            lengths = range(5, 9)
            again = await asyncio.gather(*(steps(toolbox, length) for length in lengths))
            assert again == [3, 4, 5, 6]
            assert len(servers()) == 1, "started once for all"
            assert servers() != [server]
            os.kill(servers()[0], signal.SIGKILL)
            with pytest.raises(ToolServerFailure, match=r"broke off during solve: [^\n]*\.$"):
                await steps(toolbox, 5)

    run(main())
    assert servers() == []


@pytest.mark.parametrize(
    "command",
    [
        ["/no/such/program"],
        [sys.executable, "-c", "import sys; sys.exit(3)"],
        [sys.executable, "-c", "print('Hello.', flush=True); input()"],
    ],
    ids=["missing", "ends", "chats"],
)
def test_a_server_that_does_not_start_is_one_sentence(command: list[str]) -> None:
    async def main() -> None:
        transport = StdioTransport(command[0], command[1:], keep_alive=False)
        async with ToolBox(transport):
            pass

    with pytest.raises(ToolServerFailure, match="The tool server cannot be reached: ") as caught:
        run(main())
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_server_over_http_that_is_not_there_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    async def main() -> None:
        async with ToolBox(f"http://127.0.0.1:{port}/mcp"):
            pass

    with pytest.raises(ToolServerFailure, match="The tool server cannot be reached: "):
        run(main())


def test_a_failed_call_is_the_callers_mistake_and_no_failure() -> None:
    async def main() -> Any:
        async with ToolBox(create_server()) as toolbox:
            return await toolbox.call("solve", {"problem": "p"})

    outcome = run(main())
    assert (outcome.failed, outcome.structured) == (True, None)
    assert "`domain`: missing required argument" in outcome.text
    assert outcome.seconds > 0


class Broken:
    """Fast Downward with a search that it does not know, for the first `times` runs."""

    def __init__(self, times: int) -> None:
        self.good = FastDownward.first_plan()
        self.bad = FastDownward("broken", search="no-such-search()", optimal=False, summary="")
        self.left = times
        self.runs = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.good, name)

    async def run(self, *, folder: Path, limits: Limits) -> PlannerReport:
        self.runs += 1
        planner = self.bad if self.runs <= self.left else self.good
        return await planner.run(folder=folder, limits=limits)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Broken]:
    def make(times: int) -> Broken:
        planner = Broken(times)
        monkeypatch.setitem(PLANNERS, "broken", lambda: planner)
        return planner

    return make


def test_a_planner_that_crashes_twice_is_a_failure_of_the_environment(
    talk: Callable[..., Any], reply: Any, broken: Callable[[int], Broken]
) -> None:
    """It says nothing about the model: neither an attempt nor an answer."""
    planner = broken(100)
    call = reply.call(("solve", {"problem": arguments(5)["problem"]}))
    with pytest.raises(
        ToolServerFailure, match="crashed twice on the same problem; its log"
    ) as caught:
        talk(call, planner="broken")
    assert planner.runs == 2
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_planner_that_crashes_once_is_tried_again(
    talk: Callable[..., Any], reply: Any, broken: Callable[[int], Broken]
) -> None:
    planner = broken(1)
    call = reply.call(("solve", {"problem": arguments(5)["problem"]}))
    conversation = talk(call, reply.say("R,R,R"), planner="broken").conversation
    assert planner.runs == 2
    assert conversation.solve_outcomes == ["solved"]
    assert len(conversation.tool_calls) == 1


def test_hidden_arguments_leave_the_schemas_as_they_were() -> None:
    properties = {"domain": {"type": "string"}, "problem": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["domain", "problem"]}
    schema = {"type": "function", "function": {"name": "solve", "parameters": parameters}}
    before = repr(schema)
    (shown,) = hide_arguments([schema], ["domain", "planner"])
    assert shown["function"]["parameters"] == {
        "type": "object",
        "properties": {"problem": {"type": "string"}},
        "required": ["problem"],
    }
    assert repr(schema) == before


def test_the_schemas_and_their_hash_do_not_depend_on_the_connection() -> None:
    async def main(server: Any) -> tuple[Any, str]:
        async with ToolBox(server) as toolbox:
            return toolbox.schemas, toolbox.schema_hash()

    first = run(main(create_server("sokobench")))
    assert first == run(main(create_server("sokobench")))
    assert first[1] != run(main(create_server("full")))[1]
    assert len(first[1]) == 64


def test_a_cancelled_call_leaves_the_connection_and_an_error_closes_it() -> None:
    async def main() -> None:
        async with ToolBox.over_stdio() as toolbox:
            slow = {**arguments(100), "planner": "pyperplan-opt"}
            call = asyncio.create_task(toolbox.call("solve", slow))
            await asyncio.sleep(0.3)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            start = time.monotonic()
            assert await steps(toolbox, 5) == 3
            assert time.monotonic() - start < 5
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run(main())
    assert servers() == []
