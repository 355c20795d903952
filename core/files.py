"""Reading and writing the text files that users name.

Every reader here refuses, in one sentence, what cannot be meant: a missing file, a
folder, bytes that are not UTF-8 text, and files over `MAX_BYTES`.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from llm_modulo.errors import EnvironmentFailure, MalformedRecord, UnreadableFile, UsageError

__all__ = [
    "DISK_ERRORS",
    "MAX_BYTES",
    "read_json_lines",
    "read_text",
    "write_json_lines",
    "write_text",
]

DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Error numbers of a disk that is full or broken: nobody named a wrong file."""

MAX_BYTES = 10_000_000
"""Largest text file that is read, in bytes; a 3,000-cell corridor takes 0.4 MB."""


def read_text(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> str:
    """Return a file's text; `-` is standard input.

    Raises:
        UnreadableFile: missing, a folder, no permission, not UTF-8, or over `max_bytes`.
    """
    name = "standard input" if str(path) == "-" else str(path)
    try:
        with open(0 if str(path) == "-" else path, "rb", closefd=str(path) != "-") as file:
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFile(f"Cannot read {name}: {reason}.") from error
    if len(data) > max_bytes:
        raise UnreadableFile(f"{name} is larger than {max_bytes:,} bytes.")
    if b"\0" in data:
        raise UnreadableFile(f"{name} is a binary file, not text.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{name} is not UTF-8 text (byte {error.start}).") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file whole or not at all: a temporary neighbour, then a rename.

    Raises:
        UsageError: the folder cannot be made or written to.
        EnvironmentFailure: the disk is full, or broken.
    """
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        kind = EnvironmentFailure if error.errno in DISK_ERRORS else UsageError
        raise kind(f"Cannot write {target}: {error.strerror or error}.") from error


def read_json_lines(
    path: str | os.PathLike[str], *, max_bytes: int = 1_000_000_000
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield `(line number, object)` for each line that is not blank; lines count from 1.

    Half a surrogate pair, which JSON can escape and no file can hold, becomes `?`.

    Raises:
        UnreadableFile: as `read_text`.
        MalformedRecord: a line that is not one JSON object, or no line at all.
    """
    text = read_text(path, max_bytes=max_bytes)
    empty = True
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise MalformedRecord(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(record, dict):
            raise MalformedRecord(f"{path}, line {number}: expected a JSON object.")
        empty = False
        yield number, _whole_characters(record) if "\\u" in line else record
    if empty:
        raise MalformedRecord(f"{path} is empty.")


def _whole_characters(record: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(record, ensure_ascii=False).encode(errors="replace")
    whole: dict[str, Any] = json.loads(text)
    return whole


def write_json_lines(path: str | os.PathLike[str], records: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object a line, keys in the given order."""
    write_text(path, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))
