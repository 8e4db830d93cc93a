"""Whether probabilities come true: of what is said with 0.8, eight in ten should be so.

Brier score: Brier 1950, Mon. Weather Rev. 78:1–3. Expected calibration error: Naeini, Cooper & Hauskrecht 2015, AAAI,
with bins that hold equally many (Nixon et al. 2019, CVPR workshops, §3). In samples it lies above 0 also for a
calibrated machine, the more so the fewer the units.
"""

from typing import NamedTuple

import numpy as np

from evaluation.metrics.classification import (
    Codes,
    Floats,
    Labels,
    divide_or_nan,
    group_values,
    none_if_nan,
    sum_by_cluster,
    sum_by_cluster_and_code,
)
from evaluation.metrics.inference.intervals import SHARE, Interval, build_empty_interval, of_sums

BINS = 10
BIASED = "it lies above 0 by chance, the more the fewer the images: no interval is claimed"


class Calibration(NamedTuple):
    """`ece` in [0, 1], `brier` in [0, 1]; one value or interval each."""

    ece: float | Interval | None
    brier: float | Interval | None


class Bin(NamedTuple):
    """One bin: mean probability, share of yes and its interval, and which units (n,) lie in it."""

    predicted: float
    observed: float | None
    interval: Interval
    inside: np.ndarray


def bins_of(chances: Floats) -> tuple[Codes, int]:
    """The bin (n,) of each of `chances` (n,), and how many: at most 10 that hold equally many, equal ones together."""
    return group_values(chances, BINS)


def compute_calibration(chances: Floats, yes: Floats, no: Floats) -> Calibration:
    """Both of `chances` (n,) in [0, 1] against the weights of yes and no (n,); None where nothing is weighed."""
    parts, bins = _parts(chances, yes, no, np.zeros(len(chances)))
    return Calibration(*map(none_if_nan, _of_sums(parts.sum(axis=0), bins)))


def calibration_intervals(chances: Floats, yes: Floats, no: Floats, clusters: Labels) -> Calibration:
    """The interval of the Brier score over `clusters` (n,). The calibration error claims none: it is biased upwards."""
    parts, bins = _parts(chances, yes, no, clusters)
    [brier] = of_sums(parts, lambda sums: _of_sums(sums, bins)[..., 1:], SHARE)
    return Calibration(build_empty_interval(BIASED), brier)


def reliability_bins(chances: Floats, yes: Floats, no: Floats, clusters: Labels) -> list[Bin]:
    """The bins upwards: what was said and what came true."""
    code, bins = bins_of(chances)
    table = []
    for number in range(bins):
        inside = code == number
        weights = (yes + no)[inside]
        parts = sum_by_cluster(np.column_stack([yes, yes + no])[inside], clusters[inside])
        [interval] = of_sums(parts, lambda sums: divide_or_nan(sums[:, :1], sums[:, 1:]), SHARE)
        observed = none_if_nan(divide_or_nan(yes[inside].sum(), weights.sum()))
        table.append(Bin(float(np.average(chances[inside], weights=weights)), observed, interval, inside))
    return table


def _parts(chances: Floats, yes: Floats, no: Floats, clusters: Labels) -> tuple[Floats, int]:
    """Per cluster: for each bin how far probabilities exceed what came true, then squared errors, then weights."""
    code, bins = bins_of(chances)
    excess = sum_by_cluster_and_code(clusters, code, bins, (yes + no) * chances - yes)
    errors = yes * (1 - chances) ** 2 + no * chances**2
    return np.concatenate([excess, sum_by_cluster(np.column_stack([errors, yes + no]), clusters)], axis=1), bins


def _of_sums(parts: Floats, bins: int) -> Floats:
    """(…, 2) of summed parts: |Σ (p − yes)| of a bin is its weight times the gap of its means."""
    total = parts[..., -1]
    gaps = np.abs(parts[..., :bins]).sum(axis=-1)
    return np.stack([divide_or_nan(gaps, total), divide_or_nan(parts[..., bins], total)], axis=-1)
