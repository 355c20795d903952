"""The installed wheel holds what the checkout holds, and nothing else."""

import importlib.util
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

import pytest

FOLDERS = {
    "core": PurePosixPath("llm_modulo"),
    "domains": PurePosixPath("llm_modulo/domains"),
    "server": PurePosixPath("llm_modulo/server"),
    "agent": PurePosixPath("llm_modulo/agent"),
    "eval": PurePosixPath("llm_modulo/eval"),
}


@pytest.fixture(scope="module")
def wheel(installed: Distribution) -> set[PurePosixPath]:
    """The files that came with the wheel, but not the bytecode that pip adds."""
    files = {PurePosixPath(file) for file in installed.files or []}
    return {file for file in files if file.suffix != ".pyc"}


def test_every_file_of_the_five_folders_is_in_the_wheel(
    checkout: Path, wheel: set[PurePosixPath]
) -> None:
    on_disk = {
        target / path.relative_to(checkout / folder).as_posix()
        for folder, target in FOLDERS.items()
        for path in (checkout / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packaged = {file for file in wheel if file.parts[0] == "llm_modulo"}
    assert sorted(map(str, on_disk - packaged)) == [], (
        "absent from the wheel: add the folder to `packages`, or the file's kind to "
        "`package-data`, in pyproject.toml"
    )
    assert sorted(map(str, packaged - on_disk)) == [], "in the wheel, but not in the checkout"


def test_the_wheel_holds_one_package_its_metadata_and_one_script(
    wheel: set[PurePosixPath],
) -> None:
    scripts = {file for file in wheel if file.name == "llm-modulo"}
    assert len(scripts) == 1
    tops = {file.parts[0] for file in wheel - scripts}
    assert {top.split("-")[0] for top in tops} == {"llm_modulo"}
    assert len(tops) == 2
    assert any(file.name == "LICENSE" for file in wheel)


def test_the_suite_runs_against_the_wheel_and_not_the_checkout(
    checkout: Path, package: Path
) -> None:
    assert package.parent.name == "site-packages", "run the suite with make test or make pytest"
    for folder in FOLDERS:
        spec = importlib.util.find_spec(folder)
        origin = spec and spec.origin
        assert origin is None or not Path(origin).is_relative_to(checkout / folder), (
            f"a bare `import {folder}` finds a second copy of llm_modulo"
        )
