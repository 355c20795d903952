"""Corridors, trial records made by hand, and the command line in this process."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import llm_modulo
from llm_modulo.cli import main
from llm_modulo.domains import Benchmark, Instance, find_benchmark
from llm_modulo.eval.store import TrialRecord


@pytest.fixture(scope="session")
def sokobench() -> Benchmark:
    """The benchmark that the answers are about."""
    return find_benchmark("sokobench")


@pytest.fixture(scope="session")
def five() -> Instance:
    """The corridor `#@ $ .#`; its right plan is R,R,R."""
    return llm_modulo.instances("sokobench", lengths=[5], rotations=[0])[0]


@pytest.fixture(scope="session")
def record() -> Callable[..., TrialRecord]:
    """Makes a trial that is done; keyword arguments replace its fields."""

    def make(**fields: Any) -> TrialRecord:
        given = {
            "instance_id": "i",
            "condition": "innate",
            "model": "m",
            "model_asked": "m",
            "repetition": 0,
            "started": "2026-01-01T00:00:00.000+00:00",
            "ended": "2026-01-01T00:00:01.000+00:00",
            "status": "done",
            "verdict": "complete",
            **fields,
        }
        parts = ("model", "condition", "instance_id", "repetition")
        return TrialRecord(**{"key": "/".join(str(given[part]) for part in parts), **given})

    return make


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any, str]]:
    """Run the command line: (arguments …) → (exit code, stdout, stderr).

    With `--json`, stdout comes as the document in it.
    """

    def run(*arguments: str) -> tuple[int, Any, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        out, err = capsys.readouterr()
        assert "Internal error" not in err
        assert "Traceback" not in err
        code = int(caught.value.code or 0)
        return code, json.loads(out) if "--json" in arguments else out, err

    return run
