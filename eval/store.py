"""The run folder's store: every trial once, whatever happens to the process.

SQLite in write-ahead mode with full synchronisation: a trial is in the file when `write`
returns, or not at all. The trial key is the primary key; a trial that is done is never
overwritten. One writer at a time holds the folder's lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from llm_modulo.errors import EnvironmentFailure, ExperimentError
from llm_modulo.files import DISK_ERRORS

__all__ = ["SCHEMA_VERSION", "TrialRecord", "TrialStore"]

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE trials (
    key TEXT PRIMARY KEY,
    status TEXT NOT NULL CHECK (status IN ('done', 'errored')),
    model TEXT NOT NULL,
    condition TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    repetition INTEGER NOT NULL,
    record TEXT NOT NULL,
    transcript BLOB
) WITHOUT ROWID;
CREATE INDEX trials_by_condition ON trials (model, condition, instance_id, repetition);
"""


class TrialRecord(BaseModel):
    """One trial as it is stored; the transcript lies beside it."""

    model_config = ConfigDict(extra="forbid")

    key: str
    instance_id: str
    condition: str
    model: str
    model_asked: str
    model_served: str = ""
    reference: bool = False
    repetition: int
    started: str
    ended: str
    status: Literal["done", "errored"]
    error: str | None = Field(default=None, description="why it is errored")
    answer_text: str = ""
    plan: str | None = Field(default=None, description="the moves that `verdict` is about")
    notation: str | None = None
    verdict: str | None = None
    failed_step: int | None = None
    reason: str | None = Field(default=None, description="why it is unparsed")
    verdict_delivered: str | None = None
    plan_delivered: str | None = None
    error_class: str | None = None
    domain_altered: bool = False
    metrics: dict[str, float | None] = Field(default_factory=dict)
    usage: dict[str, float | None] = Field(default_factory=dict)
    latency: dict[str, float] = Field(default_factory=dict)
    tool_calls: int = 0
    solve_outcomes: list[str] = Field(default_factory=list)
    stop_reason: str | None = None
    prompt_hash: str | None = None
    tools_hash: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)


def _connect_for_writing(path: Path) -> sqlite3.Connection:
    return _connect(str(path), "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL")


def _connect_for_reading(path: Path) -> sqlite3.Connection:
    """Even a reader makes files beside a database in write-ahead mode.

    Where it cannot (a full disk, somebody else's folder) and nobody is writing, the file
    is read as one that does not change.
    """
    try:
        return _connect(str(path), "PRAGMA user_version")
    except sqlite3.OperationalError:
        log = path.with_name(f"{path.name}-wal")
        if log.exists() and log.stat().st_size > 0:
            raise
        unchanging = f"{path.resolve().as_uri()}?immutable=1"
        return _connect(unchanging, "PRAGMA user_version", uri=True)


def _connect(address: str, *statements: str, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(address, isolation_level=None, uri=uri)
    try:
        for statement in statements:
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


class TrialStore:
    """The trials of a run folder; use as a context manager."""

    def __init__(self, folder: str | os.PathLike[str], *, write: bool = False) -> None:
        """Open `run.db` in a folder; with `write`, create it if needed and lock the folder.

        Raises:
            ExperimentError: there is no store, it is damaged or of a newer version, the
                folder cannot be made, or another process is writing to it.
            EnvironmentFailure: the disk refuses.
        """
        self._folder = Path(folder)
        self._write = write
        self._lock: int | None = None
        path = self._folder / "run.db"
        if not write and not path.exists():
            raise ExperimentError(f"{folder} is not a run folder: it has no run.db.")
        if write:
            self._take_lock()
        try:
            self._db = _connect_for_writing(path) if write else _connect_for_reading(path)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise
        except BaseException as error:
            self._release_lock()
            if isinstance(error, sqlite3.Error):
                raise self._unusable(error) from error
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and give the folder free."""
        self._db.close()
        self._release_lock()

    def statuses(self) -> dict[str, str]:
        """Key → status of every trial in the store."""
        return dict(self._db.execute("SELECT key, status FROM trials"))

    def write(self, record: TrialRecord, transcript: dict[str, Any] | None) -> None:
        """Store a trial; replaces an errored one of the same key, never one that is done.

        Raises:
            EnvironmentFailure: the disk is full or refuses; nothing of the trial is stored.
        """
        packed = None
        if transcript is not None:
            packed = zlib.compress(json.dumps(transcript, ensure_ascii=False).encode())
        row = (
            record.key,
            record.status,
            record.model,
            record.condition,
            record.instance_id,
            record.repetition,
            record.model_dump_json(),
            packed,
        )
        with self._transaction():
            self._db.execute(
                "INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET status = excluded.status,"
                " record = excluded.record, transcript = excluded.transcript"
                " WHERE trials.status = 'errored'",
                row,
            )

    def rescore(self, record: TrialRecord) -> None:
        """Replace the record of a trial, leaving its transcript as it is.

        Raises:
            EnvironmentFailure: as `write`.
        """
        with self._transaction():
            self._db.execute(
                "UPDATE trials SET record = ? WHERE key = ?",
                (record.model_dump_json(), record.key),
            )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise EnvironmentFailure(
                f"Cannot write to {self._folder / 'run.db'}: {error}."
            ) from error

    def records(self) -> Iterator[TrialRecord]:
        """Every trial, ordered by model, condition, instance and repetition.

        Raises:
            ExperimentError: the store is damaged.
        """
        try:
            rows = self._db.execute(
                "SELECT record FROM trials ORDER BY model, condition, instance_id, repetition, key"
            )
            for (record,) in rows:
                yield TrialRecord.model_validate_json(record)
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        except ValidationError as error:
            raise ExperimentError(
                f"{self._folder} is damaged: its run.db holds a record that cannot be read."
            ) from error

    def transcript(self, key: str) -> dict[str, Any] | None:
        """A trial's transcript, or None."""
        row = self._db.execute("SELECT transcript FROM trials WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] is None:
            return None
        content: dict[str, Any] = json.loads(zlib.decompress(row[0]))
        return content

    def _prepare(self) -> None:
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA_VERSION:
            return
        if version > SCHEMA_VERSION:
            raise ExperimentError(
                f"{self._folder} was written by a newer llm-modulo (store version {version})."
            )
        if not self._write:
            raise ExperimentError(f"{self._folder} is not a run folder: its run.db is empty.")
        self._db.executescript(
            f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
        )

    def _unusable(self, error: sqlite3.Error) -> EnvironmentFailure | ExperimentError:
        """What a refusal of SQLite means: the world's fault, or a file that is no store."""
        path = self._folder / "run.db"
        if isinstance(error, sqlite3.OperationalError):
            return EnvironmentFailure(f"Cannot open {path}: {error}.")
        return ExperimentError(f"{path} is damaged: {error}.")

    def _take_lock(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._folder / "run.lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            kind = EnvironmentFailure if error.errno in DISK_ERRORS else ExperimentError
            raise kind(f"Cannot write to {self._folder}: {error.strerror}.") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._release_lock()
            raise ExperimentError(
                f"Another process is writing to {self._folder}; wait for it, or stop it."
            ) from None

    def _release_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
