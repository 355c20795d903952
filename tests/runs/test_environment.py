"""What the world does wrong: never a verdict, never a score, done again on resume."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.eval import compare, open_run, parse_experiment, run, summarise

RIGHT = "MOVES: R,R,R"


def check_errored(folder: Path, count: int) -> list[str]:
    """So many trials are errored, by the environment and without a verdict; returns why."""
    errored = open_run(folder).errored
    assert len(errored) == count
    for record in errored:
        assert record.error_class == "environment"
        assert (record.verdict, record.metrics, record.answer_text) == (None, {}, "")
    return [str(record.error) for record in errored]


def test_an_endpoint_that_is_down_stops_the_run_early_and_the_same_command_goes_on(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    free_port: int,
    serve_reference_models: Callable[[int], AbstractContextManager[str]],
) -> None:
    file = experiment_file(
        models=[{"name": "reference/oracle", "base_url": f"http://127.0.0.1:{free_port}/v1"}],
        repetitions=5,
        limits={"concurrent_trials": 1, "retries": 0, "give_up_after": 3},
    )
    folder = tmp_path / "run"
    down = cli("run", file, "--out", folder, "--quiet")
    sentence = f"The model endpoint http://127.0.0.1:{free_port}/v1 cannot be reached."
    assert (down.code, down.out) == (3, "")
    assert down.sentence == f"The run was stopped: {sentence}"
    assert check_errored(folder, 3) == [sentence] * 3
    assert not (folder / "report.html").exists()
    assert cli("status", folder).code == 3

    down = cli("run", file, "--out", folder, "--json")
    assert down.code == 3
    assert down.document == {
        "planned": 10,
        "done": 0,
        "errored": 3,
        "stopped": sentence,
        "folder": str(folder),
    }

    with serve_reference_models(free_port):
        up = cli("run", file, "--out", folder, "--json")
    assert (up.code, up.document["done"], up.document["errored"]) == (0, 10, 0)
    assert [r.verdict for r in open_run(folder).records] == ["complete"] * 10
    assert cli("status", folder).code == 0


def test_another_address_of_the_same_model_goes_on_with_the_run(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    endpoint: Any,
    free_port: int,
) -> None:
    """A local server that comes up again on another port is the same model."""
    folder, limits = tmp_path / "run", {"retries": 0, "give_up_after": 1}
    for url, code in ((f"http://127.0.0.1:{free_port}/v1", 3), (endpoint.url, 0)):
        endpoint.respond = lambda _: endpoint.says(RIGHT)
        model = {"name": "m", "base_url": url, "api_key_env": f"KEY_{code}"}
        ended = cli("run", experiment_file(models=[model], limits=limits), "--out", folder)
        assert ended.code == code, ended.err
    assert len(open_run(folder).done) == 2


@pytest.mark.parametrize(("status", "word"), [(401, "refuses the key"), (404, "does not know")])
def test_what_would_meet_every_trial_stops_the_run_at_once(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    endpoint: Any,
    status: int,
    word: str,
) -> None:
    endpoint.respond = lambda _: (status, '{"error": {"message": "no"}}')
    file = experiment_file(
        models=[{"name": "m", "base_url": endpoint.url}],
        repetitions=10,
        limits={"concurrent_trials": 1},
    )
    ended = cli("run", file, "--out", tmp_path / "run", "--quiet")
    assert ended.code == 3
    assert word in ended.sentence
    assert len(endpoint.requests) == 1
    check_errored(tmp_path / "run", 1)


def test_an_unknown_reference_model_stops_the_run_at_once(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    reference_url: str,
) -> None:
    file = experiment_file(models=[{"name": "reference/orakel", "base_url": reference_url}])
    ended = cli("run", file, "--out", tmp_path / "run", "--quiet")
    assert ended.code == 3
    assert "does not know the model 'reference/orakel'" in ended.sentence


NO_COMPLETIONS = [
    (500, '{"error": {"message": "broken"}}'),
    (503, "<html>Busy</html>"),
    (429, '{"error": {"message": "slowly"}}'),
    (200, "<html><body>Log in to the hotel's network</body></html>"),
    (200, '{"id": "1", "choi'),
    (200, '{"error": {"message": "upstream is gone", "code": 502}}'),
    (200, '{"id": "1", "object": "chat.completion", "choices": []}'),
    (200, ""),
    (200, "null"),
    (200, "[]"),
    (200, '"text"'),
    (200, '{"choices": [{"index": 0}]}'),
    (200, '{"choices": [null]}'),
    (200, '{"choices": 3}'),
    (200, '{"choices": [{"message": "text"}]}'),
    (200, '{"choices": [{"message": {"content": 5}}]}'),
    (200, '{"choices": [{"message": {"content": [5]}}]}'),
    (200, '{"choices": [{"message": {"content": null, "tool_calls": 5}}]}'),
]


def test_an_answer_that_is_no_completion_is_no_answer_of_the_model(
    tmp_path: Path, experiment_text: Callable[..., str], endpoint: Any
) -> None:
    """Every second answer is broken: the others are scored, and only they."""
    count = len(NO_COMPLETIONS)
    answers = iter([a for broken in NO_COMPLETIONS for a in (broken, endpoint.says(RIGHT))])
    endpoint.respond = lambda _: next(answers)
    experiment = parse_experiment(
        experiment_text(
            models=[{"name": "m", "base_url": endpoint.url}],
            repetitions=count,
            limits={"concurrent_trials": 1, "retries": 0},
        )
    )
    summary = run(experiment, tmp_path)
    assert (summary.done, summary.errored, summary.stopped) == (count, count, None)
    for error in check_errored(tmp_path, count):
        assert error.startswith(f"The model endpoint {endpoint.url} ")
        assert error.endswith(".")
        assert "\n" not in error
    assert {r.answer_text for r in open_run(tmp_path).done} == {RIGHT}
    endpoint.respond = lambda _: endpoint.says(RIGHT)
    summary = run(experiment, tmp_path)
    assert (summary.before, summary.done, summary.errored) == (count, 2 * count, 0)


def test_no_answer_within_the_limit_is_no_answer_of_the_model(
    tmp_path: Path, cli: Callable[..., Any], experiment_file: Callable[..., Path], endpoint: Any
) -> None:
    def slow(_: Any) -> tuple[int, str]:
        time.sleep(0.6)
        answer: tuple[int, str] = endpoint.says(RIGHT)
        return answer

    endpoint.respond = slow
    file = experiment_file(
        models=[{"name": "m", "base_url": endpoint.url}],
        limits={"request_timeout": 0.1, "retries": 0},
    )
    assert cli("run", file, "--out", tmp_path / "run").code == 3
    assert set(check_errored(tmp_path / "run", 2)) == {
        f"The model endpoint {endpoint.url} gave no answer in 0.1 s."
    }


def test_broken_trials_enter_no_score(
    tmp_path: Path, cli: Callable[..., Any], experiment_file: Callable[..., Path], endpoint: Any
) -> None:
    """On the corridor of 7 every answer is right, on the corridor of 5 the endpoint breaks."""
    endpoint.respond = lambda request: (
        endpoint.says("MOVES: R,R,R,R,R")
        if "#@  $  .#" in request["messages"][-1]["content"]
        else (500, "")
    )
    file = experiment_file(
        models=[{"name": "m", "base_url": endpoint.url}],
        conditions=[{"name": "innate"}, {"name": "innate", "label": "bare", "example": False}],
        repetitions=2,
        limits={"retries": 0},
    )
    folder = tmp_path / "run"
    ended = cli("run", file, "--out", folder, "--json")
    assert (ended.code, ended.document["done"], ended.document["errored"]) == (3, 4, 4)
    for document in (ended.document, summarise(open_run(folder).records)):
        for row in document["by_model_condition"]:
            assert row["n"] == 2
            assert row["metrics"]["accuracy"]["value"] == 1.0
            assert row["metrics"]["accuracy"]["n"] == 2
            assert sum(row["verdicts"].values()) == 2
    (model,) = compare(folder, baseline="innate", treatment="bare")["models"]
    assert (model["pairs"], model["unpaired"]) == (2, 0)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "4 were broken by the environment and enter no score" in page
    assert "failed (HTTP 500)" in page


def test_a_tool_server_that_is_not_there_is_named(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    reference_url: str,
    free_port: int,
) -> None:
    file = experiment_file(
        models=[{"name": "reference/oracle", "base_url": reference_url}],
        conditions=[{"name": "modulo-solver"}],
        tools={"transport": "http", "url": f"http://127.0.0.1:{free_port}/mcp"},
    )
    ended = cli("run", file, "--out", tmp_path / "run", "--quiet")
    assert ended.code == 3
    assert "tool server cannot be reached" in ended.sentence
