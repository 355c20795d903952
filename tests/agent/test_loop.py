"""The loop: what a model is offered, what its calls become, and which limits end it.

The models are scripts behind a real endpoint; the tools are those of the real server.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from llm_modulo.agent import ModelSettings, StopReason
from llm_modulo.domains.sokoban import Level, corridor, sokoban_domain, write_problem

PROBLEM = write_problem(corridor(5))
PLAN = [
    "(move c-1-1 c-1-2 right)",
    "(push c-1-2 c-1-3 c-1-4 right)",
    "(push c-1-3 c-1-4 c-1-5 right)",
]
STUCK = PROBLEM.replace("(adjacent c-1-4 c-1-5 right)", "")
"""There is no plan for it."""
FAULTY = PROBLEM.replace("(box-at c-1-3)", "(box-at c-9-9)")
SOLVE = ("solve", {"problem": PROBLEM})
PARSE = ("parse_problem", {"problem": PROBLEM})


def roles(conversation: Any) -> list[str]:
    return [message["role"] for message in conversation.messages]


def test_a_model_that_uses_the_tools_well(talk: Callable[..., Any], reply: Any) -> None:
    talked = talk(reply.call(PARSE), reply.call(SOLVE), reply.say("MOVES: R,R,R"))
    conversation = talked.conversation
    assert conversation.stop_reason is StopReason.ANSWERED
    assert conversation.answer == "MOVES: R,R,R"
    assert conversation.plan == PLAN
    assert conversation.solve_outcomes == ["solved"]
    assert conversation.notice is None
    assert conversation.domain_altered is False
    assert roles(conversation) == "system user assistant tool assistant tool assistant".split()
    assert [name for name, _ in talked.sent] == ["parse_problem", "solve"]


def test_what_the_loop_decides_is_neither_shown_nor_asked_for(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(SOLVE), reply.say("R"), planner="fast-downward-opt", time_limit=7)
    for body in talked.endpoint.bodies:
        shown = {t["function"]["name"]: t["function"] for t in body["tools"]}
        assert list(shown) == ["parse_domain", "parse_problem", "solve"]
        for function in shown.values():
            assert function["description"]
            assert function["parameters"]["properties"].keys() <= {"problem"}
            assert set(function["parameters"].get("required", [])) <= {"problem"}
        assert "pddl domain, `(define" not in json.dumps(body["tools"]).lower()
    assert talked.conversation.tools == talked.endpoint.bodies[0]["tools"]
    assert talked.sent == [
        (
            "solve",
            {
                "domain": sokoban_domain(),
                "problem": PROBLEM,
                "planner": "fast-downward-opt",
                "time_limit": 7,
            },
        )
    ]
    assert talked.conversation.solve_outcomes == ["solved_optimally"]


def test_parse_domain_needs_no_argument(talk: Callable[..., Any], reply: Any) -> None:
    talked = talk(reply.call(("parse_domain", "")), reply.say("R"))
    assert talked.sent == [("parse_domain", {"domain": sokoban_domain()})]
    assert talked.conversation.tool_calls[0]["structured"]["ok"] is True


def test_the_model_cannot_lift_the_limits_of_a_solve(talk: Callable[..., Any], reply: Any) -> None:
    given = {"problem": PROBLEM, "time_limit": 86_400, "planner": "pyperplan"}
    talked = talk(reply.call(("solve", given)), reply.say("R"), time_limit=7)
    ((_, sent),) = talked.sent
    assert (sent["time_limit"], sent["planner"]) == (7, "fast-downward")
    assert talked.conversation.plan == PLAN


FAILED = {
    "unsolvable": ({"problem": STUCK}, "unsolvable"),
    "invalid input": ({"problem": FAULTY}, "invalid_input"),
    "no PDDL": ({"problem": "Please solve it."}, "invalid_input"),
    "broken JSON": ('{"problem": "(define', "invalid_call"),
    "no object": ("[1, 2]", "invalid_call"),
    "invented arguments": ({"problem": PROBLEM, "effort": "high"}, "invalid_call"),
    "missing argument": ({}, "invalid_call"),
    "wrong type": ({"problem": {"map": "#@$.#"}}, "invalid_call"),
    "half a character": ('{"problem": "\\ud83d"}', "invalid_call"),
    "too deep": ('{"problem": ' + "[" * 300 + "]" * 300 + "}", "invalid_call"),
    "far too deep": ('{"problem": ' + "[" * 100_000, "invalid_call"),
    "huge number": ('{"problem": ' + "9" * 5_000 + "}", "invalid_call"),
    "not a number": ('{"problem": NaN}', "invalid_call"),
}


@pytest.mark.parametrize("case", FAILED)
def test_three_failed_attempts_end_it(talk: Callable[..., Any], reply: Any, case: str) -> None:
    given, outcome = FAILED[case]
    talked = talk(reply.call(("solve", given)))
    conversation = talked.conversation
    assert conversation.solve_outcomes == [outcome] * 3
    assert conversation.stop_reason is StopReason.BUDGET_EXHAUSTED
    assert conversation.notice == (
        f"No plan was found: 3 solve attempts failed ({outcome}, {outcome}, {outcome})."
    )
    assert conversation.answer == conversation.notice, "it is what the user gets"
    assert len(talked.endpoint.requests) == 3, "nothing more is asked"
    assert conversation.plan is None
    assert roles(conversation)[-1] == "tool", "the last call is answered in the transcript"


def test_failures_of_every_kind_are_counted_together(talk: Callable[..., Any], reply: Any) -> None:
    failed = [("solve", FAILED[case][0]) for case in ("unsolvable", "broken JSON", "no PDDL")]
    talked = talk(*(reply.call(call) for call in failed))
    assert talked.conversation.solve_outcomes == ["unsolvable", "invalid_call", "invalid_input"]
    assert talked.conversation.stop_reason is StopReason.BUDGET_EXHAUSTED


def test_a_solve_that_runs_out_of_time_is_a_failed_attempt(
    talk: Callable[..., Any], reply: Any
) -> None:
    room = ["#########", "#  .  . #", "# $ $ $ #", "#.  @ $ #", "# $ . . #", "#  .    #"]
    hard = write_problem(Level.from_xsb([*room, "#########"]))
    talked = talk(
        reply.call(("solve", {"problem": hard})),
        planner="fast-downward-opt",
        time_limit=0.2,
        attempts=1,
    )
    assert talked.conversation.solve_outcomes == ["timeout"]
    assert talked.conversation.stop_reason is StopReason.BUDGET_EXHAUSTED


def test_attempts_in_one_message_are_counted_one_by_one(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(*[("solve", {"problem": STUCK})] * 8))
    assert talked.conversation.solve_outcomes == ["unsolvable"] * 3
    assert len(talked.sent) == 3
    assert len(talked.endpoint.requests) == 1


def test_a_plan_is_kept_when_later_attempts_fail(talk: Callable[..., Any], reply: Any) -> None:
    stuck = ("solve", {"problem": STUCK})
    talked = talk(reply.call(stuck), reply.call(SOLVE), reply.call(stuck), reply.call(stuck))
    conversation = talked.conversation
    assert conversation.solve_outcomes == ["unsolvable", "solved", "unsolvable", "unsolvable"]
    assert conversation.stop_reason is StopReason.BUDGET_EXHAUSTED
    assert conversation.plan == PLAN


def test_the_plan_is_that_of_the_last_successful_solve(
    talk: Callable[..., Any], reply: Any
) -> None:
    other = ("solve", {"problem": write_problem(corridor(4, 180))})
    talked = talk(reply.call(SOLVE), reply.call(other), reply.say("L,L"))
    assert talked.conversation.solve_outcomes == ["solved", "solved"]
    assert [step.split()[-1] for step in talked.conversation.plan] == ["left)", "left)"]


def test_failed_attempts_are_no_limit_for_other_calls(talk: Callable[..., Any], reply: Any) -> None:
    faulty = reply.call(("parse_problem", {"problem": FAULTY}))
    talked = talk(*[faulty] * 6, reply.say("I give up."))
    assert talked.conversation.stop_reason is StopReason.ANSWERED
    assert talked.conversation.solve_outcomes == []


@pytest.mark.parametrize("at_once", [1, 7, 40, 100])
def test_never_more_than_40_tool_calls(talk: Callable[..., Any], reply: Any, at_once: int) -> None:
    talked = talk(reply.call(*[("parse_domain", {})] * at_once))
    conversation = talked.conversation
    assert len(talked.sent) == 40
    assert len(conversation.tool_calls) == 40
    assert roles(conversation).count("tool") == 40
    assert conversation.stop_reason is StopReason.LOOP_LIMIT
    assert conversation.notice == "No answer was given within 40 tool calls."
    assert conversation.answer == conversation.notice
    assert len(talked.endpoint.requests) == -(-40 // at_once), "and nothing is asked after them"


def test_calls_that_reach_no_tool_are_counted_too(talk: Callable[..., Any], reply: Any) -> None:
    talked = talk(reply.call(("guess", {}), ("parse_problem", "{"), PARSE), tool_calls=5)
    failed = [call["failed"] for call in talked.conversation.tool_calls]
    assert failed == [True, True, False, True, True]
    assert talked.conversation.stop_reason is StopReason.LOOP_LIMIT
    assert len(talked.sent) == 1


def test_an_answer_after_the_last_call_is_not_asked_for(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(SOLVE), reply.say("R"), tool_calls=1)
    assert talked.conversation.stop_reason is StopReason.LOOP_LIMIT
    assert talked.conversation.plan == PLAN


def test_a_session_ends_after_its_time(talk: Callable[..., Any], reply: Any) -> None:
    slow = reply.call(("parse_domain", {}))
    slow = type(slow)(body=slow.body, wait=0.2)
    talked = talk(slow, seconds=0.5)
    assert talked.conversation.stop_reason is StopReason.TIME_LIMIT
    assert talked.conversation.notice == "The session ended after its 0.5 seconds."
    assert talked.conversation.answer == talked.conversation.notice
    assert 2 <= len(talked.endpoint.requests) <= 3


@pytest.mark.parametrize("name", ["guess", "", "validate_plan", "Solve"])
def test_a_tool_that_is_not_offered_is_named_to_the_model(
    talk: Callable[..., Any], reply: Any, name: str
) -> None:
    """Also one that the server has and the condition does not offer."""
    talked = talk(reply.call((name, {"problem": PROBLEM})), reply.say("R"), profile="full")
    (call,) = talked.conversation.tool_calls
    assert (call["name"], call["failed"]) == (name, True)
    assert json.loads(call["text"]) == {
        "error": f"There is no tool {name!r}.",
        "required": "one of parse_domain, parse_problem, solve",
    }
    assert talked.endpoint.bodies[1]["messages"][-1]["content"] == call["text"]
    assert talked.conversation.solve_outcomes == []
    assert talked.sent == []


def test_broken_arguments_are_explained_in_one_line_of_json(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(("solve", '{"problem": "(define')), reply.say("R"))
    said = json.loads(talked.conversation.tool_calls[0]["text"])
    assert said["error"].startswith("The arguments are not JSON: Unterminated string")
    assert said["required"] == "an object of ['problem']"


def test_invented_arguments_are_explained_in_one_sentence(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(("solve", {"problem": PROBLEM, "effort": 3})), reply.say("R"))
    (call,) = talked.conversation.tool_calls
    assert call["failed"] is True
    assert (
        call["text"] == "solve cannot be called like this: `effort`: unexpected keyword argument."
    )


def test_a_call_in_prose_is_an_answer(talk: Callable[..., Any], reply: Any) -> None:
    text = f"I call the planner now.\n{json.dumps({'name': 'solve', 'arguments': SOLVE[1]})}"
    talked = talk(reply.say(text))
    assert talked.conversation.stop_reason is StopReason.ANSWERED
    assert talked.conversation.answer == text
    assert talked.sent == []
    assert talked.conversation.tool_calls == []


def test_each_of_several_calls_gets_its_own_answer_in_their_order(
    talk: Callable[..., Any], reply: Any
) -> None:
    talked = talk(reply.call(PARSE, ("guess", {}), SOLVE, text="Three at once."), reply.say("R"))
    answered = talked.endpoint.bodies[1]["messages"][3:]
    assert [(m["role"], m["tool_call_id"]) for m in answered] == [
        ("tool", "call-0"),
        ("tool", "call-1"),
        ("tool", "call-2"),
    ]
    assert "well-formed" in answered[0]["content"]
    assert "There is no tool" in answered[1]["content"]
    assert "outcome: solved" in answered[2]["content"]
    assert talked.endpoint.bodies[1]["messages"][2]["content"] == "Three at once."


def test_arguments_as_an_object_are_read(talk: Callable[..., Any], reply: Any) -> None:
    call = {"type": "function", "function": {"name": "solve", "arguments": {"problem": PROBLEM}}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    talked = talk(reply.message(message, finish="tool_calls"), reply.say("R"))
    assert talked.conversation.plan == PLAN
    sent = talked.endpoint.bodies[1]["messages"]
    assert sent[-2]["tool_calls"][0]["id"] == sent[-1]["tool_call_id"] == "call_0"


def test_a_call_that_cannot_be_sent_breaks_no_connection(
    talk: Callable[..., Any], reply: Any
) -> None:
    """Half a surrogate pair is the model's mistake, not a failure of the tool server."""
    talked = talk(
        reply.call(("solve", '{"problem": "\\ud83d"}')), reply.call(SOLVE), reply.say("R")
    )
    assert talked.conversation.solve_outcomes == ["invalid_call", "solved"]
    said = json.loads(talked.conversation.tool_calls[0]["text"])
    assert said["error"].startswith("The arguments cannot be sent: ")
    assert talked.conversation.tool_calls[0]["raw_arguments"] == '{"problem": "\\ud83d"}'


# What is recorded.


def test_everything_that_was_said_and_done_is_recorded(
    talk: Callable[..., Any], reply: Any, secret: str
) -> None:
    script = [reply.call(PARSE, SOLVE), reply.call(("solve", "{")), reply.say("MOVES: R,R,R")]
    settings = ModelSettings(name="scripted", temperature=0.5, seeded=True)
    talked = talk(*script, settings=settings, seed=11)
    conversation, bodies = talked.conversation, talked.endpoint.bodies

    for body, answer, call in zip(bodies, script, conversation.model_calls, strict=True):
        assert body["messages"] == conversation.messages[: call["messages"]]
        assert call["response"] == json.loads(answer.body)
        assert call["request"] == {"model": "scripted", "temperature": 0.5, "seed": 11}
        assert {**call["request"], "tools": conversation.tools} == {
            k: v for k, v in body.items() if k != "messages"
        }
        assert call["seconds"] > 0
    assert conversation.messages[-1] == {"role": "assistant", "content": "MOVES: R,R,R"}

    calls = conversation.tool_calls
    assert [call["name"] for call in calls] == ["parse_problem", "solve", "solve"]
    assert [call["raw_arguments"] for call in calls] == [
        json.dumps(PARSE[1]),
        json.dumps(SOLVE[1]),
        "{",
    ]
    sent = {"problem": PROBLEM, "planner": "fast-downward", "time_limit": 10.0}
    assert calls[1]["arguments"] == sent
    assert calls[1]["structured"]["plan"] == PLAN
    answers = [m["content"] for m in conversation.messages if m["role"] == "tool"]
    assert [call["text"] for call in calls] == answers
    assert calls[1]["seconds"] > 0

    assert conversation.served == "scripted/served"
    usage = conversation.usage
    assert (usage.prompt, usage.completion, usage.reasoning, usage.cached) == (300, 60, 36, 192)
    assert usage.cost == pytest.approx(0.75)
    assert conversation.model_seconds == pytest.approx(
        sum(call["seconds"] for call in conversation.model_calls), abs=1e-4
    )
    assert conversation.tool_seconds == pytest.approx(
        sum(call["seconds"] for call in calls), abs=1e-4
    )
    assert secret not in json.dumps(vars(conversation), default=str)


def test_usage_that_is_missing_adds_nothing(talk: Callable[..., Any], reply: Any) -> None:
    talked = talk(
        reply.call(PARSE, usage=None),
        reply.call(PARSE, usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}),
        reply.say("R", usage=...),
    )
    usage = talked.conversation.usage
    assert (usage.prompt, usage.completion, usage.reasoning, usage.cost) == (5, 2, None, None)


@pytest.mark.parametrize(
    ("message", "finish", "reason", "answer"),
    [
        ({"content": "R", "refusal": None}, "stop", StopReason.ANSWERED, "R"),
        ({"content": None}, "stop", StopReason.ANSWERED, ""),
        ({}, "stop", StopReason.ANSWERED, ""),
        ({"content": None, "refusal": "I will not."}, "stop", StopReason.REFUSED, "I will not."),
        ({"content": "No.", "refusal": "refused"}, "stop", StopReason.REFUSED, "No."),
        ({"content": "R,"}, "content_filter", StopReason.REFUSED, "R,"),
        ({"content": None}, "content_filter", StopReason.REFUSED, ""),
        ({"content": "R,R,"}, "length", StopReason.LENGTH, "R,R,"),
        ({"content": None, "reasoning": "hm"}, "length", StopReason.LENGTH, ""),
        ({"content": "R"}, "eos", StopReason.ANSWERED, "R"),
        ({"content": "R"}, None, StopReason.ANSWERED, "R"),
    ],
)
def test_how_an_answer_ends(
    talk: Callable[..., Any],
    reply: Any,
    message: dict[str, Any],
    finish: str | None,
    reason: StopReason,
    answer: str,
) -> None:
    talked = talk(reply.message({"role": "assistant", **message}, finish=finish))
    assert talked.conversation.stop_reason is reason
    assert talked.conversation.answer == answer
    assert talked.conversation.notice is None


def test_calls_that_the_token_limit_cut_are_answered(talk: Callable[..., Any], reply: Any) -> None:
    """The model may mend them: a cut call is a call with broken JSON."""
    call = {"id": "c", "type": "function", "function": {"name": "solve", "arguments": '{"pro'}}
    cut = reply.message({"content": None, "tool_calls": [call]}, finish="length")
    talked = talk(cut, reply.call(SOLVE), reply.say("R"))
    assert talked.conversation.solve_outcomes == ["invalid_call", "solved"]
    assert talked.conversation.stop_reason is StopReason.ANSWERED


# The domain.


def relaid() -> str:
    """The bundled domain without comments, in one line, upper-case."""
    lines = [line.split(";")[0] for line in sokoban_domain().splitlines()]
    return " ".join(" ".join(lines).split()).upper()


@pytest.mark.parametrize(
    ("given", "altered"),
    [
        (sokoban_domain(), False),
        (relaid(), False),
        ("; a comment of mine\n" + sokoban_domain() + "\n\n", False),
        ("", False),
        ("  \n", False),
        (None, False),
        ({"name": "sokoban"}, False),
        (sokoban_domain().replace("(clear ?to)", "", 1), True),
        (sokoban_domain().replace("(:action push", "(:action shove"), True),
    ],
    ids=["same", "relaid", "comment", "empty", "blank", "null", "object", "weaker", "renamed"],
)
def test_a_model_may_repeat_the_domain_but_not_change_it(
    talk: Callable[..., Any], reply: Any, given: Any, altered: bool
) -> None:
    call = ("solve", {"domain": given, "problem": PROBLEM})
    talked = talk(reply.call(call), reply.say("R"))
    conversation = talked.conversation
    assert conversation.solve_outcomes == ["solved"]
    assert conversation.domain_altered is altered
    assert conversation.tool_calls[0].get("domain") == (given if altered else None)
    ((_, sent),) = talked.sent
    repeated = isinstance(given, str) and given.strip()
    assert sent["domain"] == (given if repeated else sokoban_domain())


@pytest.mark.parametrize("given", ["not PDDL", "(define (domain", "((((", "(" * 5_000, "x" * 9_999])
def test_a_domain_that_cannot_be_read_is_a_failed_attempt(
    talk: Callable[..., Any], reply: Any, given: str
) -> None:
    talked = talk(reply.call(("solve", {"domain": given, "problem": PROBLEM})), reply.say("R"))
    assert talked.conversation.solve_outcomes == ["invalid_input"]
    assert talked.conversation.domain_altered is False, "it brought no plan"
    assert talked.conversation.tool_calls[0]["domain"] == given


def test_the_last_plan_decides_whether_the_domain_was_altered(
    talk: Callable[..., Any], reply: Any
) -> None:
    weaker = sokoban_domain().replace("(clear ?to)", "", 1)
    altered = ("solve", {"domain": weaker, "problem": PROBLEM})
    assert talk(reply.call(altered), reply.call(SOLVE), reply.say("R")).conversation.plan == PLAN
    for calls, expected in (((altered, SOLVE), False), ((SOLVE, altered), True)):
        talked = talk(*(reply.call(call) for call in calls), reply.say("R"))
        assert talked.conversation.domain_altered is expected
