"""How commands speak: one document on stdout, everything else on stderr.

With `--json` stdout holds one JSON document and nothing else; `--quiet` silences stderr
except for errors.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

__all__ = ["FileOrInput", "Output", "OutputOption"]


@dataclass(frozen=True)
class Output:
    """Options of every command.

    Parameters
    ----------
    json: bool
        Print one JSON document on stdout and nothing else.
    quiet: bool
        No progress and no remarks on stderr.
    """

    json: Annotated[bool, Parameter(negative="")] = False
    quiet: Annotated[bool, Parameter(negative="")] = False

    def emit(self, document: Any, text: str) -> None:
        """Print the result: the document as JSON, or the text for people."""
        if self.json:
            print(json.dumps(document, indent=1, ensure_ascii=False))
        elif text:
            print(text)

    def remark(self, text: str) -> None:
        """Print a remark on stderr, if there is one."""
        if text and not self.quiet:
            print(text, file=sys.stderr)

    @property
    def shows_progress(self) -> bool:
        """Whether a progress bar makes sense."""
        return not self.quiet and sys.stderr.isatty()


OutputOption = Annotated[Output, Parameter(name="*")]

FileOrInput = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""The name of a file, where `-` is standard input."""
