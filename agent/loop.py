"""The bounded loop: ask the model, run the tools it calls, until an answer or a limit.

Limits are kept here, not left to the model: failed solve attempts, tool calls, time.
Everything that was said and done is recorded.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from llm_modulo.errors import ToolServerFailure
from llm_modulo.pddl import Source, read_forms

from .models import ChatClient, Completion, ToolCall, Usage
from .toolbox import ToolBox, hide_arguments

__all__ = ["Conversation", "StopReason", "ToolBudget", "ask", "converse"]

_ARGUMENTS = TypeAdapter(dict[str, Any])
"""Writes arguments as the MCP client will: half a character breaks the connection of everybody."""


class StopReason(StrEnum):
    """Why a conversation ended."""

    ANSWERED = "answered"
    BUDGET_EXHAUSTED = "budget_exhausted"
    LENGTH = "length"
    LOOP_LIMIT = "loop_limit"
    TIME_LIMIT = "time_limit"
    MONEY_LIMIT = "money_limit"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolBudget:
    """Limits of a conversation with tools.

    Attributes:
        attempts: solve calls without a plan that end the conversation.
        tool_calls: calls of any tool.
        seconds: wall-clock time; looked at before each request to the model.
    """

    attempts: int = 3
    tool_calls: int = 40
    seconds: float = 3600.0


@dataclass(kw_only=True)
class Conversation:
    """What happened, complete enough to be scored again without asking anybody.

    Attributes:
        messages: the messages in order, as they were sent and received.
        tools: the function definitions that every request carried.
        model_calls: for each response: the request's other parameters, how many messages
            it held, the raw response, seconds.
        tool_calls: for each call: name, the model's raw arguments, the arguments sent,
            text, structured result, whether the call failed, seconds.
        answer: the text that the user gets: the model's last, or the loop's notice.
        plan: steps of the last successful solve, or None.
        solve_outcomes: how each solve call ended, in order.
        domain_altered: a solve used another domain than the given one.
        notice: what the loop told the user when it ended the conversation itself.
    """

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    model_calls: list[dict[str, Any]] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    answer: str = ""
    stop_reason: StopReason = StopReason.ANSWERED
    plan: list[str] | None = None
    solve_outcomes: list[str] = field(default_factory=list)
    domain_altered: bool = False
    notice: str | None = None
    usage: Usage = field(default_factory=Usage)
    model_seconds: float = 0.0
    tool_seconds: float = 0.0
    served: str = ""

    @property
    def failed_attempts(self) -> int:
        """Solve calls that brought no plan."""
        return sum(not outcome.startswith("solved") for outcome in self.solve_outcomes)

    def record(self, completion: Completion) -> None:
        """Add a response of the model."""
        self.model_calls.append(
            {
                "request": {k: v for k, v in completion.request.items() if k != "tools"},
                "messages": len(self.messages),
                "response": completion.raw,
                "seconds": round(completion.seconds, 6),
            }
        )
        self.messages.append(completion.message)
        self.usage += completion.usage
        self.model_seconds += completion.seconds
        self.served = completion.served

    def finish(self, completion: Completion) -> None:
        """End with a response that calls no tool."""
        self.answer = completion.text
        if completion.refusal or completion.finish_reason == "content_filter":
            self.stop_reason = StopReason.REFUSED
            self.answer = completion.text or completion.refusal or ""
        elif completion.finish_reason == "length":
            self.stop_reason = StopReason.LENGTH
        else:
            self.stop_reason = StopReason.ANSWERED

    def end(self, reason: StopReason, notice: str) -> None:
        """End for a limit, with a message to the user."""
        self.stop_reason = reason
        self.notice = self.answer = notice


async def ask(
    chat: ChatClient, messages: Sequence[dict[str, Any]], *, seed: int | None = None
) -> Conversation:
    """One response, without tools.

    Raises:
        EndpointFailure: the model's endpoint failed.
    """
    conversation = Conversation(messages=list(messages))
    completion = await chat.complete(messages, seed=seed)
    conversation.record(completion)
    conversation.finish(completion)
    return conversation


async def converse(
    chat: ChatClient,
    toolbox: ToolBox,
    messages: Sequence[dict[str, Any]],
    *,
    domain: str,
    supplied: Mapping[str, Any],
    tools: Sequence[str],
    budget: ToolBudget,
    seed: int | None = None,
) -> Conversation:
    """Let a model use tools until it answers or a limit is reached.

    Args:
        domain: the PDDL domain that the loop passes to every tool that takes one.
        supplied: further arguments that the loop decides (planner, time limit).
        tools: names of the tools that the model may call.

    Raises:
        EndpointFailure: the model's endpoint failed.
        ToolServerFailure: the server broke off, or a planner crashed twice on a task.
    """
    loop = _Loop(chat, toolbox, messages, domain, supplied, tools, budget, seed)
    return await loop.run()


class _Loop:
    def __init__(
        self,
        chat: ChatClient,
        toolbox: ToolBox,
        messages: Sequence[dict[str, Any]],
        domain: str,
        supplied: Mapping[str, Any],
        tools: Sequence[str],
        budget: ToolBudget,
        seed: int | None,
    ) -> None:
        self._chat = chat
        self._toolbox = toolbox
        self._budget = budget
        self._seed = seed
        self._domain = domain
        self._supplied = {**supplied, "domain": domain}
        offered = [s for s in toolbox.schemas if s["function"]["name"] in tools]
        self._parameters = {
            s["function"]["name"]: frozenset(s["function"]["parameters"].get("properties", {}))
            for s in offered
        }
        self._shown = hide_arguments(offered, tuple(self._supplied))
        self.conversation = Conversation(messages=list(messages), tools=self._shown)

    async def run(self) -> Conversation:
        conversation = self.conversation
        start = time.monotonic()
        while True:
            if time.monotonic() - start > self._budget.seconds:
                conversation.end(
                    StopReason.TIME_LIMIT,
                    f"The session ended after its {self._budget.seconds:g} seconds.",
                )
                return conversation
            completion = await self._chat.complete(
                conversation.messages, tools=self._shown, seed=self._seed
            )
            conversation.record(completion)
            if not completion.tool_calls:
                conversation.finish(completion)
                return conversation
            for call in completion.tool_calls:
                if self._over_budget():
                    return conversation
                await self._run_tool(call)
            if self._over_budget():
                return conversation

    def _over_budget(self) -> bool:
        """Whether a limit is reached; ends the conversation if so."""
        conversation, budget = self.conversation, self._budget
        if conversation.failed_attempts >= budget.attempts:
            conversation.end(
                StopReason.BUDGET_EXHAUSTED,
                f"No plan was found: {budget.attempts} solve attempts failed"
                f" ({', '.join(conversation.solve_outcomes)}).",
            )
            return True
        if len(conversation.tool_calls) >= budget.tool_calls:
            conversation.end(
                StopReason.LOOP_LIMIT,
                f"No answer was given within {budget.tool_calls} tool calls.",
            )
            return True
        return False

    async def _run_tool(self, call: ToolCall) -> None:
        """Run one tool call, record it, and answer it in the conversation."""
        conversation = self.conversation
        entry: dict[str, Any] = {"name": call.name, "raw_arguments": call.arguments}
        arguments, complaint = self._arguments(call)
        if complaint is not None:
            entry |= {"text": complaint, "failed": True, "seconds": 0.0}
        else:
            entry["arguments"] = {k: v for k, v in arguments.items() if k != "domain"}
            altered = self._alters_domain(arguments)
            if altered:
                entry["domain"] = arguments["domain"]
            outcome = await self._toolbox.call(call.name, arguments)
            if _crashed(outcome.structured):
                outcome = await self._toolbox.call(call.name, arguments)
            if _crashed(outcome.structured):
                log = " ".join(str((outcome.structured or {}).get("log_tail", "")).split())
                raise ToolServerFailure(
                    f"The planner crashed twice on the same problem; its log ends: {log[-200:]}"
                )
            entry |= {
                "text": outcome.text,
                "structured": outcome.structured,
                "failed": outcome.failed,
                "seconds": round(outcome.seconds, 6),
            }
            conversation.tool_seconds += outcome.seconds
            self._note_solve(call.name, outcome.structured, altered)
        if call.name == "solve" and (complaint is not None or entry["failed"]):
            conversation.solve_outcomes.append("invalid_call")
        conversation.tool_calls.append(entry)
        conversation.messages.append(
            {"role": "tool", "tool_call_id": call.id, "content": entry["text"]}
        )

    def _arguments(self, call: ToolCall) -> tuple[dict[str, Any], str | None]:
        """The arguments to send, or a complaint for the model in one line of JSON."""
        known = self._parameters.get(call.name)
        if known is None:
            return {}, _complaint(
                f"There is no tool {call.name!r}.", f"one of {', '.join(self._parameters)}"
            )
        wanted = sorted(known - self._supplied.keys())
        try:
            given = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError) as error:
            return {}, _complaint(f"The arguments are not JSON: {error}.", f"an object of {wanted}")
        if not isinstance(given, dict):
            return {}, _complaint("The arguments are not a JSON object.", f"an object of {wanted}")
        try:
            _ARGUMENTS.dump_json(given)
        except ValueError as error:
            return {}, _complaint(f"The arguments cannot be sent: {error}.", "text in UTF-8")
        supplied = {k: v for k, v in self._supplied.items() if k in known}
        if isinstance(given.get("domain"), str) and given["domain"].strip():
            supplied.pop("domain", None)
        return {**given, **supplied}, None

    def _alters_domain(self, arguments: Mapping[str, Any]) -> bool:
        given = arguments.get("domain")
        return isinstance(given, str) and _canonical(given) != _canonical(self._domain)

    def _note_solve(self, name: str, structured: dict[str, Any] | None, altered: bool) -> None:
        if name != "solve" or structured is None or "outcome" not in structured:
            return
        self.conversation.solve_outcomes.append(str(structured["outcome"]))
        if structured.get("plan") is not None:
            self.conversation.plan = [str(step) for step in structured["plan"]]
            self.conversation.domain_altered = altered


def _crashed(structured: dict[str, Any] | None) -> bool:
    return structured is not None and structured.get("outcome") == "crashed"


def _complaint(problem: str, required: str) -> str:
    return json.dumps({"error": problem, "required": required})


def _canonical(text: str) -> str:
    """PDDL text without comments, layout and case."""
    return repr([_stripped(node) for node in read_forms(Source(text, "domain"))])


def _stripped(node: Any) -> Any:
    return node.key if hasattr(node, "text") else [_stripped(item) for item in node.items]
