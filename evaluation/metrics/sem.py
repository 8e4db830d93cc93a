"""Standard error of a mean the way the paper computes it, and the interval that follows from it.

World Wide recipe, Tables H.9 and H.10: *population* deviation (divided by n, not n − 1) over √n. Observations are
taken for independent: a second, named variant beside the bootstrap over clusters.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from evaluation.metrics.intervals import Interval
from evaluation.metrics.proportion import Z

SEM = "mean ± 1.96 population SEM, as if observations were independent"


def population_sem(values: npt.ArrayLike) -> float | None:
    """√(Σ(x − mean)² ÷ n) ÷ √n of `values` (n,), ≥ 0; None where there are none."""
    held = np.asarray(values, dtype=np.float64)
    return float(held.std(ddof=0) / sqrt(held.size)) if held.size else None


def sem_interval(values: npt.ArrayLike) -> Interval:
    """Mean ± 1.96 population SEM of `values` (n,); not claimed for fewer than two."""
    held = np.asarray(values, dtype=np.float64)
    error = population_sem(held)
    if error is None or held.size < 2:
        return Interval(None, None, reason="fewer than two values: no interval is claimed")
    mean = float(held.mean())
    return Interval(mean - Z * error, mean + Z * error, SEM)
