"""`report.html`: one self-contained page, built from a registry of sections."""

from ._figures import accuracy_figure, accuracy_points
from ._page import write_report
from ._sections import (
    SECTIONS,
    Section,
    Table,
    comparison_table,
    score_tables,
    sections_of,
)

__all__ = [
    "SECTIONS",
    "Section",
    "Table",
    "accuracy_figure",
    "accuracy_points",
    "comparison_table",
    "score_tables",
    "sections_of",
    "write_report",
]
