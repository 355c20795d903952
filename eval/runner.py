"""Run an experiment: plan the trials, do what is missing, store each as it ends.

A trial that the environment broke is stored as `errored` and done again on resume; it
never counts against the model. A failure that would meet every trial (a refused key, an
endpoint that is down) stops the run; what is stored stays.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from llm_modulo.agent.conditions import find_condition
from llm_modulo.agent.loop import Conversation
from llm_modulo.agent.models import ChatClient, ModelSettings
from llm_modulo.agent.prompts import Prompts
from llm_modulo.agent.toolbox import ToolBox
from llm_modulo.domains import find_benchmark
from llm_modulo.errors import EndpointFailure, EnvironmentFailure, ExperimentError
from llm_modulo.planning import run_sync

from .experiment import Experiment, Trial
from .folder import now, prepare_folder, versions, write_manifest
from .scoring import Outcome, score_outcome
from .store import TrialRecord, TrialStore

__all__ = ["Progress", "RunSummary", "run", "run_async"]

Progress = Callable[["RunSummary"], None]
ServerFactory = Callable[[], Any]


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """Where a run stands.

    Attributes:
        planned: trials of the experiment.
        done: with a verdict; `before` of them were done when this call began.
        errored: broken by the environment in this call.
        stopped: why the run ended before its last trial, or None.
    """

    planned: int
    done: int
    before: int
    errored: int = 0
    stopped: str | None = None
    last_error: str | None = None

    @property
    def complete(self) -> bool:
        """Every planned trial has a verdict."""
        return self.done == self.planned


def run(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    server: ServerFactory | None = None,
) -> RunSummary:
    """Run or resume an experiment; `run_async` for callers without an event loop."""
    return run_sync(run_async(experiment, folder, progress=progress, server=server))


async def run_async(
    experiment: Experiment,
    folder: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    server: ServerFactory | None = None,
    store: Callable[[Path], TrialStore] | None = None,
) -> RunSummary:
    """Run or resume an experiment in a folder.

    Args:
        experiment: what to do.
        folder: the run folder; made if it does not exist.
        progress: called after each trial.
        server: makes the server object for `tools.transport = "memory"`.
        store: opens the store of a folder for writing.

    Returns:
        Where the run stands at its end.

    Raises:
        ExperimentError: the folder holds another experiment, was begun with other prompts,
            or is being written to.
        EnvironmentFailure: the tool server does not start, or the disk refuses.
    """
    instances = experiment.instances.load()
    trials = list(experiment.trials(instances))
    if len({t.key for t in trials}) != len(trials):
        raise ExperimentError("Two trials of the experiment are the same; check its models.")
    prompts = Prompts(experiment.prompts)
    _try_prompts(experiment, trials, prompts)
    path = Path(folder)
    with store(path) if store else TrialStore(path, write=True) as opened:
        manifest = prepare_folder(path, experiment.resolved(), instances, len(trials))
        if manifest.setdefault("prompts_sha256", prompts.hashes()) != prompts.hashes():
            raise ExperimentError(f"{folder} was begun with other prompts; choose another --out.")
        runner = _Runner(experiment, opened, prompts, progress)
        return await runner.run(trials, path, manifest, server)


def _try_prompts(experiment: Experiment, trials: Sequence[Trial], prompts: Prompts) -> None:
    """Build one prompt for each condition and benchmark, before anything is spent."""
    seen = set()
    for trial in trials:
        kind = (trial.condition.shown_as, trial.instance.benchmark)
        if kind not in seen:
            seen.add(kind)
            condition = find_condition(trial.condition.name)(trial.condition.settings(), prompts)
            condition.messages(trial.instance, find_benchmark(trial.instance.benchmark))


class _Runner:
    def __init__(
        self,
        experiment: Experiment,
        store: TrialStore,
        prompts: Prompts,
        progress: Progress | None,
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._prompts = prompts
        self._progress = progress
        self._clients: dict[str, ChatClient] = {}
        self._toolbox: ToolBox | None = None
        self._failures_in_a_row = 0
        self._summary = RunSummary(planned=0, done=0, before=0)
        self._versions = versions()

    async def run(
        self,
        trials: Sequence[Trial],
        folder: Path,
        manifest: dict[str, Any],
        server: ServerFactory | None,
    ) -> RunSummary:
        statuses = self._store.statuses()
        pending = [t for t in trials if statuses.get(t.key) != "done"]
        done = len(trials) - len(pending)
        self._summary = RunSummary(planned=len(trials), done=done, before=done)
        self._show()
        if not pending:
            return self._summary
        async with AsyncExitStack() as stack:
            await self._open_clients(pending, stack)
            if any(find_condition(t.condition.name).uses_tools for t in pending):
                self._toolbox = await stack.enter_async_context(self._tool_server(server))
                manifest["tools_sha256"] = self._toolbox.schema_hash()
            write_manifest(folder, manifest)
            queue = iter(pending)
            workers = min(self._experiment.limits.concurrent_trials, len(pending))
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(workers):
                        group.create_task(self._work(queue))
            except ExceptionGroup as failures:  # the store's: `_try` lets nothing else through
                raise failures.exceptions[0] from failures
        return self._summary

    async def _open_clients(self, pending: Sequence[Trial], stack: AsyncExitStack) -> None:
        models = {t.model.shown_as: t.model for t in pending}
        endpoint = None
        if any(m.is_reference and m.base_url is None for m in models.values()):
            from llm_modulo.agent.models.reference import reference_endpoint

            endpoint = await stack.enter_async_context(reference_endpoint())
        limits = self._experiment.limits
        for label, model in models.items():
            local = model.is_reference and model.base_url is None
            client = ChatClient(
                model,
                base_url=endpoint if local else None,
                timeout=limits.request_timeout,
                retries=limits.retries,
            )
            self._clients[label] = await stack.enter_async_context(client)

    def _tool_server(self, server: ServerFactory | None) -> ToolBox:
        tools = self._experiment.tools
        match tools.transport:
            case "stdio":
                return ToolBox.over_stdio(max_solves=self._experiment.limits.planners)
            case "http" if tools.url:
                return ToolBox(tools.url)
            case "memory" if server is not None:
                return ToolBox(server())
        raise ExperimentError(
            "[tools] with transport http needs `url`; memory is for the command line."
        )

    async def _work(self, queue: Iterator[Trial]) -> None:
        """Do trials until there are none, or the run is stopped."""
        for trial in queue:
            if self._summary.stopped is not None:
                return
            record, transcript = await self._try(trial)
            self._store.write(record, transcript)
            self._count(record)

    def _count(self, record: TrialRecord) -> None:
        summary = self._summary
        if record.status == "done":
            self._failures_in_a_row = 0
            summary = replace(summary, done=summary.done + 1)
        else:
            self._failures_in_a_row += 1
            summary = replace(summary, errored=summary.errored + 1, last_error=record.error)
            if self._failures_in_a_row >= self._experiment.limits.give_up_after:
                summary = replace(summary, stopped=record.error)
        if self._summary.stopped is not None:
            summary = replace(summary, stopped=self._summary.stopped)
        self._summary = summary
        self._show()

    def _show(self) -> None:
        if self._progress is not None:
            self._progress(self._summary)

    async def _try(self, trial: Trial) -> tuple[TrialRecord, dict[str, Any] | None]:
        """Do one trial; a failure of the environment gives an errored record."""
        started, start = now(), time.perf_counter()
        try:
            return await self._do(trial, started, start)
        except EndpointFailure as failure:
            if failure.fatal:
                self._summary = replace(self._summary, stopped=str(failure))
            return self._errored(trial, started, str(failure)), None
        except EnvironmentFailure as failure:
            return self._errored(trial, started, str(failure)), None
        except Exception as error:  # a fault of ours in one trial must not cost the others
            message = f"Internal error: {type(error).__name__}: {error}"
            return self._errored(trial, started, message), None

    async def _do(
        self, trial: Trial, started: str, start: float
    ) -> tuple[TrialRecord, dict[str, Any]]:
        kind = find_condition(trial.condition.name)
        condition = kind(trial.condition.settings(), self._prompts)
        benchmark = find_benchmark(trial.instance.benchmark)
        conversation = await condition.run(
            trial.instance,
            benchmark,
            self._clients[trial.model.shown_as],
            self._toolbox,
            seed=trial.seed,
        )
        seconds = time.perf_counter() - start
        transcript = _transcript(conversation, kind.uses_tools)
        outcome = Outcome.of_transcript(transcript)
        scored = score_outcome(trial.instance, benchmark, outcome)
        record = _record(trial, started, self._versions).model_copy(
            update={
                "ended": now(),
                "status": "done",
                "model_served": conversation.served,
                "answer_text": conversation.answer,
                **scored.fields(),
                "domain_altered": conversation.domain_altered,
                "usage": asdict(conversation.usage),
                "latency": {
                    "model": round(conversation.model_seconds, 6),
                    "tools": round(conversation.tool_seconds, 6),
                    "total": round(seconds, 6),
                },
                "tool_calls": len(conversation.tool_calls),
                "solve_outcomes": conversation.solve_outcomes,
                "stop_reason": str(conversation.stop_reason),
                "prompt_hash": _prompt_hash(conversation),
                "tools_hash": self._toolbox.schema_hash()
                if self._toolbox is not None and kind.uses_tools
                else None,
            }
        )
        return record, transcript

    def _errored(self, trial: Trial, started: str, message: str) -> TrialRecord:
        return _record(trial, started, self._versions).model_copy(
            update={"ended": now(), "error": message, "error_class": "environment"}
        )


def _record(trial: Trial, started: str, used: dict[str, str]) -> TrialRecord:
    model: ModelSettings = trial.model
    return TrialRecord(
        key=trial.key,
        instance_id=trial.instance.id,
        condition=trial.condition.shown_as,
        model=model.shown_as,
        model_asked=model.name,
        reference=model.is_reference,
        repetition=trial.repetition,
        started=started,
        ended=started,
        status="errored",
        versions=used,
    )


def _transcript(conversation: Conversation, with_tools: bool) -> dict[str, Any]:
    return {
        "messages": conversation.messages,
        "tools": conversation.tools,
        "model_calls": conversation.model_calls,
        "tool_calls": conversation.tool_calls,
        "answer": conversation.answer,
        "stop_reason": str(conversation.stop_reason),
        "notice": conversation.notice,
        "with_tools": with_tools,
        "plan": conversation.plan,
        "solve_outcomes": conversation.solve_outcomes,
        "domain_altered": conversation.domain_altered,
    }


def _prompt_hash(conversation: Conversation) -> str:
    start = [m for m in conversation.messages if m.get("role") in ("system", "user")]
    return hashlib.sha256(json.dumps(start, sort_keys=True).encode()).hexdigest()
