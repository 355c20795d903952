"""`certify`: re-check every certificate with code that its generator does not use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from llm_modulo.errors import UsageError

from ._benchmark import Certification, find_benchmark
from ._instance import Instance, instance_id

__all__ = ["certify"]


def certify(instances: Iterable[Instance]) -> Iterator[Certification]:
    """Yield one certification for each instance, in order."""
    for instance in instances:
        try:
            benchmark = find_benchmark(instance.benchmark)
        except UsageError as error:
            yield Certification(instance_id=instance.id, verdict="rejected", reason=str(error))
            continue
        if instance.id != instance_id(instance.benchmark, instance.payload):
            yield Certification(
                instance_id=instance.id,
                verdict="rejected",
                reason="The id is not the hash of the payload.",
            )
            continue
        yield benchmark.certify(instance)
