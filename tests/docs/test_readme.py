"""What README.md shows is what the commands print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


def _commands() -> list[tuple[str, str]]:
    """Each command of the console blocks with the output shown below it."""
    found = []
    for block in _blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def _comparable(text: str) -> list[str]:
    """Lines without what differs from run to run: seconds, and layout."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"\d+\.\d+ s\b", "T s", " ".join(line.split()))
        line = re.sub(r"^seconds .*", "seconds", line)
        if line.strip("─ "):
            lines.append(line.strip())
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name, as in a checkout."""
    made = tmp_path_factory.mktemp("checkout")
    for name in ("docs", "domains"):
        shutil.copytree(ROOT / name, made / name)
    return made


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


def test_every_console_example_prints_what_it_shows(folder: Path) -> None:
    commands = _commands()
    assert len(commands) >= 10
    for command, shown in commands:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=_environment(), capture_output=True, text=True
        )
        # `make test-external` installs engines, which `planners` then lists too.
        printed = re.sub(r"^up:.*\n", "", done.stdout, flags=re.M)
        assert _comparable(printed) == _comparable(shown), f"{command}\n{done.stderr}"


def test_every_python_example_prints_what_it_shows(folder: Path) -> None:
    programs, outputs = _blocks("python"), _blocks("text")
    assert len(programs) == len(outputs) == 2
    for program, shown in zip(programs, outputs, strict=True):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env=_environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert _comparable(done.stdout) == _comparable(shown)


def test_every_link_to_a_file_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
