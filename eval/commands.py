"""Commands on experiments: demo, init, run, status, score, rescore, report, compare."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from llm_modulo.console import Output, OutputOption
from llm_modulo.errors import UsageError

if TYPE_CHECKING:
    from .experiment import Experiment
    from .folder import RunFolder
    from .runner import RunSummary

__all__ = [
    "compare",
    "init",
    "report",
    "rescore",
    "run_and_report",
    "run_demo",
    "score",
    "status",
]

Flag = Annotated[bool, Parameter(negative="")]


def init(file: str = "experiment.toml", /, *, output: OutputOption = Output()) -> int:
    """Write a commented experiment file to start from.

    Parameters
    ----------
    file: str
        Where to write it; an existing file is not overwritten.
    """
    from llm_modulo.eval.presets import preset_text
    from llm_modulo.files import write_text

    if Path(file).exists():
        raise UsageError(f"{file} exists already.")
    write_text(file, preset_text("template"))
    output.emit({"file": file}, f"{file} written; run it by: llm-modulo run {file} --out my-run")
    return 0


def run_demo(
    *,
    model: str | None,
    base_url: str | None,
    out: str | None,
    output: Output,
    server: Callable[[], Any],
) -> int:
    """The preset `demo`, on its reference model or on a model of the caller's."""
    from llm_modulo.agent.models import ModelSettings
    from llm_modulo.eval.experiment import load_experiment

    experiment = load_experiment("preset:demo")
    folder = "demo-run"
    if model is not None:
        settings = ModelSettings(name=model, base_url=base_url)
        experiment = experiment.model_copy(update={"models": [settings]})
        folder = f"demo-run-{''.join(c if c.isalnum() else '-' for c in model)}"
    elif base_url is not None:
        raise UsageError("--base-url needs --model.")
    else:
        output.remark(
            "The demo's model is reference/miscounter: a program that loses cells with a known"
            " probability, not a language model. --model NAME runs the demo on a real one."
        )
    return run_and_report(experiment, out or folder, output=output, server=server)


def run_and_report(
    experiment: Experiment, out: str, *, output: Output, server: Callable[[], Any]
) -> int:
    """Run or resume an experiment, print its tables, write `report.html`."""
    from llm_modulo.eval.folder import open_run
    from llm_modulo.eval.report import write_report
    from llm_modulo.eval.runner import run as run_experiment
    from llm_modulo.eval.summary import summarise

    with _Progress(output) as progress:
        summary = run_experiment(experiment, out, progress=progress, server=server)
    if summary.before:
        output.remark(f"{summary.before} of {summary.planned} trials were done before.")
    if summary.errored:
        output.remark(
            f"{summary.errored} trials were broken by the environment and enter no score;"
            f" the same command repeats them. Last: {summary.last_error}"
        )
    if summary.stopped:
        print(f"The run was stopped: {summary.stopped}", file=sys.stderr)
    document = {
        "planned": summary.planned,
        "done": summary.done,
        "errored": summary.errored,
        "stopped": summary.stopped,
        "folder": str(out),
    }
    if summary.done:
        path = write_report(out)
        run = open_run(out)
        document |= {**summarise(run.done), "report": str(path)}
        if not output.json:
            _print_run(run)
            print(f"Report: {path}")
    output.emit(document, "")
    return 0 if summary.complete else 3


def print_plan(experiment: Experiment, *, output: Output) -> int:
    """Say what would run, without asking anybody."""
    trials = list(experiment.trials(experiment.instances.load()))
    models = [m.shown_as for m in experiment.models]
    conditions = [c.shown_as for c in experiment.conditions]
    document = {
        "trials": len(trials),
        "instances": len({t.instance.id for t in trials}),
        "models": models,
        "conditions": conditions,
        "repetitions": experiment.repetitions,
    }
    text = (
        f"{len(trials)} trials: {document['instances']} instances × {len(models)} models"
        f" ({', '.join(models)}) × {len(conditions)} conditions ({', '.join(conditions)})"
        f" × {experiment.repetitions} repetitions"
    )
    output.emit(document, text)
    return 0


def status(folder: str, /, *, output: OutputOption = Output()) -> int:
    """Say how far a run is; works while it is running.

    Parameters
    ----------
    folder: str
        The run folder.
    """
    from llm_modulo.eval.folder import open_run

    run = open_run(folder)
    document = {
        "name": run.manifest.get("name"),
        "planned": run.planned,
        "done": len(run.done),
        "errored": len(run.errored),
    }
    output.emit(
        document,
        f"{document['name']}: {len(run.done)} of {run.planned} trials done,"
        f" {len(run.errored)} errored",
    )
    return 3 if run.errored else 0


def score(
    *,
    instances: str,
    answers: str,
    out: str | None = None,
    trials: Flag = False,
    output: OutputOption = Output(),
) -> int:
    """Score answers made anywhere: verdicts and measures with intervals.

    Parameters
    ----------
    instances: str
        File of instances.
    answers: str
        File of answers, a line each: {"instance_id", "model", "condition", "repetition", "text"}.
    out: str
        Also make a run folder there, so that report and compare work on it.
    trials: bool
        List each trial in the JSON document.
    """
    from llm_modulo.eval.summary import score as score_files

    result = score_files(instances, answers, out=out, trials=trials)
    if not output.json:
        _print_scores(result["by_model_condition"])
    output.emit(result, "")
    return 0


def rescore(folder: str, /, *, output: OutputOption = Output()) -> int:
    """Score a run's stored transcripts again; nobody is asked anything.

    Parameters
    ----------
    folder: str
        The run folder.
    """
    from llm_modulo.eval.rescoring import rescore as rescore_folder

    scored, changed = rescore_folder(folder)
    output.emit(
        {"scored": scored, "changed": changed},
        f"{scored} trials scored again, {changed} got another verdict",
    )
    return 0


def report(folder: str, /, *, output: OutputOption = Output()) -> int:
    """Write report.html into a run folder.

    Parameters
    ----------
    folder: str
        The run folder.
    """
    from llm_modulo.eval.report import write_report

    path = write_report(folder)
    output.emit({"report": str(path)}, str(path))
    return 0


def compare(
    folder: str, /, *, baseline: str, treatment: str, output: OutputOption = Output()
) -> int:
    """Compare two conditions of a run on the instances that both have.

    Parameters
    ----------
    folder: str
        The run folder.
    baseline: str
        Condition to compare with.
    treatment: str
        Condition whose effect is asked for.
    """
    from llm_modulo.eval.comparison import compare as compare_folder

    found = compare_folder(folder, baseline=baseline, treatment=treatment)
    if not output.json:
        _print_comparison(found)
    output.emit(found, "")
    return 0


def _print_run(run: RunFolder) -> None:
    from llm_modulo.eval.comparison import compare_conditions
    from llm_modulo.eval.summary import summarise

    rows = summarise(run.done)["by_model_condition"]
    _print_scores(rows)
    conditions = list(dict.fromkeys(row["condition"] for row in rows))
    for treatment in conditions[1:]:
        _print_comparison(compare_conditions(run.done, baseline=conditions[0], treatment=treatment))


def _print_scores(rows: list[dict[str, Any]]) -> None:
    from llm_modulo.eval.report import score_tables

    for name, table in score_tables(rows):
        _print_table(f"{name}, with 95% intervals", ["measure", *table.header[1:]], table.rows)


def _print_comparison(found: dict[str, Any]) -> None:
    from llm_modulo.eval.report import comparison_table

    baseline, treatment = found["baseline"], found["treatment"]
    for model in found["models"]:
        table = comparison_table(model, baseline, treatment)
        title = f"{model['model']}: {treatment} − {baseline} over {model['pairs']} pairs"
        _print_table(title, ["measure", *table.header[1:]], table.rows)


def _print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for cell in header:
        table.add_column(cell, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    console.print(table)


class _Progress:
    """A bar with the remaining time on stderr, where that is a terminal."""

    def __init__(self, output: Output) -> None:
        self._shown = output.shows_progress
        self._bar: Any = None

    def __enter__(self) -> Callable[[RunSummary], None] | None:
        if not self._shown:
            return None
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("trials"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("remaining"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[errored]}"),
            console=Console(stderr=True),
        )
        self._bar.start()
        task = self._bar.add_task("trials", total=None, errored="")

        def update(summary: RunSummary) -> None:
            errored = f"{summary.errored} errored" if summary.errored else ""
            self._bar.update(task, total=summary.planned, completed=summary.done, errored=errored)

        return update

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
