"""Prints what pyproject.toml asks for, one requirement a line: requirements.py [EXTRA]...

With it the libraries can be installed without the project itself, so that a checkout whose wheel
does not build can still be linted and type-checked.
"""

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def requirements(extras: list[str]) -> list[str]:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    return project["dependencies"] + [line for extra in extras for line in optional[extra]]


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
