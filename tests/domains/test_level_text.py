"""Levels as XSB text: what is read is what was written, and nonsense is refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_modulo.domains.sokoban import Level
from llm_modulo.errors import MalformedRecord


@st.composite
def maps(draw: st.DrawFn) -> list[str]:
    """Rows of any level that the reader must accept: one player, no more boxes than goals."""
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    cells = draw(
        st.lists(st.sampled_from("#$*.  "), min_size=rows * columns, max_size=rows * columns)
    )
    cells[draw(st.integers(0, len(cells) - 1))] = draw(st.sampled_from("@+"))
    while cells.count("$") > cells.count(".") + cells.count("+"):
        cells[cells.index("$")] = "*"
    return ["".join(cells[r * columns : (r + 1) * columns]) for r in range(rows)]


def walled(rows: list[str]) -> list[str]:
    wall = "#" * (len(rows[0]) + 2)
    return [wall, *(f"#{row}#" for row in rows), wall]


@given(maps())
def test_text_comes_back_without_trailing_spaces(rows: list[str]) -> None:
    assert Level.from_xsb(rows).to_xsb() == [row.rstrip() for row in rows]


@given(maps().map(walled))
def test_a_level_comes_back_as_it_was(rows: list[str]) -> None:
    level = Level.from_xsb(rows)
    assert Level.from_xsb(level.to_xsb()) == level


@given(maps())
def test_each_symbol_lands_in_its_sets(rows: list[str]) -> None:
    level = Level.from_xsb(rows)
    for r, row in enumerate(rows):
        for c, symbol in enumerate(row):
            assert ((r, c) in level.walls) == (symbol == "#")
            assert ((r, c) in level.boxes) == (symbol in "$*")
            assert ((r, c) in level.goals) == (symbol in ".*+")
            assert ((r, c) == level.player) == (symbol in "@+")
    assert (level.rows, level.columns) == (len(rows), len(rows[0]))
    assert level.solved == ("$" not in "".join(rows))


def test_line_ends_do_not_count() -> None:
    level = Level.from_xsb(["####", "#@ #", "####"])
    assert Level.from_xsb(["####\r\n", "#@ #\n", "####"]) == level


def test_rows_may_differ_in_length() -> None:
    level = Level.from_xsb(["####", "#@ ##", "######"])
    assert level.columns == 6
    assert level.is_free((1, 2))
    assert level.is_free((0, 5))
    assert not level.is_free((0, 6))


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "1 to 40,000 cells"),
        (["", ""], "1 to 40,000 cells"),
        (["#" * 40_001], "1 to 40,000 cells"),
        (["###", "# #", "###"], "exactly one player, this one has 0"),
        (["#@@#"], "exactly one player, this one has 2"),
        (["#@+.#"], "exactly one player, this one has 2"),
        (["#@$$.#"], "2 boxes but only 1 goals"),
        (["#@#", "#x#"], "unknown symbol 'x' in row 1, column 1"),
        (["#@\t#"], "unknown symbol"),
        (["#@#\n#.#"], "unknown symbol"),
        (["#@\N{NO-BREAK SPACE}#"], "unknown symbol"),
        (["#＠#"], "unknown symbol"),
    ],
)
def test_a_malformed_map_is_refused(rows: list[str], says: str) -> None:
    with pytest.raises(MalformedRecord, match=says):
        Level.from_xsb(rows)


@pytest.mark.data
def test_microban_comes_back_as_it_was(test_data: Path) -> None:
    levels = [[]]
    for line in (test_data / "microban.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith(";") and set(line) <= set("#@+$*. "):
            levels[-1].append(line)
        elif levels[-1]:
            levels.append([])
    levels = [rows for rows in levels if rows]
    assert len(levels) == 155
    for rows in levels:
        level = Level.from_xsb(rows)
        assert level.to_xsb() == [row.rstrip() for row in rows]
        assert Level.from_xsb(level.to_xsb()) == level
