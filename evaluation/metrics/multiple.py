"""Several tests at once: Holm's correction, and how a permutation p is counted."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

# Values of resampled statistics that differ by less are equal: sums in another order round otherwise.
TOLERANCE = 1e-10


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values in the given order, which bound the chance of any false finding (Holm 1979)."""
    values = np.asarray(p, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = np.arange(len(values), 0, -1)
    raised = np.minimum(np.maximum.accumulate(values[order] * steps), 1.0)
    adjusted = np.empty_like(values)
    adjusted[order] = raised
    return [float(value) for value in adjusted]


def resampled_p(observed: float, drawn: npt.NDArray[np.float64]) -> float:
    """(b + 1) ÷ (m + 1), where b of the m `drawn` (m,) are at least `observed`: never 0 (Phipson & Smyth 2010)."""
    near = TOLERANCE * max(1.0, abs(observed))
    return float((np.count_nonzero(drawn >= observed - near) + 1) / (len(drawn) + 1))
