"""`up:NAME`: engines of unified-planning, among them toys that behave in every possible way."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from llm_modulo.errors import UsageError
from llm_modulo.outcomes import PlanningOutcome
from llm_modulo.planning import SolveResult, plan_digest, read_plan, solve, solve_async, validate
from llm_modulo.planning.planners import _unified_planning as engines
from llm_modulo.planning.planners import find_planner, list_planners, planner_names

TINY = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (p)))"
TINY_PROBLEM = "(define (problem x) (:domain d) (:init (q)) (:goal (p)))"

TANK = """
(define (domain Tank) (:requirements :typing :numeric-fluents) (:types Town)
  (:predicates (at ?t - Town) (road ?a ?b - Town)) (:functions (fuel) (driven))
  (:action Drive :parameters (?a ?b - Town)
    :precondition (and (at ?a) (road ?a ?b) (>= (fuel) 3))
    :effect (and (not (at ?a)) (at ?b) (decrease (fuel) 3) (increase (driven) 2)))
  (:action Refuel :parameters () :precondition (<= (fuel) 2)
    :effect (and (increase (fuel) 4) (increase (driven) 1))))"""
TRIP = """
(define (problem trip) (:domain Tank) (:objects Bonn Ulm Kiel - Town)
  (:init (at Bonn) (road Bonn Ulm) (road Ulm Kiel) (= (fuel) 4) (= (driven) 0))
  (:goal (at Kiel)) (:metric minimize (driven)))"""
TRIP_PLAN = ("(Drive Bonn Ulm)", "(Refuel)", "(Drive Ulm Kiel)")

KITCHEN = """
(define (domain Kitchen) (:requirements :typing :durative-actions) (:types pot)
  (:predicates (cold ?p - pot) (hot ?p - pot) (lit) (done))
  (:durative-action Boil :parameters (?p - pot) :duration (= ?duration 5)
    :condition (and (at start (cold ?p)) (over all (lit)))
    :effect (and (at start (not (cold ?p))) (at end (hot ?p))))
  (:durative-action Light :parameters () :duration (= ?duration 12)
    :condition (and) :effect (and (at start (lit)) (at end (not (lit)))))
  (:action Serve :parameters (?p - pot) :precondition (hot ?p) :effect (done)))"""
SOUP = """
(define (problem soup) (:domain Kitchen) (:objects Big - pot)
  (:init (cold Big)) (:goal (and (hot Big) (done))) (:metric minimize (total-time)))"""

TOYS = '''
import ctypes, os, subprocess, sys, time
from fractions import Fraction
import unified_planning as up
from unified_planning.engines import Engine, PlanGenerationResult, PlanGenerationResultStatus
from unified_planning.engines.mixins import OneshotPlannerMixin
from unified_planning.engines.results import LogLevel, LogMessage
from unified_planning.model import ProblemKind
from unified_planning.model.problem_kind import FEATURES
from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan


class Toy(Engine, OneshotPlannerMixin):
    kinds = {f for features in FEATURES.values() for f in features}

    def __init__(self, **options):
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)

    @property
    def name(self):
        return type(self).__name__

    @classmethod
    def supported_kind(cls):
        return ProblemKind(cls.kinds, version=LATEST_PROBLEM_KIND_VERSION)

    @classmethod
    def supports(cls, kind):
        return kind.features <= set(cls.kinds)

    def _solve(self, problem, heuristic=None, timeout=None, output_stream=None):
        return self.ended("INTERNAL_ERROR")

    def ended(self, status, plan=None, log=""):
        status = PlanGenerationResultStatus[status]
        logs = [LogMessage(LogLevel.INFO, log)]
        return PlanGenerationResult(status, plan, self.name, log_messages=logs)

    def steps(self, problem, text):
        for line in text.split(","):
            name, *arguments = line.split()
            yield ActionInstance(
                problem.action(name),
                tuple(problem.environment.expression_manager.ObjectExp(problem.object(a))
                      for a in arguments))


class Planned(Toy):
    """Returns the plan that TOY_PLAN holds: steps `name object …` with commas between them,
    and with TOY_TIMES also `start/duration`, where the duration may be missing."""
    status = "SOLVED_SATISFICING"

    def _solve(self, problem, heuristic=None, timeout=None, output_stream=None):
        steps = list(self.steps(problem, os.environ["TOY_PLAN"]))
        if "TOY_TIMES" not in os.environ:
            return self.ended(self.status, SequentialPlan(steps))
        timed = []
        for step, times in zip(steps, os.environ["TOY_TIMES"].split(",")):
            start, _, duration = times.partition(";")
            timed.append((Fraction(start), step, Fraction(duration) if duration else None))
        return self.ended(self.status, TimeTriggeredPlan(timed))


class Boaster(Planned):
    status = "SOLVED_OPTIMALLY"


class Unmeasured(Boaster):
    """Knows no metric."""
    kinds = Toy.kinds - set(FEATURES["QUALITY_METRICS"])


class Classical(Toy):
    kinds = {"ACTION_BASED", "FLAT_TYPING"}


class Kindless(Toy):
    """Cannot say what it supports."""
    @classmethod
    def supported_kind(cls):
        raise ValueError("no kind")


class Raises(Toy):
    def _solve(self, *args, **kwargs):
        raise RuntimeError("the toy broke")


class Segfaults(Toy):
    def _solve(self, *args, **kwargs):
        ctypes.string_at(0)


class Exits(Toy):
    def _solve(self, *args, **kwargs):
        os._exit(0)


class Hoards(Toy):
    def _solve(self, *args, **kwargs):
        hoard = []
        while True:
            hoard.append(bytearray(20_000_000))


class ChildHoards(Toy):
    """Its own process runs out of memory, and it calls that unsolvable."""
    def _solve(self, *args, **kwargs):
        code = "x = []\\nwhile True: x.append(bytearray(20_000_000))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        return self.ended("UNSOLVABLE_PROVEN", log=done.stderr)


class ChildBreaks(Toy):
    """Its own process does not even start, and it calls that a search without result."""
    def _solve(self, *args, **kwargs):
        done = subprocess.run([sys.executable, "-c", "1/0"], capture_output=True, text=True)
        return self.ended("UNSOLVABLE_INCOMPLETELY", log=done.stderr)


class Unsolvable(Toy):
    def _solve(self, *args, **kwargs):
        return self.ended("UNSOLVABLE_PROVEN")


class Sleeps(Toy):
    """Waits for a process in a session of its own that waits for another one."""
    def _solve(self, *args, **kwargs):
        subprocess.run("sleep 1000 & sleep 1001", shell=True, start_new_session=True)


class Leaves(Toy):
    """Leaves a process in a session of its own, and files in the temporary folder."""
    def _solve(self, *args, **kwargs):
        import tempfile
        handle, name = tempfile.mkstemp()
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        return self.ended("UNSOLVABLE_PROVEN", log=f"file {name}")
'''
TOY_NAMES = [
    line.split()[1].split("(")[0]
    for line in TOYS.splitlines()
    if line.startswith("class ") and not line.startswith("class Toy(")
]


@pytest.fixture(scope="module", autouse=True)
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Toys as anyone could install them: a module, and a configuration of unified-planning."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "toy_engines.py").write_text(TOYS)
    sections = [
        f"[engine toy-{name.lower()}]\nmodule_name: toy_engines\nclass_name: {name}\n"
        for name in TOY_NAMES
    ]
    (folder / ".up.ini").write_text("\n".join(sections))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.setattr(engines, "_installed", None)
        yield
        patch.undo()


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., SolveResult]:
    """`toy(name, domain, problem, plan, times)`: solve with a toy that returns this plan."""

    def run(
        name: str, domain: str, problem: str, plan: str, times: str | None = None
    ) -> SolveResult:
        monkeypatch.setenv("TOY_PLAN", plan)
        monkeypatch.delenv("TOY_TIMES", raising=False)
        if times is not None:
            monkeypatch.setenv("TOY_TIMES", times)
        return solve(domain, problem, planner=f"up:toy-{name}")

    return run


# --- which engines there are -------------------------------------------------------------------


def test_the_list_ends_with_further_engines() -> None:
    listed = list_planners()
    names = [planner["name"] for planner in listed]
    assert names[: len(planner_names())] == planner_names()
    further = names[len(planner_names()) :]
    assert set(further) >= {f"up:toy-{name.lower()}" for name in TOY_NAMES if name != "Kindless"}
    # What we drive ourselves is there once.
    assert not {f"up:{name}" for name in planner_names()} & set(further)
    (entry,) = [planner for planner in listed if planner["name"] == "up:toy-classical"]
    assert entry["summary"] == "toy-classical through unified-planning: classical problems."
    assert (entry["optimal"], entry["version"][:7]) == (False, "unknown")


def test_the_list_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    list_planners()
    monkeypatch.setattr("sys.executable", "/nowhere")
    assert find_planner("up:fast-downward").name == "up:fast-downward"


@pytest.mark.parametrize("name", ["nothing", "", "FAST-DOWNWARD", "replanner[pyperplan]", "up:x"])
def test_an_unknown_engine(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        solve(TINY, TINY_PROBLEM, planner=f"up:{name}")
    text = str(raised.value)
    assert text.startswith(
        f"Unknown planner 'up:{name}'; engines installed for unified-planning: up:"
    )
    assert {"up:fast-downward", "up:pyperplan-opt", "up:toy-sleeps"} <= set(
        text.split(": ", 1)[1].rstrip(".").split(", ")
    )
    assert "sequential_plan_validator" not in text


def test_an_engine_whose_package_is_missing() -> None:
    with pytest.raises(UsageError) as raised:
        find_planner("up:fmap")
    assert str(raised.value) == "Planner 'up:fmap' needs the package up-fmap."


def test_an_engine_that_cannot_be_described() -> None:
    with pytest.raises(UsageError) as raised:
        find_planner("up:toy-kindless")
    assert str(raised.value) == "Planner 'up:toy-kindless' fails: ValueError: no kind."


def test_an_engine_whose_package_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "up_fmap").mkdir()
    (tmp_path / "up_fmap" / "__init__.py").write_text("import no_such_library")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(engines, "_installed", None)
    with pytest.raises(UsageError) as raised:
        find_planner("up:fmap")
    assert str(raised.value) == (
        "Planner 'up:fmap' of the package up-fmap cannot be loaded:"
        " No module named 'no_such_library'."
    )


def test_engines_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "up_fmap").mkdir()
    (tmp_path / "up_fmap" / "__init__.py").write_text("1 / 0")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(engines, "_installed", None)
    with pytest.raises(UsageError) as raised:
        find_planner("up:toy-planned")
    assert str(raised.value) == (
        "The engines of unified-planning cannot be listed: ZeroDivisionError: division by zero"
    )
    assert [planner["name"] for planner in list_planners()] == planner_names()


# --- classical problems ------------------------------------------------------------------------


@pytest.mark.parametrize("planner", ["up:fast-downward", "up:fast-downward-opt", "up:pyperplan"])
def test_our_own_planners_through_unified_planning(
    sokoban: str,
    corridor_problem: Callable[..., str],
    replays: Callable[[str, Sequence[str]], bool],
    planner: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYTHONSAFEPATH", "1")  # the driver imports what lies beside it
    result = solve(sokoban, corridor_problem(6), planner=planner)
    assert result.plan is not None, result.log_tail
    assert replays(corridor_problem(6), result.plan)
    assert (result.cost, result.validated) == (4.0, "replayed")
    assert result.optimal is planner.endswith("-opt")
    assert result.planner["name"] == planner
    assert result.planner["version"].endswith(")")


def test_a_plan_that_is_not_one_is_a_crash(toy: Callable[..., SolveResult]) -> None:
    result = toy("planned", TINY, TINY_PROBLEM.replace("(p)", "(and (p) (not (q)))"), "a")
    assert (result.outcome, result.plan) == (PlanningOutcome.CRASHED, None)
    assert "The planner's plan is not valid: The goal is not reached" in result.log_tail


def test_the_optimum_is_only_believed_by_a_measure(toy: Callable[..., SolveResult]) -> None:
    # TINY has no metric, the toy promises nothing of the shortest plan.
    assert toy("boaster", TINY, TINY_PROBLEM, "a").outcome is PlanningOutcome.SOLVED


# --- numeric and temporal problems -------------------------------------------------------------


def test_our_own_planners_say_what_they_lack() -> None:
    for planner in planner_names()[:4]:
        numeric = solve(TANK, TRIP, planner=planner)
        assert numeric.outcome is PlanningOutcome.UNSUPPORTED
        assert "numeric fluents" in numeric.log_tail
        temporal = solve(KITCHEN, SOUP, planner=planner)
        assert temporal.outcome is PlanningOutcome.UNSUPPORTED
        assert "durative actions" in temporal.log_tail


@pytest.mark.parametrize(
    ("domain", "problem", "feature"),
    [(TANK, TRIP, "numeric fluents"), (KITCHEN, SOUP, "durative actions")],
)
def test_our_own_replay_names_the_feature(domain: str, problem: str, feature: str) -> None:
    with pytest.raises(UsageError, match=f"uses {feature}, which our own simulation does not"):
        validate(domain, problem, [])


def test_a_numeric_plan(toy: Callable[..., SolveResult]) -> None:
    result = toy("planned", TANK, TRIP, "drive bonn ulm,refuel,drive ulm kiel")
    assert (result.outcome, result.validated) == (PlanningOutcome.SOLVED, "unified-planning")
    assert result.plan == TRIP_PLAN
    assert result.cost == 5.0  # (driven): two roads of 2, one refuelling of 1
    assert result.digest == plan_digest(TRIP_PLAN)


def test_a_numeric_plan_without_a_metric_costs_its_steps(toy: Callable[..., SolveResult]) -> None:
    problem = TRIP.replace("(:metric minimize (driven))", "")
    result = toy("planned", TANK, problem, "drive bonn ulm,refuel,drive ulm kiel")
    assert (result.cost, result.validated) == (3.0, "unified-planning")


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("drive bonn ulm,drive ulm kiel", "2-th action instance drive(ulm, kiel)"),
        ("drive bonn ulm,refuel", "Goals"),
    ],
)
def test_a_numeric_plan_that_is_not_one(
    toy: Callable[..., SolveResult], plan: str, reason: str
) -> None:
    result = toy("planned", TANK, TRIP, plan)
    assert (result.outcome, result.plan, result.cost) == (PlanningOutcome.CRASHED, None, None)
    assert result.validated == "none"
    assert "The planner's plan is not valid, says unified-planning: " in result.log_tail
    assert reason in result.log_tail


def test_an_engine_that_reads_no_metric_may_still_find_a_plan(
    toy: Callable[..., SolveResult],
) -> None:
    result = toy("unmeasured", TANK, TRIP, "drive bonn ulm,refuel,drive ulm kiel")
    # It says optimal, but by no measure that was asked for.
    assert (result.outcome, result.optimal) == (PlanningOutcome.SOLVED, False)
    assert (result.cost, result.validated) == (5.0, "unified-planning")


def test_a_plan_with_times(toy: Callable[..., SolveResult]) -> None:
    result = toy("planned", KITCHEN, SOUP, "boil big,light,serve big", "1/100;5,0;12,511/100")
    assert (result.outcome, result.validated) == (PlanningOutcome.SOLVED, "unified-planning")
    assert result.plan == (
        "0.000: (Light) [12.000]",
        "0.010: (Boil Big) [5.000]",
        "5.110: (Serve Big)",
    )
    assert result.cost == 12.0  # the makespan: Light lasts longest
    assert read_plan(result.plan) == [("Light",), ("Boil", "Big"), ("Serve", "Big")]


@pytest.mark.parametrize(("moment", "written"), [("16/3", "5.333333333"), ("5.0625", "5.0625")])
def test_times_that_no_short_decimal_writes(
    toy: Callable[..., SolveResult], moment: str, written: str
) -> None:
    result = toy("planned", KITCHEN, SOUP, "light,boil big,serve big", f"0;12,1/100;5,{moment}")
    assert result.plan is not None
    assert result.plan[-1] == f"{written}: (Serve Big)"


@pytest.mark.parametrize("times", ["0;12,8;5,20", "0;12,1/100;4,6", "0;12,1/100;5,1"])
def test_a_plan_with_times_that_is_not_one(toy: Callable[..., SolveResult], times: str) -> None:
    # The fire goes out; boiling takes 5; served while it is cold.
    result = toy("planned", KITCHEN, SOUP, "light,boil big,serve big", times)
    assert (result.outcome, result.plan) == (PlanningOutcome.CRASHED, None)
    assert "not valid, says unified-planning: " in result.log_tail


def test_a_plan_that_nobody_can_validate(toy: Callable[..., SolveResult]) -> None:
    # unified-planning's validator knows no effects that go on while time passes.
    domain = KITCHEN.replace(
        ":durative-actions", ":durative-actions :numeric-fluents :continuous-effects"
    )
    domain = domain.replace("(lit) (done))", "(lit) (done)) (:functions (heat))")
    domain = domain.replace("(at start (lit))", "(at start (lit)) (increase (heat) (* #t 2))")
    problem = SOUP.replace("(:init ", "(:init (= (heat) 0) ")
    result = toy("planned", domain, problem, "light,boil big,serve big", "0;12,1/100;5,6")
    assert (result.outcome, result.validated) == (PlanningOutcome.SOLVED, "none")
    assert result.cost is None
    assert "Not validated: The problem uses " in result.log_tail
    assert "unified-planning's validator does not support " in result.log_tail


def test_an_engine_that_lacks_a_feature() -> None:
    result = solve(TANK, TRIP, planner="up:toy-classical")
    assert result.outcome is PlanningOutcome.UNSUPPORTED
    assert result.log_tail.startswith("toy-classical does not support ")


# --- every way to end --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "outcome", "said"),
    [
        ("raises", "crashed", "RuntimeError: the toy broke"),
        ("segfaults", "crashed", ""),
        ("exits", "crashed", ""),
        ("hoards", "memout", "out of memory"),
        ("childhoards", "memout", "MemoryError"),
        ("childbreaks", "crashed", "ZeroDivisionError"),
        ("unsolvable", "unsolvable", "UNSOLVABLE_PROVEN"),
    ],
)
def test_how_an_engine_ends(name: str, outcome: str, said: str) -> None:
    result = solve(TINY, TINY_PROBLEM, planner=f"up:toy-{name}", memory_limit=1_000)
    assert (str(result.outcome), result.plan, result.validated) == (outcome, None, "none")
    assert said in result.log_tail


def sleepers(folder: Path) -> list[int]:
    """Processes whose working directory lies in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(f"{folder}/"):
                found.append(int(entry.name))
    return found


def wait_until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_what_an_engine_started_elsewhere_dies_with_its_time(temporary_folder: Path) -> None:
    result = solve(TINY, TINY_PROBLEM, planner="up:toy-sleeps", time_limit=6)
    assert result.outcome is PlanningOutcome.TIMEOUT
    assert sleepers(temporary_folder) == []
    assert list(temporary_folder.iterdir()) == []


@linux
def test_what_an_engine_leaves_goes_when_it_ends(temporary_folder: Path) -> None:
    result = solve(TINY, TINY_PROBLEM, planner="up:toy-leaves")
    assert result.outcome is PlanningOutcome.UNSOLVABLE
    assert f"file {temporary_folder}/" in result.log_tail
    assert sleepers(temporary_folder) == []
    assert list(temporary_folder.iterdir()) == []


@linux
def test_what_an_engine_started_elsewhere_dies_with_a_cancellation(temporary_folder: Path) -> None:
    async def cancel_in_the_middle() -> None:
        task = asyncio.create_task(solve_async(TINY, TINY_PROBLEM, planner="up:toy-sleeps"))
        # us, the guard, the work, a shell and two that sleep
        await asyncio.to_thread(wait_until, lambda: len(sleepers(temporary_folder)) == 6)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sleepers(temporary_folder) == []

    asyncio.run(cancel_in_the_middle())
    assert list(temporary_folder.iterdir()) == []


@linux
def test_what_an_engine_started_elsewhere_dies_when_we_are_killed(tmp_path: Path) -> None:
    (tmp_path / "domain").write_text(TINY)
    (tmp_path / "problem").write_text(TINY_PROBLEM)
    command = [sys.executable, "-m", "llm_modulo", "solve", "domain", "problem"]
    process = subprocess.Popen(
        [*command, "--planner", "up:toy-sleeps"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: len(sleepers(tmp_path)) == 6)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: not sleepers(tmp_path), 5)


def test_solves_at_once_do_not_mix(sokoban: str, corridor_problem: Callable[..., str]) -> None:
    async def solve_all() -> list[SolveResult]:
        return await asyncio.gather(
            *(
                solve_async(sokoban, corridor_problem(length), planner="up:fast-downward")
                for length in (4, 5, 6, 7)
            )
        )

    assert [result.cost for result in asyncio.run(solve_all())] == [2.0, 3.0, 4.0, 5.0]
