"""The experiment file: what is wrong with it is named, with the nearest right word."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.errors import ExperimentError, UsageError
from llm_modulo.eval import load_experiment, parse_experiment
from llm_modulo.eval.presets import preset_names

Text = Callable[..., str]


@pytest.mark.parametrize(
    ("changes", "wrong", "right"),
    [
        ({"repetition": 2}, "repetition", "repetitions"),
        ({"models": None, "model": [{"name": "x"}]}, "model", "models"),
        ({"instances": {"benchmrk": "sokobench"}}, "instances.benchmrk", "benchmark"),
        ({"models": [{"name": "x", "base_ulr": "y"}]}, "models[0].base_ulr", "base_url"),
        ({"models": [{"name": "x"}, {"nam": "y"}]}, "models[1].nam", "name"),
        (
            {"conditions": [{"name": "modulo-solver", "atempts": 2}]},
            "conditions[0].atempts",
            "attempts",
        ),
        (
            {"conditions": [{"name": "innate"}, {"name": "modulo-solver", "lable": "b"}]},
            "conditions[1].lable",
            "label",
        ),
        ({"limits": {"retires": 1}}, "limits.retires", "retries"),
        ({"tools": {"transprt": "stdio"}}, "tools.transprt", "transport"),
    ],
)
def test_a_wrong_key_is_named_with_the_nearest_right_one(
    experiment_text: Text, changes: dict[str, Any], wrong: str, right: str
) -> None:
    with pytest.raises(ExperimentError) as error:
        parse_experiment(experiment_text(**changes), "my.toml")
    assert str(error.value) == f"my.toml: there is no key {wrong!r}. Did you mean {right!r}?"


def test_a_key_that_resembles_nothing_gets_the_list(experiment_text: Text) -> None:
    with pytest.raises(ExperimentError, match=r"'limits\.zzz'\. Known: concurrent_trials, plan"):
        parse_experiment(experiment_text(limits={"zzz": 1}))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"repetitions": "many"}, "repetitions"),
        ({"repetitions": 0}, "repetitions"),
        ({"seed": 1.5}, "seed"),
        ({"models": []}, "models"),
        ({"models": "reference/oracle"}, "models"),
        ({"models": [{"name": ""}]}, "models[0].name"),
        ({"models": [{"name": "x", "temperature": "warm"}]}, "models[0].temperature"),
        ({"models": [{"name": "x", "top_p": 2}]}, "models[0].top_p"),
        ({"conditions": [{"name": 3}]}, "conditions[0].name"),
        ({"conditions": [{"label": "a"}]}, "conditions[0].name"),
        ({"conditions": [{"name": "innate", "example": "no way"}]}, "conditions[0].example"),
        ({"conditions": [{"name": "modulo-solver", "time_limit": 0}]}, "conditions[0].time_limit"),
        ({"conditions": [{"name": "modulo-solver", "time_limit": -1}]}, "conditions[0].time_limit"),
        ({"conditions": [{"name": "modulo-solver", "attempts": 0}]}, "conditions[0].attempts"),
        ({"instances": {"benchmark": 5}}, "instances.benchmark"),
        ({"instances": None}, "instances"),
        ({"limits": {"concurrent_trials": 0}}, "limits.concurrent_trials"),
        ({"limits": {"request_timeout": -1}}, "limits.request_timeout"),
        ({"tools": {"transport": "pigeon"}}, "tools.transport"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(
    experiment_text: Text, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(ExperimentError) as error:
        parse_experiment(experiment_text(**changes), "my.toml")
    assert str(error.value).startswith(f"my.toml: {place!r}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("limit", ["inf", "nan", "1e9"])
def test_a_time_limit_that_no_server_accepts_is_refused(experiment_text: Text, limit: str) -> None:
    text = experiment_text(conditions=[{"name": "modulo-solver", "time_limit": 77}])
    with pytest.raises(ExperimentError, match=r"'conditions\[0\]\.time_limit'"):
        parse_experiment(text.replace("77", limit))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conditions": [{"name": "modulo"}]}, "Unknown condition 'modulo'; known: innate"),
        (
            {"conditions": [{"name": "modulo-solver", "planner": "fast-forward"}]},
            "Unknown planner 'fast-forward'; known: fast-downward",
        ),
        ({"tools": {"transport": "http"}}, "`url`"),
    ],
)
def test_a_name_that_nobody_registered_is_refused(
    experiment_text: Text, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ExperimentError) as error:
        parse_experiment(experiment_text(**changes), "my.toml")
    assert str(error.value).startswith("my.toml: ")
    assert message in str(error.value)


def test_another_machines_planner_is_that_machines_affair(experiment_text: Text) -> None:
    text = experiment_text(
        conditions=[{"name": "modulo-solver", "planner": "fast-forward"}],
        tools={"transport": "http", "url": "http://elsewhere/mcp"},
    )
    assert parse_experiment(text).tools.url == "http://elsewhere/mcp"


@pytest.mark.parametrize(
    ("instances", "message"),
    [
        ({"benchmark": "sokobanch"}, "Unknown benchmark 'sokobanch'; known: sokobench"),
        ({"benchmark": "sokobench", "options": {"lenghts": [5]}}, "no option 'lenghts'"),
        ({"benchmark": "sokobench", "options": {"lengths": [2]}}, "3 to 10000 cells, not 2"),
        ({"benchmark": "sokobench", "options": {"lengths": ["5"]}}, "must be a list of integers"),
        ({"benchmark": "sokobench", "file": "x.jsonl"}, "either `benchmark` or `file`"),
        ({}, "either `benchmark` or `file`"),
        ({"file": "nowhere.jsonl"}, "Cannot read"),
    ],
)
def test_instances_that_cannot_be_made_are_refused(
    experiment_text: Text, instances: dict[str, Any], message: str
) -> None:
    experiment = parse_experiment(experiment_text(instances=instances))
    with pytest.raises(UsageError, match=message):
        experiment.instances.load()


@pytest.mark.parametrize("what", ["models", "conditions"])
def test_two_rows_of_one_name_are_refused(experiment_text: Text, what: str) -> None:
    entries = {
        "models": [{"name": "a", "temperature": 0}, {"name": "b", "label": "a"}],
        "conditions": [{"name": "innate"}, {"name": "innate", "example": False}],
    }
    shown = {"models": "a", "conditions": "innate"}[what]
    with pytest.raises(ExperimentError, match=f"two {what} are shown as '{shown}'.*`label`"):
        parse_experiment(experiment_text(**{what: entries[what]}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"name = ", "is not TOML"),
        (b"name = 'a'\nname = 'b'\n", "is not TOML"),
        (b"", "'instances' is missing"),
        (b"\x00\x01", "binary"),
        (b"name = '\xff'", "UTF-8"),
        (b"(" * 20_000_000, "larger than"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused(
    tmp_path: Path, cli: Callable[..., Any], content: bytes, message: str
) -> None:
    file = tmp_path / "x.toml"
    file.write_bytes(content)
    ended = cli("run", file, "--out", tmp_path / "run")
    assert (ended.code, ended.out) == (2, "")
    assert message in ended.sentence
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["nowhere.toml", ".", "preset:nonsense"])
def test_a_file_that_is_not_there_is_refused(cli: Callable[..., Any], name: str) -> None:
    ended = cli("run", name, "--out", "run")
    assert ended.code == 2
    assert name.removeprefix("preset:") in ended.sentence


@pytest.mark.parametrize("name", [*preset_names(), "template"])
def test_every_preset_is_an_experiment(name: str) -> None:
    experiment = load_experiment(f"preset:{name}")
    assert list(experiment.trials(experiment.instances.load()))
