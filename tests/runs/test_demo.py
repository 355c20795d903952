"""`llm-modulo demo`, end to end over the real wire, and what it measures."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_modulo.eval import RunFolder, TrialStore, open_run, rescore

P = {"innate": 0.03, "modulo-solver": 0.005}
LENGTHS = range(5, 51, 5)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """Its run folder, the document on stdout, and stderr."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    done = subprocess.run(
        [sys.executable, "-m", "llm_modulo", "demo", "--json", "--out", str(folder)],
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def finished(demo: tuple[Path, dict[str, Any], str]) -> RunFolder:
    return open_run(demo[0])


def test_the_demo_ends_with_its_160_trials(
    demo: tuple[Path, dict[str, Any], str], finished: RunFolder
) -> None:
    folder, document, said = demo
    assert {k: document[k] for k in ("planned", "done", "errored", "stopped")} == {
        "planned": 160,
        "done": 160,
        "errored": 0,
        "stopped": None,
    }
    assert document["report"] == str(folder / "report.html")
    assert Path(document["report"]).stat().st_size > 10_000
    assert "not a language model" in said
    assert len({r.key for r in finished.records}) == 160
    by_condition = {row["condition"]: row for row in document["by_model_condition"]}
    assert set(by_condition) == set(P)
    for row in by_condition.values():
        assert (row["n"], row["reference"], sum(row["verdicts"].values())) == (
            80,
            True,
            80 + row["verdicts"]["gave_up"],
        )
    # The point of it: the same program, so much better with the tools.
    accuracy = {c: row["metrics"]["accuracy"]["low"] for c, row in by_condition.items()}
    assert by_condition["innate"]["metrics"]["accuracy"]["high"] < accuracy["modulo-solver"]


def test_the_demo_went_over_the_real_wire(
    demo: tuple[Path, dict[str, Any], str], finished: RunFolder
) -> None:
    with TrialStore(demo[0]) as store:
        for record in finished.records:
            transcript = store.transcript(record.key)
            assert transcript is not None
            with_tools = record.condition == "modulo-solver"
            assert transcript["with_tools"] is with_tools
            assert record.model_served == "reference/miscounter"
            if with_tools:
                assert [c["name"] for c in transcript["tool_calls"]] == ["parse_problem", "solve"]
                (solved,) = [c for c in transcript["tool_calls"] if c["name"] == "solve"]
                assert solved["structured"]["planner"]["name"] == "fast-downward"
                assert solved["structured"]["validated"] == "replayed"
            else:
                assert transcript["tool_calls"] == []


def distance(right: np.ndarray, trials: np.ndarray, p: np.ndarray) -> np.ndarray:
    """How far counts are from what is expected, cell by cell and in each condition's sum.

    Pearson's X² over the cells (length × condition, on the last axis), and over the sums of
    the two conditions, where each sum weighs as much as its cells: single cells of 8 trials
    say little about a probability that is wrong in all of them, sums nothing about one that
    is wrong in a few.
    """
    misfit, variance = right - trials * p, trials * p * (1 - p)
    of_cells = (misfit**2 / variance).sum(axis=-1)
    halves = np.split(misfit, 2, axis=-1), np.split(variance, 2)
    of_sums = [m.sum(axis=-1) ** 2 / v.sum() for m, v in zip(*halves, strict=True)]
    return of_cells + len(LENGTHS) * sum(of_sums)


def p_value(right: np.ndarray, trials: np.ndarray, p: np.ndarray) -> float:
    """Exact Monte-Carlo p-value of the hypothesis that cell i has Bin(trials[i], p[i]) right.

    Each trial loses each of its ℓ − 2 cells with probability q, independently of everything
    else, so it is right with probability (1 − q)^(ℓ − 2), and the number right in a cell is
    binomial. `distance` has no χ² distribution: with q = 0.005 and ℓ = 5 a cell expects 0.12
    wrong trials. So it is drawn: with N draws under the hypothesis,
    (1 + #{distance drawn ≥ distance found}) / (N + 1) is a valid p-value for every N.
    """
    draws = 20_000
    drawn = np.random.default_rng(20261129).binomial(trials, p, size=(draws, len(p)))
    at_least = distance(drawn, trials, p) >= distance(right, trials, p) - 1e-9
    return float((1 + at_least.sum()) / (draws + 1))


def cells(run: RunFolder, lost: dict[str, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right, trials, and expected share for each length in each condition."""
    right, trials, expected = [], [], []
    for condition, p in lost.items():
        for length in LENGTHS:
            accuracies = [
                r.metrics["accuracy"]
                for r in run.done
                if r.condition == condition
                and run.instances[r.instance_id].parameters["length"] == length
            ]
            right.append(sum(a or 0.0 for a in accuracies))
            trials.append(len(accuracies))
            expected.append((1 - p) ** (length - 2))
    return np.array(right), np.array(trials), np.array(expected)


def test_the_miscounter_is_right_as_often_as_its_closed_form_says(finished: RunFolder) -> None:
    right, trials, expected = cells(finished, P)
    assert list(trials) == [8] * 20
    assert p_value(right, trials, expected) > 0.001


@pytest.mark.parametrize(
    "wrong",
    [
        {"innate": 0.012, "modulo-solver": 0.005},
        {"innate": 0.06, "modulo-solver": 0.005},
        {"innate": 0.03, "modulo-solver": 0.02},
        {"innate": 0.005, "modulo-solver": 0.03},
    ],
    ids=str,
)
def test_the_same_test_refuses_other_probabilities(
    finished: RunFolder, wrong: dict[str, float]
) -> None:
    assert p_value(*cells(finished, wrong)) < 0.001


def test_rescoring_the_demo_changes_nothing(
    demo: tuple[Path, dict[str, Any], str], finished: RunFolder
) -> None:
    assert rescore(demo[0]) == (160, 0)
    assert open_run(demo[0]).records == finished.records


def test_the_demo_again_asks_nobody(
    demo: tuple[Path, dict[str, Any], str], cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import llm_modulo.agent.models.reference as reference

    monkeypatch.delattr(reference, "reference_endpoint")
    report = (demo[0] / "report.html").read_bytes()
    ended = cli("demo", "--json", "--out", demo[0])
    assert (ended.code, ended.document) == (0, demo[1])
    assert (demo[0] / "report.html").read_bytes() == report


def test_a_base_url_needs_a_model(cli: Callable[..., Any]) -> None:
    ended = cli("demo", "--base-url", "http://127.0.0.1:1/v1")
    assert ended.code == 2
    assert ended.sentence == "--base-url needs --model."


def test_the_demo_runs_on_another_model(
    tmp_path: Path,
    cli: Callable[..., Any],
    endpoint: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a folder named after it; here one whose key is refused at once."""
    monkeypatch.chdir(tmp_path)
    endpoint.respond = lambda _: (401, '{"error": {"message": "no"}}')
    ended = cli("demo", "--model", "lab/model-1.5", "--base-url", endpoint.url, "--quiet")
    assert ended.code == 3
    assert "refuses the key in OPENAI_API_KEY" in ended.sentence
    assert [p.name for p in tmp_path.iterdir()] == ["demo-run-lab-model-1-5"]
    assert {r["model"] for r in endpoint.requests} == {"lab/model-1.5"}
    assert not any("reference" in r or "seed" in r for r in endpoint.requests)
