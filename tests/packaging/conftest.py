"""The installed package, and its parts by the name of their layer."""

from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

import llm_modulo


@pytest.fixture(scope="session")
def installed() -> Distribution:
    """What pip knows about the llm-modulo under test."""
    return distribution("llm-modulo")


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder of the installed package."""
    return Path(llm_modulo.__file__).parent
