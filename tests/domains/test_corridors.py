"""The 80 corridors: what they look like, what they are called, what solves them."""

import hashlib
import json
from collections.abc import Callable

import pytest

import llm_modulo
from llm_modulo.domains import Instance, find_benchmark, instance_id
from llm_modulo.domains.sokoban import LENGTHS, ROTATIONS, Level, corridor, corridor_instance
from llm_modulo.errors import UsageError

LETTERS = {0: "R", 90: "D", 180: "L", 270: "U"}


@pytest.fixture(scope="module")
def corridors() -> list[Instance]:
    return llm_modulo.instances("sokobench")


def lane_seen_from_the_player(rows: list[str]) -> str:
    """The cells of a map without its walls, the player's first."""
    cells = "".join(rows).replace("#", "")
    return cells if cells[0] == "@" else cells[::-1]


def test_there_are_eighty_each_once(corridors: list[Instance]) -> None:
    assert tuple(range(5, 101, 5)) == LENGTHS
    assert ROTATIONS == (0, 90, 180, 270)
    asked = [(i.parameters["length"], i.parameters["rotation"]) for i in corridors]
    assert asked == [(length, turn) for length in LENGTHS for turn in ROTATIONS]
    assert len({i.id for i in corridors}) == 80
    assert [i.provenance["index"] for i in corridors] == list(range(80))


def test_a_corridor_of_five_in_each_rotation() -> None:
    # ⌊(5 − 1)/2⌋ = 2: the box is the third cell from the player.
    assert corridor(5, 0).to_xsb() == ["#######", "#@ $ .#", "#######"]
    assert corridor(5, 90).to_xsb() == ["###", "#@#", "# #", "#$#", "# #", "#.#", "###"]
    assert corridor(5, 180).to_xsb() == ["#######", "#. $ @#", "#######"]
    assert corridor(5, 270).to_xsb() == ["###", "#.#", "# #", "#$#", "# #", "#@#", "###"]


def test_an_even_length_has_the_box_on_the_players_side() -> None:
    # ⌊(10 − 1)/2⌋ = 4.
    assert corridor(10).to_xsb()[1] == "#@   $    .#"


def test_the_lane_has_one_box_in_the_cell_of_the_formula(corridors: list[Instance]) -> None:
    for instance in corridors:
        length = instance.parameters["length"]
        lane = lane_seen_from_the_player(instance.payload["map"])
        assert len(lane) == length
        assert lane.index("$") == (length - 1) // 2 == instance.parameters["box"]
        assert lane.replace(" ", "") == "@$."


def test_the_right_plan_is_one_letter_and_ends_beside_the_goal(
    corridors: list[Instance], naively: Callable
) -> None:
    for instance in corridors:
        length, rotation = instance.parameters["length"], instance.parameters["rotation"]
        witness = instance.certificate["witness"]
        assert witness.upper() == LETTERS[rotation] * (length - 2)
        walk = naively(instance.payload["map"], witness.upper())
        assert walk.failed is None
        assert walk.solved
        assert walk.lurd == witness
        lane = "".join(walk.rows).replace("#", "")
        assert lane.strip() in ("@*", "*@")
        assert lane.index("*") in (0, length - 1)
        assert instance.optimum == instance.certificate["lower_bound"] == length - 2


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_the_boxs_cell_changes_no_letter(rotation: int, naively: Callable) -> None:
    length = 9
    made = [corridor_instance(length, rotation, box=box) for box in range(1, length - 1)]
    assert len({i.id for i in made}) == length - 2
    for box, instance in enumerate(made, start=1):
        witness = instance.certificate["witness"]
        # The player walks box − 1 cells and pushes for the rest.
        letter = LETTERS[rotation]
        assert witness == letter.lower() * (box - 1) + letter * (length - 1 - box)
        assert naively(instance.payload["map"], witness.upper()).solved


def test_the_shortest_corridor_has_one_plan_of_one_push() -> None:
    instance = corridor_instance(3, 0)
    assert instance.payload == {"map": ["#####", "#@$.#", "#####"]}
    assert instance.certificate["witness"] == "R"


# The names of the first and the last map must never change: stored runs refer to them.
def test_ids_are_the_ones_of_the_first_release(corridors: list[Instance]) -> None:
    assert corridors[0].id == "sokobench-5040cbdff85aa5b0"
    assert corridors[-1].id == "sokobench-a1d22be59e30ae7a"


def test_an_id_is_the_hash_of_the_payload_alone(corridors: list[Instance]) -> None:
    canonical = '{"map":["#######","#@ $ .#","#######"]}'
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    assert corridors[0].id == f"sokobench-{digest[:16]}"
    assert corridor_instance(5, 0, box=2, index=17).id == corridors[0].id
    assert instance_id("other", corridors[0].payload) == f"other-{digest[:16]}"
    assert instance_id("sokobench", {"b": 1, "a": 2}) == instance_id("sokobench", {"a": 2, "b": 1})


def test_two_generations_give_identical_bytes(corridors: list[Instance]) -> None:
    again = llm_modulo.instances("sokobench")
    assert [json.dumps(i.to_json()) for i in again] == [json.dumps(i.to_json()) for i in corridors]


def test_options_choose_lengths_rotations_and_box() -> None:
    made = llm_modulo.instances("sokobench", lengths=[7, 3], rotations=[180], box=1)
    assert [i.payload["map"][1] for i in made] == ["#.    $@#", "#.$@#"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"length": 2}, "3 to 10000 cells, not 2"),
        ({"length": 10_001}, "not 10001"),
        ({"length": 5, "rotation": 45}, "not 45"),
        ({"length": 5, "box": 0}, "cell 1 to 3, not 0"),
        ({"length": 5, "box": 4}, "cell 1 to 3, not 4"),
    ],
)
def test_a_corridor_that_cannot_be_is_refused(arguments: dict, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        corridor(**arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"size": 5},
        {"lengths": 5},
        {"lengths": ["5"]},
        {"lengths": [True]},
        {"lengths": []},
        {"lengths": [5, 5]},
        {"rotations": [0.5]},
        {"rotations": [90, 90]},
        {"box": "2"},
        {"box": True},
        {"lengths": [5, 10], "box": 7},
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options: dict) -> None:
    with pytest.raises(UsageError):
        find_benchmark("sokobench").generate(options)


def test_a_long_corridor_is_still_a_level() -> None:
    level = corridor(10_000, 90)
    assert (level.rows, level.columns) == (10_002, 3)
    assert Level.from_xsb(level.to_xsb()) == level
