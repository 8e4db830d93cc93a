"""A machine and people about yes and no: agreement of labels, and how well a score tells yes from no.

Of every unit (an image) people give `yes` and `no` (n,), weights ≥ 0: 1 and 0 for a label, or how many said so. All
statistics are of sums over units, so that whole clusters of units (dishes) can be left out.

- Cohen's kappa: Cohen 1960, Educ. Psychol. Meas. 20:37–46. AC1: Gwet 2008, Br. J. Math. Stat. Psychol. 61:29–48.
- AUC: the chance that a unit with yes has the higher score, ties counting half (Hanley & McNeil 1982, Radiology 143).
- Spearman's rho: correlation of middle ranks, with weights where units count differently.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evaluation.metrics.inference.intervals import SHARE, Bounds, Interval, build_empty_interval, of_sums

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Labels = npt.NDArray[np.generic]
# Into so many groups of equal size values are put for an interval where more of them differ; the value is exact.
AUC_GROUPS = 50
CORRELATION = (-1.0, 1.0)
BOUNDS: list[Bounds] = [CORRELATION, SHARE, CORRELATION, SHARE, SHARE]
# Where kappa and the area claim an interval: beyond, it would not hold the truth often enough (`bench.coverage`).
KAPPA_CLUSTERS = 20
KAPPA_LEAST_SHARE = 0.2
AUC_MOST = 0.95
FEW_FOR_KAPPA = f"fewer than {KAPPA_CLUSTERS} dishes: kappa claims no interval"
RARE = f"people give one answer in under {KAPPA_LEAST_SHARE:.0%}: kappa claims no interval"
PARTED = f"the area is under {1 - AUC_MOST:.2f} or over {AUC_MOST}: no interval is claimed"
RANKS_BIASED = "correlations of ranks with ties and few levels: no interval is claimed"


class Agreement(NamedTuple):
    """One value or interval each. `prevalence`: share of yes among people, `machine_yes` by the machine."""

    kappa: float | Interval | None
    raw_agreement: float | Interval | None
    ac1: float | Interval | None
    prevalence: float | Interval | None
    machine_yes: float | Interval | None


def two_by_two(machine: npt.ArrayLike, yes: Floats, no: Floats) -> Floats:
    """(n, 4) of labels `machine` (n,) 0 or 1: both yes, machine alone, people alone, neither."""
    says = np.asarray(machine, dtype=np.float64)
    return np.column_stack([says * yes, says * no, (1 - says) * yes, (1 - says) * no])


def agreement_of(tables: Floats) -> Floats:
    """Kappa, raw agreement, AC1, prevalence, machine's yes, (…, 5), of summed tables (…, 4); NaN where undefined.

    Kappa is undefined where people use one answer alone: it would be 0 whatever the machine says.
    """
    total = tables.sum(axis=-1)
    both, machine, people, neither = np.moveaxis(tables, -1, 0)
    raw = divide_or_nan(both + neither, total)
    prevalence, machine_yes = divide_or_nan(both + people, total), divide_or_nan(both + machine, total)
    chance = prevalence * machine_yes + (1 - prevalence) * (1 - machine_yes)
    mixed = (prevalence > 0) & (prevalence < 1)
    kappa = np.where(mixed, divide_or_nan(raw - chance, 1 - chance), np.nan)
    middle = (prevalence + machine_yes) / 2
    expected = 2 * middle * (1 - middle)
    return np.stack([kappa, raw, divide_or_nan(raw - expected, 1 - expected), prevalence, machine_yes], axis=-1)


def compute_label_agreement(tables: Floats) -> Agreement:
    """The values of the units' `tables` (n, 4) together; None where undefined."""
    return Agreement(*map(none_if_nan, agreement_of(tables.sum(axis=0))))


def agreement_intervals(tables: Floats, clusters: Labels) -> Agreement:
    """Their intervals over `clusters` (n,)."""
    parts = sum_by_cluster(tables, clusters)
    found = Agreement(*of_sums(parts, agreement_of, BOUNDS))
    prevalence = compute_label_agreement(tables).prevalence
    if len(parts) < KAPPA_CLUSTERS:
        return found._replace(kappa=build_empty_interval(FEW_FOR_KAPPA))
    if isinstance(prevalence, float) and min(prevalence, 1 - prevalence) < KAPPA_LEAST_SHARE:
        return found._replace(kappa=build_empty_interval(RARE))
    return found


def auc(scores: Floats, yes: Floats, no: Floats) -> float | None:
    """Area under the curve of `scores` (n,), in [0, 1]; None where there is no yes or no no."""
    values, place = np.unique(scores, return_inverse=True)
    return none_if_nan(_auc(sum_by_code(place, len(values), yes), sum_by_code(place, len(values), no)))


def auc_interval(scores: Floats, yes: Floats, no: Floats, clusters: Labels) -> Interval:
    """Its interval over `clusters` (n,). Scores are put into 50 groups, scores in one group being tied."""
    value = auc(scores, yes, no)
    if value is not None and max(value, 1 - value) > AUC_MOST:
        return build_empty_interval(PARTED)
    place, groups = group_values(scores, AUC_GROUPS)
    parts = np.concatenate([sum_by_cluster_and_code(clusters, place, groups, weights) for weights in (yes, no)], axis=1)
    [found] = of_sums(parts, lambda sums: _auc(sums[:, :groups], sums[:, groups:])[:, None], SHARE)
    return found


def _auc(yes: Floats, no: Floats) -> Floats:
    """(…,) from the weights of yes and no at each score, (…, values) upwards."""
    beaten = np.cumsum(no, axis=-1) - no / 2
    return divide_or_nan((yes * beaten).sum(axis=-1), yes.sum(axis=-1) * no.sum(axis=-1))


def weighted_spearman(first: Floats, second: Floats, weights: Floats) -> float | None:
    """Rank correlation in [−1, 1] of `first` and `second` (n,); None where one of them does not vary."""
    if not len(weights):
        return None
    ranks = [_ranks_of(values, weights) for values in (first, second)]
    a, b = (rank - np.average(rank, weights=weights) for rank in ranks)
    spread = np.sqrt((weights * a * a).sum() * (weights * b * b).sum())
    return none_if_nan(divide_or_nan((weights * a * b).sum(), np.where(spread > 1e-12 * weights.sum() ** 2, spread, 0)))


def _ranks_of(values: Floats, weights: Floats) -> Floats:
    """Middle ranks (n,): the weight of what is smaller and half of what is equal."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.asarray(_ranks(sum_by_code(place, len(distinct), weights))[place])


def _ranks(weights: Floats) -> Floats:
    """Middle ranks (…, values) of the weights of values upwards."""
    return np.asarray(np.cumsum(weights, axis=-1) - weights / 2)


def group_values(values: Floats, most: int) -> tuple[Codes, int]:
    """Codes (n,) from 0 of `values` (n,) upwards, and how many: each value its own where no more than `most` differ.

    Else groups that hold about equally many; equal values are never parted.
    """
    distinct, place, held = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) <= most:
        return place.astype(np.intp), len(distinct)
    middle = (np.cumsum(held) - held / 2) / len(values)
    _used, code = np.unique((middle * most).astype(np.intp), return_inverse=True)
    return code[place].astype(np.intp), int(code.max()) + 1


def sum_by_cluster_and_code(clusters: Labels, codes: Codes, groups: int, weights: Floats) -> Floats:
    """Sums (clusters, groups) of `weights` (n,) by cluster and code."""
    names, row = np.unique(clusters, return_inverse=True)
    return sum_by_code(row * groups + codes, len(names) * groups, weights).reshape(len(names), groups)


def sum_by_cluster(parts: Floats, clusters: Labels) -> Floats:
    """Sums (clusters, k) of `parts` (n, k)."""
    names, row = np.unique(clusters, return_inverse=True)
    return np.column_stack([sum_by_code(row, len(names), column) for column in parts.T])


def sum_by_code(codes: Codes, size: int, weights: Floats) -> Floats:
    """Sum (size,) of `weights` (n,) by code (n,)."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def divide_or_nan(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """`above` ÷ `below`, NaN where `below` is 0."""
    first, second = np.broadcast_arrays(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))
    return np.divide(first, second, out=np.full(first.shape, np.nan), where=second > 0)


def none_if_nan(value: npt.ArrayLike) -> float | None:
    """A single number as it is, None for NaN."""
    number = float(value)  # type: ignore[arg-type]
    return None if np.isnan(number) else number
