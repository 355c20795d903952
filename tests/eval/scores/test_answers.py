"""`score`: answers made anywhere, against instances in a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llm_modulo
from llm_modulo.domains import Instance, write_instances
from llm_modulo.domains.sokoban import format_moves
from llm_modulo.errors import ExperimentError, LlmModuloError, MalformedRecord
from llm_modulo.eval.folder import open_run


@pytest.fixture(scope="module")
def eighty() -> list[Instance]:
    return llm_modulo.instances("sokobench")


@pytest.fixture
def files(tmp_path: Path, eighty: list[Instance]) -> Callable[[list[Any]], list[str]]:
    """Writes answers beside the 80 instances; returns the arguments that name both files."""

    def write(answers: list[Any]) -> list[str]:
        write_instances(tmp_path / "instances.jsonl", eighty)
        lines = [a if isinstance(a, str) else json.dumps(a) for a in answers]
        (tmp_path / "answers.jsonl").write_text("".join(f"{a}\n" for a in lines), encoding="utf-8")
        return [
            "--instances",
            str(tmp_path / "instances.jsonl"),
            "--answers",
            str(tmp_path / "answers.jsonl"),
        ]

    return write


def answer(instance: Instance, text: str, /, **fields: Any) -> dict[str, Any]:
    made = {"instance_id": instance.id, "model": "m", "condition": "c", "repetition": 0}
    return {**made, "text": text, **fields}


def test_the_witnesses_are_all_right(
    eighty: list[Instance], files: Callable, command: Callable
) -> None:
    """The certificates' own plans, in both notations, bare and in a sentence."""
    answers = []
    for instance in eighty:
        witness = instance.certificate["witness"]
        with_commas = format_moves(witness)
        answers += [
            answer(instance, witness, condition="lurd"),
            answer(instance, with_commas, condition="commas"),
            answer(instance, f"Here is my plan.\n\n**MOVES: {with_commas}.**", condition="marked"),
        ]
    code, document, err = command("score", *files(answers), "--json")
    assert (code, err) == (0, "")
    rows = document["by_model_condition"]
    assert [row["condition"] for row in rows] == ["lurd", "commas", "marked"]
    for row in rows:
        assert row["n"] == 80
        assert row["verdicts"]["complete"] == 80
        for name in ("accuracy", "prefix_accuracy", "manhattan_distance"):
            assert row["metrics"][name]["value"] == 1, name
            assert row["metrics"][name]["n"] == 80
        assert row["metrics"]["accuracy"]["high"] == 1
        # Wilson for 80 of 80: n/(n + z²) = 80/83.8415.
        assert row["metrics"]["accuracy"]["low"] == pytest.approx(0.95418, abs=1e-5)


def test_the_table_for_people_says_the_same(
    eighty: list[Instance], files: Callable, command: Callable
) -> None:
    answers = [answer(i, i.certificate["witness"]) for i in eighty]
    code, out, err = command("score", *files(answers))
    assert (code, err) == (0, "")
    assert "accuracy" in out
    assert "Manhattan distance" in out


def test_each_trial_is_listed_on_request(
    eighty: list[Instance], files: Callable, command: Callable
) -> None:
    answers = [
        answer(eighty[0], "MOVES: R,R,R"),
        answer(eighty[1], "MOVES: D,D"),
        answer(eighty[2], "MOVES: L,L,U", repetition=3),
        answer(eighty[3], "I give up."),
    ]
    code, document, _ = command("score", *files(answers), "--trials", "--json")
    assert code == 0
    trials = document["trials"]
    assert [t["verdict"] for t in trials] == ["complete", "incomplete", "illegal", "unparsed"]
    assert [t["instance_id"] for t in trials] == [i.id for i in eighty[:4]]
    assert [t.get("plan") for t in trials] == ["RRR", "DD", "LLU", None]
    assert (trials[2]["failed_step"], trials[2]["repetition"]) == (2, 3)
    assert trials[3]["reason"] == "gave_up"
    assert len({t["key"] for t in trials}) == 4


def test_model_condition_and_repetition_may_be_left_out(
    eighty: list[Instance], files: Callable, command: Callable
) -> None:
    bare = {"instance_id": eighty[0].id, "text": "R,R,R"}
    code, document, _ = command("score", *files([bare]), "--json")
    assert code == 0
    (row,) = document["by_model_condition"]
    assert (row["model"], row["condition"], row["n"]) == ("unnamed", "unnamed", 1)


def test_half_a_surrogate_pair_in_an_answer(
    eighty: list[Instance], files: Callable, command: Callable, tmp_path: Path
) -> None:
    """An emoji cut in two, as some endpoints deliver it, costs no other answer its score."""
    answers = [answer(eighty[0], "\ud83d\nMOVES: R,R,R"), answer(eighty[1], "MOVES: D,D,D")]
    out = ["--out", str(tmp_path / "run")]
    code, document, err = command("score", *files(answers), *out, "--trials", "--json")
    assert (code, err) == (0, "")
    assert [t["verdict"] for t in document["trials"]] == ["complete", "complete"]


BAD_LINES = {
    "twice": (lambda i: [answer(i, "R"), answer(i, "L")], "two answers of m in c"),
    "unknown instance": (lambda i: [answer(i, "R", instance_id="no")], "no instance has the id"),
    "no instance": (lambda i: [{"text": "R"}], "line 1: 'instance_id' must be text"),
    "no text": (lambda i: [answer(i, "R"), {"instance_id": i.id}], "line 2: 'text' must be text"),
    "null text": (lambda i: [answer(i, "R", text=None)], "'text' must be text"),
    "text a list": (lambda i: [answer(i, "R", text=["R"])], "'text' must be text"),
    "model a number": (lambda i: [answer(i, "R", model=4)], "'model' must be text"),
    "condition null": (lambda i: [answer(i, "R", condition=None)], "'condition' must be text"),
    "repetition text": (lambda i: [answer(i, "R", repetition="1")], "whole number"),
    "repetition true": (lambda i: [answer(i, "R", repetition=True)], "whole number"),
    "repetition half": (lambda i: [answer(i, "R", repetition=0.5)], "whole number"),
    "repetition negative": (lambda i: [answer(i, "R", repetition=-1)], "whole number"),
    "repetition huge": (lambda i: [answer(i, "R", repetition=2**63)], "whole number"),
    "not JSON": (lambda i: ["MOVES: R"], "line 1: not JSON"),
    "a list": (lambda i: ["[]"], "line 1: expected a JSON object"),
    "empty": (lambda i: [], "is empty"),
}


@pytest.mark.parametrize(("lines", "says"), BAD_LINES.values(), ids=BAD_LINES)
def test_answers_that_break_the_format(
    lines: Callable,
    says: str,
    eighty: list[Instance],
    files: Callable,
    command: Callable,
    tmp_path: Path,
) -> None:
    arguments = files(lines(eighty[0]))
    code, out, err = command("score", *arguments, "--out", str(tmp_path / "run"))
    assert (code, out) == (1, "")
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    with pytest.raises(MalformedRecord, match=says):
        llm_modulo.score(arguments[1], arguments[3])


def test_instances_that_cannot_be_scored(
    eighty: list[Instance], files: Callable, command: Callable
) -> None:
    arguments = files([answer(eighty[0], "R,R,R")])
    for changes, expected in (
        ({"payload": {"map": [1]}}, 1),
        ({"certificate": {}}, 1),
        ({"benchmark": "chess"}, 2),
    ):
        record = {**eighty[0].to_json(), **changes}
        Path(arguments[1]).write_text(json.dumps(record) + "\n", encoding="utf-8")
        code, out, err = command("score", *arguments)
        assert (code, out, err.count("\n")) == (expected, "", 1)


def test_files_that_are_not_there(files: Callable, command: Callable) -> None:
    arguments = files([])
    Path(arguments[3]).unlink()
    assert command("score", *arguments)[0] == 2
    Path(arguments[1]).unlink()
    assert command("score", *arguments)[0] == 2


def test_a_run_folder_of_answers_can_be_compared_and_scored_again(
    eighty: list[Instance], files: Callable, command: Callable, tmp_path: Path
) -> None:
    answers = []
    for instance in eighty[:8]:
        witness = instance.certificate["witness"]
        answers.append(answer(instance, f"MOVES: {format_moves(witness[:-1])}", condition="alone"))
        answers.append(answer(instance, witness, condition="helped"))
    folder = str(tmp_path / "run")
    assert command("score", *files(answers), "--out", folder, "--json")[0] == 0
    run = open_run(folder)
    assert (run.planned, len(run.done), len(run.instances)) == (16, 16, 80)
    sides = ["--baseline", "alone", "--treatment", "helped"]
    code, document, _ = command("compare", folder, *sides, "--json")
    assert code == 0
    (model,) = document["models"]
    assert (model["pairs"], model["unpaired"]) == (8, 0)
    assert model["flow"] == {"incomplete": {"complete": 8}}
    # 2 · (1/2)⁸
    assert model["mcnemar"] == {"gained": 8, "lost": 0, "p_value": pytest.approx(1 / 128)}
    assert model["metrics"]["accuracy"]["difference"] == 1
    code, document, _ = command("rescore", folder, "--json")
    assert (code, document) == (0, {"scored": 16, "changed": 0})
    code, _, err = command("compare", folder, "--baseline", "alone", "--treatment", "nobody")
    assert code == 2
    assert "nobody" in err
    assert "alone, helped" in err


def test_a_run_folder_keeps_to_its_answers(
    eighty: list[Instance], files: Callable, tmp_path: Path
) -> None:
    """The same answers again change nothing; others would be told apart from what is printed."""
    folder = tmp_path / "run"
    first = files([answer(eighty[0], "MOVES: R,R,R")])
    for _ in range(2):
        llm_modulo.score(first[1], first[3], out=folder)
    others = files([answer(eighty[0], "MOVES: R")])
    with pytest.raises(ExperimentError, match="holds another experiment"):
        llm_modulo.score(others[1], others[3], out=folder)
    (kept,) = open_run(folder).done
    assert kept.verdict == "complete"
    assert issubclass(ExperimentError, LlmModuloError)
