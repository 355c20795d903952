"""Estimates with 95% intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["DRAWS", "Estimate", "cluster_means", "mean_interval", "share_interval"]

DRAWS = 5_000
_Z = 1.959963984540054
"""97.5% point of the standard normal distribution."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A value with its interval; None where it is undefined.

    Attributes:
        n: how many trials it rests on.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int

    def to_json(self) -> dict[str, float | int | None]:
        """The fields as a JSON object."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def share_interval(successes: int, n: int) -> Estimate:
    """A share with its Wilson score interval (Wilson 1927), without continuity correction."""
    if n == 0:
        return Estimate(value=None, low=None, high=None, n=0)
    share = successes / n
    scale = 1 + _Z**2 / n
    centre = (share + _Z**2 / (2 * n)) / scale
    half = _Z / scale * (share * (1 - share) / n + _Z**2 / (4 * n**2)) ** 0.5
    return Estimate(
        value=share,
        low=0.0 if successes == 0 else max(0.0, centre - half),
        high=1.0 if successes == n else min(1.0, centre + half),
        n=n,
    )


def cluster_means(
    values: Sequence[float], clusters: Sequence[str], *, draws: int, seed: int
) -> np.ndarray:
    """Means of `draws` bootstrap samples of whole clusters; shape (draws,).

    Clusters are sorted, so the order of the input does not matter.
    """
    names = sorted(set(clusters))
    index = {name: i for i, name in enumerate(names)}
    member = np.array([index[c] for c in clusters])
    totals = np.bincount(member, weights=np.asarray(values, dtype=float), minlength=len(names))
    counts = np.bincount(member, minlength=len(names))
    drawn = np.random.default_rng(seed).integers(0, len(names), size=(draws, len(names)))
    means: np.ndarray = totals[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return means


def mean_interval(
    values: Sequence[float], clusters: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """A mean with its percentile bootstrap interval, whole clusters resampled.

    Args:
        values: one for each trial.
        clusters: the cluster (instance) of each trial; its repetitions stay together.
        draws: bootstrap samples.
        seed: of the resampling.
    """
    if not values:
        return Estimate(value=None, low=None, high=None, n=0)
    means = cluster_means(values, clusters, draws=draws, seed=seed)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(value=float(np.mean(values)), low=float(low), high=float(high), n=len(values))
