"""A run folder: `run.db`, `manifest.json`, `instances.jsonl`, and what is made from them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from llm_modulo.domains import Instance, read_instances, write_instances
from llm_modulo.errors import ExperimentError, MalformedRecord
from llm_modulo.files import read_text, write_text

from .store import TrialRecord, TrialStore

__all__ = ["RunFolder", "now", "open_run", "prepare_folder", "versions"]

_OWN_KEYS = ("limits", "tools")
_OWN_MODEL_KEYS = ("base_url", "api_key_env")
"""Parts of an experiment that change no trial, so a run may go on with others."""


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """What a run folder holds.

    Attributes:
        instances: by id, in the run's order.
        records: every stored trial.
        planned: how many trials the experiment plans.
    """

    path: Path
    manifest: Mapping[str, Any]
    instances: Mapping[str, Instance]
    records: Sequence[TrialRecord]
    planned: int

    @property
    def done(self) -> list[TrialRecord]:
        """Trials with a verdict."""
        return [r for r in self.records if r.status == "done"]

    @property
    def errored(self) -> list[TrialRecord]:
        """Trials that the environment broke; they enter no score."""
        return [r for r in self.records if r.status == "errored"]


def versions() -> dict[str, str]:
    """Versions of what a result may depend on."""
    names = ("llm-modulo", "fast-downward.translate", "up-fast-downward", "fastmcp", "openai")
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def now() -> str:
    """The time in UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def prepare_folder(
    folder: Path, experiment: Mapping[str, Any], instances: Sequence[Instance], planned: int
) -> dict[str, Any]:
    """Write manifest and instances into a new folder, or check them in one that goes on.

    Raises:
        ExperimentError: the folder belongs to another experiment.
    """
    text = "".join(json.dumps(i.to_json(), ensure_ascii=False) + "\n" for i in instances)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = folder / "manifest.json"
    if path.exists():
        manifest = _read_manifest(path)
        same = _identity(manifest.get("experiment", {})) == _identity(experiment)
        if not same or manifest.get("instances_sha256") != digest:
            raise ExperimentError(
                f"{folder} holds another experiment ({manifest.get('name', 'unnamed')});"
                " choose another --out."
            )
        return manifest
    manifest = {
        "name": experiment.get("name"),
        "created": now(),
        "experiment": dict(experiment),
        "planned": planned,
        "instances_sha256": digest,
        "versions": versions(),
    }
    write_instances(folder / "instances.jsonl", instances)
    write_manifest(folder, manifest)
    return manifest


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write `manifest.json`."""
    write_text(folder / "manifest.json", json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")


def open_run(folder: str | os.PathLike[str]) -> RunFolder:
    """Read a run folder, also while a run is writing to it.

    Raises:
        ExperimentError: it is none.
    """
    path = Path(folder)
    if not (path / "run.db").exists() or not (path / "manifest.json").exists():
        raise ExperimentError(f"{folder} is not a run folder.")
    manifest = _read_manifest(path / "manifest.json")
    try:
        instances = {i.id: i for i in read_instances(path / "instances.jsonl")}
    except MalformedRecord as error:
        raise ExperimentError(f"{folder} is damaged: {error}") from error
    with TrialStore(path) as store:
        records = list(store.records())
    return RunFolder(
        path=path,
        manifest=manifest,
        instances=instances,
        records=records,
        planned=int(manifest.get("planned", len(records))),
    )


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"{path} is not JSON: {error}.") from error
    if not isinstance(manifest, dict):
        raise ExperimentError(f"{path} is not a JSON object.")
    return manifest


def _identity(experiment: Mapping[str, Any]) -> dict[str, Any]:
    identity = {k: v for k, v in experiment.items() if k not in _OWN_KEYS}
    identity["models"] = [
        {k: v for k, v in model.items() if k not in _OWN_MODEL_KEYS}
        for model in experiment.get("models", ())
    ]
    return identity
