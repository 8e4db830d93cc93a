"""Spearman's rank correlation, with a bootstrap interval over observations."""

import numpy as np
import numpy.typing as npt

from evaluation.metrics.bootstrap import DRAWS, SEED, Interval

LEAST = 10
METHOD = f"percentile bootstrap over {{what}}, {DRAWS} draws, seed {SEED}"
Floats = npt.NDArray[np.float64]


def average_ranks(values: npt.ArrayLike) -> Floats:
    """Ranks from 1 of `values` (n,); ties share the mean of their ranks."""
    held = np.asarray(values, dtype=np.float64)
    _, place, counts = np.unique(held, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[place]
    return ranks


def spearman(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Spearman's ρ of two (n,): Pearson's r of their average ranks, in [−1, 1]; None where one of them is constant
    or there are fewer than two observations."""
    one, other = average_ranks(first), average_ranks(second)
    if len(one) != len(other):
        raise ValueError(f"two arrays of one length are needed, got {len(one)} and {len(other)}")
    if len(one) < 2 or not one.std() or not other.std():
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1, 1))


def spearman_interval(first: npt.ArrayLike, second: npt.ArrayLike, what: str = "observations") -> Interval:
    """95 % interval of ρ, ranks made anew in every draw; not claimed for fewer than 10 observations."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(one) < LEAST:
        return Interval(None, None, reason=f"fewer than {LEAST} {what}: no interval is claimed")
    drawn = np.random.default_rng(SEED).integers(0, len(one), size=(DRAWS, len(one)))
    found = [rho for row in drawn if (rho := spearman(one[row], other[row])) is not None]
    if len(found) < 0.99 * DRAWS:
        return Interval(None, None, reason="too many resamples say nothing: no interval is claimed")
    low, high = np.percentile(found, (2.5, 97.5))
    return Interval(float(low), float(high), METHOD.format(what=what))
