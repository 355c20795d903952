"""Experiments that come with the package: `preset:NAME` names `NAME.toml` here."""

from __future__ import annotations

from pathlib import Path

from llm_modulo.errors import UsageError

__all__ = ["preset_names", "preset_text"]


def preset_names() -> list[str]:
    """Names of the presets, sorted."""
    return sorted(p.stem for p in Path(__file__).parent.glob("*.toml") if p.stem != "template")


def preset_text(name: str) -> str:
    """The TOML text of a preset, or of the commented `template`.

    Raises:
        UsageError: there is none of this name.
    """
    path = Path(__file__).parent / f"{name}.toml"
    if name not in [*preset_names(), "template"]:
        raise UsageError(f"No preset {name!r}; there are: {', '.join(preset_names())}.")
    return path.read_text(encoding="utf-8")
