"""The command line as a whole: one JSON document, one sentence, the right exit code."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.cli import app, main
from llm_modulo.domains import find_benchmark, instances

COMMANDS = sorted(name for name in app if not name.startswith("-"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Something to name on the command line: {name} in the cases below."""
    folder = tmp_path_factory.mktemp("files")
    benchmark = find_benchmark("sokobench")
    (corridor,) = instances("sokobench", lengths=[5], rotations=[0])
    texts = {
        "domain": benchmark.domain(),
        "problem": benchmark.problem(corridor),
        "broken": "(define (domain",
        "plan": "(move c-1-1 c-1-2 right)\n",
        "instances": json.dumps(corridor.to_json()) + "\n",
        "answers": json.dumps({"instance_id": corridor.id, "text": "MOVES: R,R,R"}) + "\n",
        "experiment": "nonsense",
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: folder / name for name in [*texts, "nowhere", "new"]}


def filled(arguments: Sequence[str], files: dict[str, Path]) -> list[str]:
    return [a.format(**files) for a in arguments]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(cli: Callable[..., Any], command: str) -> None:
    ended = cli(command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert f"Usage: llm-modulo {command}" in ended.out
    assert "--json" in ended.out
    assert "--quiet" in ended.out


def test_the_help_names_every_command(cli: Callable[..., Any]) -> None:
    ended = cli("--help")
    assert (ended.code, ended.err) == (0, "")
    for command in COMMANDS:
        assert command in ended.out
    assert cli().out == ended.out


RESULTS = [
    (["check", "{domain}", "{problem}"], 0, "diagnostics"),
    (["check", "{broken}"], 1, "diagnostics"),
    (["solve", "{domain}", "{problem}"], 0, "outcome"),
    (["solve", "{domain}", "{broken}"], 1, "outcome"),
    (["validate", "{domain}", "{problem}", "{plan}"], 1, "valid"),
    (["simulate", "{domain}", "{problem}", "{plan}"], 1, "steps"),
    (["planners"], 0, "planners"),
    (["instances", "sokobench", "--lengths", "5", "--out", "{new}"], 0, "written"),
    (["certify", "{instances}"], 0, "verified"),
    (["score", "--instances", "{instances}", "--answers", "{answers}"], 0, "by_model_condition"),
    (["init", "{new}.toml"], 0, "file"),
    (["run", "preset:demo", "--plan"], 0, "trials"),
    (["score", "--instances", "{instances}", "--answers", "{answers}", "--out", "{new}r"], 0, None),
    (["status", "{new}r"], 0, "planned"),
    (["rescore", "{new}r"], 0, "scored"),
    (["report", "{new}r"], 0, "report"),
    (["compare", "{new}r", "--baseline", "unnamed", "--treatment", "unnamed"], 0, "models"),
    (["doctor"], 0, "findings"),
]


def test_every_command_gives_one_json_document(
    cli: Callable[..., Any], files: dict[str, Path]
) -> None:
    """run and demo with trials are tested elsewhere; serve has no result."""
    assert {arguments[0] for arguments, _, _ in RESULTS} == {*COMMANDS} - {"demo", "serve"}
    for arguments, code, key in RESULTS:
        ended = cli(*filled(arguments, files), "--json", "--quiet")
        assert ended.code == code, (arguments, ended)
        assert ended.err == "", arguments
        assert key is None or key in ended.document, arguments


MISTAKES = [
    (["frobnicate"], "frobnicate"),
    (["--frobnicate"], "--frobnicate"),
    (["check"], "DOMAIN"),
    (["check", "{domain}", "{problem}", "{plan}"], "{plan}"),
    (["check", "{nowhere}"], "Cannot read {nowhere}: No such file"),
    (["status", "--frobnicate", "{new}"], "--frobnicate"),
    (["status", "{nowhere}"], "{nowhere} is not a run folder."),
    (["status", "{domain}"], "{domain} is not a run folder."),
    (["rescore", "{nowhere}"], "{nowhere} is not a run folder."),
    (["report", "{nowhere}"], "{nowhere} is not a run folder."),
    (["compare", "{nowhere}", "--baseline", "a", "--treatment", "b"], "is not a run folder."),
    (["run", "{experiment}", "--out", "{new}x"], "{experiment} is not TOML"),
    (["run", "preset:demo", "--out", "{domain}"], "Cannot write to {domain}"),
    (["run", "preset:demo", "--out", "/proc/nowhere"], "Cannot write to /proc/nowhere"),
    (["solve", "{domain}", "{problem}", "--time-limit", "soon"], "--time-limit"),
    (["solve", "{domain}", "{problem}", "--time-limit", "0"], "above 0"),
    (["solve", "{domain}", "{problem}", "--planner", "nobody"], "Unknown planner 'nobody'"),
    (["instances", "sokobanch", "--out", "{new}"], "Unknown benchmark 'sokobanch'"),
    (["instances", "sokobench"], "--out"),
    (["init", "{domain}"], "{domain} exists already."),
    (["serve", "--transport", "pigeon"], "pigeon"),
    (["serve", "--profile", "nobody"], "Unknown profile 'nobody'"),
    (
        ["serve", "--transport", "http", "--host", "0.0.0.0", "--quiet"],
        "Refusing to listen on 0.0.0.0",
    ),
    (["serve", "--port", "http"], "--port"),
]


@pytest.mark.parametrize(("arguments", "named"), MISTAKES, ids=str)
def test_a_mistake_gets_one_sentence_and_exit_code_2(
    cli: Callable[..., Any], files: dict[str, Path], arguments: list[str], named: str
) -> None:
    ended = cli(*filled(arguments, files))
    assert (ended.code, ended.out) == (2, ""), ended
    assert named.format(**files) in ended.sentence
    as_json = cli(*filled(arguments, files), "--json")
    assert as_json.code == 2
    assert as_json.document == {"error": ended.sentence}


def test_a_fault_of_ours_is_one_sentence_too(
    cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import llm_modulo.planning.planners as planners

    monkeypatch.delenv("LLM_MODULO_TRACEBACK", raising=False)
    monkeypatch.delattr(planners, "list_planners")
    ended = cli("planners")
    assert (ended.code, ended.out) == (4, "")
    assert ended.sentence.startswith("Internal error: ImportError: ")
    assert "LLM_MODULO_TRACEBACK=1" in ended.sentence
    monkeypatch.setenv("LLM_MODULO_TRACEBACK", "1")
    with pytest.raises(ImportError):
        main(["planners"])


def test_a_reader_that_leaves_is_no_fault(tmp_path: Path, files: dict[str, Path]) -> None:
    """`llm-modulo … | head -1` ends quietly."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "llm_modulo", "simulate"]
    with subprocess.Popen(
        [*command, files["domain"], files["problem"], files["plan"], "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
