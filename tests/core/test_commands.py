"""The commands on PDDL files, as processes: exit codes, documents, a sentence for bad input."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.commands import solve as solve_files
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning.planners import planner_names

Command = Callable[..., subprocess.CompletedProcess[str]]
Done = dict[str, subprocess.CompletedProcess[str]]

DOMAIN = """(define (domain door) (:requirements :strips)
  (:predicates (open) (closed) (outside))
  (:action push :parameters () :precondition (closed) :effect (and (open) (not (closed))))
  (:action walk :parameters () :precondition (open) :effect (outside)))
"""
FILES = {
    "domain.pddl": DOMAIN,
    "problem.pddl": "(define (problem p) (:domain door) (:init (closed)) (:goal (outside)))\n",
    "no-plan.pddl": "(define (problem p) (:domain door) (:init (outside)) (:goal (open)))\n",
    "faults.pddl": "(define (problem p) (:domain dor) (:init (close)) (:goal (outside)))\n",
    "two-words.pddl": "door problem\n",
    "numeric.pddl": DOMAIN.replace("(outside))", "(outside)) (:functions (f))", 1).replace(
        "(:action push", "(:action wait :parameters () :effect (increase (f) 1)) (:action push"
    ),
    "plan": "(push)\n(walk) ; out\n",
    "short-plan": "(push)\n",
    "wrong-plan": "(walk)\n(push)\n",
    "letters": "R,R,R\n",
    "empty": "",
    "blank": " \n\n",
    "latin-1": "(define (domain é))".encode("latin-1"),
    "binary": b"\x7fELF\x02\x01\x01\x00\x00\xff",
    "parentheses": "(" * 50_000_000,
    "deep": "(" * 100_000,
}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with FILES."""
    folder = tmp_path_factory.mktemp("commands")
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def run(llm_modulo: Command, folder: Path) -> Command:
    """`run("check domain.pddl", …)`: the command in the folder, which never shows a traceback."""

    def in_folder(line: str, **options: Any) -> subprocess.CompletedProcess[str]:
        done = llm_modulo(*line.split(), cwd=folder, **options)
        assert "Traceback" not in done.stderr + done.stdout
        return done

    return in_folder


@pytest.fixture(scope="module")
def done(run: Command) -> Done:
    """How the command lines of the tables below end; they run side by side to save time."""
    lines = [line for line, *_ in ANSWERS]
    lines += [f"{line} --json" for line, *_ in REFUSALS]
    lines += [f"{line} --json" for line, *_ in DOCUMENTS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(lines, pool.map(run, lines), strict=True))


# (arguments, exit code, what the text on stdout starts with)
ANSWERS = [
    ("check domain.pddl", 0, "ok\n"),
    ("check domain.pddl problem.pddl", 0, "ok\n"),
    ("check domain.pddl faults.pddl", 1, "problem:1:30: error [domain-mismatch] "),
    ("check two-words.pddl", 1, "domain:1:1: error [not-pddl] "),
    ("check empty", 1, "domain:1:1: error [not-pddl] "),
    ("check blank", 1, "domain:1:1: error [not-pddl] "),
    ("check deep", 1, "domain:1:201: error [too-deep] "),
    ("check domain.pddl empty", 1, "problem:1:1: error [not-pddl] "),
    ("solve domain.pddl problem.pddl", 0, "(push)\n(walk)\n; solved, cost 2, fast-downward, "),
    ("solve domain.pddl no-plan.pddl", 1, "; unsolvable, fast-downward, "),
    ("solve domain.pddl faults.pddl", 1, "; invalid_input, fast-downward, "),
    ("solve two-words.pddl problem.pddl", 1, "; invalid_input, fast-downward, "),
    ("solve numeric.pddl problem.pddl", 2, "; unsupported, fast-downward, "),
    ("solve domain.pddl problem.pddl --time-limit 0.001", 3, "; timeout, fast-downward, "),
    ("solve domain.pddl no-plan.pddl --planner pyperplan", 3, "; exhausted, pyperplan, "),
    ("validate domain.pddl problem.pddl plan", 0, "valid, cost 2\n"),
    (
        "validate domain.pddl problem.pddl wrong-plan",
        1,
        "not valid: A precondition does not hold in step 0, (walk): (open).\n",
    ),
    (
        "validate domain.pddl problem.pddl short-plan",
        1,
        "not valid: The goal is not reached: (outside).\n",
    ),
    ("validate domain.pddl problem.pddl empty", 1, "not valid: The goal is not reached"),
    (
        "simulate domain.pddl problem.pddl plan",
        0,
        "0: (push)\n   + (open)\n   - (closed)\n1: (walk)\n   + (outside)\ngoal reached\n",
    ),
    (
        "simulate domain.pddl problem.pddl wrong-plan",
        1,
        "stopped: A precondition does not hold in step 0: (walk).\ngoal not reached\n",
    ),
    ("planners", 0, "fast-downward "),
]


@pytest.mark.parametrize(("line", "code", "text"), ANSWERS)
def test_answers(done: Done, line: str, code: int, text: str) -> None:
    assert done[line].stdout.startswith(text)
    assert done[line].returncode == code


# (arguments, exit code, the sentence on stderr or how it starts)
REFUSALS = [
    ("check missing.pddl", 2, "Cannot read missing.pddl: No such file or directory."),
    ("check .", 2, "Cannot read .: Is a directory."),
    ("check binary", 2, "binary is a binary file, not text."),
    ("check latin-1", 2, "latin-1 is not UTF-8 text (byte 16)."),
    ("check parentheses", 2, "parentheses is larger than 10,000,000 bytes."),
    ("check domain.pddl parentheses", 2, "parentheses is larger than 10,000,000 bytes."),
    ("check", 2, "Command "),
    ("check domain.pddl problem.pddl plan", 2, "Unused Tokens: "),
    ("check domain.pddl --colour", 2, "Unknown option: --colour."),
    ("solve domain.pddl missing.pddl", 2, "Cannot read missing.pddl: No such file or directory."),
    ("solve binary problem.pddl", 2, "binary is a binary file, not text."),
    ("solve domain.pddl parentheses", 2, "parentheses is larger than 10,000,000 bytes."),
    (
        "solve domain.pddl problem.pddl --planner fastest",
        2,
        f"Unknown planner 'fastest'; known: {', '.join(planner_names())}.",
    ),
    (
        "solve domain.pddl problem.pddl --time-limit 0",
        2,
        "The time limit must lie above 0 and at most 86400 seconds, not 0.",
    ),
    (
        "solve domain.pddl problem.pddl --time-limit -1",
        2,
        "The time limit must lie above 0 and at most 86400 seconds, not -1.",
    ),
    (
        "solve domain.pddl problem.pddl --time-limit nan",
        2,
        "The time limit must lie above 0 and at most 86400 seconds, not nan.",
    ),
    ("solve domain.pddl problem.pddl --time-limit soon", 2, "Invalid value for --time-limit: "),
    (
        "solve domain.pddl problem.pddl --memory-limit 0",
        2,
        "The memory limit must lie between 50 and 100,000,000 MB, not 0.",
    ),
    ("solve domain.pddl problem.pddl --memory-limit all", 2, "Invalid value for --memory-limit: "),
    ("validate domain.pddl problem.pddl missing", 2, "Cannot read missing: "),
    (
        "validate domain.pddl problem.pddl letters",
        1,
        "Line 1 of the plan is not a step: 'R,R,R'. A step is written `(action object …)`.",
    ),
    ("validate domain.pddl faults.pddl plan", 1, "problem:1:30: error [domain-mismatch] "),
    ("validate two-words.pddl problem.pddl plan", 1, "domain:1:1: error [not-pddl] "),
    (
        "validate numeric.pddl problem.pddl plan",
        2,
        "The problem uses numeric fluents, which our own simulation does not cover.",
    ),
    ("simulate domain.pddl problem.pddl letters", 1, "Line 1 of the plan is not a step: 'R,R,R'."),
    ("simulate domain.pddl problem.pddl binary", 2, "binary is a binary file, not text."),
    ("simulate domain.pddl faults.pddl plan", 1, "problem:1:30: error [domain-mismatch] "),
    ("simulate numeric.pddl problem.pddl plan", 2, "The problem uses numeric fluents, which "),
    ("planners now", 2, "Unused Tokens: "),
]


@pytest.mark.parametrize(("line", "code", "sentence"), REFUSALS)
def test_bad_input_gets_one_sentence(done: Done, line: str, code: int, sentence: str) -> None:
    refusal = done[f"{line} --json"]
    assert refusal.stderr.startswith(sentence)
    assert refusal.stderr.count("\n") == 1
    assert refusal.returncode == code
    assert json.loads(refusal.stdout) == {"error": refusal.stderr.removesuffix("\n")}


def test_without_json_a_refusal_leaves_stdout_empty(run: Command) -> None:
    done = run("check missing.pddl")
    assert (done.stdout, done.returncode) == ("", 2)


# (arguments, keys of the document, exit code)
DOCUMENTS = [
    ("check domain.pddl problem.pddl", "ok diagnostics summary", 0),
    ("check domain.pddl faults.pddl", "ok diagnostics summary", 1),
    (
        "solve domain.pddl problem.pddl",
        "outcome plan cost lower_bound optimal validated planner seconds expanded"
        " peak_memory_mb log_tail digest",
        0,
    ),
    (
        "solve domain.pddl faults.pddl",
        "outcome plan cost lower_bound optimal validated planner seconds expanded"
        " peak_memory_mb log_tail digest",
        1,
    ),
    (
        "validate domain.pddl problem.pddl wrong-plan",
        "valid failed_step failed_action reason unsatisfied missing_goals cost",
        1,
    ),
    ("simulate domain.pddl problem.pddl plan", "initial steps goal_reached", 0),
    ("simulate domain.pddl problem.pddl wrong-plan", "initial steps goal_reached stopped", 1),
    ("planners", "planners", 0),
]


@pytest.mark.parametrize(("line", "keys", "code"), DOCUMENTS)
def test_json_is_one_document_and_nothing_else(done: Done, line: str, keys: str, code: int) -> None:
    assert list(json.loads(done[f"{line} --json"].stdout)) == keys.split()
    assert done[f"{line} --json"].returncode == code


def test_the_reason_stands_on_stderr_unless_quiet(run: Command) -> None:
    loud = run("solve domain.pddl faults.pddl")
    assert loud.stderr.count("error [") == 2
    quiet = run("solve domain.pddl faults.pddl --quiet")
    assert (quiet.stdout[:15], quiet.stderr) == ("; invalid_input", "")
    both = run("solve domain.pddl faults.pddl --json --quiet")
    assert (json.loads(both.stdout)["outcome"], both.stderr) == ("invalid_input", "")
    assert run("solve domain.pddl no-plan.pddl").stderr == ""


def test_standard_input_is_a_file_too(run: Command) -> None:
    assert run("check -", input=DOMAIN).stdout == "ok\n"
    assert run("validate domain.pddl problem.pddl -", input="(push)\n(walk)").returncode == 0
    done = run("check -", input="\0")
    assert (done.stderr, done.returncode) == ("standard input is a binary file, not text.\n", 2)


def test_a_plan_can_be_piped_from_solve_to_validate(run: Command) -> None:
    plan = run("solve domain.pddl problem.pddl").stdout
    assert run("validate domain.pddl problem.pddl -", input=plan).stdout == "valid, cost 2\n"


def test_a_reader_that_stops_reading_is_no_error(run: Command, folder: Path) -> None:
    steps = "(push)\n" * 20_000  # more than a pipe holds
    looping = DOMAIN.replace("(and (open) (not (closed)))", "(open)")
    (folder / "looping.pddl").write_text(looping)
    done = subprocess.run(
        ["sh", "-c", "llm-modulo simulate looping.pddl problem.pddl - | head -n 1"],
        input=steps,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0: (push)\n", "")


def test_costs_are_printed_in_full(run: Command, folder: Path) -> None:
    (folder / "dear.pddl").write_text(
        """(define (domain door) (:requirements :strips :action-costs)
        (:predicates (closed) (outside)) (:functions (total-cost) - number)
        (:action walk :parameters () :effect (and (outside) (increase (total-cost) 12345678))))"""
    )
    problem = FILES["problem.pddl"].removesuffix(")\n") + " (:metric minimize (total-cost)))"
    (folder / "dear-problem.pddl").write_text(problem)
    solved = run("solve dear.pddl dear-problem.pddl").stdout
    assert solved.startswith("(walk)\n; solved, cost 12345678, fast-downward, ")
    validated = run("validate dear.pddl dear-problem.pddl -", input="(walk)")
    assert validated.stdout == "valid, cost 12345678\n"


def test_a_cost_that_nobody_can_tell_is_unknown(
    folder: Path, fake: Callable[..., object], capsys: pytest.CaptureFixture[str]
) -> None:
    # Numeric fluents are not replayed, so the plan is not validated and not counted.
    fake(outcome=PlanningOutcome.SOLVED, steps=(("walk",),))
    (folder / "fuel.pddl").write_text(
        """(define (domain door) (:requirements :numeric-fluents)
        (:predicates (closed) (outside)) (:functions (fuel))
        (:action walk :parameters () :effect (and (outside) (decrease (fuel) 1))))"""
    )
    problem = FILES["problem.pddl"].removesuffix(")\n") + " (:metric minimize (fuel)))"
    (folder / "fuel-problem.pddl").write_text(problem)
    files = (str(folder / "fuel.pddl"), str(folder / "fuel-problem.pddl"))
    assert solve_files(*files, planner="fake") == 0
    assert capsys.readouterr().out.startswith("(walk)\n; solved, cost unknown, fake, ")


def test_the_cost_of_a_plan_over_derived_predicates_is_counted(run: Command, folder: Path) -> None:
    (folder / "derived.pddl").write_text(
        """(define (domain door) (:requirements :strips :action-costs :derived-predicates)
        (:predicates (closed) (inside) (outside)) (:functions (total-cost) - number)
        (:derived (outside) (inside))
        (:action walk :parameters () :effect (and (inside) (increase (total-cost) 7))))"""
    )
    problem = FILES["problem.pddl"].removesuffix(")\n") + " (:metric minimize (total-cost)))"
    (folder / "derived-problem.pddl").write_text(problem)
    solved = run("solve derived.pddl derived-problem.pddl")
    assert solved.stdout.startswith("(walk)\n; solved, cost 7, fast-downward, ")


def test_the_planner_runs_where_tmpdir_is_none(run: Command, folder: Path) -> None:
    # Python falls back on other folders.
    environment = {**os.environ, "TMPDIR": str(folder / "nowhere")}
    assert run("solve domain.pddl problem.pddl", env=environment).returncode == 0
