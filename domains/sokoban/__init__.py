"""Sokoban: levels, moves, corridors with certificates, and the PDDL domain."""

from ._certificate import check_unique_corridor
from ._corridors import LENGTHS, ROTATIONS, corridor, corridor_instance, sokobench
from ._level import DIRECTIONS, Cell, IllegalMove, Level
from ._metrics import accuracy, manhattan_distance, prefix_accuracy, prefix_accuracy_literal
from ._moves import format_moves, moves_of_plan, read_moves
from ._pddl import cell_name, sokoban_domain, write_problem
from ._sokobench import SokoBench

__all__ = [
    "DIRECTIONS",
    "LENGTHS",
    "ROTATIONS",
    "Cell",
    "IllegalMove",
    "Level",
    "SokoBench",
    "accuracy",
    "cell_name",
    "check_unique_corridor",
    "corridor",
    "corridor_instance",
    "format_moves",
    "manhattan_distance",
    "moves_of_plan",
    "prefix_accuracy",
    "prefix_accuracy_literal",
    "read_moves",
    "sokoban_domain",
    "sokobench",
    "write_problem",
]
