"""The registry of report sections: each looks at a run and says something, or nothing.

Third parties add one by an entry point in the group `llm_modulo.report_sections` that
loads a function from `RunFolder` to `Section | None`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any

from llm_modulo.eval.comparison import compare_conditions
from llm_modulo.eval.folder import RunFolder
from llm_modulo.eval.metrics import all_metrics
from llm_modulo.eval.summary import summarise

from ._figures import accuracy_figure

__all__ = [
    "SECTIONS",
    "Section",
    "Table",
    "comparison_table",
    "score_tables",
    "sections_of",
]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: header cells and rows of cells, all text."""

    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of a report.

    Attributes:
        title: its heading.
        paragraphs: text before tables and figures.
        tables: shown in order.
        figures: SVG images with captions.
    """

    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[tuple[str, str]] = field(default_factory=list)


SectionFunction = Callable[[RunFolder], Section | None]


def overview(run: RunFolder) -> Section:
    """What was run, and how much of it there is."""
    experiment: dict[str, Any] = run.manifest.get("experiment", {})
    reference = sorted({r.model for r in run.records if r.reference})
    paragraphs = [
        f"{len(run.done)} of {run.planned} planned trials have a verdict;"
        f" {len(run.errored)} were broken by the environment and enter no score."
        f" {len(run.instances)} instances."
    ]
    if reference:
        paragraphs.append(
            f"{', '.join(reference)}: a reference model, that is a program of known competence,"
            " not a language model."
        )
    rows = [["experiment", str(experiment.get("name", ""))]]
    rows.append(["created", str(run.manifest.get("created", ""))])
    rows.append(["seed", str(experiment.get("seed", ""))])
    rows += [[name, version] for name, version in run.manifest.get("versions", {}).items()]
    return Section(
        title="What was run", paragraphs=paragraphs, tables=[Table(header=["", ""], rows=rows)]
    )


def results(run: RunFolder) -> Section | None:
    """Measures by model and condition with 95% intervals."""
    rows = summarise(run.done)["by_model_condition"]
    if not rows:
        return None
    return Section(
        title="Results",
        paragraphs=[
            "Value with 95% interval: Wilson's for shares, a percentile bootstrap over whole"
            " instances for means. A dash: undefined."
        ],
        tables=[table for _, table in score_tables(rows)],
    )


def score_tables(rows: list[dict[str, Any]]) -> list[tuple[str, Table]]:
    """For each model its name and a table: a row for each measure, a column a condition.

    Args:
        rows: `summarise(…)["by_model_condition"]`.
    """
    tables = []
    for model in dict.fromkeys(row["model"] for row in rows):
        own = [row for row in rows if row["model"] == model]
        name = _model_name(own[0])
        body = [["trials", *(str(row["n"]) for row in own)]]
        for metric in all_metrics():
            if all_metrics()[metric].in_tables and any(metric in row["metrics"] for row in own):
                cells = (format_estimate(row["metrics"].get(metric)) for row in own)
                body.append([all_metrics()[metric].label, *cells])
        header = [name, *(str(row["condition"]) for row in own)]
        tables.append((name, Table(header=header, rows=body)))
    return tables


def accuracy_by_difficulty(run: RunFolder) -> Section | None:
    """Accuracy against the benchmark's difficulty, one line a condition."""
    figures = accuracy_figure(run)
    if not figures:
        return None
    return Section(
        title="Accuracy by difficulty",
        paragraphs=[
            "Share of right plans at each difficulty, all rotations and repetitions together;"
            " bands are 95% Wilson intervals. Dashed: the closed form of the reference model"
            " miscounter, (1 − p)ⁿ with n the length of the right plan."
        ],
        figures=figures,
    )


def verdicts(run: RunFolder) -> Section | None:
    """Counts of verdicts."""
    rows = summarise(run.done)["by_model_condition"]
    if not rows:
        return None
    names = ["complete", "incomplete", "illegal", "unparsed", "gave_up"]
    return Section(
        title="Verdicts",
        paragraphs=["“gave up” is the part of “unparsed” that said there is no plan."],
        tables=[
            Table(
                header=["model", "condition", *(n.replace("_", " ") for n in names)],
                rows=[
                    [_model_name(r), r["condition"], *(str(r["verdicts"][n]) for n in names)]
                    for r in rows
                ],
            )
        ],
    )


def comparison(run: RunFolder) -> Section | None:
    """The first condition against each other one, on identical instances."""
    conditions = list(
        dict.fromkeys(c["label"] for c in run.manifest.get("experiment", {}).get("conditions", ()))
    ) or list(dict.fromkeys(r.condition for r in run.done))
    if len(conditions) < 2:
        return None
    tables = []
    for treatment in conditions[1:]:
        found = compare_conditions(run.done, baseline=conditions[0], treatment=treatment)
        tables += [comparison_table(m, conditions[0], treatment) for m in found["models"]]
    return Section(
        title="Comparison on identical instances",
        paragraphs=[
            "Difference: treatment − baseline over pairs of trials on the same instance, with a"
            " 95% bootstrap interval over whole instances."
        ],
        tables=tables,
    )


def environment(run: RunFolder) -> Section | None:
    """Trials that the environment broke."""
    if not run.errored:
        return None
    counts: dict[str, int] = {}
    for record in run.errored:
        counts[record.error or "unknown"] = counts.get(record.error or "unknown", 0) + 1
    return Section(
        title="Broken by the environment",
        paragraphs=["These trials enter no score; running the experiment again repeats them."],
        tables=[Table(header=["trials", "reason"], rows=[[str(n), e] for e, n in counts.items()])],
    )


SECTIONS: dict[str, SectionFunction] = {
    "overview": overview,
    "results": results,
    "accuracy_by_difficulty": accuracy_by_difficulty,
    "comparison": comparison,
    "verdicts": verdicts,
    "environment": environment,
}


@cache
def _third_party() -> dict[str, metadata.EntryPoint]:
    return {e.name: e for e in metadata.entry_points(group="llm_modulo.report_sections")}


def sections_of(run: RunFolder) -> list[Section]:
    """Every registered section that has something to say about a run."""
    functions = [*SECTIONS.values(), *(e.load() for _, e in sorted(_third_party().items()))]
    return [section for f in functions if (section := f(run)) is not None]


def comparison_table(model: dict[str, Any], baseline: str, treatment: str) -> Table:
    """One model's part of a comparison as a table, a row for each measure."""
    rows = []
    for name, found in model["metrics"].items():
        if all_metrics()[name].in_tables:
            difference = format_number(found["difference"], sign=True)
            low, high = (format_number(found[end], sign=True) for end in ("low", "high"))
            rows.append(
                [
                    all_metrics()[name].label,
                    format_number(found["baseline"]),
                    format_number(found["treatment"]),
                    f"{difference} [{low}, {high}]",
                ]
            )
    test = model["mcnemar"]
    rows.append(
        [
            "complete plans",
            f"lost {test['lost']}",
            f"gained {test['gained']}",
            f"exact McNemar p = {test['p_value']:.2g}",
        ]
    )
    return Table(header=[_model_name(model), baseline, treatment, "difference"], rows=rows)


def _model_name(row: dict[str, Any]) -> str:
    """How a table calls the model of a row; a program is never taken for a language model."""
    return f"{row['model']} (reference model)" if row["reference"] else str(row["model"])


def format_number(value: float, *, sign: bool = False) -> str:
    """Three decimals below 10, one below 100, none above."""
    decimals = 3 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:{'+' if sign else ''},.{decimals}f}"


def format_estimate(found: dict[str, Any] | None) -> str:
    """`0.734 [0.612, 0.829]`, or a dash for what is undefined."""
    if found is None or found["value"] is None:
        return "–"
    value, low, high = (format_number(found[key]) for key in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"
