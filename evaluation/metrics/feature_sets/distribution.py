"""Distances between the distributions of two feature sets: FID, and KID with its deviation.

FID (Heusel et al. 2017) is the Fréchet distance of two normal distributions, ‖μ − μ′‖² + tr(Σ + Σ′ − 2 (Σ Σ′)^½), in
float64. With CLIP's vectors in place of InceptionV3's it is called FID-CLIP: one function, two names of features. It is
biased for few images, and Σ is singular under d + 1 of them: then it is refused. KID (Bińkowski et al. 2018) is the
unbiased squared maximum mean discrepancy with the kernel (x·y ÷ d + 1)³, the mean over random subsets of one size.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats
from evaluation.metrics.feature_sets.points import MOST_ROWS, prepare_points

SUBSETS = 100
SUBSET_SIZE = 1000
FEW = "not measured: {n} {what}, and vectors of {width} numbers need at least {least}"
SMALL = "not measured: {n} {what}, and subsets hold {size}"


@dataclass(frozen=True)
class DistributionDistance:
    """`value` from 0 for FID, around 0 upwards for KID, with the population deviation `sd` over its subsets; None where
    it is not measured, and `reason` says why."""

    n_real: int
    n_generated: int
    value: float | None = None
    sd: float | None = None
    reason: str = ""


def compute_frechet_distance(real: npt.ArrayLike, generated: npt.ArrayLike) -> DistributionDistance:
    """FID of `real` (n, d) and `generated` (m, d). Raises PointError for vectors that do not fit."""
    first, second = (points.values for points in prepare_points(real, generated))
    width = first.shape[1]
    for array, what in ((first, "photographs"), (second, "generated images")):
        if len(array) < width + 1:
            reason = FEW.format(n=len(array), what=what, width=width, least=width + 1)
            return DistributionDistance(len(first), len(second), reason=reason)
    (mean, spread), (other_mean, other_spread) = _moments(first), _moments(second)
    # (Σ Σ′)^½ has the trace of (Σ^½ Σ′ Σ^½)^½, which is symmetric.
    values, vectors = np.linalg.eigh(spread)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    shared = np.linalg.eigvalsh(root @ other_spread @ root)
    found = np.square(mean - other_mean).sum() + np.trace(spread) + np.trace(other_spread)
    found -= 2 * np.sqrt(np.maximum(shared, 0)).sum()
    # Rounding may leave equal sets a little below 0.
    return DistributionDistance(len(first), len(second), max(float(found), 0.0))


def _moments(points: npt.NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Mean (d,) and sample covariance (d, d), in float64."""
    mean = points.mean(axis=0, dtype=np.float64)
    spread = np.zeros((len(mean), len(mean)))
    for part in _blocks(points):
        part -= mean
        spread += part.T @ part
    return mean, spread / (len(points) - 1)


def _blocks(points: npt.NDArray[np.floating]) -> Iterator[Floats]:
    for start in range(0, len(points), MOST_ROWS):
        yield points[start : start + MOST_ROWS].astype(np.float64)


def compute_kernel_distance(
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    subset_size: int = SUBSET_SIZE,
    subsets: int = SUBSETS,
    seed: int = 0,
) -> DistributionDistance:
    """KID of `real` (n, d) and `generated` (m, d) over `subsets` random subsets without replacement, by `seed`.

    Raises PointError for vectors that do not fit, ValueError for subsets of fewer than two.
    """
    if subset_size < 2 or subsets < 1:
        raise ValueError(f"subsets of 2 or more are needed, got {subsets} of {subset_size}")
    first, second = (points.values for points in prepare_points(real, generated))
    for array, what in ((first, "photographs"), (second, "generated images")):
        if len(array) < subset_size:
            reason = SMALL.format(n=len(array), what=what, size=subset_size)
            return DistributionDistance(len(first), len(second), reason=reason)
    random = np.random.default_rng(seed)
    found = np.empty(subsets)
    for subset in range(subsets):
        one, other = (array[random.choice(len(array), subset_size, replace=False)] for array in (first, second))
        found[subset] = _discrepancy(one.astype(np.float64), other.astype(np.float64))
    return DistributionDistance(len(first), len(second), float(found.mean()), float(found.std()))


def _discrepancy(one: Floats, other: Floats) -> float:
    n = len(one)
    within = _kernel_sum(one, one, diagonal=False) + _kernel_sum(other, other, diagonal=False)
    return within / (n * (n - 1)) - 2 * _kernel_sum(one, other) / n**2


def _kernel_sum(one: Floats, other: Floats, diagonal: bool = True) -> float:
    """Sum of the kernel over all pairs; without the `diagonal`, over pairs of two points of one set."""
    total = 0.0
    for start in range(0, len(one), MOST_ROWS):
        kernel = (one[start : start + MOST_ROWS] @ other.T / one.shape[1] + 1) ** 3
        total += float(kernel.sum())
        if not diagonal:
            total -= float(np.trace(kernel, offset=start))
    return total
