"""The experiment file: what to ask whom, how, how often, within which limits.

TOML, checked with pydantic; a key that does not exist is named together with the nearest
one that does. `Experiment.trials` is the plan: every trial with its key.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from llm_modulo.agent.conditions import ConditionSettings, find_condition
from llm_modulo.agent.models import ModelSettings
from llm_modulo.domains import Instance, find_benchmark, read_instances
from llm_modulo.errors import ExperimentError, UsageError
from llm_modulo.eval.presets import preset_text
from llm_modulo.files import read_text

__all__ = [
    "ConditionEntry",
    "Experiment",
    "InstancesEntry",
    "Limits",
    "ToolServer",
    "Trial",
    "load_experiment",
    "parse_experiment",
    "trial_key",
]

_PRESET = "preset:"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class InstancesEntry(_Entry):
    """Where instances come from: a benchmark's generator with options, or a file."""

    benchmark: str | None = None
    file: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    def load(self, folder: str = ".") -> list[Instance]:
        """Generate or read the instances; `file` is relative to `folder`."""
        if (self.benchmark is None) == (self.file is None):
            raise ExperimentError("[instances] needs either `benchmark` or `file`.")
        if self.file is not None:
            return read_instances(os.path.join(folder, self.file))
        assert self.benchmark is not None
        return find_benchmark(self.benchmark).generate(self.options)


class ConditionEntry(BaseModel):
    """A condition by name; every further key is one of its settings."""

    model_config = ConfigDict(extra="allow")

    name: str
    label: str | None = None

    @property
    def shown_as(self) -> str:
        """The name in tables and records."""
        return self.label or self.name

    def settings(self) -> ConditionSettings:
        """The condition's settings, checked and complete."""
        return find_condition(self.name).Settings.model_validate(self.model_extra or {})


class Limits(_Entry):
    """How much at once, and how long to wait.

    `concurrent_trials`: conversations at once; `planners`: planners at once (the number of
    processors if absent); `request_timeout`: seconds for one request to a model;
    `retries`: repeats of a failed request; `give_up_after`: failures of the environment in
    a row that stop the run.
    """

    concurrent_trials: int = Field(default=8, ge=1)
    planners: int | None = Field(default=None, ge=1)
    request_timeout: float = Field(default=600.0, gt=0)
    retries: int = Field(default=4, ge=0)
    give_up_after: int = Field(default=10, ge=1)


class ToolServer(_Entry):
    """How the loop reaches the tools: our own server over stdio or in memory, or a URL."""

    transport: Literal["stdio", "memory", "http"] = "stdio"
    url: str | None = None

    @model_validator(mode="after")
    def _needs_an_address(self) -> Self:
        if self.transport == "http" and not self.url:
            raise ValueError("transport http needs `url`")
        return self


class Experiment(_Entry):
    """One experiment."""

    name: str = "experiment"
    seed: int = 0
    repetitions: int = Field(default=1, ge=1)
    instances: InstancesEntry
    models: list[ModelSettings] = Field(min_length=1)
    conditions: list[ConditionEntry] = Field(min_length=1)
    prompts: str | None = Field(default=None, description="folder that overrides prompts")
    limits: Limits = Field(default_factory=Limits)
    tools: ToolServer = Field(default_factory=ToolServer)

    def resolved(self) -> dict[str, Any]:
        """The experiment with every default written out, as JSON."""
        resolved = self.model_dump(mode="json", exclude_none=True)
        resolved["conditions"] = [
            {"name": c.name, "label": c.shown_as, **c.settings().model_dump(mode="json")}
            for c in self.conditions
        ]
        return resolved

    def trials(self, instances: Sequence[Instance]) -> Iterator[Trial]:
        """Every planned trial, repetitions outermost, so that a part of a run is balanced."""
        settings = [c.settings().model_dump(mode="json") for c in self.conditions]
        for repetition in range(self.repetitions):
            for instance in instances:
                for model in self.models:
                    for entry, resolved in zip(self.conditions, settings, strict=True):
                        key = trial_key(
                            instance.id,
                            {"name": entry.name, **resolved},
                            model.identity(),
                            repetition,
                        )
                        yield Trial(
                            key=key,
                            instance=instance,
                            model=model,
                            condition=entry,
                            repetition=repetition,
                            seed=_trial_seed(self.seed, key),
                        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One planned trial; its key is the same wherever and whenever it is planned."""

    key: str
    instance: Instance
    model: ModelSettings
    condition: ConditionEntry
    repetition: int
    seed: int


def trial_key(
    instance_id: str,
    condition: Mapping[str, Any],
    model: Mapping[str, Any],
    repetition: int,
) -> str:
    """SHA-256 over instance id, condition with settings, model with sampling, repetition."""
    content = json.dumps([instance_id, condition, model, repetition], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _trial_seed(seed: int, key: str) -> int:
    digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def load_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment file; `preset:NAME` names one that comes with the package.

    Raises:
        ExperimentError: not TOML, a wrong key or value, a name that nobody registered.
        UnreadableFile: the file cannot be read.
    """
    name = os.fspath(path)
    if name.startswith(_PRESET):
        return parse_experiment(preset_text(name.removeprefix(_PRESET)), name)
    return parse_experiment(read_text(path), name)


def parse_experiment(text: str, origin: str = "the experiment") -> Experiment:
    """Read an experiment from TOML text; errors as in `load_experiment`."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ExperimentError(f"{origin} is not TOML: {error}.") from error
    try:
        experiment = Experiment.model_validate(content)
        for index, entry in enumerate(experiment.conditions):
            _check_condition(entry, index, here=experiment.tools.transport != "http")
    except ValidationError as error:
        raise ExperimentError(f"{origin}: {_sentence(error)}") from error
    except UsageError as error:
        raise ExperimentError(f"{origin}: {error}") from error
    _check_labels(experiment, origin)
    return experiment


def _check_condition(entry: ConditionEntry, index: int, *, here: bool) -> None:
    """Check a condition's settings; `here`: its tools run on this machine."""
    try:
        settings = entry.settings()
        if here:
            settings.check_machine()
    except ValidationError as error:
        known = [*ConditionEntry.model_fields, *find_condition(entry.name).Settings.model_fields]
        raise ExperimentError(
            _sentence(error, prefix=f"conditions[{index}]", known=known)
        ) from error


def _check_labels(experiment: Experiment, origin: str) -> None:
    """Labels tell rows of tables apart, so they must differ."""
    for what, labels in (
        ("models", [m.shown_as for m in experiment.models]),
        ("conditions", [c.shown_as for c in experiment.conditions]),
    ):
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ExperimentError(
                f"{origin}: two {what} are shown as {twice[0]!r}; give each a `label`."
            )


_MODELS: dict[str, type[BaseModel]] = {
    "": Experiment,
    "instances": InstancesEntry,
    "models": ModelSettings,
    "limits": Limits,
    "tools": ToolServer,
}


def _sentence(
    error: ValidationError, *, prefix: str = "", known: Sequence[str] | None = None
) -> str:
    """One complaint of pydantic as a sentence; a wrong key, with the nearest right one, first.

    What a misspelt key leaves missing would otherwise hide it.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
    location = first["loc"]
    path = prefix
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else (f".{part}" if path else str(part))
    if first["type"] == "extra_forbidden":
        key = str(location[-1])
        if known is None:
            section = str(location[0]) if len(location) > 1 else ""
            known = list(_MODELS.get(section, Experiment).model_fields)
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(known)}."
        return f"there is no key {path!r}.{hint}"
    if first["type"] == "missing":
        return f"{path!r} is missing."
    message = first["msg"].removeprefix("Value error, ")
    return f"{path!r}: {message[0].lower()}{message[1:]}."
