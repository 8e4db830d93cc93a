"""Several tests at once: Holm's correction."""

from collections.abc import Sequence

import numpy as np

# Values that differ by less are equal: sums in another order round otherwise.
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
