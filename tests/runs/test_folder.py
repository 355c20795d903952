"""The run folder: what it holds, whose it is, and what is made from it afterwards."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.eval import TrialStore, load_experiment, open_run, rescore, run
from llm_modulo.eval.folder import versions


@pytest.fixture
def small(tmp_path: Path, experiment_file: Callable[..., Path], endpoint: Any) -> Path:
    """The folder of a run of two trials, one right and one wrong; its endpoint is gone."""
    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    file = experiment_file(models=[{"name": "m", "base_url": endpoint.url}])
    assert run(load_experiment(file), tmp_path / "run").complete
    endpoint.respond = lambda _: pytest.fail("somebody asked the model")
    endpoint.requests.clear()
    return tmp_path / "run"


def test_the_manifest_says_what_was_run(small: Path) -> None:
    manifest = json.loads((small / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["name"] == "small"
    assert manifest["planned"] == 2
    assert manifest["versions"] == versions()
    experiment = manifest["experiment"]
    assert experiment["seed"] == 0  # defaults are written out
    assert experiment["conditions"] == [{"name": "innate", "label": "innate", "example": True}]
    assert experiment["limits"]["retries"] == 4
    assert set(manifest["prompts_sha256"]) == {
        "sokobench-answer",
        "sokobench-example",
        "sokobench-rules",
        "sokobench-task",
    }
    assert {i.parameters["length"] for i in open_run(small).instances.values()} == {5, 7}


def test_a_record_says_everything_about_its_trial(small: Path) -> None:
    right, wrong = sorted(open_run(small).records, key=lambda r: r.verdict or "")
    assert (right.verdict, right.plan, right.notation) == ("complete", "RRR", "comma-separated")
    assert wrong.verdict == "incomplete"
    assert right.metrics["accuracy"] == 1.0
    assert right.stop_reason == "answered"
    assert right.model_served == "scripted"
    assert right.started <= right.ended
    assert right.latency["total"] >= right.latency["model"] > 0
    assert right.prompt_hash is not None
    assert right.prompt_hash != wrong.prompt_hash
    with TrialStore(small) as store:
        transcript = store.transcript(right.key)
    assert transcript is not None
    assert [m["role"] for m in transcript["messages"]] == ["system", "user", "assistant"]
    assert transcript["model_calls"][0]["response"]["model"] == "scripted"


@pytest.mark.parametrize(
    "changes",
    [
        {"repetitions": 2},
        {"seed": 5},
        {"name": "other"},
        {"models": [{"name": "n"}]},
        {"models": [{"name": "m", "temperature": 0}]},
        {"models": [{"name": "m", "label": "mine"}]},
        {"models": [{"name": "m"}, {"name": "n"}]},
        {"conditions": [{"name": "innate", "example": False}]},
        {"conditions": [{"name": "innate", "label": "alone"}]},
        {"instances": {"benchmark": "sokobench", "options": {"lengths": [5]}}},
    ],
    ids=str,
)
def test_another_experiment_may_not_go_on_in_the_folder(
    small: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    changes: dict[str, Any],
) -> None:
    before = {p.name: p.read_bytes() for p in small.iterdir()}
    file = experiment_file(**{"models": [{"name": "m"}], **changes})
    ended = cli("run", file, "--out", small)
    assert (ended.code, ended.out) == (2, "")
    assert ended.sentence == f"{small} holds another experiment (small); choose another --out."
    assert {p.name: p.read_bytes() for p in small.iterdir()} == before


@pytest.mark.parametrize(
    "changes",
    [
        {"limits": {"concurrent_trials": 1, "retries": 0, "planners": 1}},
        {"tools": {"transport": "memory"}},
        {"models": [{"name": "m", "base_url": "http://elsewhere/v1", "api_key_env": "KEY"}]},
    ],
    ids=str,
)
def test_other_limits_and_addresses_may(
    small: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    changes: dict[str, Any],
) -> None:
    ended = cli(
        "run", experiment_file(**{"models": [{"name": "m"}], **changes}), "--out", small, "--json"
    )
    assert (ended.code, ended.document["done"]) == (0, 2)
    assert "2 of 2 trials were done before." in ended.err


def test_other_prompts_may_not_go_on_in_the_folder(
    tmp_path: Path, cli: Callable[..., Any], experiment_file: Callable[..., Path], endpoint: Any
) -> None:
    """Their text is no part of a trial's key, so they would be mixed without a trace."""
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "sokobench-answer.txt").write_text("Answer: MOVES: …\n")
    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    file = experiment_file(models=[{"name": "m", "base_url": endpoint.url}], prompts=str(prompts))
    assert cli("run", file, "--out", tmp_path / "run").code == 0
    assert "Answer: MOVES: …" in endpoint.requests[0]["messages"][0]["content"]
    assert cli("run", file, "--out", tmp_path / "run").code == 0
    (prompts / "sokobench-answer.txt").write_text("Say it.\n")
    ended = cli("run", file, "--out", tmp_path / "run")
    assert ended.code == 2
    assert "was begun with other prompts" in ended.sentence


def test_plan_says_what_would_run_and_asks_nobody(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    file = experiment_file(
        models=[{"name": "m", "base_url": "http://nowhere.invalid/v1"}, {"name": "n"}],
        conditions=[{"name": "innate"}, {"name": "modulo-solver", "label": "tools"}],
        repetitions=3,
    )
    ended = cli("run", file, "--plan", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert ended.document == {
        "trials": 24,
        "instances": 2,
        "models": ["m", "n"],
        "conditions": ["innate", "tools"],
        "repetitions": 3,
    }
    text = cli("run", file, "--plan").out
    assert text == (
        "24 trials: 2 instances × 2 models (m, n) × 2 conditions (innate, tools) × 3 repetitions\n"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["experiment.toml"]


def test_a_run_needs_a_folder(
    cli: Callable[..., Any], experiment_file: Callable[..., Path]
) -> None:
    ended = cli("run", experiment_file())
    assert ended.code == 2
    assert ended.sentence == "run needs --out FOLDER."


def test_status_says_how_far_a_run_is(small: Path, cli: Callable[..., Any]) -> None:
    ended = cli("status", small, "--json")
    assert ended.code == 0
    assert ended.document == {"name": "small", "planned": 2, "done": 2, "errored": 0}
    with TrialStore(small, write=True):  # also while it is running
        assert cli("status", small).out == "small: 2 of 2 trials done, 0 errored\n"


def test_rescoring_changes_nothing_and_asks_nobody(
    small: Path, cli: Callable[..., Any], endpoint: Any
) -> None:
    before = open_run(small).records
    ended = cli("rescore", small, "--json")
    assert (ended.code, ended.document) == (0, {"scored": 2, "changed": 0})
    assert open_run(small).records == before
    assert endpoint.requests == []


def test_rescoring_mends_what_was_scored_wrong(small: Path) -> None:
    right = open_run(small).records
    with TrialStore(small, write=True) as store:
        for record in right:
            store.rescore(
                record.model_copy(
                    update={"verdict": "illegal", "metrics": {"accuracy": 0.5}, "plan": "L"}
                )
            )
    assert rescore(small) == (2, 2)
    assert open_run(small).records == right


def test_rescoring_leaves_a_run_alone_that_is_being_written(
    small: Path, cli: Callable[..., Any]
) -> None:
    with TrialStore(small, write=True):
        ended = cli("rescore", small)
    assert ended.code == 2
    assert "Another process is writing to" in ended.sentence


def test_rescoring_makes_no_folder_a_run_folder(
    tmp_path: Path, small: Path, cli: Callable[..., Any]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "instances.jsonl").write_bytes((small / "instances.jsonl").read_bytes())
    ended = cli("rescore", other)
    assert ended.code == 2
    assert "is not a run folder" in ended.sentence
    assert [p.name for p in other.iterdir()] == ["instances.jsonl"]
