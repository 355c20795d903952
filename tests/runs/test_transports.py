"""The way to the tool server changes nothing of a run."""

import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.errors import ExperimentError
from llm_modulo.eval import TrialStore, open_run, parse_experiment, run
from llm_modulo.server import create_server


def contents(folder: Path) -> dict[str, Any]:
    """What a run came to, without times and identifiers."""
    found = {}
    with TrialStore(folder) as store:
        for record in open_run(folder).records:
            transcript = store.transcript(record.key) or {}
            calls = [(c["name"], c["failed"], c["text"]) for c in transcript["tool_calls"]]
            found[record.key] = (
                record.verdict,
                record.verdict_delivered,
                record.plan,
                record.solve_outcomes,
                record.usage,
                transcript["tools"],
                [m["role"] for m in transcript["messages"]],
                [(name, failed, text.split("seconds")[0]) for name, failed, text in calls],
            )
    return found


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory: pytest.TempPathFactory, text: Callable[..., str]) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("memory") / "run"
    experiment = parse_experiment(text(transport="memory"))
    summary = run(experiment, folder, server=lambda: create_server("sokobench"))
    assert summary.complete
    return contents(folder)


@pytest.fixture(scope="module")
def text(experiment_text: Callable[..., str], reference_url: str) -> Callable[..., str]:
    """An experiment with tools: one model that is right, one that breaks the form."""
    models = [
        {"name": "reference/oracle", "base_url": reference_url},
        {"name": "reference/garbler", "base_url": reference_url},
    ]
    return lambda **tools: experiment_text(
        models=models, conditions=[{"name": "modulo-solver"}], tools=tools
    )


def test_in_memory(in_memory: dict[str, Any]) -> None:
    verdicts = [entry[0] for entry in in_memory.values()]
    assert len(verdicts) == 4
    assert verdicts.count("complete") >= 2
    tools = next(iter(in_memory.values()))[5]
    assert [t["function"]["name"] for t in tools] == ["parse_domain", "parse_problem", "solve"]


def test_over_stdio(tmp_path: Path, text: Callable[..., str], in_memory: dict[str, Any]) -> None:
    assert run(parse_experiment(text(transport="stdio")), tmp_path).complete
    assert contents(tmp_path) == in_memory


def test_over_http(
    tmp_path: Path,
    text: Callable[..., str],
    in_memory: dict[str, Any],
    started: Callable[..., subprocess.Popen[str]],
    free_port: int,
    wait_until: Callable[..., None],
) -> None:
    server = started("serve", "--transport", "http", "--port", free_port, "--quiet")

    def listens() -> bool:
        assert server.poll() is None, server.communicate()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", free_port)) == 0

    wait_until(listens)
    url = f"http://127.0.0.1:{free_port}/mcp"
    assert run(parse_experiment(text(transport="http", url=url)), tmp_path).complete
    assert contents(tmp_path) == in_memory


def test_memory_needs_a_server_object(tmp_path: Path, text: Callable[..., str]) -> None:
    with pytest.raises(ExperimentError, match="memory is for the command line"):
        run(parse_experiment(text(transport="memory")), tmp_path)
