"""Percentile bootstrap over clusters: observations of one dish, or by one person, resemble each other.

Resampling whole clusters keeps that dependence (Davison & Hinkley 1997, §3.8). Reviews are clustered by dish *and*
reviewer: there the weight of an observation is the product of the draws of its two clusters, the pigeonhole
bootstrap (Owen 2007, "The pigeonhole bootstrap", Ann. Appl. Stat. 1:386–411), which errs to the wide side.

The seed is stored with the method's name and nothing depends on the order of the observations, so a table that is
computed again holds the same intervals.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
# Draws of more clusters are too large to be kept as they are: 2,000 clusters take 32 MB, packed 4 MB.
_MOST_KEPT = 2000

Floats = npt.NDArray[np.float64]
Draws = npt.NDArray[np.uint16]
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
    blocks = [_Block.of(values, clusters, single, weights)]
    [first] = _drawn(len(blocks[0].rows))
    means = _resampled_means(blocks, first, np.ones((DRAWS, 1), dtype=np.uint16))
    lacks = [_lack(blocks, k, LEAST_CLUSTERS, "clusters", 1, "") for k in range(means.shape[1])]
    return [_interval(draws, ONE_WAY, lack) for draws, lack in zip(means.T, lacks, strict=True)]


def two_way(values: npt.ArrayLike, dishes: Labels, reviewers: Labels, weights: Floats | None = None) -> list[Interval]:
    """Intervals of k means of the same reviews, resampling dishes and reviewers.

    `values` (n, k), NaN where a review does not count for a mean; `dishes`, `reviewers` (n,) labels; `weights` as in
    `one_way`. Length k.
    """
    blocks = list(_blocks(values, dishes, reviewers, weights))
    first, second = _drawn(sum(len(block.rows) for block in blocks), sum(len(block.columns) for block in blocks))
    means = _resampled_means(blocks, first, second)
    least = (LEAST_CLUSTERS, "dishes", LEAST_REVIEWERS, "reviewers")
    lacks = [_lack(blocks, k, *least) for k in range(means.shape[1])]
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
    drawn = statistic(weights.astype(np.float64) @ parts)
    return [
        _interval(draws, f"percentile bootstrap over {clusters}, {DRAWS} draws, seed {SEED}", "") for draws in drawn.T
    ]


@dataclass(frozen=True)
class _Block:
    """Clusters that share observations with each other and with no others: a country's dishes and its reviewers.

    `rows`, `columns`: their places among all clusters of their kind; `sums`, `counts` (k, rows, columns): weighted, of
    the values of each pair. Thousands of dishes and of reviewers would make one large table that is nearly empty.
    """

    rows: npt.NDArray[np.intp]
    columns: npt.NDArray[np.intp]
    sums: Floats
    counts: Floats

    @classmethod
    def of(cls, values: npt.ArrayLike, first: Labels, second: Labels, weights: Floats | None = None) -> "_Block":
        """All observations in one: `values` (n, k), labels (n,)."""
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2 or not len(table) == len(first) == len(second):
            shapes = f"{table.shape}, {len(first)}, {len(second)}"
            raise ValueError(f"values (n, k) and labels (n,) are needed, got {shapes}")
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
        return cls(np.arange(shape[0]), np.arange(shape[1]), sums, counts)


def _blocks(values: npt.ArrayLike, first: Labels, second: Labels, weights: Floats | None) -> Iterator[_Block]:
    """The observations in blocks, as many as there are."""
    row, column = (np.unique(labels, return_inverse=True)[1] for labels in (first, second))
    parts = _connected(row, column) if len(row) == len(column) else []
    if len(parts) < 2:
        yield _Block.of(values, first, second, weights)
        return
    table = np.asarray(values, dtype=np.float64)
    for at in parts:
        block = _Block.of(table[at], row[at], column[at], None if weights is None else weights[at])
        yield replace(block, rows=np.unique(row[at]), columns=np.unique(column[at]))


def _connected(row: npt.NDArray[np.intp], column: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Observations (their places) that hang together by a row or a column, each part in the order that it had."""
    if not len(row):
        return []
    part = np.arange(row.max() + 1)
    while True:
        lowest = np.full(column.max() + 1, len(part))
        np.minimum.at(lowest, column, part[row])
        met = part.copy()
        np.minimum.at(met, row, lowest[column])
        met = met[met]
        if (met == part).all():
            break
        part = met
    of = part[row]
    order = np.argsort(of, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(of[order])) + 1)


def _drawn(*clusters: int) -> tuple[Draws, ...]:
    """The draws of each kind of clusters. They depend on their numbers alone, and a table has many cells of a size."""
    if sum(clusters) <= _MOST_KEPT:
        return _kept_draws(clusters)
    return tuple(draws.astype(np.float64) for draws in _packed_draws(clusters))


def _new_draws(clusters: tuple[int, ...]) -> tuple[Draws, ...]:
    rng = np.random.default_rng(SEED)
    found = tuple(_multiplicities(rng, number) for number in clusters)
    for draws in found:
        draws.flags.writeable = False
    return found


_kept_draws = lru_cache(maxsize=16)(_new_draws)
_last_draws = lru_cache(maxsize=1)(_new_draws)


@lru_cache(maxsize=3)
def _packed_draws(clusters: tuple[int, ...]) -> tuple[npt.NDArray[np.uint8], ...]:
    """The draws in a byte each: no cluster is drawn 256 times. Drawing them takes far longer than unpacking them."""
    return tuple(draws.astype(np.uint8) for draws in _new_draws(clusters))


def _multiplicities(rng: np.random.Generator, clusters: int) -> Draws:
    """How often each cluster is drawn: (DRAWS, clusters), every row sums to the number of clusters."""
    if not clusters:
        return np.zeros((DRAWS, 0), dtype=np.uint16)
    parts = [
        rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=min(_CHUNK, DRAWS - start)).astype(np.uint16)
        for start in range(0, DRAWS, _CHUNK)
    ]
    return np.concatenate(parts)


def _resampled_means(blocks: Sequence[_Block], first: Draws, second: Draws) -> Floats:
    """Weighted means (draws, k): the weight of a cell is the product of its clusters' multiplicities.

    NaN where a draw holds no observation: with 10 by 5 clusters or more, far less than one draw in a hundred.
    Draws go in chunks, so that memory stays small with many clusters.
    """
    parts = []
    for start in range(0, DRAWS, _CHUNK):
        drawn = [draws[start : start + _CHUNK].astype(np.float64) for draws in (first, second)]
        pairs = [(block, drawn[0].take(block.rows, 1), drawn[1].take(block.columns, 1)) for block in blocks]
        totals = sum(np.einsum("kbr,br->bk", rows @ block.sums, columns) for block, rows, columns in pairs)
        weights = sum(np.einsum("kbr,br->bk", rows @ block.counts, columns) for block, rows, columns in pairs)
        parts.append(np.divide(totals, weights, out=np.full_like(totals, np.nan), where=weights > 0))
    return np.concatenate(parts)


def _lack(blocks: Sequence[_Block], k: int, least_rows: int, rows: str, least_columns: int, columns: str) -> str:
    """Why the clusters that hold observations for mean k are too few, or an empty text."""
    held_rows = sum(int((block.counts[k].sum(axis=1) > 0).sum()) for block in blocks)
    held_columns = sum(int((block.counts[k].sum(axis=0) > 0).sum()) for block in blocks)
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
