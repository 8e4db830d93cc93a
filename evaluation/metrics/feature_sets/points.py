"""Points and lower bounds of the squared distances between them, fast in float32 and exact in float64.

‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y, with the product in float32, is wrong by at most `slack` (‖x‖² + ‖y‖²): d roundings of
the product (Higham 2002, *Accuracy and Stability of Numerical Algorithms*, § 3.1), and a few of the points, their
lengths and the sums. Points are centred first, so that this is little. What a bound cannot decide,
`PointSet.square_distances` does, in float64 from the points as given. So results are those of float64, whatever device,
number of threads and order of sums gave the products.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats, Ints, Mask

Singles = npt.NDArray[np.float32]
# Roundings besides those of the product; some fifteen happen.
ROUNDINGS = 64
UNIT = 2.0**-24
# Products of numbers so small that float32 drops them.
LEAST_SQUARE = 2.0**-100
# Lengths between which float32 holds squares and their sums.
SHORTEST, LONGEST = 1e-12, 1e12
# Rows of a block, and the numbers that a block of points may hold: 16 MB.
MOST_ROWS = 2048
MOST_NUMBERS = 2048 * 2048
# Pairs that are measured exactly at once hold this many numbers.
MOST_EXACT = 1 << 20


class PointError(ValueError):
    """Points that have no distances."""


class Hits(NamedTuple):
    """Pairs whose lower bound is below a limit: rows, columns (n,) and the bounds (n,)."""

    rows: Ints
    columns: Ints
    lower: Singles


class LowerBounds(Protocol):
    """Lower bounds of the squared distances between two sets of points, block by block."""

    def block(self, rows: slice, columns: slice) -> Singles:
        """All bounds of a block (rows, columns)."""
        ...

    def below(
        self, rows: slice, columns: slice, row_limits: Singles | None, column_limits: Singles | None
    ) -> tuple[Hits, Hits]:
        """The pairs of a block under the limits of their rows (n,), and under those of their columns; without limits,
        none."""
        ...


class PointSet:
    """Points (n, d) as given, with their squared lengths (n,) once centred, in float32 and scaled.

    `scale` is a power of two, and 1 unless lengths leave float32's range; squared distances are times its square.
    """

    def __init__(self, points: npt.NDArray[np.floating], centre: npt.NDArray[np.floating], scale: float = 1.0) -> None:
        self.values, self.centre, self.scale = points, centre, scale
        self.squares: Floats = np.empty(len(points))
        for part in self.parts():
            self.squares[part] = np.square(self.centred(part), dtype=np.float64).sum(axis=1)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    @property
    def slack(self) -> float:
        """How wrong a product may be, per squared length of both points."""
        return (self.width + ROUNDINGS) * UNIT

    def parts(self) -> list[slice]:
        """Blocks of rows, none larger than memory allows."""
        rows = max(1, min(MOST_ROWS, MOST_NUMBERS // max(self.width, 1)))
        return [slice(start, min(start + rows, len(self))) for start in range(0, len(self), rows)]

    def centred(self, part: slice, out: Singles | None = None) -> Singles:
        """A block of centred points, in `out` where one is given. One subtraction of any centre is off by one rounding
        of its result."""
        if out is not None and self.scale == 1:
            return np.subtract(self.values[part], self.centre, out=out, dtype=self.values.dtype, casting="same_kind")
        found = np.subtract(self.values[part], self.centre, dtype=self.values.dtype)
        if self.scale != 1:
            found *= self.scale
        return found.astype(np.float32, copy=False)

    def lengths(self, part: slice) -> Singles:
        """(n,) what a point adds to the lower bounds of its distances."""
        return ((1 - self.slack) * self.squares[part] - LEAST_SQUARE / 2).astype(np.float32)

    def upper(self, other: "PointSet", hits: Hits) -> Floats:
        """(n,) upper bounds of the squared distances of pairs."""
        lengths = self.squares[hits.rows] + other.squares[hits.columns]
        return hits.lower + 2 * self.slack * lengths + 2 * LEAST_SQUARE

    def square_distances(self, rows: Ints, other: "PointSet", columns: Ints) -> Floats:
        """(n,) exact squared distances of pairs, the same to the last bit whichever point is named first."""
        found, step = np.empty(len(rows)), max(1, MOST_EXACT // max(self.width, 1))
        for start in range(0, len(rows), step):
            some = slice(start, start + step)
            first = self.values[rows[some]].astype(np.float64, copy=False)
            first -= other.values[columns[some]]
            if self.scale != 1:
                first *= self.scale
            np.square(first, out=first)
            first.sum(axis=1, out=found[some])
        return found

    def take(self, rows: Ints) -> "PointSet":
        """Some of the points, with the same centre."""
        return PointSet(self.values[rows], self.centre, self.scale)


class ArrayBounds:
    """Lower bounds by numpy, on the threads that it has. A block is valid until the next one is asked for, so that large
    arrays are not allocated for each."""

    def __init__(self, first: PointSet, second: PointSet) -> None:
        self.first, self.second = first, second
        self._part: slice | None = None
        rows, columns = (max((part.stop - part.start for part in each.parts()), default=0) for each in (first, second))
        self._rows: Singles = np.empty((0, first.width), dtype=np.float32)
        self._columns: Singles = np.empty((columns, first.width), dtype=np.float32)
        self._products: Singles = np.empty(rows * columns, dtype=np.float32)
        self._chosen: Mask = np.empty(rows * columns, dtype=bool)

    def block(self, rows: slice, columns: slice) -> Singles:
        if self._part != rows:
            self._part, self._rows = rows, self.first.centred(rows) * np.float32(-2)
        others = self.second.centred(columns, self._columns[: columns.stop - columns.start])
        shape = (len(self._rows), len(others))
        found: Singles = self._products[: shape[0] * shape[1]].reshape(shape)
        np.matmul(self._rows, others.T, out=found)
        found += self.first.lengths(rows)[:, None]
        found += self.second.lengths(columns)
        return found

    def below(
        self, rows: slice, columns: slice, row_limits: Singles | None, column_limits: Singles | None
    ) -> tuple[Hits, Hits]:
        found = self.block(rows, columns)
        of_rows = NO_HITS if row_limits is None else self._hits(found, row_limits[:, None], rows, columns)
        of_columns = NO_HITS if column_limits is None else self._hits(found, column_limits, rows, columns)
        return of_rows, of_columns

    def _hits(self, bounds: Singles, limits: Singles, rows: slice, columns: slice) -> Hits:
        chosen = self._chosen[: bounds.size].reshape(bounds.shape)
        flat = np.flatnonzero(np.less(bounds, limits, out=chosen))
        row, column = np.divmod(flat, bounds.shape[1])
        return Hits(row + rows.start, column + columns.start, bounds.reshape(-1)[flat])


Device = Callable[[PointSet, PointSet], LowerBounds]
NO_HITS = Hits(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32))


def as_singles(limits: Floats) -> Singles:
    """Limits (n,) in float32, none lower than before."""
    found = limits.astype(np.float32)
    return np.where(found < limits, np.nextafter(found, np.float32(np.inf)), found)


def prepare_points(*sets: npt.ArrayLike) -> list[PointSet]:
    """Sets of points (n, d) of one width, around the centre of the first; float32 stays as it is, all else is float64.

    Raises PointError where a set has another shape or width, or holds what is no finite number.
    """
    arrays = [_as_floats(points) for points in sets]
    widths = {array.shape[1] for array in arrays}
    if len(widths) > 1:
        raise PointError(
            f"vectors of one width are needed, got {', '.join(map(str, sorted(widths)))}: one extractor each"
        )
    if len({array.dtype for array in arrays}) > 1:
        arrays = [array.astype(np.float64) for array in arrays]
    first = arrays[0]
    centre = first.mean(axis=0, dtype=np.float64) if len(first) else np.zeros(first.shape[1])
    centre = centre.astype(first.dtype)
    longest = float(np.max([_longest(array, centre) for array in arrays]))
    if not np.isfinite(longest):
        raise PointError("vectors hold NaN, infinity or numbers too large: compute them anew")
    scale = 1.0 if SHORTEST < longest < LONGEST or not longest else float(2.0 ** -np.frexp(longest)[1])
    return [PointSet(array, centre, scale) for array in arrays]


def _as_floats(points: npt.ArrayLike) -> npt.NDArray[np.floating]:
    array = np.asarray(points)
    if array.ndim != 2:
        raise PointError(f"an array (n, d) of vectors is needed, got the shape {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype in (np.float16, np.float32) else np.float64)


def _longest(array: npt.NDArray[np.floating], centre: npt.NDArray[np.floating]) -> float:
    """The largest coordinate once centred; NaN or infinite where one is."""
    found = 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(array), MOST_ROWS):
            part = array[start : start + MOST_ROWS] - centre
            found = float(np.maximum(found, np.abs(part).max(initial=0.0)))
            if not found < np.inf:
                break
    return found
