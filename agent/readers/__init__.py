"""Readers: from what a model said to the plan that it means, or why there is none."""

from ._moves import Reading, read_answer

__all__ = ["Reading", "read_answer"]
