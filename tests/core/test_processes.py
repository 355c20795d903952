"""Nothing of a planner is left: after its end, its time, a cancellation, or our own death.

A planner's processes are known by their working directory, which lies in a folder that is private
to the test.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.planning import solve, solve_async
from llm_modulo.planning.planners import planner_names
from llm_modulo.planning.planners._process import prepare_warm_start, run_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
Task = Callable[[int], tuple[str, str]]


def processes_in(folder: Path) -> list[int]:
    """The processes, zombies aside, whose working directory lies in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and os.readlink(entry / "cwd").startswith(f"{folder}/"):
                found.append(int(entry.name))
    return found


def children() -> list[int]:
    """Our own children and theirs, zombies included."""
    found = []
    todo = ["self"]
    while todo:
        with suppress(OSError):  # the process may end meanwhile
            for thread in Path(f"/proc/{todo.pop()}/task").iterdir():
                with suppress(OSError):
                    mine = (thread / "children").read_text().split()
                    found += map(int, mine)
                    todo += mine
    return found


def wait_until(condition: Callable[[], object], seconds: float) -> bool:
    """Whether a condition becomes true within some seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def nothing_is_left(temporary_folder: Path) -> Iterator[Path]:
    """A folder for planners that is empty again, and without processes, when the test is over."""
    prepare_warm_start()  # that process stays
    before = set(children())
    yield temporary_folder
    assert processes_in(temporary_folder) == []
    assert set(children()) - before == set()
    assert list(temporary_folder.iterdir()) == []


@pytest.mark.parametrize("planner", planner_names())
def test_nothing_is_left_after_a_timeout(
    nothing_is_left: Path, endless_tasks: Task, planner: str
) -> None:
    result = solve(*endless_tasks(200), planner=planner, time_limit=0.7)
    assert result.outcome == "timeout"
    assert result.seconds["total"] is not None
    assert result.seconds["total"] < 2.0


def test_nothing_is_left_after_a_plan_or_a_memout(
    nothing_is_left: Path, sokoban: str, corridor_problem: Callable[..., str]
) -> None:
    outcomes = [solve(sokoban, corridor_problem(n), memory_limit=50).outcome for n in (5, 1_000)]
    assert outcomes == ["solved", "memout"]


@pytest.mark.parametrize("planner", planner_names())
def test_nothing_is_left_after_a_cancellation(
    nothing_is_left: Path, endless_tasks: Task, planner: str
) -> None:
    async def cancel_in_the_middle() -> None:
        task = asyncio.create_task(solve_async(*endless_tasks(200), planner=planner))
        assert await asyncio.to_thread(wait_until, lambda: processes_in(nothing_is_left), 10)
        await asyncio.sleep(0.5)
        assert processes_in(nothing_is_left) != []
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 1.0
        # Not only soon: the task ends after its planner did.
        assert processes_in(nothing_is_left) == []

    asyncio.run(cancel_in_the_middle())


def test_nothing_is_left_whenever_the_cancellation_comes(
    nothing_is_left: Path, endless_tasks: Task
) -> None:
    # Before the text is read, between two steps of starting a process, while it translates, …
    rng = random.Random(1)
    delays = [0.0] * 5 + [rng.uniform(0.0, 0.12) for _ in range(35)]
    descriptors = len(os.listdir("/proc/self/fd"))

    async def cancel_after(delay: float) -> None:
        task = asyncio.create_task(solve_async(*endless_tasks(30)))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def cancel_all() -> None:
        for delay in delays:
            await cancel_after(delay)
        for turns in range(30):  # of the event loop
            task = asyncio.create_task(solve_async(*endless_tasks(3)))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    asyncio.run(cancel_all())
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_cancelling_one_solve_leaves_the_others_alone(
    nothing_is_left: Path,
    endless_tasks: Task,
    sokoban: str,
    corridor_problem: Callable[..., str],
    concurrency: Callable[[int], None],
) -> None:
    concurrency(2)

    async def solve_three() -> list[Any]:
        endless = asyncio.create_task(solve_async(*endless_tasks(200)))
        others = [
            asyncio.create_task(solve_async(sokoban, corridor_problem(length)))
            for length in (40, 41)
        ]
        await asyncio.sleep(0.05)
        endless.cancel()
        return await asyncio.gather(endless, *others, return_exceptions=True)

    cancelled, *others = asyncio.run(solve_three())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert [len(result.plan) for result in others] == [38, 39]


def test_no_descriptor_is_left_after_many_solves(
    nothing_is_left: Path, endless_tasks: Task
) -> None:
    solve(*endless_tasks(3))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        assert solve(*endless_tasks(3)).outcome == "unsolvable"
        assert solve(*endless_tasks(50), time_limit=0.15).outcome == "timeout"
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_five_hundred_mixed_solves_leave_nothing(
    nothing_is_left: Path,
    endless_tasks: Task,
    sokoban: str,
    corridor_problem: Callable[..., str],
    concurrency: Callable[[int], None],
) -> None:
    """Solved, out of time, out of memory, cancelled, and killed from outside, four at once."""
    concurrency(4)
    rng = random.Random(11)
    solve(sokoban, corridor_problem(5))
    descriptors = len(os.listdir("/proc/self/fd"))
    threads = threading.active_count()
    outcomes: dict[str, Counter[str]] = {}

    async def one(kind: str, cells: int) -> None:
        planner = rng.choice(["fast-downward", "fast-downward-opt"])
        limits: dict[str, Any] = {}
        texts = (sokoban, corridor_problem(cells))
        if kind == "timeout":
            texts, limits = endless_tasks(60), {"time_limit": 0.2}
        elif kind == "memout":
            texts, limits = (sokoban, corridor_problem(1_000)), {"memory_limit": 50}
        elif kind in ("cancel", "kill"):
            texts = endless_tasks(60)
        elif kind == "pyperplan":
            planner = "pyperplan"
        task = asyncio.create_task(solve_async(*texts, planner=planner, **limits))
        if kind == "cancel":
            await asyncio.sleep(rng.uniform(0.0, 0.3))
            task.cancel()
        elif kind == "kill":
            await asyncio.sleep(rng.uniform(0.1, 0.5))
            for pid in processes_in(nothing_is_left):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        try:
            result = await task
            outcomes.setdefault(kind, Counter())[result.outcome] += 1
            if result.plan is not None:
                assert len(result.plan) == cells - 2
        except asyncio.CancelledError:
            outcomes.setdefault(kind, Counter())["cancelled"] += 1

    async def all_of_them() -> None:
        kinds = ["solve"] * 250 + ["timeout"] * 80 + ["memout"] * 60 + ["cancel"] * 80
        kinds += ["kill"] * 20 + ["pyperplan"] * 10
        rng.shuffle(kinds)
        queue = list(kinds)

        async def work() -> None:
            while queue:
                await one(queue.pop(), rng.randint(5, 25))

        await asyncio.gather(*(work() for _ in range(4)))

    asyncio.run(all_of_them())
    assert sum(counter.total() for counter in outcomes.values()) == 500
    # What was killed from outside, and what ran beside it, has crashed or was done already.
    assert outcomes["solve"].keys() <= {"solved", "solved_optimally", "crashed"}
    assert outcomes["solve"]["crashed"] < 80
    assert outcomes["timeout"]["timeout"] > 60
    assert outcomes["memout"]["memout"] > 40
    assert outcomes["cancel"]["cancelled"] > 60
    assert outcomes["kill"].keys() <= {"crashed", "memout"}
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert threading.active_count() <= threads + 1


@pytest.mark.parametrize(
    "script",
    [
        "sleep 300 & sleep 300",
        "trap '' TERM INT HUP; sleep 300 & sleep 300 & wait",
        "(sleep 300 & echo started) ; exit 0",  # what outlives its parent
    ],
)
def test_the_whole_process_group_is_killed(nothing_is_left: Path, script: str) -> None:
    folder = nothing_is_left / "solve"
    folder.mkdir()
    start = time.monotonic()
    end = asyncio.run(run_process(["sh", "-c", script], folder=folder, time_limit=0.3))
    assert end.timed_out is ("exit" not in script)
    assert time.monotonic() - start < 2.0
    assert wait_until(lambda: processes_in(nothing_is_left) == [], seconds=1.0)
    (folder / "log").unlink()
    folder.rmdir()


SOLVE = """
import sys
from llm_modulo.planning import solve
solve(sys.stdin.readline().replace("\\t", "\\n"), sys.stdin.readline(), planner=sys.argv[1],
      time_limit=60, memory_limit=2000)
"""


def start_solve(folder: Path, domain: str, problem: str, planner: str) -> subprocess.Popen[str]:
    """A Python process in the middle of a solve of 60 s, with its temporary files in `folder`."""
    process = subprocess.Popen(
        [sys.executable, "-c", SOLVE, planner],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder)},
        text=True,
    )
    assert process.stdin is not None
    with process.stdin as stdin:
        stdin.write(" ".join(domain.split()) + "\n" + " ".join(problem.split()) + "\n")
    return process


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("planner", ["fast-downward-opt", "pyperplan"])
def test_no_process_survives_the_death_of_its_parent(
    temporary_folder: Path, endless_tasks: Task, planner: str, signal_number: signal.Signals
) -> None:
    parent = start_solve(temporary_folder, *endless_tasks(200), planner)
    try:
        assert wait_until(lambda: processes_in(temporary_folder), seconds=20)
        time.sleep(0.5)
        assert processes_in(temporary_folder) != []
    finally:
        parent.send_signal(signal_number)
        parent.wait(timeout=5)
    assert wait_until(lambda: processes_in(temporary_folder) == [], seconds=1.0)


def test_no_process_survives_a_parent_that_dies_while_it_starts_one(
    temporary_folder: Path, endless_tasks: Task
) -> None:
    for _ in range(3):
        parent = start_solve(temporary_folder, *endless_tasks(200), "fast-downward-opt")
        wait_until(lambda: list(temporary_folder.iterdir()), seconds=20)
        parent.kill()
        parent.wait(timeout=5)
        assert wait_until(lambda: processes_in(temporary_folder) == [], seconds=1.0)
        for file in temporary_folder.rglob("*.*"):
            file.unlink()
        for folder in temporary_folder.iterdir():
            (folder / "log").unlink(missing_ok=True)
            folder.rmdir()


def test_control_c_ends_the_command_and_its_planner(
    temporary_folder: Path, endless_tasks: Task, tmp_path: Path
) -> None:
    files = [tmp_path / "domain.pddl", tmp_path / "problem.pddl"]
    for file, text in zip(files, endless_tasks(200), strict=True):
        file.write_text(text)
    process = subprocess.Popen(
        [Path(sys.executable).with_name("llm-modulo"), "solve", *files, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary_folder)},
        text=True,
    )
    assert wait_until(lambda: processes_in(temporary_folder), seconds=20)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=10)
    assert process.returncode == 130
    assert (output, errors) == ('{"error": "Cancelled."}\n', "Cancelled.\n")
    assert processes_in(temporary_folder) == []
    assert list(temporary_folder.iterdir()) == []


def test_an_interrupt_in_a_notebook_ends_the_planner(
    nothing_is_left: Path, endless_tasks: Task
) -> None:
    # A notebook's event loop has no handler for SIGINT, as the loop of asyncio.run has.
    async def cell() -> None:
        interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            solve(*endless_tasks(200), time_limit=30)
        assert time.monotonic() - start < 5.0

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(cell())
    finally:
        loop.close()
