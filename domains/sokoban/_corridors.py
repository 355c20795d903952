"""The corridors of SokoBench (arXiv 2601.20856): one row of ℓ floor cells, walled in.

The player stands at one end, the goal is at the other, the box in between. There is
exactly one plan, of n = ℓ − 2 moves in one direction: the player walks to the box and
pushes it to the goal, and ends beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

from llm_modulo.errors import UsageError

from .._instance import Instance, instance_id
from ._level import Level

__all__ = ["LENGTHS", "ROTATIONS", "corridor", "corridor_instance", "sokobench"]

LENGTHS = tuple(range(5, 101, 5))
ROTATIONS = (0, 90, 180, 270)
"""Degrees clockwise; the right plan is all R, D, L, U."""

_LETTER = {0: "R", 90: "D", 180: "L", 270: "U"}
_VERSION = 1
MAX_LENGTH = 10_000


def corridor(length: int, rotation: int = 0, *, box: int | None = None) -> Level:
    """Make a corridor.

    Args:
        length: ℓ, the number of floor cells, 3 to 10,000.
        rotation: degrees clockwise, one of `ROTATIONS`.
        box: the box's cell counted from the player's (0), from 1 to ℓ − 2;
            ⌊(ℓ − 1)/2⌋ if None. It changes no letter of the plan.

    Raises:
        UsageError: an argument out of its range.
    """
    if not 3 <= length <= MAX_LENGTH:
        raise UsageError(f"A corridor has 3 to {MAX_LENGTH} cells, not {length}.")
    if rotation not in ROTATIONS:
        raise UsageError(f"A corridor is turned by 0, 90, 180 or 270 degrees, not {rotation}.")
    box = (length - 1) // 2 if box is None else box
    if not 1 <= box <= length - 2:
        raise UsageError(f"The box of {length} cells stands in cell 1 to {length - 2}, not {box}.")
    cells = ["@", *" " * (length - 2), "."]
    cells[box] = "$"
    lane = "".join(cells if rotation in (0, 90) else reversed(cells))
    wall = "#" * (length + 2)
    rows = [wall, f"#{lane}#", wall]
    if rotation in (90, 270):
        rows = ["".join(column) for column in zip(*rows, strict=True)]
    return Level.from_xsb(rows)


def corridor_instance(
    length: int, rotation: int, *, box: int | None = None, index: int = 0
) -> Instance:
    """A corridor as an instance with the certificate `unique-corridor`."""
    level = corridor(length, rotation, box=box)
    moves = _LETTER[rotation] * (length - 2)
    _, witness = level.replay(moves)
    payload = {"map": level.to_xsb()}
    return Instance(
        id=instance_id("sokobench", payload),
        benchmark="sokobench",
        parameters={
            "length": length,
            "rotation": rotation,
            "box": (length - 1) // 2 if box is None else box,
        },
        payload=payload,
        certificate={
            "kind": "unique-corridor",
            "optimum": length - 2,
            "witness": witness,
            "lower_bound": length - 2,
        },
        provenance={
            "generator": "corridors",
            "version": _VERSION,
            "seed": None,
            "index": index,
        },
    )


def sokobench(
    lengths: Sequence[int] = LENGTHS,
    rotations: Sequence[int] = ROTATIONS,
    *,
    box: int | None = None,
) -> list[Instance]:
    """The SokoBench set: every length in every rotation; 80 maps by default."""
    pairs = [(length, rotation) for length in lengths for rotation in rotations]
    if not pairs or len(set(pairs)) != len(pairs):
        raise UsageError("Lengths and rotations must be given, each once.")
    return [
        corridor_instance(length, rotation, box=box, index=index)
        for index, (length, rotation) in enumerate(pairs)
    ]
