"""Accuracy by label: how many labels are never recognised, and how much regions differ."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Ints

DDOF = 0


@dataclass(frozen=True)
class LabelFailures:
    """`failed` of `labels` have no image that is right; `rate` is their share, None without labels."""

    labels: int
    failed: int
    names: tuple[str, ...]

    @property
    def rate(self) -> float | None:
        return self.failed / self.labels if self.labels else None


def find_failed_labels(labels: npt.ArrayLike, right: npt.ArrayLike) -> LabelFailures:
    """From the label of each image (n,) and whether the model was right (n,); `names`: those that failed, sorted."""
    names, found = np.asarray(labels, dtype=str), np.asarray(right, dtype=bool)
    if names.shape != found.shape or names.ndim != 1:
        raise ValueError(f"one label and one answer each are needed, got {names.shape} and {found.shape}")
    each, place = np.unique(names, return_inverse=True)
    hits: Ints = np.bincount(place, weights=found, minlength=len(each)).astype(np.intp)
    failed = tuple(map(str, each[hits == 0]))
    return LabelFailures(len(each), len(failed), failed)


@dataclass(frozen=True)
class Variation:
    """`value`: deviation ÷ mean of the values of `n` regions, with n − `ddof` in the deviation; None where it says
    nothing, for the `reason`."""

    n: int
    ddof: int
    value: float | None = None
    reason: str = ""


def compute_variation(values: npt.ArrayLike, ddof: int = DDOF) -> Variation:
    """The coefficient of variation of values from 0 (n,); by default of a population: the regions are all there are."""
    found = np.asarray(values, dtype=np.float64)
    n = len(found)
    if n < max(2, ddof + 1):
        return Variation(n, ddof, reason=f"not measured: {n} regions do not vary")
    if np.isnan(found).any():
        return Variation(n, ddof, reason="not measured: a region has no value")
    if found.min() < 0 or found.mean() == 0:
        return Variation(n, ddof, reason="not measured: values below 0, or all 0, have no ratio to their mean")
    return Variation(n, ddof, float(found.std(ddof=ddof) / found.mean()))
