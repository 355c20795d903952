"""Instances as JSON lines: the round trip, and files that break the format."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import llm_modulo
from llm_modulo.domains import (
    Instance,
    find_benchmark,
    instance_id,
    read_instances,
    write_instances,
)
from llm_modulo.errors import LlmModuloError, MalformedRecord

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(), values, max_size=3)


@given(objects, objects, objects, objects)
def test_any_instance_comes_back_from_json(
    parameters: dict, payload: dict, certificate: dict, provenance: dict
) -> None:
    instance = Instance(
        id=instance_id("x", payload),
        benchmark="x",
        parameters=parameters,
        payload=payload,
        certificate=certificate,
        provenance=provenance,
    )
    again = Instance.from_json(json.loads(json.dumps(instance.to_json())))
    assert again == instance
    assert instance_id("x", again.payload) == instance.id


def test_the_eighty_come_back_from_a_file(tmp_path: Path) -> None:
    made = llm_modulo.instances("sokobench")
    write_instances(tmp_path / "s.jsonl", made)
    assert read_instances(tmp_path / "s.jsonl") == made
    lines = (tmp_path / "s.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 80
    assert list(json.loads(lines[0])) == [
        "id",
        "benchmark",
        "parameters",
        "payload",
        "certificate",
        "provenance",
    ]


def test_the_commands_write_eighty_and_accept_them(tmp_path: Path, command: Callable) -> None:
    file = str(tmp_path / "s.jsonl")
    written = command("instances", "sokobench", "--out", file, "--json")
    assert (written.code, written.document) == (0, {"written": 80, "file": file})
    certified = command("certify", file, "--json")
    assert certified.code == 0
    counts = {k: certified.document[k] for k in ("verified", "witness_only", "rejected")}
    assert counts == {"verified": 80, "witness_only": 0, "rejected": 0}


def test_the_command_passes_its_options_on(tmp_path: Path, command: Callable) -> None:
    file = tmp_path / "s.jsonl"
    options = ["--lengths", "6", "--lengths", "4", "--rotations", "90", "--box", "2"]
    assert command("instances", "sokobench", "--out", str(file), *options).code == 0
    made = read_instances(file)
    assert made == llm_modulo.instances("sokobench", lengths=[6, 4], rotations=[90], box=2)


GOOD = llm_modulo.instances("sokobench", lengths=[5], rotations=[0])[0].to_json()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([""], "is empty"),
        (["{"], "line 1: not JSON"),
        (["[]"], "line 1: expected a JSON object"),
        ([json.dumps(GOOD), "7"], "line 2: expected a JSON object"),
        ([json.dumps(GOOD), "", json.dumps(GOOD)], "line 3: instance .* stands twice"),
        ([json.dumps({**GOOD, "id": 5})], "line 1: an instance needs 'id' as text"),
        ([json.dumps({**GOOD, "benchmark": None})], "needs 'benchmark' as text"),
        ([json.dumps({**GOOD, "payload": ["#@#"]})], "needs 'payload' as an object"),
        ([json.dumps({k: v for k, v in GOOD.items() if k != "payload"})], "needs 'payload'"),
        ([json.dumps({**GOOD, "certificate": "yes"})], "'certificate' of .* must be an object"),
        ([json.dumps({**GOOD, "parameters": [1]})], "'parameters' of .* must be an object"),
        (["[" * 100_000], "line 1: not JSON"),
        (['{"id": ' + "9" * 5_000 + "}"], "line 1: not JSON"),
    ],
)
def test_a_file_that_breaks_the_format(
    lines: list[str], says: str, tmp_path: Path, command: Callable
) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(MalformedRecord, match=says) as caught:
        read_instances(file)
    done = command("certify", str(file))
    assert (done.code, done.stdout, done.stderr) == (1, "", f"{caught.value}\n")


def test_half_a_surrogate_pair_is_no_reason_to_fail(tmp_path: Path, command: Callable) -> None:
    """JSON can write what UTF-8 cannot; paired halves are a character like any other."""
    file = tmp_path / "s.jsonl"
    halves = {**GOOD, "payload": {"map": ["#\ud800#"]}, "parameters": {"note": "\U0001f4e6\\ud800"}}
    file.write_text(json.dumps(halves) + "\n", encoding="utf-8")
    (instance,) = read_instances(file)
    assert instance.payload == {"map": ["#?#"]}
    assert instance.parameters == halves["parameters"]
    certified = command("certify", str(file), "--json")
    assert (certified.code, certified.document["rejected"]) == (1, 1)


@pytest.mark.parametrize("content", [None, b"\0\1\2", b"\xff\xfe\xfa"], ids=str)
def test_a_file_that_is_no_text(content: bytes | None, tmp_path: Path, command: Callable) -> None:
    file = tmp_path / "s.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LlmModuloError):
        read_instances(file)
    done = command("certify", str(file))
    assert done.code == 2
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"payload": {}}, "has no map"),
        ({"payload": {"map": "#@$.#"}}, "has no map"),
        ({"payload": {"map": [1, 2]}}, "has no map"),
        ({"payload": {"map": []}}, "1 to 40,000 cells"),
        ({"payload": {"map": ["#@$x#"]}}, "unknown symbol 'x'"),
        ({"payload": {"map": ["#@ #"]}}, "has no goal"),
        ({"certificate": {}}, "has no witness"),
        ({"certificate": {"witness": None}}, "has no witness"),
        ({"certificate": {"witness": ["R"]}}, "has no witness"),
    ],
)
def test_an_instance_that_cannot_be_scored_says_why(changes: dict, says: str) -> None:
    """Nobody has to certify a file before answers are scored with it."""
    instance = Instance.from_json({**GOOD, **changes})
    benchmark = find_benchmark("sokobench")
    with pytest.raises(MalformedRecord, match=f"{GOOD['id']}.*{says}"):
        benchmark.metrics(instance, "R")
    if "payload" in changes:
        for ask in (benchmark.render, benchmark.problem, lambda i: benchmark.judge(i, "R")):
            with pytest.raises(MalformedRecord, match=f"{GOOD['id']}.*{says}"):
                ask(instance)
