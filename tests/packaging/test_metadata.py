"""Version, licence and commands say the same everywhere."""

import re
import subprocess
import sys
import sysconfig
from importlib.metadata import Distribution
from pathlib import Path

import pytest

COMMAND = [str(Path(sysconfig.get_path("scripts")) / "llm-modulo")]
MODULE = [sys.executable, "-m", "llm_modulo"]


def test_the_citation_names_this_version_and_licence(
    checkout: Path, installed: Distribution
) -> None:
    citation = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    fields = dict(re.findall(r"^([a-z-]+): *(\S.*)$", citation, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0"
    assert fields["title"] == "llm-modulo"
    assert fields["version"] == installed.version
    assert fields["license"] == installed.metadata["License-Expression"] == "Apache-2.0"


def test_the_changelog_has_this_version(checkout: Path, installed: Distribution) -> None:
    assert installed.version in (checkout / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [COMMAND, MODULE], ids=["script", "module"])
def test_both_commands_say_their_version(command: list[str], installed: Distribution) -> None:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert installed.version in done.stdout
    assert done.stderr == ""
