"""Every exception that llm-modulo raises on purpose.

    LlmModuloError                  exit code 4
    ├── UsageError                  2  the caller asked for something that cannot be
    │   ├── UnreadableFile          2  missing, not text, too large
    │   └── ExperimentError         2  an experiment file or run folder that cannot be used
    ├── NotPddl                     1  text that is no PDDL, where a model of it is needed
    ├── MalformedRecord             1  a line of instances or answers that breaks its format
    └── EnvironmentFailure          3  the world around us failed; never a verdict about a model
        ├── EndpointFailure         3  the model's endpoint is down, refuses or talks nonsense
        └── ToolServerFailure       3  the MCP server cannot be reached or broke off

Foreign exceptions are turned into one of these at the border where they enter.
`str(error)` is one sentence that can be shown to a user as it is.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "EndpointFailure",
    "EnvironmentFailure",
    "ExperimentError",
    "LlmModuloError",
    "MalformedRecord",
    "NotPddl",
    "ToolServerFailure",
    "UnreadableFile",
    "UsageError",
]


class LlmModuloError(Exception):
    """Root of the tree; `exit_code` is what the command line ends with."""

    exit_code: ClassVar[int] = 4


class UsageError(LlmModuloError):
    """An argument, option or name that cannot be used."""

    exit_code = 2


class UnreadableFile(UsageError):
    """A file that is missing, not text, or larger than the limit."""


class ExperimentError(UsageError):
    """An experiment file or a run folder that cannot be used as it is."""


class NotPddl(LlmModuloError):
    """Text with errors, where a model of the domain or problem is needed."""

    exit_code = 1


class MalformedRecord(LlmModuloError):
    """A line of a JSON-lines file that does not follow its format."""

    exit_code = 1


class EnvironmentFailure(LlmModuloError):
    """Something around us failed: network, disk, planner. Never a model's fault."""

    exit_code = 3


class EndpointFailure(EnvironmentFailure):
    """The model's endpoint failed.

    Attributes:
        kind: `unreachable`, `timeout`, `unauthorized`, `not_found`, `rate_limited`,
            `server_error`, `rejected` or `malformed`.
    """

    FATAL: ClassVar[frozenset[str]] = frozenset({"unauthorized", "not_found", "rejected"})

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def fatal(self) -> bool:
        """Whether asking again, with another instance, would fail in the same way."""
        return self.kind in self.FATAL


class ToolServerFailure(EnvironmentFailure):
    """The MCP server could not be started or reached, or broke off during a call."""
