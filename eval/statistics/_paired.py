"""Two conditions on the same instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ._intervals import DRAWS, cluster_means

__all__ = ["PairedDifference", "mcnemar_exact", "paired_difference"]

Pair = tuple[float, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedDifference:
    """Treatment − baseline over pairs.

    Attributes:
        baseline, treatment: means over the paired trials.
        difference: treatment − baseline.
        low, high: 95% percentile bootstrap interval, whole instances resampled.
        instances: how many instances the comparison rests on.
        pairs: how many pairs of trials.
    """

    baseline: float | None
    treatment: float | None
    difference: float | None
    low: float | None
    high: float | None
    instances: int
    pairs: int


def paired_difference(
    pairs: Mapping[str, list[Pair]], *, draws: int = DRAWS, seed: int = 0
) -> PairedDifference:
    """Compare two conditions.

    Args:
        pairs: instance → pairs (baseline, treatment) of its repetitions; pairs with an
            undefined side are left out by the caller.
        draws: bootstrap samples.
        seed: of the resampling.
    """
    flat = [(name, pair) for name in sorted(pairs) for pair in pairs[name]]
    if not flat:
        return PairedDifference(
            baseline=None,
            treatment=None,
            difference=None,
            low=None,
            high=None,
            instances=0,
            pairs=0,
        )
    names = [name for name, _ in flat]
    differences = [treatment - baseline for _, (baseline, treatment) in flat]
    means = cluster_means(differences, names, draws=draws, seed=seed)
    low, high = np.percentile(means, [2.5, 97.5])
    return PairedDifference(
        baseline=float(np.mean([b for _, (b, _) in flat])),
        treatment=float(np.mean([t for _, (_, t) in flat])),
        difference=float(np.mean(differences)),
        low=float(low),
        high=float(high),
        instances=len(set(names)),
        pairs=len(flat),
    )


def mcnemar_exact(gained: int, lost: int) -> float:
    """Two-sided exact McNemar test.

    Args:
        gained: pairs where only the treatment succeeded.
        lost: pairs where only the baseline did.

    Returns:
        The p-value of the binomial test with probability ½ on the discordant pairs;
        1 if there are none.
    """
    from scipy.stats import binomtest

    if gained + lost == 0:
        return 1.0
    return float(binomtest(gained, gained + lost, 0.5).pvalue)
