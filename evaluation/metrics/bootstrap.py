"""Percentile bootstrap over clusters: observations of one dish, or by one person, resemble each other.

Resampling whole clusters keeps that dependence (Davison & Hinkley 1997, §3.8). Reviews are clustered by dish *and*
reviewer: there the weight of an observation is the product of the draws of its two clusters, the pigeonhole
bootstrap (Owen 2007, "The pigeonhole bootstrap", Ann. Appl. Stat. 1:386–411), which errs to the wide side.

The seed is stored with the method's name and nothing depends on the order of the observations, so a table that is
computed again holds the same intervals.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

DRAWS = 2000
SEED = 20250623
LEAST_CLUSTERS = 10
LEAST_REVIEWERS = 5
ONE_WAY = f"percentile bootstrap over clusters, {DRAWS} draws, seed {SEED}"
TWO_WAY = f"percentile bootstrap over dishes and reviewers, {DRAWS} draws, seed {SEED}"
_TAILS = (2.5, 97.5)
_CHUNK = 250
# Draws of more clusters are too large to be kept: 2,000 clusters take 32 MB.
_MOST_KEPT = 2000

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Interval:
    """A 95 % interval, or (`low` and `high` None) the `reason` why none is claimed."""

    low: float | None
    high: float | None
    method: str = ""
    reason: str = ""


def one_way(values: npt.ArrayLike, clusters: Labels, weights: Floats | None = None) -> list[Interval]:
    """Intervals of k means over the same observations, resampling `clusters`.

    `values` (n, k), NaN where an observation does not count for a mean; `clusters` (n,) labels; `weights` (n,), above
    0, all 1 where there are none. Length k.
    """
    single = np.zeros(len(clusters), dtype=np.intp)
    sums, counts = _per_cell(values, clusters, single, weights)
    [first] = _drawn(sums.shape[1])
    means = _resampled_means(sums, counts, first, np.ones((DRAWS, 1)))
    lacks = [_lack(counts[k], LEAST_CLUSTERS, "clusters", 1, "") for k in range(len(counts))]
    return [_interval(draws, ONE_WAY, lack) for draws, lack in zip(means.T, lacks, strict=True)]


def two_way(values: npt.ArrayLike, dishes: Labels, reviewers: Labels, weights: Floats | None = None) -> list[Interval]:
    """Intervals of k means of the same reviews, resampling dishes and reviewers.

    `values` (n, k), NaN where a review does not count for a mean; `dishes`, `reviewers` (n,) labels; `weights` as in
    `one_way`. Length k.
    """
    sums, counts = _per_cell(values, dishes, reviewers, weights)
    first, second = _drawn(sums.shape[1], sums.shape[2])
    means = _resampled_means(sums, counts, first, second)
    lacks = [_lack(counts[k], LEAST_CLUSTERS, "dishes", LEAST_REVIEWERS, "reviewers") for k in range(len(counts))]
    return [_interval(draws, TWO_WAY, lack) for draws, lack in zip(means.T, lacks, strict=True)]


def of_sums(parts: Floats, statistic: Callable[[Floats], Floats], clusters: str = "dishes") -> list[Interval]:
    """Intervals of k statistics that depend on sums over clusters, resampling the clusters.

    `parts` (clusters, m): what each cluster adds; `statistic` maps summed parts (draws, m) to (draws, k), NaN where a
    draw says nothing. `clusters` is their name. Length k.
    """
    if len(parts) < LEAST_CLUSTERS:
        reason = f"fewer than {LEAST_CLUSTERS} {clusters}: no interval is claimed"
        return [Interval(None, None, reason=reason)] * statistic(parts.sum(axis=0, keepdims=True)).shape[1]
    [weights] = _drawn(len(parts))
    drawn = statistic(weights @ parts)
    return [
        _interval(draws, f"percentile bootstrap over {clusters}, {DRAWS} draws, seed {SEED}", "") for draws in drawn.T
    ]


def _per_cell(
    values: npt.ArrayLike, first: Labels, second: Labels, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """Weighted sums and counts (k, clusters of `first`, clusters of `second`) of `values` (n, k)."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not len(table) == len(first) == len(second):
        raise ValueError(f"values (n, k) and labels (n,) are needed, got {table.shape}, {len(first)}, {len(second)}")
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    shape = (len(rows), len(columns))
    cell = row * shape[1] + column
    present = ~np.isnan(table) * (1.0 if weights is None else weights[:, None])
    sums, counts = np.zeros((2, table.shape[1], *shape))
    for k in range(table.shape[1]):
        held = np.where(present[:, k] > 0, table[:, k] * present[:, k], 0.0)
        sums[k] = np.bincount(cell, weights=held, minlength=sums[k].size).reshape(shape)
        counts[k] = np.bincount(cell, weights=present[:, k], minlength=sums[k].size).reshape(shape)
    return sums, counts


def _drawn(*clusters: int) -> tuple[Floats, ...]:
    """The draws of each kind of clusters. They depend on their numbers alone, and a table has many cells of a size."""
    return _kept_draws(clusters) if sum(clusters) <= _MOST_KEPT else _new_draws(clusters)


def _new_draws(clusters: tuple[int, ...]) -> tuple[Floats, ...]:
    rng = np.random.default_rng(SEED)
    found = tuple(_multiplicities(rng, number) for number in clusters)
    for draws in found:
        draws.flags.writeable = False
    return found


_kept_draws = lru_cache(maxsize=16)(_new_draws)


def _multiplicities(rng: np.random.Generator, clusters: int) -> Floats:
    """How often each cluster is drawn: (DRAWS, clusters), every row sums to the number of clusters."""
    if not clusters:
        return np.zeros((DRAWS, 0))
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=DRAWS).astype(np.float64)


def _resampled_means(sums: Floats, counts: Floats, first: Floats, second: Floats) -> Floats:
    """Weighted means (draws, k): the weight of a cell is the product of its clusters' multiplicities.

    NaN where a draw holds no observation: with 10 by 5 clusters or more, far less than one draw in a hundred.
    Draws go in chunks, so that memory stays small with many clusters.
    """
    parts = []
    for start in range(0, DRAWS, _CHUNK):
        rows, columns = first[start : start + _CHUNK], second[start : start + _CHUNK]
        totals = np.einsum("kbr,br->bk", rows @ sums, columns)
        weights = np.einsum("kbr,br->bk", rows @ counts, columns)
        parts.append(np.divide(totals, weights, out=np.full_like(totals, np.nan), where=weights > 0))
    return np.concatenate(parts)


def _lack(counts: Floats, least_rows: int, rows: str, least_columns: int, columns: str) -> str:
    """Why the clusters that hold observations (counts (rows, columns)) are too few, or an empty text."""
    held_rows = int((counts.sum(axis=1) > 0).sum())
    held_columns = int((counts.sum(axis=0) > 0).sum())
    if held_rows < least_rows:
        return f"fewer than {least_rows} {rows}: no interval is claimed"
    if held_columns < least_columns:
        return f"fewer than {least_columns} {columns}: no interval is claimed"
    return ""


def _interval(draws: Floats, method: str, lack: str) -> Interval:
    """The percentiles of `draws` (DRAWS,), unless clusters are too few or resampling says nothing."""
    if lack:
        return Interval(None, None, reason=lack)
    held = draws[~np.isnan(draws)]
    if not held.size:
        return Interval(None, None, reason="no resample gives a value: no interval is claimed")
    low, high = (float(value) for value in np.percentile(held, _TAILS))
    if held.min() == held.max():
        return Interval(None, None, reason="all values are equal, resampling cannot vary them: no interval is claimed")
    return Interval(low, high, method)
