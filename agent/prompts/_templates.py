"""Find prompt files, fill them, and say which text was used."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from llm_modulo.errors import UsageError
from llm_modulo.files import read_text

__all__ = ["Prompts"]

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


class Prompts:
    """Prompt templates of the package, or of a folder that overrides some of them."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Raises `UsageError` if the folder does not exist."""
        self._folder = None if folder is None else Path(folder)
        if self._folder is not None and not self._folder.is_dir():
            raise UsageError(f"There is no folder {self._folder} with prompts.")
        self._used: dict[str, str] = {}

    def fill(self, name: str, **values: str) -> str:
        """Return the text of `NAME.txt` with its placeholders filled.

        Raises:
            UsageError: there is no such template, or it has a placeholder without value.
        """
        template = self._read(name)

        def value(match: re.Match[str]) -> str:
            if match[1] not in values:
                raise UsageError(f"Prompt {name!r} has an unknown placeholder {match[0]}.")
            return values[match[1]]

        return _PLACEHOLDER.sub(value, template).strip("\n")

    def exists(self, name: str) -> bool:
        """Whether there is a template of this name."""
        return any(path.is_file() for path in self._candidates(name))

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each template used so far, by name."""
        return {
            name: hashlib.sha256(text.encode()).hexdigest()
            for name, text in sorted(self._used.items())
        }

    def _candidates(self, name: str) -> list[Path]:
        folders = [Path(__file__).parent]
        if self._folder is not None:
            folders.insert(0, self._folder)
        return [folder / f"{name}.txt" for folder in folders]

    def _read(self, name: str) -> str:
        if name not in self._used:
            path = next((p for p in self._candidates(name) if p.is_file()), None)
            if path is None:
                raise UsageError(f"There is no prompt {name!r}.")
            self._used[name] = read_text(path)
        return self._used[name]
