"""Text files that users name: what is read, what is refused, and writing whole or not at all."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo import errors
from llm_modulo.errors import LlmModuloError, MalformedRecord, UnreadableFile, UsageError
from llm_modulo.files import MAX_BYTES, read_json_lines, read_text, write_json_lines, write_text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a\r\nb\n", "a\r\nb\n"),  # line ends stay: positions count in what the user wrote
        ("ℓ − 2".encode(), "ℓ − 2"),
        (b"\xef\xbb\xbf(define", "(define"),  # a byte order mark is no text
    ],
)
def test_text_is_read_as_it_is(tmp_path: Path, data: bytes, text: str) -> None:
    (tmp_path / "file").write_bytes(data)
    assert read_text(tmp_path / "file") == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"text\0text", " is a binary file, not text."),
        (b"caf\xe9", " is not UTF-8 text (byte 3)."),
        (b"\xff\xfe(\x00", " is a binary file, not text."),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(UnreadableFile) as raised:
        read_text(file)
    assert str(raised.value) == f"{file}{reason}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "No such file or directory"),
        (".", "Is a directory"),
        ("file/child", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("nul\0", "embedded null byte"),
    ],
)
def test_what_cannot_be_opened_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnreadableFile) as raised:
        read_text(f"{tmp_path}/{name}")
    assert str(raised.value) == f"Cannot read {tmp_path}/{name}: {reason}."


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"(" * 11)
    assert len(read_text(file, max_bytes=11)) == 11
    with pytest.raises(UnreadableFile, match="is larger than 10 bytes"):
        read_text(file, max_bytes=10)


def test_an_endless_file_is_not_read_to_its_end() -> None:
    with pytest.raises(UnreadableFile, match=f"/dev/zero is larger than {MAX_BYTES:,} bytes"):
        read_text("/dev/zero")


def test_text_is_written_with_its_folders_and_replaces_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "file"
    for text in ("ℓ\r\n", "shorter"):
        write_text(file, text)
        assert file.read_bytes() == text.encode()
    assert [path.name for path in file.parent.iterdir()] == ["file"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder" / "child").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"Cannot write .*folder: Is a directory."):
        write_text(tmp_path / "folder", "text")
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UsageError, match=r"Cannot write .*: "):
        write_text(tmp_path / "file" / "child", "text")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["child", "file", "folder"]
    assert (tmp_path / "file").read_text() == "kept"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(), json_values, max_size=4), min_size=1, max_size=5))
def test_records_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "records.jsonl"
    write_json_lines(file, records)
    assert [record for _, record in read_json_lines(file)] == records


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", " is empty."),
        ("\n \n", " is empty."),
        ('{"a": 1}\n\n{"a": \n', ", line 3: not JSON ("),
        ('{"a": 1} {"b": 2}', ", line 1: not JSON ("),
        ('{"a": 1}\n[1]\n', ", line 2: expected a JSON object."),
        ("null", ", line 1: expected a JSON object."),
        ("[" * 100_000, ", line 1: not JSON ("),
    ],
    ids=["empty", "blank", "half", "two", "list", "null", "deep"],
)
def test_a_line_that_is_no_record_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text(text)
    with pytest.raises(MalformedRecord) as raised:
        list(read_json_lines(file))
    assert str(raised.value).startswith(f"{file}{complaint}")


def test_records_before_a_bad_one_are_still_read(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text('{"a": 1}\n\n{"b": 2}\nbad\n')
    reader = read_json_lines(file)
    assert [next(reader), next(reader)] == [(1, {"a": 1}), (3, {"b": 2})]


def test_the_tree_of_errors_is_the_one_that_its_docstring_draws() -> None:
    drawn = dict(re.findall(r"(\w+)\s+(?:exit code )?(\d)(?:\s|$)", errors.__doc__ or ""))
    classes = {name: getattr(errors, name) for name in errors.__all__}
    assert all(issubclass(cls, LlmModuloError) for cls in classes.values())
    assert {name: cls.exit_code for name, cls in classes.items()} == {
        name: int(code) for name, code in drawn.items()
    }
