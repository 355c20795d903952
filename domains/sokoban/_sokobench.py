"""SokoBench as a benchmark: corridors, their rules, measures and PDDL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_modulo.errors import MalformedRecord, UsageError

from .._benchmark import Certification, MoveText
from .._instance import Instance
from .._verdict import PlanVerdict, Verdict
from ._certificate import check_unique_corridor
from ._corridors import LENGTHS, ROTATIONS, sokobench
from ._level import IllegalMove, Level
from ._metrics import accuracy, manhattan_distance, prefix_accuracy, prefix_accuracy_literal
from ._moves import moves_of_plan, read_moves
from ._pddl import sokoban_domain, write_problem

__all__ = ["SokoBench"]

_OPTIONS = ("lengths", "rotations", "box")


class SokoBench:
    """The 80 corridor maps of SokoBench."""

    name = "sokobench"
    difficulty = "length"

    def generate(self, options: Mapping[str, Any]) -> list[Instance]:
        """Make corridors; options `lengths`, `rotations` (lists) and `box` (a cell)."""
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise UsageError(
                f"sokobench has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}."
            )
        lengths = options.get("lengths", LENGTHS)
        rotations = options.get("rotations", ROTATIONS)
        for name, values in (("lengths", lengths), ("rotations", rotations)):
            if not isinstance(values, list | tuple) or not all(type(v) is int for v in values):
                raise UsageError(f"{name} of sokobench must be a list of integers.")
        box = options.get("box")
        if box is not None and type(box) is not int:
            raise UsageError("box of sokobench must be an integer.")
        return sokobench(lengths, rotations, box=box)

    def certify(self, instance: Instance) -> Certification:
        """See `Benchmark.certify`."""
        kind = instance.certificate.get("kind")
        if kind != "unique-corridor":
            reason: str | None = f"Certificates of kind {kind!r} are not known here."
        else:
            rows = instance.payload.get("map")
            reason = check_unique_corridor(
                rows if isinstance(rows, list) else [],
                instance.certificate,
                instance.parameters,
            )
        return Certification(
            instance_id=instance.id,
            verdict="rejected" if reason else "verified",
            reason=reason or "The witness is the only shortest plan.",
        )

    def read_moves(self, text: str) -> MoveText | None:
        """See `Benchmark.read_moves`."""
        return read_moves(text)

    def judge(self, instance: Instance, moves: str) -> PlanVerdict:
        """See `Benchmark.judge`."""
        try:
            last, _ = _level(instance).replay(moves)
        except IllegalMove as error:
            return PlanVerdict(verdict=Verdict.ILLEGAL, failed_step=error.step)
        return PlanVerdict(verdict=Verdict.COMPLETE if last.solved else Verdict.INCOMPLETE)

    def metrics(self, instance: Instance, moves: str | None) -> dict[str, float | None]:
        """`accuracy`, `prefix_accuracy`, `prefix_accuracy_literal`, `manhattan_distance`.

        Without a plan the first three are 0 and the distance is undefined.
        """
        if moves is None:
            return {
                "accuracy": 0.0,
                "prefix_accuracy": 0.0,
                "prefix_accuracy_literal": 0.0,
                "manhattan_distance": None,
            }
        level = _level(instance)
        right = _witness(instance)
        return {
            "accuracy": accuracy(moves, right),
            "prefix_accuracy": prefix_accuracy(moves, right),
            "prefix_accuracy_literal": prefix_accuracy_literal(moves, right, len(right) + 2),
            "manhattan_distance": manhattan_distance(moves, level.player, min(level.goals)),
        }

    def render(self, instance: Instance) -> str:
        """The map as XSB text."""
        return "\n".join(_level(instance).to_xsb())

    def domain(self) -> str:
        """The bundled Sokoban domain."""
        return sokoban_domain()

    def problem(self, instance: Instance) -> str:
        """See `Benchmark.problem`."""
        return write_problem(_level(instance), name=instance.id)

    def moves_of_plan(self, plan: Sequence[str]) -> str | None:
        """See `Benchmark.moves_of_plan`."""
        return moves_of_plan(plan)


def _level(instance: Instance) -> Level:
    """The instance's corridor; raises `MalformedRecord` if it is none."""
    rows = instance.payload.get("map")
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise MalformedRecord(f"Instance {instance.id} has no map.")
    try:
        level = Level.from_xsb(rows)
    except MalformedRecord as error:
        raise MalformedRecord(f"The map of instance {instance.id} is none: {error}.") from error
    if not level.goals:
        raise MalformedRecord(f"The map of instance {instance.id} has no goal.")
    return level


def _witness(instance: Instance) -> str:
    """The right plan in upper-case letters; raises `MalformedRecord` if there is none."""
    found = read_moves(str(instance.certificate.get("witness")))
    if found is None:
        raise MalformedRecord(f"The certificate of instance {instance.id} has no witness.")
    return found.moves
