"""Figures as SVG text; the same run gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llm_modulo.domains import find_benchmark
from llm_modulo.eval.folder import RunFolder
from llm_modulo.eval.statistics import share_interval
from llm_modulo.eval.store import TrialRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["accuracy_figure", "accuracy_points"]

_COLOURS = ("#1b6ca8", "#d1495b", "#2e933c", "#8f5fbf", "#e08e1b", "#5c6670")


def accuracy_points(
    run: RunFolder, records: Sequence[TrialRecord]
) -> list[tuple[float, float, float, float, int]]:
    """`(difficulty, accuracy, low, high, trials)` of records, by rising difficulty."""
    groups: dict[float, list[float]] = {}
    for record in records:
        instance = run.instances[record.instance_id]
        value = record.metrics.get("accuracy")
        level = instance.parameters.get(find_benchmark(instance.benchmark).difficulty)
        if value is not None and isinstance(level, int | float):
            groups.setdefault(float(level), []).append(value)
    points = []
    for level, values in sorted(groups.items()):
        found = share_interval(int(sum(values)), len(values))
        if found.value is not None and found.low is not None and found.high is not None:
            points.append((level, found.value, found.low, found.high, found.n))
    return points


def accuracy_figure(run: RunFolder) -> list[tuple[str, str]]:
    """One figure for each model: accuracy against difficulty, a line for each condition."""
    figures = []
    for model in dict.fromkeys(r.model for r in run.done):
        own = [r for r in run.done if r.model == model]
        lines = {
            condition: points
            for condition in dict.fromkeys(r.condition for r in own)
            if (points := accuracy_points(run, [r for r in own if r.condition == condition]))
        }
        if lines:
            label = f"{model} (reference model)" if own[0].reference else model
            figures.append((_draw(lines, _closed_forms(run, model), _axis(run)), label))
    return figures


def _axis(run: RunFolder) -> str:
    benchmarks = {i.benchmark for i in run.instances.values()}
    names = sorted({find_benchmark(b).difficulty for b in benchmarks})
    return {"length": "corridor length ℓ (cells)"}.get(names[0], names[0])


def _closed_forms(run: RunFolder, model: str) -> dict[str, list[tuple[float, float]]]:
    """Expected accuracy of the miscounter in each condition, by difficulty."""
    experiment: Mapping[str, Any] = run.manifest.get("experiment", {})
    entry = next(
        (
            m
            for m in experiment.get("models", ())
            if m.get("label", m["name"]) == model and m["name"] == "reference/miscounter"
        ),
        None,
    )
    if entry is None:
        return {}
    forms = {}
    for condition in experiment.get("conditions", ()):
        parameter = "p_text" if condition["name"] == "innate" else "p_pddl"
        p = float(entry.get("parameters", {}).get(parameter, 0.0))
        lengths: dict[float, list[int]] = {}
        for instance in run.instances.values():
            level = instance.parameters[find_benchmark(instance.benchmark).difficulty]
            lengths.setdefault(float(level), []).append(instance.optimum)
        forms[condition["label"]] = [
            (level, sum((1 - p) ** n for n in ns) / len(ns))
            for level, ns in sorted(lengths.items())
        ]
    return forms


def _draw(
    lines: Mapping[str, Sequence[tuple[float, float, float, float, int]]],
    forms: Mapping[str, Sequence[tuple[float, float]]],
    axis: str,
) -> str:
    figure, axes = _figure()
    for colour, (condition, points) in zip(_COLOURS * 9, lines.items(), strict=False):
        levels = [p[0] for p in points]
        axes.fill_between(
            levels, [p[2] for p in points], [p[3] for p in points], color=colour, alpha=0.15, lw=0
        )
        # matplotlib leaves out of a legend what begins with an underscore.
        label = f" {condition}" if condition.startswith("_") else condition
        axes.plot(levels, [p[1] for p in points], "o-", color=colour, label=label, ms=4)
        if condition in forms:
            axes.plot(
                [x for x, _ in forms[condition]],
                [y for _, y in forms[condition]],
                "--",
                color=colour,
                lw=1,
            )
    axes.set_xlabel(axis)
    axes.set_ylabel("accuracy")
    axes.set_ylim(-0.03, 1.03)
    axes.grid(alpha=0.25)
    for text in axes.legend(frameon=False).get_texts():
        text.set_parse_math(False)  # a dollar sign in a name is a dollar sign
    return _svg(figure)


def _figure() -> tuple[Figure, Axes]:
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "llm-modulo"
    matplotlib.rcParams["svg.fonttype"] = "path"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # in a user's name
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
