"""Experiments: file, run folder, scores, comparison, report."""

from .comparison import compare, compare_conditions
from .experiment import Experiment, Trial, load_experiment, parse_experiment, trial_key
from .folder import RunFolder, open_run
from .metrics import METRICS, Metric
from .report import write_report
from .rescoring import rescore
from .runner import RunSummary, run, run_async
from .scoring import Outcome, Scored, score_answer, score_outcome
from .store import TrialRecord, TrialStore
from .summary import score, summarise

__all__ = [
    "METRICS",
    "Experiment",
    "Metric",
    "Outcome",
    "RunFolder",
    "RunSummary",
    "Scored",
    "Trial",
    "TrialRecord",
    "TrialStore",
    "compare",
    "compare_conditions",
    "load_experiment",
    "open_run",
    "parse_experiment",
    "rescore",
    "run",
    "run_async",
    "score",
    "score_answer",
    "score_outcome",
    "summarise",
    "trial_key",
    "write_report",
]
