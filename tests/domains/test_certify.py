"""`certify` accepts the 80 corridors and rejects whatever was tampered with."""

import ast
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import llm_modulo
from llm_modulo.domains import Instance, instance_id
from llm_modulo.domains.sokoban import _certificate, check_unique_corridor, corridor_instance


def test_all_eighty_are_verified() -> None:
    found = list(llm_modulo.certify(llm_modulo.instances("sokobench")))
    assert len(found) == 80
    assert {c.verdict for c in found} == {"verified"}


@pytest.mark.parametrize("length", [3, 4, 11])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_every_cell_of_the_box_is_verified(length: int, rotation: int) -> None:
    made = [corridor_instance(length, rotation, box=box) for box in range(1, length - 1)]
    assert {c.verdict for c in llm_modulo.certify(made)} == {"verified"}


@pytest.mark.parametrize("length", range(3, 8))
def test_the_argument_holds_by_exhaustion(length: int, naively: Callable) -> None:
    """Of all sequences of at most ℓ − 2 moves the witness is the only one that solves the map."""
    for box in range(1, length - 1):
        instance = corridor_instance(length, 90, box=box)
        solving = [
            "".join(moves)
            for m in range(length - 1)
            for moves in itertools.product("UDLR", repeat=m)
            if (walk := naively(instance.payload["map"], "".join(moves))).failed is None
            and walk.solved
        ]
        assert solving == [instance.certificate["witness"].upper()]


def test_the_checker_shares_no_code_with_what_it_checks() -> None:
    source = Path(_certificate.__file__).read_text(encoding="utf-8")
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add("." * node.level + (node.module or ""))
        assert not isinstance(node, ast.Name) or node.id not in ("__import__", "import_module")
    assert modules == {"__future__", "collections.abc", "typing"}


def record(**changes: Any) -> dict[str, Any]:
    """The corridor of 6 cells with some fields changed; the id fits the payload, if given."""
    made = corridor_instance(6, 0).to_json()
    if "map" in changes:
        made["payload"] = {"map": changes.pop("map")}
        made["id"] = instance_id("sokobench", made["payload"])
    for name, value in changes.items():
        made["certificate"][name] = value
    return made


def without(name: str) -> dict[str, Any]:
    made = record()
    del made["certificate"][name]
    return made


WALL, LANE = "########", "#@ $  .#"
TAMPERED: dict[str, dict[str, Any]] = {
    "optimum too small": record(optimum=3),
    "optimum too large": record(optimum=5),
    "optimum as text": record(optimum="4"),
    "optimum as a float": record(optimum=4.0),
    "no optimum": without("optimum"),
    "bound too small": record(lower_bound=3),
    "bound too large": record(lower_bound=5),
    "bound null": record(lower_bound=None),
    "no bound": without("lower_bound"),
    "witness all pushes": record(witness="RRRR"),
    "witness all moves": record(witness="rrrr"),
    "witness pushes too early": record(witness="RRRr"),
    "witness another way": record(witness="lLLL"),
    "witness too short": record(witness="rRR"),
    "witness too long": record(witness="rRRRR"),
    "witness with a detour": record(witness="rlrRRR"),
    "witness with commas": record(witness="r,R,R,R"),
    "witness empty": record(witness=""),
    "witness a list": record(witness=["r", "R", "R", "R"]),
    "no witness": without("witness"),
    "kind unknown": record(kind="trust-me"),
    "kind another": record(kind="tile-distance"),
    "kind a list": record(kind=[]),
    "no kind": without("kind"),
    "no certificate": {**record(), "certificate": {}},
    "box moved, witness kept": record(map=[WALL, "#@  $ .#", WALL]),
    "box first, witness kept": record(map=[WALL, "#@$   .#", WALL]),
    "player and goal swapped": record(map=[WALL, "#. $  @#", WALL]),
    "lane too long": record(map=["#########", "#@ $   .#", "#########"]),
    "opening in the upper wall": record(map=["### ####", LANE, WALL]),
    "opening in the lower wall": record(map=[WALL, LANE, "#### ###"]),
    "opening behind the goal": record(map=[WALL, "#@ $  . ", WALL]),
    "opening behind the player": record(map=[WALL, " @ $  .#", WALL]),
    "no wall above": record(map=[LANE, WALL]),
    "no wall below": record(map=[WALL, LANE]),
    "wall above too short": record(map=["######", LANE, WALL]),
    "wall before the goal": record(map=[WALL, "#@ $ #.#", WALL]),
    "a second lane": record(map=[WALL, LANE, WALL, "#      #", WALL]),
    "two boxes": record(map=[WALL, "#@ $$ .#", WALL]),
    "two boxes and two goals": record(map=[WALL, "#@ $$..#", WALL]),
    "two goals": record(map=[WALL, "#@ $ ..#", WALL]),
    "no box": record(map=[WALL, "#@    .#", WALL]),
    "no goal": record(map=[WALL, "#@ $   #", WALL]),
    "no player": record(map=[WALL, "#  $  .#", WALL]),
    "two players": record(map=[WALL, "#@@$  .#", WALL]),
    "player on a goal": record(map=[WALL, "#+ $  .#", WALL]),
    "box on the goal": record(map=[WALL, "#@    *#", WALL]),
    "player inside": record(map=[WALL, "# @$  .#", WALL]),
    "turned by ninety degrees": record(map=[f"#{cell}#" for cell in "#@ $  .#"]),
    "an unknown symbol": record(map=[WALL, "#@ $ x.#", WALL]),
    "walls alone": record(map=[WALL, WALL]),
    "no rows": record(map=[]),
    "an empty row": record(map=[""]),
    "rows of numbers": record(map=[1, 2, 3]),
    "rows of lists": record(map=[list(WALL), list(LANE), list(WALL)]),
    "map one text": record(map="\n".join([WALL, LANE, WALL])),
    "map null": record(map=None),
    "map an object": record(map={"0": WALL, "1": LANE, "2": WALL}),
    "payload without a map": {**record(), "id": instance_id("sokobench", {}), "payload": {}},
    "id of another": {**record(), "id": corridor_instance(5, 0).id},
    "id of another benchmark": {**record(), "id": record()["id"].replace("sokobench", "sokoban")},
    "id empty": {**record(), "id": ""},
    "map changed, id kept": {
        **record(),
        "payload": record(map=[WALL, "#@  $ .#", WALL])["payload"],
    },
    "payload with more, id kept": {**record(), "payload": {**record()["payload"], "note": "hi"}},
    "benchmark unknown": {**record(), "benchmark": "chess"},
}


def test_the_untouched_record_is_verified() -> None:
    assert [c.verdict for c in llm_modulo.certify([Instance.from_json(record())])] == ["verified"]


@pytest.mark.parametrize("name", TAMPERED)
def test_tampered_instances_are_rejected(name: str, tmp_path: Path, command: Callable) -> None:
    file = tmp_path / "tampered.jsonl"
    file.write_text(json.dumps(TAMPERED[name]) + "\n", encoding="utf-8")
    done = command("certify", str(file), "--json")
    assert done.code == 1
    assert done.document["rejected"] == 1
    (found,) = done.document["instances"]
    assert found["verdict"] == "rejected"
    assert found["reason"].endswith(".")
    assert done.stderr == ""


def test_one_bad_instance_does_not_taint_the_others() -> None:
    records = [record(), TAMPERED["two boxes"], corridor_instance(5, 90).to_json()]
    found = llm_modulo.certify(Instance.from_json(r) for r in records)
    assert [c.verdict for c in found] == ["verified", "rejected", "verified"]


@pytest.mark.parametrize("rotation", [0, 90])
def test_no_other_symbol_fits_anywhere(rotation: int) -> None:
    """Any one character of the map exchanged: the certificate no longer holds."""
    instance = corridor_instance(5, rotation)
    rows = list(instance.payload["map"])
    assert check_unique_corridor(rows, instance.certificate) is None
    for r, row in enumerate(rows):
        for c, symbol in enumerate(row):
            for other in set("#@+$*. x") - {symbol}:
                changed = [*rows[:r], row[:c] + other + row[c + 1 :], *rows[r + 1 :]]
                reason = check_unique_corridor(changed, instance.certificate)
                assert reason is not None, changed


def test_a_true_is_not_a_one() -> None:
    """JSON's true equals 1 in Python, and the optimum of three cells is 1."""
    instance = corridor_instance(3, 0)
    for name in ("optimum", "lower_bound"):
        forged = {**instance.certificate, name: True}
        assert check_unique_corridor(list(instance.payload["map"]), forged) is not None


@pytest.mark.parametrize(
    "parameters", [{"length": 99}, {"rotation": 90}, {"box": 1}, {"length": True}, {"width": 6}]
)
def test_parameters_that_are_not_the_map_s_are_rejected(parameters: dict[str, Any]) -> None:
    """Reports group by them: a wrong length would move a point of every figure."""
    made = corridor_instance(6, 0).to_json()
    made["parameters"] |= parameters
    (found,) = llm_modulo.certify([Instance.from_json(made)])
    assert (found.verdict, "parameters are" in found.reason) == ("rejected", True)
