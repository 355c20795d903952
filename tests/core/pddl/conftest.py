"""The tables of mistakes and planted faults, for tests that go through them again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _neighbour(name: str) -> ModuleType:
    """A test module of this folder, loaded under a name of its own."""
    key = f"_pddl_tables_{name}"
    if key not in sys.modules:
        spec = importlib.util.spec_from_file_location(key, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[key] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[key])
    return sys.modules[key]


@pytest.fixture(scope="session")
def mistakes() -> ModuleType:
    """The module `test_mistakes`."""
    return _neighbour("test_mistakes")


@pytest.fixture(scope="session")
def variants() -> ModuleType:
    """The module `variants`."""
    return _neighbour("variants")


@pytest.fixture(scope="session")
def injected_faults() -> ModuleType:
    """The module `test_injected_faults`."""
    return _neighbour("test_injected_faults")
