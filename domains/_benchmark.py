"""What a benchmark is to the rest of the project, and the registry of benchmarks.

Third parties add one by an entry point in the group `llm_modulo.benchmarks` that loads a
callable without arguments and returns a `Benchmark`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Any, Protocol, cast

from llm_modulo.errors import UsageError

from ._instance import Instance
from ._verdict import PlanVerdict

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Certification",
    "MoveText",
    "benchmark_names",
    "find_benchmark",
    "instances",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class MoveText:
    """A plan of moves read from text.

    Attributes:
        moves: one upper-case letter a move.
        notation: how it was written: `lurd` or `comma-separated`.
    """

    moves: str
    notation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Certification:
    """The answer of `certify` for one instance.

    Attributes:
        verdict: `verified`, `witness_only` or `rejected`.
        reason: one sentence.
    """

    instance_id: str
    verdict: str
    reason: str


class Benchmark(Protocol):
    """A kind of instances with its rules.

    Attributes:
        name: its key in the registry and in `Instance.benchmark`.
        difficulty: the parameter that figures are drawn against.
    """

    name: str
    difficulty: str

    def generate(self, options: Mapping[str, Any]) -> list[Instance]:
        """Make instances; raises `UsageError` for an option that cannot be met."""

    def certify(self, instance: Instance) -> Certification:
        """Check an instance's certificate with code independent of `generate`."""

    def read_moves(self, text: str) -> MoveText | None:
        """Read text that is a plan and nothing else; None if it is not one."""

    def judge(self, instance: Instance, moves: str) -> PlanVerdict:
        """Replay moves under the rules."""

    def metrics(self, instance: Instance, moves: str | None) -> dict[str, float | None]:
        """The benchmark's measures of a plan; None stands for undefined."""

    def render(self, instance: Instance) -> str:
        """The problem as text for a prompt."""

    def domain(self) -> str:
        """The PDDL domain that goes with the benchmark."""

    def problem(self, instance: Instance) -> str:
        """The instance as a PDDL problem over `domain()`."""

    def moves_of_plan(self, plan: Sequence[str]) -> str | None:
        """Turn a PDDL plan over `domain()` into moves; None if a step is of another domain."""


BENCHMARKS: dict[str, str] = {
    "sokobench": "llm_modulo.domains.sokoban:SokoBench",
}


@cache
def _third_party() -> dict[str, metadata.EntryPoint]:
    return {e.name: e for e in metadata.entry_points(group="llm_modulo.benchmarks")}


def benchmark_names() -> list[str]:
    """Names that `find_benchmark` accepts."""
    return [*BENCHMARKS, *sorted(_third_party().keys() - BENCHMARKS.keys())]


@cache
def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark registered under a name.

    Raises:
        UsageError: there is none.
    """
    if name in BENCHMARKS:
        module, _, attribute = BENCHMARKS[name].partition(":")
        factory = cast(Callable[[], Benchmark], getattr(import_module(module), attribute))
        return factory()
    if name in _third_party():
        return cast(Benchmark, _third_party()[name].load()())
    raise UsageError(f"Unknown benchmark {name!r}; known: {', '.join(benchmark_names())}.")


def instances(benchmark: str, **options: Any) -> list[Instance]:
    """Make certified instances of a benchmark.

    Args:
        benchmark: a name of the benchmark registry.
        options: of its generator, e.g. `lengths=[5, 10]` for `sokobench`.

    Raises:
        UsageError: an unknown benchmark or option.
    """
    return find_benchmark(benchmark).generate(options)
