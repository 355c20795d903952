"""The runner's memory does not grow with the number of trials."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from llm_modulo.eval import RunSummary, parse_experiment, run

TRIALS = 600
MEGABYTE = 1_000_000
ALLOWED = 5 * MEGABYTE
"""A growth of 12 kB a trial. A transcript of one is at least as long."""


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_trials(
    tmp_path: Path, experiment_text: Callable[..., str], reference_url: str
) -> None:
    experiment = parse_experiment(
        experiment_text(
            instances={"benchmark": "sokobench", "options": {"lengths": [100]}},
            models=[{"name": "reference/oracle", "base_url": reference_url}],
            repetitions=TRIALS // 4,
        )
    )
    used: dict[int, int] = {}

    def note(summary: RunSummary) -> None:
        used[summary.done] = resident()

    assert run(experiment, tmp_path, progress=note).done == TRIALS
    assert used[TRIALS] - used[TRIALS // 3] < ALLOWED
