"""Intervals and tests."""

from ._intervals import Estimate, mean_interval, share_interval
from ._paired import PairedDifference, mcnemar_exact, paired_difference

__all__ = [
    "Estimate",
    "PairedDifference",
    "mcnemar_exact",
    "mean_interval",
    "paired_difference",
    "share_interval",
]
