"""Each reference model against the judge: in text, and with tools."""

import json
import re
from collections.abc import Callable

import pytest

from llm_modulo.agent.models.reference import REFERENCE_MODELS
from llm_modulo.agent.readers import read_answer
from llm_modulo.domains import Benchmark, Unparsed, Verdict
from llm_modulo.domains.sokoban import Level, moves_of_plan, write_problem
from llm_modulo.planning import read_plan

ROTATIONS = (0, 90, 180, 270)
ROOM = "#######\n#  .  #\n# $ $ #\n#  @  #\n#   . #\n#######"


@pytest.fixture
def said(post: Callable, request_body: Callable) -> Callable[..., str]:
    """The text that a model answers without tools; arguments as `request_body`."""

    def ask(*arguments: object, **options: object) -> str:
        reply = post(request_body(*arguments, **options))
        assert reply.status_code == 200, reply.text
        (choice,) = reply.json()["choices"]
        assert "tool_calls" not in choice["message"]
        return choice["message"]["content"]

    return ask


def moves_in(text: str, sokobench: Benchmark) -> str:
    found = read_answer(text, sokobench)
    assert found.moves is not None, text
    return found.moves


@pytest.mark.parametrize("rotation", ROTATIONS)
@pytest.mark.parametrize("length", [3, 5, 20])
def test_the_oracle_in_text(
    length: int, rotation: int, said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(length, rotation)
    moves = moves_in(said("oracle", instance), sokobench)
    assert moves == instance.certificate["witness"].upper()
    assert sokobench.judge(instance, moves).verdict is Verdict.COMPLETE


def test_the_oracle_on_a_hundred_cells(
    said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(100, 270)
    assert moves_in(said("oracle", instance), sokobench) == "U" * 98


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_the_oracle_with_tools(
    rotation: int, talk: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(8, rotation)
    done = talk("oracle", instance)
    assert [name for name, _ in done.calls] == ["parse_problem", "solve"]
    assert done.results[0].ok
    assert str(done.results[1].outcome) == "solved"
    moves = moves_of_plan(done.plan)
    assert sokobench.judge(instance, moves).verdict is Verdict.COMPLETE
    assert moves_in(done.answer, sokobench) == moves
    assert done.finish_reason == "stop"


def test_the_oracle_plans_on_any_map(
    post: Callable, request_body: Callable, corridor: Callable
) -> None:
    body = request_body("oracle", corridor(5))
    body["messages"][-1]["content"] = f"Find a plan for this map:\n\n{ROOM}\n\nGood luck."
    text = post(body).json()["choices"][0]["message"]["content"]
    last, _ = Level.from_xsb(ROOM.split("\n")).replay(re.sub("[^UDLR]", "", text.split(":")[1]))
    assert last.solved


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_illegal_fails_exactly_where_it_is_told_to(
    rotation: int, said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(9, rotation)
    n = instance.optimum
    for position in range(n + 1):
        judged = sokobench.judge(
            instance, moves_in(said("illegal", instance, position=position), sokobench)
        )
        assert (judged.verdict, judged.failed_step) == (Verdict.ILLEGAL, position)
    for asked, position in ((None, n // 2), (-3, 0), (n + 7, n)):
        options = {} if asked is None else {"position": asked}
        judged = sokobench.judge(
            instance, moves_in(said("illegal", instance, **options), sokobench)
        )
        assert (judged.verdict, judged.failed_step) == (Verdict.ILLEGAL, position)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_illegal_with_tools_fails_in_its_last_step(
    rotation: int, talk: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(6, rotation)
    done = talk("illegal", instance)
    moves = moves_of_plan(done.plan)
    assert len(moves) == instance.optimum + 1
    judged = sokobench.judge(instance, moves)
    assert (judged.verdict, judged.failed_step) == (Verdict.ILLEGAL, instance.optimum)
    assert moves_in(done.answer, sokobench) == moves


def test_the_wanderer_walks_legally(
    said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    walks = set()
    for rotation in ROTATIONS:
        for seed in range(12):
            instance = corridor(7, rotation)
            moves = moves_in(said("wanderer", instance, seed=seed), sokobench)
            assert len(moves) == instance.optimum
            assert sokobench.judge(instance, moves).verdict is not Verdict.ILLEGAL
            walks.add((rotation, moves))
    assert len(walks) > 20


@pytest.mark.parametrize("seed", range(3))
def test_the_wanderer_with_tools_has_a_goal_of_its_own(
    seed: int, talk: Callable, said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(10, 90)
    done = talk("wanderer", instance, seed=seed)
    assert "(:goal (player-at " in json.loads(done.calls[0][1])["problem"]
    moves = moves_of_plan(done.plan)
    assert sokobench.judge(instance, moves).verdict is Verdict.INCOMPLETE
    assert moves_in(done.answer, sokobench) == moves


@pytest.mark.parametrize("tools", [False, True], ids=["text", "tools"])
def test_the_looper_never_answers(
    tools: bool, post: Callable, request_body: Callable, corridor: Callable, talk: Callable
) -> None:
    instance = corridor(5)
    if tools:
        done = talk("looper", instance)
        assert done.answer is None
        assert len(done.calls) == 5
        assert len(set(done.calls)) == 1
        assert done.calls[0][0] == "parse_problem"
        return
    body = {**request_body("looper", instance), "max_tokens": 300}
    reply = post(body).json()
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["choices"][0]["message"]["content"] == "MOVES: " + "R," * 300


@pytest.mark.parametrize("mode", ["broken-json", "call-in-prose", "invented-arguments"])
def test_the_garbler_in_text_says_nothing_readable(
    mode: str, said: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    found = read_answer(said("garbler", corridor(5), mode=mode), sokobench)
    assert (found.moves, found.reason) == (None, Unparsed.MALFORMED)


@pytest.mark.parametrize("tools", [False, True], ids=["text", "tools"])
@pytest.mark.parametrize(("mode", "finish_reason"), [("unended", "length"), ("refusal", "stop")])
def test_the_garbler_ends_badly(
    mode: str,
    finish_reason: str,
    tools: bool,
    post: Callable,
    request_body: Callable,
    corridor: Callable,
    sokobench: Benchmark,
) -> None:
    body = request_body("garbler", corridor(5), tools=tools, mode=mode)
    (choice,) = post(body).json()["choices"]
    assert choice["finish_reason"] == finish_reason
    assert "tool_calls" not in choice["message"]
    found = read_answer(
        choice["message"]["content"],
        sokobench,
        truncated=finish_reason == "length",
        refused="refusal" in choice["message"],
    )
    assert found.reason is {"unended": Unparsed.TRUNCATED, "refusal": Unparsed.REFUSED}[mode]
    assert ("refusal" in choice["message"]) == (mode == "refusal")


def test_the_garbler_with_tools_calls_badly(
    post: Callable, request_body: Callable, corridor: Callable
) -> None:
    def message(mode: str) -> dict:
        return post(request_body("garbler", corridor(5), tools=True, mode=mode)).json()["choices"][
            0
        ]["message"]

    (call,) = message("broken-json")["tool_calls"]
    assert call["function"]["name"] == "solve"
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(call["function"]["arguments"])
    (call,) = message("invented-arguments")["tool_calls"]
    arguments = json.loads(call["function"]["arguments"])
    assert sorted(arguments) == ["problem", "search_depth", "verbose"]
    prose = message("call-in-prose")
    assert "tool_calls" not in prose
    assert json.loads(prose["content"].split("\n", 1)[1])["name"] == "solve"


def test_the_garbler_has_every_mode_in_time(
    post: Callable, request_body: Callable, corridor: Callable
) -> None:
    """Without `mode` the seed chooses; 60 seeds miss one of five with probability 5·0.8⁶⁰."""
    seen = set()
    for seed in range(60):
        body = request_body("garbler", corridor(5), tools=True, seed=seed)
        choice = post({**body, "max_tokens": 8}).json()["choices"][0]
        message = choice["message"]
        call = message.get("tool_calls", [{"function": {"arguments": ""}}])[0]["function"]
        seen.add(
            (choice["finish_reason"], "refusal" in message, "search_depth" in call["arguments"])
        )
    assert seen == {
        ("tool_calls", False, False),
        ("tool_calls", False, True),
        ("stop", False, False),
        ("stop", True, False),
        ("length", False, False),
    }


@pytest.mark.parametrize("tools", [False, True], ids=["text", "tools"])
@pytest.mark.parametrize("model", REFERENCE_MODELS)
def test_the_same_request_gets_the_same_reply(
    model: str, tools: bool, post: Callable, request_body: Callable, corridor: Callable
) -> None:
    parameters = {"p_text": 0.5, "p_pddl": 0.5} if model == "miscounter" else {}
    body = request_body(model, corridor(12), tools=tools, seed=5, **parameters)
    one, other = (post(body).json() for _ in range(2))
    for reply in (one, other):
        assert reply.pop("id").startswith("chatcmpl-")
        assert reply.pop("created") > 0
    assert one == other


@pytest.mark.parametrize("tools", [False, True], ids=["text", "tools"])
@pytest.mark.parametrize(
    ("model", "parameters"),
    [("miscounter", {"p_text": 0.5, "p_pddl": 0.5}), ("wanderer", {}), ("garbler", {})],
)
def test_the_seed_matters(
    model: str,
    parameters: dict,
    tools: bool,
    post: Callable,
    request_body: Callable,
    corridor: Callable,
) -> None:
    """The request's seed, the parameter `seed`, and what the task is."""

    request_seeds = [
        request_body(model, corridor(12), tools=tools, seed=k, **parameters) for k in range(6)
    ]
    assert len({json.dumps(post(b).json()["choices"]) for b in request_seeds}) > 1
    own_seeds = []
    for k in range(6):
        body = request_body(model, corridor(12), tools=tools, **parameters)
        own_seeds.append({**body, "reference": {**parameters, "seed": k}})
    assert len({json.dumps(post(b).json()["choices"]) for b in own_seeds}) > 1


def test_what_is_lost_stays_lost_through_a_conversation(
    talk: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    instance = corridor(30)
    done = talk("miscounter", instance, p_pddl=0.2, seed=1)
    problems = [json.loads(arguments)["problem"] for _, arguments in done.calls]
    assert [name for name, _ in done.calls] == ["parse_problem", "solve"]
    assert problems[0] == problems[1] != write_problem(Level.from_xsb(instance.payload["map"]))
    moves = moves_of_plan(done.plan)
    assert len(moves) < instance.optimum
    assert set(moves) == {"R"}
    assert moves_in(done.answer, sokobench) == moves
    assert len(read_plan(done.plan)) == len(moves)


def test_a_failed_solve_makes_a_model_give_up(
    post: Callable, request_body: Callable, corridor: Callable, sokobench: Benchmark
) -> None:
    body = request_body("oracle", corridor(5), tools=True)
    for text in ("ok", "outcome: timeout\nOut of time."):
        message = post(body).json()["choices"][0]["message"]
        result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": text}
        body["messages"] = [*body["messages"], message, result]
    answer = post(body).json()["choices"][0]["message"]["content"]
    assert read_answer(answer, sokobench).reason is Unparsed.GAVE_UP


def test_results_before_the_last_question_are_past(
    post: Callable, request_body: Callable, corridor: Callable
) -> None:
    body = request_body("oracle", corridor(5), tools=True)
    question = body["messages"][-1]
    old = [{"role": "tool", "tool_call_id": f"call_{k}", "content": "old"} for k in range(2)]
    body["messages"] = [*body["messages"], *old, question]
    (call,) = post(body).json()["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "parse_problem"
