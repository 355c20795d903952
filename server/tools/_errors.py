"""Our errors, as the protocol's failed calls: one sentence, never a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from fastmcp.exceptions import ToolError

from llm_modulo.errors import LlmModuloError

__all__ = ["failed_calls"]


@contextmanager
def failed_calls() -> Iterator[None]:
    """Turn a `LlmModuloError` into a failed call with the same sentence.

    The client hears of it; on the server it is no event.
    """
    try:
        yield
    except LlmModuloError as error:
        raise ToolError(str(error), log_level=logging.DEBUG) from error
