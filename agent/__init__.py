"""Models, and the ways to ask them: conditions, the bounded loop, readers of answers."""

from .conditions import CONDITIONS, Condition, condition_names, find_condition
from .loop import Conversation, StopReason, ToolBudget, ask, converse
from .models import ChatClient, Completion, ModelSettings
from .prompts import Prompts
from .readers import Reading, read_answer
from .toolbox import ToolBox, ToolOutcome

__all__ = [
    "CONDITIONS",
    "ChatClient",
    "Completion",
    "Condition",
    "Conversation",
    "ModelSettings",
    "Prompts",
    "Reading",
    "StopReason",
    "ToolBox",
    "ToolBudget",
    "ToolOutcome",
    "ask",
    "condition_names",
    "converse",
    "find_condition",
    "read_answer",
]
