"""The store: a trial that is done stays, one writer at a time, readers at any time."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.errors import EnvironmentFailure, ExperimentError, UsageError
from llm_modulo.eval import TrialRecord, TrialStore, open_run
from llm_modulo.eval.store import SCHEMA_VERSION

TRANSCRIPT = {"messages": [{"role": "user", "content": "ℓ = 5"}]}


def record(key: str = "k", status: str = "done", **fields: Any) -> TrialRecord:
    plain = {
        "instance_id": "i",
        "condition": "c",
        "model": "m",
        "model_asked": "m",
        "repetition": 0,
        "started": "2026-01-01T00:00:00",
        "ended": "2026-01-01T00:00:01",
    }
    return TrialRecord.model_validate({**plain, "key": key, "status": status, **fields})


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    first = record("a", verdict="complete", metrics={"accuracy": 1.0, "manhattan_distance": None})
    with TrialStore(tmp_path / "new" / "run", write=True) as store:
        store.write(first, TRANSCRIPT)
        store.write(record("b", "errored", error="down", error_class="environment"), None)
        assert store.statuses() == {"a": "done", "b": "errored"}
    with TrialStore(tmp_path / "new" / "run") as store:
        assert next(store.records()) == first
        assert store.transcript("a") == TRANSCRIPT
        assert store.transcript("b") is None
        assert store.transcript("none") is None


def test_a_trial_that_is_done_is_never_overwritten(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as store:
        store.write(record(answer_text="first"), TRANSCRIPT)
        store.write(record(answer_text="second"), {"other": True})
        store.write(record(status="errored", error="late"), None)
        assert [r.answer_text for r in store.records()] == ["first"]
        assert store.statuses() == {"k": "done"}
        assert store.transcript("k") == TRANSCRIPT


def test_an_errored_trial_is_replaced_by_the_next_attempt(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as store:
        for error in ("first", "second"):
            store.write(record(status="errored", error=error), None)
            assert [r.error for r in store.records()] == [error]
        store.write(record(answer_text="at last"), TRANSCRIPT)
        assert [(r.status, r.answer_text) for r in store.records()] == [("done", "at last")]
        assert store.transcript("k") == TRANSCRIPT


def test_rescoring_replaces_the_record_and_keeps_the_transcript(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as store:
        store.write(record(verdict="illegal"), TRANSCRIPT)
        store.rescore(record(verdict="complete"))
        assert [r.verdict for r in store.records()] == ["complete"]
        assert store.transcript("k") == TRANSCRIPT


def test_a_second_writer_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as store:
        with pytest.raises(ExperimentError) as error:
            TrialStore(tmp_path, write=True)
        assert str(error.value) == (
            f"Another process is writing to {tmp_path}; wait for it, or stop it."
        )
        store.write(record(), None)
    with TrialStore(tmp_path, write=True) as store:
        assert store.statuses() == {"k": "done"}


def test_a_second_run_in_the_folder_is_refused(
    tmp_path: Path, cli: Callable[..., Any], experiment_file: Callable[..., Path]
) -> None:
    with TrialStore(tmp_path / "run", write=True):
        ended = cli("run", experiment_file(), "--out", tmp_path / "run")
    assert ended.code == 2
    assert "Another process is writing to" in ended.sentence


def test_the_store_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as writer, TrialStore(tmp_path) as reader:
        for count in range(5):
            assert len(list(reader.records())) == count
            writer.write(record(str(count)), TRANSCRIPT)
        rows = reader.records()
        next(rows)  # an open reader does not hold up the writer, nor see half of what it writes
        writer.write(record("late"), None)
        assert len(list(rows)) == 4


@pytest.mark.parametrize("write", [True, False])
def test_a_store_of_a_newer_version_is_refused(tmp_path: Path, write: bool) -> None:
    TrialStore(tmp_path, write=True).close()
    newer = sqlite3.connect(tmp_path / "run.db")
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    with pytest.raises(ExperimentError, match="was written by a newer llm-modulo"):
        TrialStore(tmp_path, write=write)
    before = (tmp_path / "run.db").read_bytes()
    with pytest.raises(ExperimentError):
        TrialStore(tmp_path, write=write)
    assert (tmp_path / "run.db").read_bytes() == before


def test_the_lock_is_free_again_after_a_refusal(tmp_path: Path) -> None:
    TrialStore(tmp_path, write=True).close()
    newer = sqlite3.connect(tmp_path / "run.db")
    for version in (SCHEMA_VERSION + 1, SCHEMA_VERSION):
        newer.execute(f"PRAGMA user_version = {version}")
        if version > SCHEMA_VERSION:
            with pytest.raises(ExperimentError, match="newer"):
                TrialStore(tmp_path, write=True)
    newer.close()
    TrialStore(tmp_path, write=True).close()


def test_a_folder_without_a_store_is_none(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="is not a run folder"):
        TrialStore(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "run.db").touch()
    with pytest.raises(ExperimentError, match=r"is not a run folder: its run\.db is empty"):
        TrialStore(tmp_path)


def test_a_store_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"no database, but long enough to be one " * 100)
    (tmp_path / "manifest.json").write_text("{}")
    for write in (True, False):
        with pytest.raises(ExperimentError, match=r"run\.db.*not a database"):
            TrialStore(tmp_path, write=write)


@pytest.mark.parametrize("below", [".", "below"])
def test_a_folder_that_cannot_be_made_is_bad_usage(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExperimentError, match="Cannot write to"):
        TrialStore(tmp_path / "file" / below, write=True)


@pytest.mark.parametrize("stored", ["{}", "not JSON", '{"key": "k", "surprise": 1}'])
def test_a_record_that_cannot_be_read_is_a_damaged_store(tmp_path: Path, stored: str) -> None:
    with TrialStore(tmp_path, write=True) as store:
        store.write(record(), None)
    other = sqlite3.connect(tmp_path / "run.db", isolation_level=None)
    other.execute("UPDATE trials SET record = ?", (stored,))
    other.close()
    with TrialStore(tmp_path) as store, pytest.raises(ExperimentError, match="is damaged"):
        list(store.records())


def test_a_store_that_refuses_is_a_failure_of_the_environment(tmp_path: Path) -> None:
    with TrialStore(tmp_path, write=True) as store:
        store.write(record("a"), None)
        other = sqlite3.connect(tmp_path / "run.db", isolation_level=None)
        other.execute("DROP TABLE trials")
        other.close()
        with pytest.raises(EnvironmentFailure, match=r"Cannot write to .*run\.db"):
            store.write(record("b"), None)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"manifest.json": "{"}, "manifest.json is not JSON"),
        ({"manifest.json": "[]"}, "manifest.json is not a JSON object"),
        ({"instances.jsonl": "{}\n"}, "is damaged"),
        ({"instances.jsonl": None}, "Cannot read"),
        ({"manifest.json": None}, "is not a run folder"),
        ({"run.db": None}, "is not a run folder"),
    ],
)
def test_a_damaged_folder_is_refused_in_a_sentence(
    tmp_path: Path,
    cli: Callable[..., Any],
    experiment_file: Callable[..., Path],
    endpoint: Any,
    damage: dict[str, str | None],
    message: str,
) -> None:
    endpoint.respond = lambda _: endpoint.says("MOVES: R,R,R")
    file = experiment_file(models=[{"name": "m", "base_url": endpoint.url}])
    folder = tmp_path / "run"
    assert cli("run", file, "--out", folder).code == 0
    for name, text in damage.items():
        (folder / name).unlink()
        if text is not None:
            (folder / name).write_text(text)
    for command in ("status", "report"):
        ended = cli(command, folder)
        assert ended.code == 2
        assert message in ended.sentence
    with pytest.raises(UsageError, match=message):
        open_run(folder)
