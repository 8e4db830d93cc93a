"""The nearest points of points and the distance of the k-th, as float64 has them, without a matrix of all pairs."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats, Ints, Mask
from evaluation.metrics.feature_sets.points import (
    NO_HITS,
    ArrayBounds,
    Device,
    Hits,
    LowerBounds,
    PointSet,
    Singles,
    as_singles,
    prepare_points,
)

# Neighbours listed beyond those that are asked for: so many may lie within the error of the k-th.
SPARE = 8


@dataclass
class Neighbours:
    """For each of `queries` the `index` (n, m) of the points with the lowest bounds `lower` (n, m), ascending; where
    there are fewer, −1 and infinity. `within`: queries and points are one set, and no point neighbours itself."""

    queries: PointSet
    points: PointSet
    within: bool
    device: Device
    index: Ints
    lower: Singles
    squares: Floats = field(init=False)

    def __post_init__(self) -> None:
        self.squares = np.full(self.index.shape, np.nan)

    def measure(self, chosen: Mask) -> None:
        """Fill `squares`, the exact squared distances, where `chosen` (n, m)."""
        rows, place = np.nonzero(chosen & np.isnan(self.squares))
        self.squares[rows, place] = self.queries.square_distances(rows, self.points, self.index[rows, place])

    def radii(self, k: int, members: Mask | None = None) -> Floats:
        """(n,) squared distance of each query to its k-th nearest point among the `members` (points,)."""
        listed = self.index >= 0
        if members is not None:
            listed &= members[self.index]
        rows, place = np.nonzero(listed)
        upper = np.full(self.index.shape, np.inf)
        upper[rows, place] = self.queries.upper(
            self.points, Hits(rows, self.index[rows, place], self.lower[rows, place])
        )
        near = listed & (self.lower <= _nth(upper, k)[:, None])
        self.measure(near)
        found = _nth(np.where(near, self.squares, np.inf), k)
        # What is not listed lies no nearer than the bound of the last that is, and nothing is nearer than a copy.
        if self.complete:
            return found
        unsure = np.flatnonzero((found >= self.lower[:, -1]) & (found > 0))
        if members is not None and self.within:
            unsure = unsure[members[unsure]]
        for row, (_, squares) in zip(unsure, self.scan(unsure, found[unsure], members), strict=True):
            if len(squares) >= k:
                found[row] = min(found[row], np.partition(squares, k - 1)[k - 1])
        return found

    @property
    def complete(self) -> bool:
        """All points are listed."""
        return self.index.shape[1] >= len(self.points) - self.within

    def scan(self, rows: Ints, limits: Floats, members: Mask | None = None) -> Iterator[tuple[Ints, Floats]]:
        """For each of some queries: the points that may lie within its squared limit, and their squared distances."""
        if not len(rows):
            return
        some = self.queries.take(rows)
        bounds = self.device(some, self.points)
        for part in some.parts():
            yield from self._scan_block(bounds, rows, part, as_singles(limits[part]), members)

    def _scan_block(
        self, bounds: LowerBounds, rows: Ints, part: slice, limits: Singles, members: Mask | None
    ) -> Iterator[tuple[Ints, Floats]]:
        found: list[list[tuple[Ints, Floats]]] = [[] for _ in range(part.stop - part.start)]
        for columns in self.points.parts():
            hits, _ = bounds.below(part, columns, limits, None)
            fits = np.ones(len(hits.rows), dtype=bool) if members is None else members[hits.columns]
            if self.within:
                fits &= rows[hits.rows] != hits.columns
            row, column = hits.rows[fits], hits.columns[fits]
            squares = self.queries.square_distances(rows[row], self.points, column)
            cuts = np.searchsorted(row, np.arange(part.start, part.stop + 1))
            for place in np.flatnonzero(np.diff(cuts)):
                some = slice(cuts[place], cuts[place + 1])
                found[place].append((column[some], squares[some]))
        for each in found:
            columns_of, squares_of = zip(*each, strict=True) if each else ((NO_HITS.columns,), (np.empty(0),))
            yield np.concatenate(columns_of), np.concatenate(squares_of)


def _nth(values: npt.NDArray[np.floating], k: int) -> Floats:
    """(n,) the k-th smallest of each row; infinity where there are fewer."""
    if values.shape[1] < k:
        return np.full(len(values), np.inf)
    return np.asarray(np.partition(values, k - 1, axis=1)[:, k - 1], dtype=np.float64)


def list_neighbours(queries: PointSet, points: PointSet | None, count: int, device: Device = ArrayBounds) -> Neighbours:
    """The `count` points of the lowest bounds for each query. Without `points`, among the queries themselves, and each
    block of pairs is computed once."""
    within = points is None
    points = queries if points is None else points
    count = max(0, min(count, len(points) - within))
    index = np.full((len(queries), count), -1, dtype=np.intp)
    near = Neighbours(queries, points, within, device, index, np.full(index.shape, np.inf, dtype=np.float32))
    if not count or not len(queries):
        return near
    bounds = device(queries, points)
    for number, rows in enumerate(queries.parts()):
        if within:
            _begin(near, bounds, rows, rows)
        else:
            _begin(near, bounds, rows, points.parts()[0])
            for columns in points.parts()[1:]:
                hits, _ = bounds.below(rows, columns, near.lower[rows, -1], None)
                _merge(near, hits)
        for columns in queries.parts()[:number] if within else ():
            of_rows, of_columns = bounds.below(rows, columns, near.lower[rows, -1], near.lower[columns, -1])
            _merge(near, of_rows)
            _merge(near, Hits(of_columns.columns, of_columns.rows, of_columns.lower))
    return near


def _begin(near: Neighbours, bounds: LowerBounds, rows: slice, columns: slice) -> None:
    """List the neighbours of `rows` among `columns`."""
    found = bounds.block(rows, columns)
    if near.within:
        np.fill_diagonal(found, np.inf)
    count = min(near.index.shape[1], found.shape[1])
    place = np.argpartition(found, count - 1, axis=1)[:, :count]
    lower = np.take_along_axis(found, place, axis=1)
    order = np.argsort(lower, axis=1, kind="stable")
    near.lower[rows, :count] = np.take_along_axis(lower, order, axis=1)
    near.index[rows, :count] = np.take_along_axis(place, order, axis=1) + columns.start
    near.index[rows][np.isinf(near.lower[rows])] = -1


def _merge(near: Neighbours, hits: Hits = NO_HITS) -> None:
    """List what is nearer than the last neighbour, in its place."""
    if not len(hits.rows):
        return
    count = near.index.shape[1]
    rows, place = np.unique(hits.rows, return_inverse=True)
    row = np.concatenate([np.repeat(np.arange(len(rows)), count), place])
    lower = np.concatenate([near.lower[rows].ravel(), hits.lower])
    index = np.concatenate([near.index[rows].ravel(), hits.columns])
    order = np.lexsort((lower, row))
    starts = np.searchsorted(row[order], np.arange(len(rows)))
    chosen = order[starts[:, None] + np.arange(count)]
    near.lower[rows], near.index[rows] = lower[chosen], index[chosen]


def find_nearest(
    queries: npt.ArrayLike, points: npt.ArrayLike | None, count: int = 1, device: Device = ArrayBounds
) -> tuple[Ints, Floats]:
    """The `count` nearest points of each query: their index (n, count), nearest first, the earlier of equals, and their
    Euclidean distances (n, count). Without `points`, among the queries themselves, none its own.

    Raises PointError for vectors that do not fit, ValueError where there are fewer points than `count`.
    """
    sets = prepare_points(queries) if points is None else prepare_points(points, queries)
    mine, others = sets[-1], None if points is None else sets[0]
    if not 1 <= count <= len(sets[0]) - (points is None):
        raise ValueError(f"{count} nearest of {len(sets[0])} points cannot be found: ask for fewer")
    near = list_neighbours(mine, others, count + SPARE, device)
    limits = near.radii(count)
    listed = (near.index >= 0) & (near.lower <= limits[:, None])
    near.measure(listed)
    squares = np.where(listed, near.squares, np.inf)
    order = np.lexsort((near.index, squares), axis=1)[:, :count]
    index, squares = np.take_along_axis(near.index, order, axis=1), np.take_along_axis(squares, order, axis=1)
    # Where others may lie as near as the last of the list. At the limit itself too: the earlier of equals comes first.
    unsure = np.arange(0) if near.complete else np.flatnonzero(limits >= near.lower[:, -1])
    beyond = near.scan(unsure, np.nextafter(limits[unsure], np.inf))
    for row, (columns, values) in zip(unsure, beyond, strict=True):
        first = np.lexsort((columns, values))[:count]
        index[row], squares[row] = columns[first], values[first]
    return index, np.sqrt(squares) / mine.scale
