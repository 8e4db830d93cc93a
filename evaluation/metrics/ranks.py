"""Spearman's rank correlation, with an interval for independent observations.

The interval is that of Bonett & Wright 2000, "Sample size requirements for estimating Pearson, Kendall and Spearman
correlations", Psychometrika 65:23–28: on Fisher's scale, with the variance (1 + ρ²/2) ÷ (n − 3).
"""

from math import atanh, sqrt, tanh

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.intervals import Interval, build_empty_interval, explain_few_clusters
from evaluation.metrics.inference.proportion import Z

LEAST = 10
METHOD = "Bonett & Wright, as for independent {what} (bench.coverage: rank correlation)"
PERFECT = "the ranks agree entirely: no interval is claimed"
NO_RHO = "one of them does not vary, or is not known for all: no interval is claimed"


def average_ranks(values: npt.ArrayLike) -> Floats:
    """Ranks from 1 of `values` (n,) without NaN; ties share the mean of their ranks."""
    held = np.asarray(values, dtype=np.float64)
    _, place, counts = np.unique(held, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[place]
    return ranks


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Spearman's ρ of two (n,): Pearson's r of their average ranks, in [−1, 1]; None where one of them is constant or
    holds a NaN, which has no rank, or there are fewer than two observations."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape or one.ndim != 1:
        raise ValueError(f"two arrays of one length are needed, got {one.shape} and {other.shape}")
    if len(one) < 2 or np.isnan(one).any() or np.isnan(other).any():
        return None
    one, other = average_ranks(one), average_ranks(other)
    if not one.std() or not other.std():
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1, 1))


def spearman_interval(first: npt.ArrayLike, second: npt.ArrayLike, what: str = "observations") -> Interval:
    """95 % interval of ρ; not claimed for fewer than 10 observations."""
    rho, n = spearman(first, second), len(np.asarray(first))
    if n < LEAST:
        return build_empty_interval(explain_few_clusters(LEAST, what))
    if rho is None:
        return build_empty_interval(NO_RHO)
    if abs(rho) > 1 - 1e-12:
        return build_empty_interval(PERFECT)
    half = Z * sqrt((1 + rho * rho / 2) / (n - 3))
    return Interval(tanh(atanh(rho) - half), tanh(atanh(rho) + half), METHOD.format(what=what))
