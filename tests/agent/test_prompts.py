"""Prompt templates: found, filled, replaced by a user's own, and hashed."""

import hashlib
from pathlib import Path

import pytest

import llm_modulo.agent.prompts
from llm_modulo.agent import Prompts
from llm_modulo.errors import UnreadableFile, UsageError

PACKAGED = Path(llm_modulo.agent.prompts.__file__).parent


def test_placeholders_are_filled_and_outer_line_breaks_cut(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("\nMap of {{size}}:\n{{map}}\n{{map}} {x} {{ size }}\n\n")
    filled = Prompts(tmp_path).fill("own", map="#@#", size="3", unused="?")
    assert filled == "Map of 3:\n#@#\n#@# {x} {{ size }}"


def test_a_value_is_never_read_as_a_template(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("{{a}} {{b}}")
    assert Prompts(tmp_path).fill("own", a="{{b}} \\1", b="B") == "{{b}} \\1 B"


def test_a_placeholder_without_a_value_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("{{problem}} and {{hint}}")
    with pytest.raises(UsageError, match=r"Prompt 'own' has an unknown placeholder \{\{hint\}\}\."):
        Prompts(tmp_path).fill("own", problem="p")


def test_a_folder_overrides_some_templates_and_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "sokobench-answer.txt").write_text("Answer in LURD.")
    own, packaged = Prompts(tmp_path), Prompts()
    assert own.fill("sokobench-answer") == "Answer in LURD."
    assert packaged.fill("sokobench-answer") != "Answer in LURD."
    assert own.fill("sokobench-rules") == packaged.fill("sokobench-rules")


def test_a_template_that_is_nowhere_is_named(tmp_path: Path) -> None:
    prompts = Prompts(tmp_path)
    assert prompts.exists("sokobench-rules")
    assert not prompts.exists("chess-rules")
    with pytest.raises(UsageError, match=r"There is no prompt 'chess-rules'\."):
        prompts.fill("chess-rules")


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no folder .*/nowhere with prompts"):
        Prompts(tmp_path / "nowhere")


def test_a_template_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_bytes(b"\xff\x00")
    with pytest.raises(UnreadableFile, match=r"own\.txt"):
        Prompts(tmp_path).fill("own")


def test_the_hashes_are_those_of_the_templates_that_were_used(tmp_path: Path) -> None:
    text = "Find a plan:\n{{problem}}\n"
    (tmp_path / "sokobench-task.txt").write_text(text)
    prompts = Prompts(tmp_path)
    assert prompts.hashes() == {}
    prompts.fill("sokobench-task", problem="#@#")
    prompts.fill("sokobench-task", problem="#+#")
    prompts.fill("sokobench-rules")
    rules = (PACKAGED / "sokobench-rules.txt").read_bytes()
    assert prompts.hashes() == {
        "sokobench-rules": hashlib.sha256(rules).hexdigest(),
        "sokobench-task": hashlib.sha256(text.encode()).hexdigest(),
    }


def test_a_template_stays_what_it_was_when_it_was_first_used(tmp_path: Path) -> None:
    """Else two trials of a run could differ, and the hash would name one of them."""
    (tmp_path / "own.txt").write_text("before")
    prompts = Prompts(tmp_path)
    assert prompts.fill("own") == "before"
    (tmp_path / "own.txt").write_text("after")
    assert prompts.fill("own") == "before"
    assert prompts.hashes()["own"] == hashlib.sha256(b"before").hexdigest()
