"""Object-Consistency of DIG In (Hall et al. 2024): do the worst images of each object still show it?

Per object the 10th percentile, linear between ranks, of the cosines of its images with the plain `{object}`, whatever
prompt made them; then the mean over objects.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats

PERCENTILE = 10.0


@dataclass(frozen=True)
class Consistency:
    """`value`: mean over objects of their percentile `by_object` (objects,); None without a score. `objects`: their
    names, sorted; `n`: scores."""

    n: int
    objects: tuple[str, ...]
    by_object: Floats
    value: float | None


def compute_consistency(scores: npt.ArrayLike, objects: npt.ArrayLike, percentile: float = PERCENTILE) -> Consistency:
    """Of cosines `scores` (n,) and the name of the object of each (n,). Raises ValueError for NaN or other lengths."""
    values, names = np.asarray(scores, dtype=np.float64), np.asarray(objects, dtype=str)
    if values.ndim != 1 or values.shape != names.shape:
        raise ValueError(f"one score and one object each are needed, got {values.shape} and {names.shape}")
    if np.isnan(values).any():
        raise ValueError("a score is NaN: leave out what was not measured")
    each = np.unique(names)
    found = np.array([np.percentile(values[names == name], percentile) for name in each])
    return Consistency(len(values), tuple(map(str, each)), found, float(found.mean()) if len(found) else None)
