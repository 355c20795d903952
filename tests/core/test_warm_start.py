"""The forkserver: tasks are apart from each other, and it dies and is replaced unnoticed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_modulo.planning import solve, solve_async
from llm_modulo.planning.planners import Limits, _warm_start
from llm_modulo.planning.planners._process import prepare_warm_start, run_child, run_warm_child

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
Corridor = Callable[..., str]


def forkserver() -> int:
    """The process that forks for us."""
    prepare_warm_start()
    assert _warm_start._owner is not None
    return _warm_start._owner.process.pid


def tasks_of(pid: int) -> list[int]:
    return [
        int(word)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for word in (thread / "children").read_text().split()
    ]


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_many_solves_share_one_forkserver(sokoban: str, corridor_problem: Corridor) -> None:
    before = forkserver()
    for cells in (5, 9, 7):
        result = solve(sokoban, corridor_problem(cells), planner="fast-downward-opt")
        assert result.outcome == "solved_optimally"
    assert forkserver() == before
    assert tasks_of(before) == []


def test_tasks_that_fail_do_not_spoil_the_next(sokoban: str, corridor_problem: Corridor) -> None:
    plans = set()
    for _ in range(2):
        assert solve(sokoban, corridor_problem(1_000), memory_limit=50).outcome == "memout"
        assert solve(sokoban, corridor_problem(2_000), time_limit=0.3).outcome == "timeout"
        plans.add(solve(sokoban, corridor_problem(9), planner="fast-downward-opt").plan)
    assert len(plans) == 1
    assert None not in plans


SWITCHES = """(define (domain switches) (:requirements :adl :derived-predicates :action-costs)
  (:predicates (on ?l) (next ?l ?m) (lit ?l)) (:functions (total-cost) - number)
  (:derived (lit ?l) (or (on ?l) (exists (?m) (and (next ?m ?l) (lit ?m)))))
  (:action press :parameters (?l) :precondition (not (lit ?l))
    :effect (and (on ?l) (increase (total-cost) 2)
      (forall (?m) (when (and (next ?l ?m) (on ?m)) (not (on ?m)))))))
"""
SWITCH_PROBLEM = """(define (problem p) (:domain switches) (:objects a b c)
  (:init (next a b) (= (total-cost) 0)) (:goal (forall (?l) (lit ?l)))
  (:metric minimize (total-cost)))
"""


def test_a_forked_translation_is_that_of_a_fresh_process(
    sokoban: str, corridor_problem: Corridor, tmp_path: Path
) -> None:
    """Byte for byte, also after the forkserver has practised and others have failed."""
    tasks = [(sokoban, corridor_problem(9)), (SWITCHES, SWITCH_PROBLEM)]
    limits = Limits(seconds=30.0)

    async def translate(domain: str, problem: str, name: str, run: Callable[..., Any]) -> bytes:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "domain.pddl").write_text(domain)
        (folder / "problem.pddl").write_text(problem)
        task = {"kind": "fast-downward", "binary": "/bin/true", "search": []}
        end = await run(task, folder=folder, limits=limits)
        assert end.returncode == 0
        return (folder / "task.sas").read_bytes()

    async def compare() -> None:
        for turn in range(20):
            for number, texts in enumerate(tasks):
                warm = await translate(*texts, f"warm-{turn}-{number}", run_warm_child)
                if turn in (0, 19):
                    assert warm == await translate(*texts, f"cold-{turn}-{number}", run_child)

    asyncio.run(compare())


def test_a_dead_forkserver_is_replaced(sokoban: str, corridor_problem: Corridor) -> None:
    before = forkserver()
    os.kill(before, signal.SIGKILL)
    assert solve(sokoban, corridor_problem(5)).outcome == "solved"
    assert forkserver() != before


def test_a_task_whose_forkserver_dies_is_done_all_the_same(
    sokoban: str, corridor_problem: Corridor
) -> None:
    async def kill_in_the_middle() -> str:
        pid = forkserver()
        task = asyncio.create_task(solve_async(sokoban, corridor_problem(300)))
        await asyncio.to_thread(until, lambda: tasks_of(pid))
        children = tasks_of(pid)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not any(map(is_alive, children)), 1.0)
        return (await task).outcome.value

    assert asyncio.run(kill_in_the_middle()) == "solved"


def test_a_planner_killed_from_outside_has_crashed(
    sokoban: str, corridor_problem: Corridor
) -> None:
    async def kill_the_planner() -> str:
        pid = forkserver()
        task = asyncio.create_task(solve_async(sokoban, corridor_problem(300)))
        await asyncio.to_thread(until, lambda: tasks_of(pid))
        os.kill(tasks_of(pid)[0], signal.SIGKILL)
        return (await task).outcome.value

    assert asyncio.run(kill_the_planner()) == "crashed"
    assert solve(sokoban, corridor_problem(5)).outcome == "solved"


def test_a_fork_of_this_process_has_a_forkserver_of_its_own(
    sokoban: str, corridor_problem: Corridor
) -> None:
    program = (
        "import os, sys\n"
        "from llm_modulo.planning import solve\n"
        "domain, problem = sys.stdin.read().split('\\x1e')\n"
        "first = solve(domain, problem)\n"
        "pid = os.fork()\n"
        "second = solve(domain, problem)\n"
        "assert first.plan == second.plan and first.outcome == 'solved'\n"
        "if pid: assert os.waitpid(pid, 0)[1] == 0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{sokoban}\x1e{corridor_problem(5)}",
        text=True,
        timeout=60,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("end", ["sys.exit(0)", "os.kill(os.getpid(), 9)"])
def test_the_forkserver_dies_with_its_owner(
    sokoban: str, corridor_problem: Corridor, end: str
) -> None:
    program = (
        "import os, sys, threading, time\n"
        "from llm_modulo.planning import solve\n"
        "from llm_modulo.planning.planners import _warm_start\n"
        "domain, problem = sys.stdin.read().split('\\x1e')\n"
        "threading.Thread(target=solve, args=(domain, problem), daemon=True).start()\n"
        "time.sleep(1.0)\n"
        "print(_warm_start._owner.process.pid, flush=True)\n"
        f"{end}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{sokoban}\x1e{corridor_problem(3_000)}",
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    pid = int(done.stdout)
    until(lambda: not is_alive(pid), 1.0)


def test_the_environment_and_the_folder_of_a_task_are_its_own(
    sokoban: str, corridor_problem: Corridor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A working directory that is gone, or read-only, does not matter."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    _warm_start.stop()
    assert solve(sokoban, corridor_problem(5)).outcome == "solved"


def test_limits_and_cancellations_hold_with_a_forkserver_that_hangs(
    sokoban: str, corridor_problem: Corridor
) -> None:
    async def cancelled() -> float:
        task = asyncio.create_task(solve_async(sokoban, corridor_problem(5)))
        await asyncio.sleep(0.3)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - start

    for solve_it in (lambda: solve(sokoban, corridor_problem(5), time_limit=0.5), None):
        pid = forkserver()
        os.kill(pid, signal.SIGSTOP)
        if solve_it is not None:
            result = solve_it()
            assert result.outcome == "timeout"
            assert result.seconds["total"] is not None
            assert result.seconds["total"] < 10.0
        else:
            assert asyncio.run(cancelled()) < 10.0
        assert not is_alive(pid)
    assert solve(sokoban, corridor_problem(5)).outcome == "solved"


def test_signals_that_the_owner_ignores_are_not_ignored_in_planners(
    sokoban: str, corridor_problem: Corridor
) -> None:
    program = (
        "import signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from llm_modulo.planning import solve\n"
        "domain, problem = sys.stdin.read().split('\\x1e')\n"
        "assert [solve(domain, problem).outcome for _ in range(3)] == ['solved'] * 3\n"
    )
    text = f"{sokoban}\x1e{corridor_problem(5)}"
    done = subprocess.run([sys.executable, "-c", program], input=text, text=True, timeout=60)
    assert done.returncode == 0


def test_a_fork_while_a_task_is_handed_over_does_not_hang() -> None:
    with _warm_start._lock:
        pid = os.fork()
        if pid == 0:
            signal.alarm(5)
            prepare_warm_start()
            _warm_start.stop()
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
