"""Standard error of a mean the way the paper computes it, and the interval that follows from it.

World Wide recipe, Tables H.9 and H.10: *population* deviation (divided by n, not n − 1) over √n. Observations are
taken for independent: a second, named variant beside the interval over clusters.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from evaluation.metrics.inference.intervals import ALIKE, TOLERANCE, Interval, build_empty_interval
from evaluation.metrics.inference.proportion import Z

SEM = (
    "mean ± 1.96 population SEM, as if observations were independent: of clustered ones it holds the truth in "
    "71 to 100 % (bench.coverage: SEM)"
)


def population_sem(values: npt.ArrayLike) -> float | None:
    """√(Σ(x − mean)² ÷ n) ÷ √n of `values` (n,), NaN left out, ≥ 0; None where there are none."""
    held = _known(values)
    return float(held.std(ddof=0) / sqrt(held.size)) if held.size else None


def sem_interval(values: npt.ArrayLike) -> Interval:
    """Mean ± 1.96 population SEM of `values` (n,), NaN left out; not claimed for fewer than two, nor where all are
    equal."""
    held = _known(values)
    error = population_sem(held)
    if error is None or held.size < 2:
        return Interval(None, None, reason="fewer than two values: no interval is claimed")
    mean = float(held.mean())
    if held.max() - held.min() <= TOLERANCE * max(1.0, abs(mean)):
        return build_empty_interval(ALIKE)
    return Interval(mean - Z * error, mean + Z * error, SEM)


def _known(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    held = np.asarray(values, dtype=np.float64)
    return held[~np.isnan(held)]
