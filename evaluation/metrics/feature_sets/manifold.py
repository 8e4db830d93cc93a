"""Precision, recall, density and coverage of generated images against photographs, by their feature vectors.

With r_k(j) the distance of real point j to its k-th nearest *other* real point, Euclidean and strict:

- precision: share of generated points g with ‖g − j‖ < r_k(j) for some j (Kynkäänniemi et al. 2019);
- recall: share of real points j with ‖g − j‖ < r_k(g) for some g, r_k(g) among the generated points;
- density: mean over g of the number of j with ‖g − j‖ < r_k(j), ÷ k (Naeem et al. 2020);
- coverage: share of real points j with ‖g − j‖ < r_k(j) for some g.

All depend on the number of points: compare at equal numbers, and say N and k (DIG In, Hall et al. 2024). A copy among
the photographs has the radius 0, so that nothing lies within it. Results are those of float64 (`points`); memory is
linear in the number of points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats, Ints, Mask
from evaluation.metrics.feature_sets.nearest import SPARE, Neighbours, list_neighbours
from evaluation.metrics.feature_sets.points import ArrayBounds, Device, Hits, PointSet, as_singles, prepare_points

K = 3
DRAWS = 20
# Pairs that are compared with the radii of all draws at once.
MOST_PAIRS = 1 << 16
FEW = "not measured: {n} {what}, and k = {k} needs at least {least}"


@dataclass(frozen=True)
class ManifoldMetrics:
    """The four measures of `n_generated` against `n_real` points; precision, recall, coverage 0 to 1, density from 0.
    All None where they are not measured, and `reason` says why."""

    k: int
    n_real: int
    n_generated: int
    precision: float | None = None
    recall: float | None = None
    density: float | None = None
    coverage: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class ManifoldPoints:
    """What each point says. `balls` (generated,): within how many real points' radii it lies; `covered`, `recalled`
    (real,): a generated point lies within its radius, it lies within that of a generated point. Radii of both."""

    k: int
    balls: Ints
    covered: Mask
    recalled: Mask
    real_radii: Floats
    generated_radii: Floats

    @cached_property
    def realistic(self) -> Mask:
        """(generated,) it lies within the radius of some real point."""
        return self.balls > 0

    def summarise(self) -> ManifoldMetrics:
        return ManifoldMetrics(
            self.k,
            len(self.covered),
            len(self.balls),
            precision=float(self.realistic.mean()),
            recall=float(self.recalled.mean()),
            density=float(self.balls.mean() / self.k),
            coverage=float(self.covered.mean()),
        )


def manifold_metrics(
    real: npt.ArrayLike, generated: npt.ArrayLike, k: int = K, device: Device = ArrayBounds
) -> ManifoldMetrics:
    """The measures of `generated` (m, d) against `real` (n, d); not measured under k + 1 points of either.

    `device` gives the products of a worker's card. Raises PointError for vectors that do not fit.
    """
    one, other = prepare_points(real, generated)
    reason = explain_few_points(len(one), len(other), k)
    if reason:
        return ManifoldMetrics(k, len(one), len(other), reason=reason)
    return _measure(one, other, k, device).summarise()


def manifold_points(
    real: npt.ArrayLike, generated: npt.ArrayLike, k: int = K, device: Device = ArrayBounds
) -> ManifoldPoints:
    """The same, point by point. Raises ValueError where nothing can be measured."""
    one, other = prepare_points(real, generated)
    reason = explain_few_points(len(one), len(other), k)
    if reason:
        raise ValueError(reason)
    return _measure(one, other, k, device)


def explain_few_points(n_real: int, n_generated: int, k: int) -> str:
    """Why so few points cannot be measured; empty where they can. Raises ValueError unless k is 1 or more."""
    if k < 1:
        raise ValueError(f"k = {k} names no neighbour: 1 or more is needed")
    for n, what in ((n_real, "photographs"), (n_generated, "generated images")):
        if n < k + 1:
            return FEW.format(n=n, what=what, k=k, least=k + 1)
    return ""


def draw_manifold_metrics(
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    size: int,
    k: int = K,
    draws: int = DRAWS,
    seed: int = 0,
    device: Device = ArrayBounds,
) -> list[ManifoldMetrics]:
    """The measures of `draws` random subsets of `size` points of both, without replacement, by `seed`.

    The draws share their distances where that is less work than each alone: then they take about (N ÷ size)² times as
    long as one. Raises ValueError for a `size` above the number of points.
    """
    one, other = prepare_points(real, generated)
    if size > min(len(one), len(other)):
        raise ValueError(f"{size} points cannot be drawn of {min(len(one), len(other))}: choose at most as many")
    reason = explain_few_points(size, size, k)
    if reason:
        return [ManifoldMetrics(k, size, size, reason=reason)] * draws
    if size == len(one) == len(other):
        return [_measure(one, other, k, device).summarise()] * draws
    random = np.random.default_rng(seed)
    chosen = [(_draw(random, len(one), size), _draw(random, len(other), size)) for _ in range(draws)]
    if draws * _count_pairs(size, size) <= _count_pairs(len(one), len(other)):
        return [_measure(one.take(real), other.take(made), k, device).summarise() for real, made in chosen]
    members = _members([real for real, _ in chosen], len(one)), _members([made for _, made in chosen], len(other))
    found = _measure_draws(one, other, k, members, device)
    return [_pick(points, *rows).summarise() for points, rows in zip(found, chosen, strict=True)]


def median_of_draws(found: Sequence[ManifoldMetrics]) -> ManifoldMetrics:
    """The median of each measure over draws of one size; as the first where that is not measured."""
    first = found[0]
    if first.reason:
        return first
    values = np.array([(each.precision, each.recall, each.density, each.coverage) for each in found], dtype=np.float64)
    precision, recall, density, coverage = map(float, np.median(values, axis=0))
    return ManifoldMetrics(first.k, first.n_real, first.n_generated, precision, recall, density, coverage)


def _count_pairs(n_real: int, n_generated: int) -> float:
    """How many pairs of points have their distance computed."""
    return (n_real**2 + n_generated**2) / 2 + n_real * n_generated


def _draw(random: np.random.Generator, n: int, size: int) -> Ints:
    return np.sort(random.choice(n, size, replace=False))


def _members(chosen: list[Ints], n: int) -> Mask:
    """(draws, n) which points belong to which draw."""
    found = np.zeros((len(chosen), n), dtype=bool)
    for draw, rows in enumerate(chosen):
        found[draw, rows] = True
    return found


def _pick(found: ManifoldPoints, real: Ints, generated: Ints) -> ManifoldPoints:
    return ManifoldPoints(
        found.k,
        found.balls[generated],
        found.covered[real],
        found.recalled[real],
        found.real_radii[real],
        found.generated_radii[generated],
    )


def _measure(real: PointSet, generated: PointSet, k: int, device: Device) -> ManifoldPoints:
    return _measure_draws(real, generated, k, None, device)[0]


def _measure_draws(
    real: PointSet, generated: PointSet, k: int, members: tuple[Mask, Mask] | None, device: Device
) -> list[ManifoldPoints]:
    """The points of each draw, of which `members` (draws, n) says which belong to it; without, one draw of all."""
    found = []
    for place, points in enumerate((real, generated)):
        mine = None if members is None else members[place]
        near = list_neighbours(points, None, _list_length(k, len(points), mine), device)
        found.append(_radii(near, k, mine))
    counts = _Counts(real, generated, *found)
    bounds = device(real, generated)
    # Within the radius 0 of a copy lies nothing.
    limits = [as_singles(np.where(each.max(axis=0) > 0, each.max(axis=0), -np.inf)) for each in found]
    for rows in real.parts():
        for columns in generated.parts():
            of_real, of_generated = bounds.below(rows, columns, limits[0][rows], limits[1][columns])
            counts.add_real(of_real)
            counts.add_generated(of_generated)
    radii = [np.sqrt(np.maximum(each, 0)) / real.scale for each in found]
    return [
        ManifoldPoints(
            k, counts.balls[draw], counts.covered[draw], counts.recalled[draw], radii[0][draw], radii[1][draw]
        )
        for draw in range(len(found[0]))
    ]


def _list_length(k: int, n: int, members: Mask | None) -> int:
    """Neighbours to list so that nearly every draw finds its k-th and those that may be it among them."""
    if members is None:
        return k + SPARE
    share = members[0].sum() / n
    return ceil((k + SPARE / 2 + 4 * sqrt(k + SPARE / 2)) / share)


def _radii(near: Neighbours, k: int, members: Mask | None) -> Floats:
    """(draws, n) squared radii; −∞, within which nothing lies, for points that a draw leaves out."""
    if members is None:
        return near.radii(k)[None]
    return np.array([np.where(mine, near.radii(k, mine), -np.inf) for mine in members])


class _Counts:
    """Which points lie within which radii, draw by draw."""

    def __init__(self, real: PointSet, generated: PointSet, real_radii: Floats, generated_radii: Floats) -> None:
        self.real, self.generated = real, generated
        self.real_radii, self.generated_radii = real_radii, generated_radii
        self.balls: Ints = np.zeros(generated_radii.shape, dtype=np.intp)
        self.covered: Mask = np.zeros(real_radii.shape, dtype=bool)
        self.recalled: Mask = np.zeros(real_radii.shape, dtype=bool)

    def add_real(self, hits: Hits) -> None:
        """Pairs that may lie within the radius of their real point."""
        for part in _split(hits):
            draw, pair = np.nonzero(
                self._within(part, self.real_radii[:, part.rows], self.generated_radii[:, part.columns])
            )
            self.covered[draw, part.rows[pair]] = True
            np.add.at(self.balls.reshape(-1), draw * self.balls.shape[1] + part.columns[pair], 1)

    def add_generated(self, hits: Hits) -> None:
        """Pairs that may lie within the radius of their generated point."""
        for part in _split(hits):
            draw, pair = np.nonzero(
                self._within(part, self.generated_radii[:, part.columns], self.real_radii[:, part.rows])
            )
            self.recalled[draw, part.rows[pair]] = True

    def _within(self, hits: Hits, limits: Floats, others: Floats) -> Mask:
        """(draws, n) the pairs that lie within their limit, both points in the draw."""
        maybe = (hits.lower < limits) & np.isfinite(others)
        upper = self.real.upper(self.generated, hits)
        unsure = maybe & (upper >= limits)
        pairs = np.flatnonzero(unsure.any(axis=0))
        upper[pairs] = self.real.square_distances(hits.rows[pairs], self.generated, hits.columns[pairs])
        return maybe & (upper < limits)


def _split(hits: Hits) -> list[Hits]:
    parts = [slice(start, start + MOST_PAIRS) for start in range(0, len(hits.rows), MOST_PAIRS)]
    return [Hits(hits.rows[part], hits.columns[part], hits.lower[part]) for part in parts]
