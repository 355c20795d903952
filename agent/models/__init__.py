"""Models: anything that speaks the OpenAI chat-completions protocol."""

from ._client import ChatClient
from ._completion import Completion, ToolCall, Usage
from ._settings import REFERENCE_PREFIX, ModelSettings

__all__ = [
    "REFERENCE_PREFIX",
    "ChatClient",
    "Completion",
    "ModelSettings",
    "ToolCall",
    "Usage",
]
