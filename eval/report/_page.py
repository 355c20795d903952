"""The page: sections in a template, figures inline, nothing loaded from elsewhere."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

from llm_modulo.eval.folder import open_run
from llm_modulo.files import write_text

from ._sections import sections_of

__all__ = ["write_report"]


def write_report(folder: str | os.PathLike[str]) -> Path:
    """Write `report.html` into a run folder and return its path.

    Raises:
        ExperimentError: it is no run folder.
        UsageError: it cannot be written to.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    run = open_run(folder)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html.j2").render(
        title=str(run.manifest.get("name") or "run"),
        version=metadata.version("llm-modulo"),
        sections=sections_of(run),
    )
    path = Path(folder) / "report.html"
    write_text(path, page)
    return path
