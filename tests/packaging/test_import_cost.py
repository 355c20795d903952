"""Importing the package and showing the help load no heavy library."""

import json
import subprocess
import sys

HEAVY = {
    "fastmcp",
    "mcp",
    "matplotlib",
    "numpy",
    "openai",
    "pddl",
    "scipy",
    "unified_planning",
    "uvicorn",
}


def loaded_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running `code`."""
    report = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import llm_modulo") & HEAVY == set()


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    assert loaded_after("import llm_modulo.cli") & HEAVY == set()


def test_showing_the_help_loads_nothing_heavy() -> None:
    code = """
import contextlib
import llm_modulo.cli
import sys
sys.argv = ["llm-modulo", "--help"]
with contextlib.suppress(SystemExit):
    llm_modulo.cli.main()
"""
    assert loaded_after(code) & HEAVY == set()
