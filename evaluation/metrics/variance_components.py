"""Variance components of crossed observations by the method of moments: how much dishes, images, people differ.

y = mean + dish + image + reviewer + rest, with independent parts. The sum of squares within the levels of each part,
and in all, is set equal to its expectation, which is linear in the components (Henderson 1953, method 1; for two
crossed parts Gao & Owen 2017, "Efficient moment calculations for variance components in large unbalanced crossed
random effects models", Electron. J. Stat. 11:1235–1296). Where every cell holds one observation these are the
estimates of the analysis of variance. A component that comes out below 0 is taken as 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats

Codes = npt.NDArray[np.intp]
PARTS = ("dish", "image", "reviewer")
REST = "residual"


@dataclass(frozen=True)
class Components:
    """Variances of a part of one observation, in squared units of the metric; 0 where the part has no levels."""

    dish: float
    image: float
    reviewer: float
    residual: float

    @property
    def total(self) -> float:
        return self.dish + self.image + self.reviewer + self.residual


def estimate_components(values: Floats, levels: Mapping[str, npt.NDArray[np.generic]]) -> Components | None:
    """Components of `values` (n,) without NaN; `levels`: part → (n,) labels, parts of `PARTS`, those that were seen.

    A part that another one determines (one image for each dish) or that is the same for all cannot be distinguished:
    it is left out, and what it adds is in the other. None where nothing can vary.
    """
    n = len(values)
    held = identify_parts(levels)
    if n < 2 or (not held and not np.ptp(values)):
        return None
    names = [*held, REST]
    groupings = [np.zeros(n, dtype=np.intp), *held.values()]
    squares = np.array([within_group_sum_of_squares(values, codes) for codes in groupings])
    expected = np.array(
        [[expected_squares_coefficient(codes, held.get(name)) for name in names] for codes in groupings]
    )
    found, _residuals, rank, _singular = np.linalg.lstsq(expected, squares, rcond=None)
    if rank < len(names):
        return None
    sizes = {name: max(0.0, float(value)) for name, value in zip(names, found, strict=True)}
    return Components(*(sizes.get(name, 0.0) for name in (*PARTS, REST)))


def identify_parts(levels: Mapping[str, npt.NDArray[np.generic]]) -> dict[str, Codes]:
    """The parts that can be told apart, as codes from 0; of two that are the same partition the first of PARTS stays.

    A part with one level, or with a level for each observation, adds to the mean or to the rest.
    """
    kept: dict[str, Codes] = {}
    for name in PARTS:
        if name not in levels:
            continue
        codes = np.unique(levels[name], return_inverse=True)[1].astype(np.intp)
        count = int(codes.max()) + 1 if len(codes) else 0
        if 1 < count < len(codes) and not any(is_same_partition(codes, other) for other in kept.values()):
            kept[name] = codes
    return kept


def is_same_partition(first: Codes, second: Codes) -> bool:
    """Whether two labellings make the same groups."""
    pairs = len(np.unique(first * (int(second.max()) + 1) + second))
    return pairs == int(first.max()) + 1 == int(second.max()) + 1


def within_group_sum_of_squares(values: Floats, codes: Codes) -> float:
    """Sum of squares about the means of the groups."""
    counts = np.bincount(codes)
    means = np.bincount(codes, weights=values) / counts
    return float(((values - means[codes]) ** 2).sum())


def expected_squares_coefficient(codes: Codes, levels: Codes | None) -> float:
    """What one unit of a component's variance adds to the expected sum of squares within groups.

    n − Σ over groups of Σ over levels (observations of the level in the group)² ÷ observations of the group; for the
    rest (`levels` None) every observation is a level of its own.
    """
    n = len(codes)
    counts = np.bincount(codes)
    if levels is None:
        return float(n - len(counts))
    wide = int(levels.max()) + 1
    cells, sizes = np.unique(codes * wide + levels, return_counts=True)
    return float(n - (sizes.astype(np.float64) ** 2 / counts[cells // wide]).sum())
