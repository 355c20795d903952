"""A process that has Fast Downward's translator loaded and forks a child for each task.

Run as a script by `_warm_start.py`, with the number of a control socket and the process id
of its owner as arguments. Each message on that socket is a task of `_child.py` with its
`folder`, and brings a channel of its own along. The child is forked from a process in which
no task has been translated, so none sees what another has left behind. On the channel the
forkserver writes the child's exit code when the child is dead and reaped; whatever comes in
on it, its end included, kills the child's process group. When the process that owns the
control socket is gone, so are the children and the forkserver.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

MESSAGE_BYTES = 60_000
_LOOK_UP_SECONDS = 1.0
_PRACTICE_ROUNDS = 12
_DOMAIN = """(define (domain d) (:requirements :strips :typing) (:types room ball - object)
  (:predicates (here ?r - room) (next ?r ?s - room) (at ?b - ball ?r - room) (held ?b - ball)
    (free))
  (:action move :parameters (?r ?s - room) :precondition (and (here ?r) (next ?r ?s))
    :effect (and (not (here ?r)) (here ?s)))
  (:action pick :parameters (?b - ball ?r - room) :precondition (and (here ?r) (at ?b ?r) (free))
    :effect (and (not (at ?b ?r)) (not (free)) (held ?b)))
  (:action drop :parameters (?b - ball ?r - room) :precondition (and (here ?r) (held ?b))
    :effect (and (at ?b ?r) (free) (not (held ?b)))))"""
_PROBLEM = """(define (problem p) (:domain d) (:objects a b c e f - room x y z - ball)
  (:init (here a) (free) (next a b) (next b a) (next b c) (next c b) (next c e) (next e f)
    (next f e) (next e c) (at x a) (at y b) (at z c))
  (:goal (and (at x f) (at y f) (at z a))))"""
_GC_THRESHOLD = 200_000
"""The translator makes many objects and few cycles: at 700, collections are a third of its time."""


def load_start() -> Callable[[dict[str, Any]], None]:
    """`start` of `_child.py`, which lies beside this script and is in no package for it."""
    spec = importlib.util.spec_from_file_location("_child", Path(__file__).with_name("_child.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start: Callable[[dict[str, Any]], None] = module.start
    return start


class Forkserver:
    """The tasks that are running, by the file descriptors that tell of their ends."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.parent = int(sys.argv[2])
        self.pid = os.getpid()
        self.start = load_start()
        self.selector = selectors.DefaultSelector()
        self.selector.register(control, selectors.EVENT_READ, self.take_task)

    def serve(self) -> None:
        """Work until the owner of the control socket is gone."""
        rounds = 0
        while os.getppid() == self.parent:
            idle = 0 if 0 < rounds < _PRACTICE_ROUNDS else _LOOK_UP_SECONDS
            events = self.selector.select(timeout=idle)
            if not events and 0 < rounds < _PRACTICE_ROUNDS:
                practise()
            rounds += bool(rounds or events)  # the first task comes first
            for key, _ in events:
                # Not ended by an event before this one, nor its number given to another.
                if self.selector.get_map().get(key.fd) is key:
                    key.data()

    def take_task(self) -> None:
        """Fork a child for the next task."""
        message, descriptors, _, _ = socket.recv_fds(self.control, MESSAGE_BYTES, 1)
        if not message:
            sys.exit(0)  # the kernel kills the children with us
        channel = socket.socket(fileno=descriptors[0])
        task = json.loads(message)
        try:
            pid = os.fork()
        except OSError:
            channel.close()  # an end without an exit code: the task was never started
            return
        if pid == 0:
            self.become(task, channel)
        ended = os.pidfd_open(pid)
        self.selector.register(channel, selectors.EVENT_READ, lambda: self.kill(pid, channel))
        self.selector.register(ended, selectors.EVENT_READ, lambda: self.reap(pid, ended, channel))

    def kill(self, pid: int, channel: socket.socket) -> None:
        """Kill a child because its channel says so; `reap` is called when it is dead."""
        self.selector.unregister(channel)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def reap(self, pid: int, ended: int, channel: socket.socket) -> None:
        """Kill what a dead child has left of its group, and tell its exit code."""
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        self.selector.unregister(ended)
        os.close(ended)
        if channel in self.selector.get_map():
            self.selector.unregister(channel)
        with suppress(OSError):
            channel.send(str(os.waitstatus_to_exitcode(status)).encode())
        channel.close()

    def become(self, task: dict[str, Any], channel: socket.socket) -> NoReturn:
        """In the child: leave the forkserver's session and do the task."""
        code = 1
        try:
            os.setsid()
            for key in list(self.selector.get_map().values()):
                os.close(key.fd)
            channel.close()
            os.chdir(task["folder"])
            log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            self.start({**task, "parent": self.pid})
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(BaseException):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


def practise() -> None:
    """Translate a small task: what the interpreter learns of the code, the children inherit."""
    from fast_downward.translate import main, options
    from fast_downward.translate.pddl_parser import warning

    with suppress(BaseException), tempfile.TemporaryDirectory(prefix="llm-modulo-") as folder:
        files = [f"{folder}/{name}" for name in ("domain", "problem", "task")]
        for file, text in zip(files, (_DOMAIN, _PROBLEM), strict=False):
            Path(file).write_text(text, encoding="ascii")
        options.set_options([*files[:2], "--sas-file", files[2]])
        main.main()
    options.options = None
    main.simplified_effect_condition_counter = 0
    main.added_implied_precondition_counter = 0
    warning.printed_warnings.clear()
    gc.collect()
    gc.freeze()


def main() -> None:
    """Load the translator, then serve."""
    # Whoever started us may ignore or block signals; a child that is ignored is never reaped.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    control = socket.socket(fileno=int(sys.argv[1]))
    import fast_downward.translate.main

    assert fast_downward.translate.main
    gc.collect()
    gc.freeze()  # the children's collections leave these objects' pages shared
    gc.set_threshold(_GC_THRESHOLD, 50, 100)
    Forkserver(control).serve()


if __name__ == "__main__":
    main()
