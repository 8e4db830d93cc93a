"""Entropy of distributions (Shannon 1948)."""

import numpy as np

from evaluation.metrics.arrays import Floats


def entropy(shares: Floats) -> Floats:
    """In bits, of each row of `shares` (n, k) that sum to 1, (n,); NaN for a row of NaN."""
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=-1))
