"""Prompts: plain text files with `{{name}}` placeholders, replaceable by a user's own.

The files are this project's own wording. Whoever has a paper's wording puts files of the
same names into a folder and names it as `prompts` in the experiment.
"""

from ._templates import Prompts

__all__ = ["Prompts"]
