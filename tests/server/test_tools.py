"""What each tool answers, the same over every transport and in both revisions of the protocol."""

from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

from llm_modulo.domains import bundled_domain
from llm_modulo.errors import UsageError
from llm_modulo.planning import validate
from llm_modulo.server import PROFILES, TOOLS, create_server

PLAN = ["(move c-1-1 c-1-2 right)", "(push c-1-2 c-1-3 c-1-4 right)"]
GOOD = [*PLAN, "(push c-1-3 c-1-4 c-1-5 right)"]


def arguments(problem: str) -> dict[str, dict[str, Any]]:
    """Arguments of a call that succeeds, for each tool."""
    both = {"domain": "bundled:sokoban", "problem": problem}
    return {
        "parse_domain": {"domain": "bundled:sokoban"},
        "parse_problem": both,
        "solve": both,
        "validate_plan": {**both, "plan": GOOD},
        "list_planners": {},
    }


def text(result: Any) -> str:
    """The one text block of a result."""
    (block,) = result.content
    return block.text


def test_every_tool_is_offered_with_what_a_client_needs_to_know(peer: Any) -> None:
    tools = peer.tools()
    assert list(tools) == list(TOOLS)
    for tool in tools.values():
        assert len(tool.description) > 20
        assert tool.input_schema["additionalProperties"] is False
        assert all(p["description"] for p in tool.input_schema["properties"].values())
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
        assert tool.annotations.open_world_hint is False


def test_every_result_follows_the_schema_that_was_announced(peer: Any, problem: str) -> None:
    tools, calls = peer.tools(), arguments(problem)
    assert set(calls) == set(TOOLS), "a new tool needs a call here"
    for name, given in calls.items():
        result = peer.call(name, **given)
        assert result.is_error is False, text(result)
        jsonschema.validate(
            result.structured_content,
            tools[name].output_schema,
            cls=jsonschema.Draft202012Validator,
        )


def test_a_schema_refuses_another_result(local: Any, problem: str) -> None:
    schema = local.tools()["solve"].output_schema
    result = local.call("solve", **arguments(problem)["solve"]).structured_content
    for wrong in ({"plan": "R"}, {"validated": "perhaps"}, {"optimal": None}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**result, **wrong}, schema)


def test_the_solver_is_limited_to_60_seconds_unless_the_call_says_otherwise(peer: Any) -> None:
    limit = peer.tools()["solve"].input_schema["properties"]["time_limit"]
    assert (limit["default"], limit["exclusiveMinimum"]) == (60.0, 0)


def test_solve_delivers_a_plan_that_is_valid(peer: Any, problem: str) -> None:
    result = peer.call("solve", domain=bundled_domain("sokoban"), problem=problem)
    found = result.structured_content
    assert found["outcome"] == "solved"
    assert found["validated"] == "replayed"
    assert found["plan"] == GOOD
    assert validate(bundled_domain("sokoban"), problem, found["plan"]).valid
    assert text(result).splitlines() == [
        "outcome: solved",
        "plan of 3 steps, cost 3:",
        *(f"{number}. {step}" for number, step in enumerate(GOOD, start=1)),
        "Deliver this plan unchanged.",
    ]


def test_solve_proves_that_there_is_none(peer: Any, problem: str) -> None:
    stuck = problem.replace("(adjacent c-1-4 c-1-5 right)", "")
    result = peer.call("solve", domain="bundled:sokoban", problem=stuck)
    assert result.is_error is False, "an outcome is no failed call"
    assert result.structured_content["outcome"] == "unsolvable"
    assert result.structured_content["plan"] is None
    assert "something is missing or wrong" in text(result)


def test_solve_names_the_mistakes_in_a_problem(peer: Any, problem: str) -> None:
    result = peer.call("solve", domain="bundled:sokoban", problem=problem.replace("clear", "clean"))
    assert result.is_error is False
    assert result.structured_content["outcome"] == "invalid_input"
    assert "Did you mean `clear`?" in text(result)
    assert text(result).endswith("Mend the faults listed and call solve again.")


def test_solve_ends_at_its_limit(local: Any, hard: dict[str, Any]) -> None:
    result = local.call("solve", **{**hard, "time_limit": 0.5})
    assert result.structured_content["outcome"] == "timeout"
    assert 0.5 <= result.structured_content["seconds"]["total"] < 2
    assert text(result).startswith("outcome: timeout\nOut of time.")


def test_an_optimal_planner_says_so(local: Any, problem: str) -> None:
    result = local.call(
        "solve", domain="bundled:sokoban", problem=problem, planner="fast-downward-opt"
    )
    found = result.structured_content
    assert (found["outcome"], found["optimal"]) == ("solved_optimally", True)
    assert found["cost"] == found["lower_bound"] == 3
    assert "no shorter one exists" in text(result)


def test_parse_domain_summarises_a_sound_domain(peer: Any) -> None:
    result = peer.call("parse_domain", domain="bundled:sokoban")
    assert result.structured_content["ok"] is True
    assert result.structured_content["summary"]["domain"]["name"] == "sokoban"
    assert "(player-at ?c - cell)" in text(result)
    assert text(result).endswith("The domain is sound. Now the problem.")


def test_parse_problem_summarises_a_sound_problem(peer: Any, problem: str) -> None:
    result = peer.call("parse_problem", domain="bundled:sokoban", problem=problem)
    assert result.structured_content["ok"] is True
    assert "5 cell; 13 initial facts; goal (and (box-at c-1-5))" in text(result)


def test_parse_problem_quotes_each_fault_with_a_caret_below_it(peer: Any, problem: str) -> None:
    broken = problem.replace("(player-at c-1-1)", "(player-at c-1-9)").replace(
        "(box-at c-1-3)", "(boxes-at c-1-3)"
    )
    result = peer.call("parse_problem", domain="bundled:sokoban", problem=broken)
    found = result.structured_content
    assert (found["ok"], found["total"]) == (False, 2)
    codes = [d["code"] for d in found["diagnostics"]]
    assert codes == ["undeclared-object", "undeclared-predicate"]
    lines = text(result).splitlines()
    assert lines[0] == "2 diagnostics:"
    for diagnostic, place, word in (
        (found["diagnostics"][0], 1, "c-1-9"),
        (found["diagnostics"][1], 4, "boxes-at"),
    ):
        head, quoted, caret = lines[place : place + 3]
        source = broken.splitlines()[diagnostic["line"] - 1]
        assert head.startswith(f"problem:{diagnostic['line']}:{diagnostic['column']}: error [")
        assert source[diagnostic["column"] - 1 : diagnostic["end_column"] - 1] == word
        assert quoted == f"  {source}"
        assert caret.strip() == "^"
        assert quoted[caret.index("^") :].startswith(word)
    assert lines[-1] == "Mend the errors listed, then check again."


@pytest.mark.parametrize("before", ["", "\t\t", " " * 300, "(clear c-1-5)\r\n", "(clear c-1-5) "])
@pytest.mark.parametrize("after", ["", " " * 300 + "(clear c-1-2)", " ; é😀"])
def test_the_caret_stands_below_the_fault_wherever_that_is(
    local: Any, problem: str, before: str, after: str
) -> None:
    """A long line is cut around the fault; a tab counts as one character."""
    broken = problem.replace("(clear c-1-5)", "").replace("(clear c-1-2)", "")
    broken = broken.replace("(player-at c-1-1)", f"{before}(player-at nobody){after}\n")
    lines = text(local.call("parse_problem", domain="bundled:sokoban", problem=broken)).splitlines()
    place = next(n for n, line in enumerate(lines) if "[undeclared-object]" in line)
    quoted, caret = lines[place + 1 : place + 3]
    assert caret.strip() == "^"
    assert quoted[caret.index("^") :].startswith("nobody)")
    assert len(quoted) <= 82


def test_only_the_first_diagnostics_are_listed_and_the_rest_counted(
    local: Any, problem: str
) -> None:
    broken = problem.replace(
        "(:init", "(:init " + "".join(f"(nonsense-{i} c-1-1)\n" for i in range(70))
    )
    result = local.call("parse_problem", domain="bundled:sokoban", problem=broken)
    found = result.structured_content
    assert (found["total"], len(found["diagnostics"])) == (70, 50)
    assert "... and 20 more." in text(result)


def test_validate_plan_accepts_a_list_and_a_text(peer: Any, problem: str) -> None:
    for plan in (GOOD, "\n".join(GOOD)):
        result = peer.call("validate_plan", domain="bundled:sokoban", problem=problem, plan=plan)
        assert result.structured_content["valid"] is True
        assert result.structured_content["cost"] == 3
        assert text(result).startswith("valid\n")


def test_validate_plan_names_the_step_that_fails_and_the_facts_that_it_lacks(
    peer: Any, problem: str
) -> None:
    plan = [GOOD[0], GOOD[2]]
    result = peer.call("validate_plan", domain="bundled:sokoban", problem=problem, plan=plan)
    found = result.structured_content
    assert (found["valid"], found["failed_step"], found["failed_action"]) == (False, 1, GOOD[2])
    assert found["unsatisfied"] == ["(player-at c-1-3)", "(box-at c-1-4)"]
    assert "(box-at c-1-4)" in text(result)


def test_validate_plan_names_the_goals_that_are_missing(peer: Any, problem: str) -> None:
    result = peer.call("validate_plan", domain="bundled:sokoban", problem=problem, plan=PLAN)
    found = result.structured_content
    assert (found["valid"], found["failed_step"]) == (False, None)
    assert found["missing_goals"] == ["(box-at c-1-5)"]


def test_list_planners_says_what_solve_accepts(peer: Any) -> None:
    result = peer.call("list_planners")
    planners = result.structured_content["planners"]
    engines = planners[4:]  # whatever else is installed for unified-planning here
    del planners[4:]
    assert all(p["name"].startswith("up:") for p in engines)
    assert [p["name"] for p in planners] == [
        "fast-downward",
        "fast-downward-opt",
        "pyperplan",
        "pyperplan-opt",
    ]
    assert [p["optimal"] for p in planners] == [False, True, False, True]
    assert all(p["version"] for p in planners)


FAILED = {
    "planner": ("solve", {"planner": "fast-forward"}, "Unknown planner 'fast-forward'; known: "),
    "bundled": ("solve", {"domain": "bundled:chess"}, "No bundled domain 'chess'; there are: "),
    "no time": ("solve", {"time_limit": 0}, "`time_limit`: input should be greater than 0"),
    "less time": ("solve", {"time_limit": -1}, "`time_limit`: input should be greater than 0"),
    "too much time": ("solve", {"time_limit": 1e9}, "`time_limit`: input should be less than"),
    "no number": ("solve", {"time_limit": "soon"}, "`time_limit`: input should be a valid number"),
    "invented": ("solve", {"effort": 3}, "`effort`: unexpected keyword argument"),
    "two": ("solve", {"effort": 3, "time_limit": 0}, "`time_limit`: input should be greater"),
    "no text": ("parse_problem", {"problem": None}, "`problem`: input should be a valid string"),
    "no plan": ("validate_plan", {"plan": "R,R,R"}, "Line 1 of the plan is not a step: 'R,R,R'."),
    "plan": ("validate_plan", {"plan": 7}, "`plan`: input should be a valid string or input"),
    "not PDDL": ("validate_plan", {"plan": "", "problem": "x"}, "This is not a PDDL problem"),
    "missing": ("parse_domain", {"domain": ...}, "`domain`: missing required argument"),
    "tool": ("guess", {}, "Unknown tool: 'guess'"),
}


@pytest.mark.parametrize("case", FAILED)
def test_a_failed_call_is_marked_and_says_why_in_one_sentence(
    peer: Any, problem: str, case: str
) -> None:
    name, changes, expected = FAILED[case]
    given = {**arguments(problem).get(name, {}), **changes}
    result = peer.call(name, **{k: v for k, v in given.items() if v is not ...})
    assert result.is_error is True
    assert result.structured_content is None
    assert expected in text(result)
    assert "\n" not in text(result)
    assert "Traceback" not in text(result)
    assert "pydantic" not in text(result)
    assert len(text(result)) < 300


def test_a_text_that_is_too_large_is_refused_before_it_is_read(local: Any, problem: str) -> None:
    large = "(" * 10_000_001
    for name, given in (
        ("parse_domain", {"domain": large}),
        ("parse_problem", {"domain": "bundled:sokoban", "problem": large}),
        ("solve", {"domain": "bundled:sokoban", "problem": large}),
        ("validate_plan", {"domain": "bundled:sokoban", "problem": problem, "plan": large}),
    ):
        result = local.call(name, **given)
        assert result.is_error is True, name
        assert "is longer than 10,000,000 characters." in text(result)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_offers_its_tools_and_no_other(connect: Callable[..., Any], profile: str) -> None:
    peer = connect(create_server(profile))
    assert list(peer.tools()) == [n for n, e in TOOLS.items() if profile in e.profiles]
    for name in TOOLS.keys() - peer.tools().keys():
        assert peer.call(name).is_error is True


def test_the_profiles_are_what_is_documented() -> None:
    offered = {p: {n for n, e in TOOLS.items() if p in e.profiles} for p in PROFILES}
    assert offered["static"] == {"parse_domain", "parse_problem"}
    assert offered["sokobench"] == {"parse_domain", "parse_problem", "solve"}
    assert offered["full"] == set(TOOLS)


def test_an_unknown_profile_is_bad_usage() -> None:
    with pytest.raises(UsageError, match=r"Unknown profile 'chess'; there are static, sokobench"):
        create_server("chess")
