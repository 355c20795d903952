"""Commands on instances: instances, certify."""

from __future__ import annotations

import json
from typing import Any

from llm_modulo.console import Output, OutputOption

__all__ = ["certify", "instances"]


def instances(
    benchmark: str,
    /,
    *,
    out: str,
    lengths: list[int] | None = None,
    rotations: list[int] | None = None,
    box: int | None = None,
    output: OutputOption = Output(),
) -> int:
    """Write certified instances of a benchmark to a file, one JSON object a line.

    Parameters
    ----------
    benchmark: str
        Name of the benchmark: sokobench.
    out: str
        File to write.
    lengths: list[int]
        Corridor lengths, repeat the option for each; 5, 10, … 100 if absent.
    rotations: list[int]
        Degrees clockwise, repeat the option for each; 0, 90, 180, 270 if absent.
    box: int
        The box's cell, counted from the player's; the middle if absent.
    """
    from llm_modulo.domains import instances as make
    from llm_modulo.domains import write_instances

    given = {"lengths": lengths, "rotations": rotations, "box": box}
    options: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
    made = make(benchmark, **options)
    write_instances(out, made)
    output.emit({"written": len(made), "file": out}, f"{len(made)} instances written to {out}")
    return 0


def certify(file: str, /, *, output: OutputOption = Output()) -> int:
    """Check every certificate in a file of instances with independent code.

    Parameters
    ----------
    file: str
        File of instances.
    """
    from collections import Counter
    from dataclasses import asdict

    from llm_modulo.domains import certify as certify_instances
    from llm_modulo.domains import read_instances

    found = list(certify_instances(read_instances(file)))
    counts = Counter(c.verdict for c in found)
    lines = [f"{c.instance_id}: {c.verdict}: {c.reason}" for c in found if c.verdict != "verified"]
    summary = {v: counts.get(v, 0) for v in ("verified", "witness_only", "rejected")}
    lines.append(", ".join(f"{n} {v}" for v, n in summary.items()))
    document = {**summary, "instances": [asdict(c) for c in found]}
    output.emit(json.loads(json.dumps(document)), "\n".join(lines))
    return 1 if counts["rejected"] else 3 if counts["witness_only"] else 0
