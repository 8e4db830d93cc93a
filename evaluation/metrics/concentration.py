"""How much alike answers are: the entropy of their distribution and its largest share."""

import numpy as np

from evaluation.metrics.arrays import Floats
from evaluation.metrics.entropy import entropy


def entropy_and_largest(counts: Floats) -> Floats:
    """Of each row of `counts` (n, k ≥ 2), not negative: normalised entropy and largest share, (n, 2), each in [0, 1].

    The entropy (Shannon 1948) is divided by log k, so that questions with few and many options can be read side by
    side. NaN where a row is empty.
    """
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2 or (table < 0).any():
        raise ValueError(f"counts (n, k) of at least two options are needed, not negative, got {table.shape}")
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.full_like(table, np.nan), where=totals > 0)
    normalised = entropy(shares) / np.log2(table.shape[1])
    return np.column_stack([np.clip(normalised, 0, 1), shares.max(axis=1)])
