"""What is imported is declared, pinned and explained."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, list[Requirement]]:
    """The requirements by extra; "" is what everyone needs."""
    table = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    return {name: [Requirement(line) for line in lines] for name, lines in groups.items()}


@pytest.fixture(scope="module")
def pins(checkout: Path) -> dict[str, str]:
    """The exact versions of constraints.txt by canonical name."""
    lines = (checkout / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def test_every_imported_library_is_declared(
    package: Path, project: dict[str, list[Requirement]]
) -> None:
    imported: dict[str, str] = {}
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0]: file.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported[node.module.split(".")[0]] = file.name
    for name in [*sys.stdlib_module_names, "llm_modulo"]:
        imported.pop(name, None)

    declared = {canonicalize_name(requirement.name) for requirement in project[""]}
    providers = packages_distributions()
    undeclared = {
        name: file
        for name, file in imported.items()
        # fastmcp's own wheel is empty: its modules come with fastmcp-slim, so the name counts too.
        if declared.isdisjoint(map(canonicalize_name, [name, *providers.get(name, [])]))
    }
    assert undeclared == {}


def test_every_requirement_has_both_bounds_and_a_tested_version(
    project: dict[str, list[Requirement]], pins: dict[str, str]
) -> None:
    for requirement in project[""]:
        assert {bound.operator for bound in requirement.specifier} == {">=", "<"}, requirement
    for requirement in [line for lines in project.values() for line in lines]:
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_constraints_are_exact_versions_and_name_no_address(checkout: Path) -> None:
    for line in (checkout / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert line.startswith("#") or re.fullmatch(r"[\w.-]+==[\w.]+", line), line


def test_every_requirement_is_explained(
    checkout: Path, project: dict[str, list[Requirement]]
) -> None:
    text = (checkout / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    assert explained == {line.name for lines in project.values() for line in lines}
