"""What every test shares: where the checkout and the test data are, and what runs without them."""

import os
from pathlib import Path

import hypothesis
import pytest

TEST_DATA = "LLM_MODULO_TEST_DATA"

# A slow machine is not a wrong result; and what CI runs must not depend on luck.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")

_without_data = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds pyproject.toml, core/, domains/ and so on."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of files to test against; for tests marked `data`."""
    return Path(os.environ[TEST_DATA])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests marked `data` where there is no data."""
    if os.environ.get(TEST_DATA):
        return
    deselected = [item for item in items if item.get_closest_marker("data")]
    config.stash[_without_data] = len(deselected)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = [item for item in items if not item.get_closest_marker("data")]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if count := config.stash.get(_without_data, 0):
        terminalreporter.write_line(f"Tests deselected because {TEST_DATA} is not set: {count}")
