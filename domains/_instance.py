"""Instances: one problem each, with a certificate of its optimum, as JSON lines."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_modulo.errors import MalformedRecord
from llm_modulo.files import read_json_lines, write_json_lines

__all__ = ["Instance", "instance_id", "read_instances", "write_instances"]


def instance_id(benchmark: str, payload: Mapping[str, Any]) -> str:
    """A stable name: the benchmark and 16 hexadecimal digits of the payload's SHA-256."""
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{benchmark}-{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One problem with its certificate.

    Attributes:
        id: stable; hashes the payload alone, so that it names the same problem
            wherever and however it was made.
        benchmark: name of the benchmark, a key of the benchmark registry.
        parameters: what the generator was asked for (length, rotation, …).
        payload: the problem itself; its shape belongs to the benchmark.
        certificate: `{"kind", "optimum", "witness", "lower_bound", …}`.
        provenance: `{"generator", "version", "seed", "index"}`.
    """

    id: str
    benchmark: str
    parameters: Mapping[str, Any]
    payload: Mapping[str, Any]
    certificate: Mapping[str, Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def optimum(self) -> int:
        """The certified length of a shortest plan."""
        return int(self.certificate["optimum"])

    def to_json(self) -> dict[str, Any]:
        """The instance as a JSON object, fields in their documented order."""
        return {
            "id": self.id,
            "benchmark": self.benchmark,
            "parameters": dict(self.parameters),
            "payload": dict(self.payload),
            "certificate": dict(self.certificate),
            "provenance": dict(self.provenance),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Instance:
        """Read an instance from its JSON object.

        Raises:
            MalformedRecord: a field is missing or of the wrong kind.
        """
        for name, kind in (("id", str), ("benchmark", str), ("payload", dict)):
            if not isinstance(record.get(name), kind):
                raise MalformedRecord(f"an instance needs {name!r} as {_KINDS[kind]}")
        for name in ("parameters", "certificate", "provenance"):
            if not isinstance(record.get(name, {}), dict):
                raise MalformedRecord(f"{name!r} of instance {record['id']} must be an object")
        return cls(
            id=record["id"],
            benchmark=record["benchmark"],
            parameters=record.get("parameters", {}),
            payload=record["payload"],
            certificate=record.get("certificate", {}),
            provenance=record.get("provenance", {}),
        )


_KINDS: dict[type, str] = {str: "text", dict: "an object"}


def read_instances(path: str | os.PathLike[str]) -> list[Instance]:
    """Read a file of instances, one JSON object a line.

    Raises:
        UnreadableFile: the file cannot be read.
        MalformedRecord: a line is not an instance, an id repeats, or there is none.
    """
    found: dict[str, Instance] = {}
    for number, record in read_json_lines(path):
        try:
            instance = Instance.from_json(record)
        except MalformedRecord as error:
            raise MalformedRecord(f"{path}, line {number}: {error}.") from error
        if instance.id in found:
            raise MalformedRecord(f"{path}, line {number}: instance {instance.id} stands twice.")
        found[instance.id] = instance
    return list(found.values())


def write_instances(path: str | os.PathLike[str], instances: Iterable[Instance]) -> None:
    """Write instances, one JSON object a line."""
    write_json_lines(path, (i.to_json() for i in instances))
