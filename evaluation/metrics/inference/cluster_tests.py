"""Tests and intervals of differences that know dishes and people: both from one variance, so they never contradict.

A mean's variance is that of whole dishes plus that of whole people minus that of what one person said of one dish, and
at least the larger of the first two (Cameron, Gelbach & Miller 2011, "Robust inference with multiway clustering",
J. Bus. Econ. Stat. 29:238–249); where machines judged, that of whole dishes. Few clusters of unlike size make it too
small and uncertain: residuals are raised as by the jackknife and degrees of freedom counted (Bell & McCaffrey 2002),
those of dishes and people combined as by Satterthwaite (1946). Where a few people gave most opinions none of this
helps, and nothing is claimed.

One difference is tested by Student's t. The gap between the lowest and the highest of several groups, which the data
chose, is compared with the range of as many deviations drawn with these variances: Tukey's range for groups that
differ in their variances. `bench/coverage_pvalues.py` counts how often p is small where nothing differs.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np

from evaluation.metrics.arrays import Clusters, Floats, Ints
from evaluation.metrics.inference import student_t
from evaluation.metrics.inference.intervals import LEAST_CLUSTERS, LEAST_REVIEWERS, Interval

LEVEL = 0.05
# How much the scarcer clusters count in the degrees of freedom of one mean; a range of several needs none of it.
CAUTION = 20.0
# Clusters of each kind, and how many of one size they must at least be worth (see `freedom_of`), for a variance.
LEAST = ((LEAST_CLUSTERS, 6, "dishes"), (LEAST_REVIEWERS, 3, "reviewers"))
DRAWS = 9999
SEED = 20261128
# By whether people judged: what is clustered, and what `python -m bench.coverage` calls it.
OVER = {True: ("dishes and reviewers", "reviews"), False: ("dishes", "machine scores")}
MEAN = "variance clustered by {}, Student's t (bench.coverage: difference of {})"
RANGE = f"variance clustered by {{}}, range of {DRAWS} draws of Student's t, seed {SEED} (bench.coverage: gap of {{}})"
ALIKE = "all values are equal, so that chance cannot be estimated: no interval is claimed"
ALIKE_WITHIN = "all values of a group are equal, so that chance cannot be estimated: no interval is claimed"
# Variances of values between −1 and 1 that are smaller come from rounding.
_NOTHING = 1e-24


@dataclass(frozen=True)
class Means:
    """Weighted means of groups (g,), their covariance (g, g) and the degrees of freedom of each variance (g,).

    `people`: whether they judged; `reason`: why no variance may be claimed.
    """

    values: Floats
    covariance: Floats
    freedom: Floats
    people: bool
    reason: str

    @property
    def variances(self) -> Floats:
        return np.diag(self.covariance)


@dataclass(frozen=True)
class Inference:
    """A difference with its interval and p, None where no interval is claimed. `expected`: its mean by chance."""

    difference: float
    interval: Interval
    p: float | None
    expected: float | None = None


def estimate_clustered_means(
    values: Floats, member: Ints, weights: Floats, dishes: Clusters, raters: Clusters | None, caution: float = 1.0
) -> Means:
    """Means of groups. `values`, `dishes`, `raters` (n,; None where machines judged); `member` (n,) rows of `weights`
    (kinds, g), 0 where a kind does not belong to a group. Each group holds an observation. `caution`: see `_freedom`.
    """
    groups = weights.shape[1]
    by = [np.unique(labels, return_inverse=True)[1] for labels in (dishes, *(() if raters is None else (raters,)))]
    parts = [_Part.of(codes, groups) for codes in by]
    cells = by[0] * (int(by[1].max()) + 1) + by[1] if len(by) == 2 else None
    means, twice = np.zeros((2, groups))
    for group in range(groups):
        inside = np.flatnonzero((weights[:, group] > 0)[member])
        weight = weights[member[inside], group]
        total = weight.sum()
        means[group] = weight @ values[inside] / total
        share = weight / total
        moved = share * (values[inside] - means[group])
        for part in parts:
            part.add(group, inside, share, moved)
        if cells is not None:
            sums = np.bincount(np.unique(cells[inside], return_inverse=True)[1], weights=moved)
            twice[group] = sums @ sums
    both = np.asarray(sum(part.covariance for part in parts))
    least = np.maximum.reduce([part.variances for part in parts])
    covariance = rescale_covariance(both, np.maximum(np.diag(both) - twice, least))
    return Means(means, covariance, _freedom(parts, twice, caution), raters is not None, _lack(parts))


def _lack(parts: list["_Part"]) -> str:
    """Which clusters are too few, or too unlike in size, for the variance of a group."""
    for part, (least, effective, name) in zip(parts, LEAST, strict=False):
        if part.many.min() < least:
            return f"fewer than {least} {name}: no interval is claimed"
        if part.effective.min() < effective:
            return f"a few {name} hold most of a mean, as if there were fewer than {effective}: no interval is claimed"
    return ""


class _Part:
    """What one kind of cluster adds: the sums of weighted residuals of each (clusters, g), raised as the jackknife
    does, and how far their spread can be trusted (g,)."""

    def __init__(self, codes: Ints, sums: Floats) -> None:
        self.codes, self.sums = codes, sums
        self.freedom, self.effective, self.many = np.ones((3, sums.shape[1]))

    @classmethod
    def of(cls, codes: Ints, groups: int) -> "_Part":
        return cls(codes, np.zeros((int(codes.max(initial=-1)) + 1, groups)))

    def add(self, group: int, inside: Ints, share: Floats, moved: Floats) -> None:
        shares = np.bincount(self.codes[inside], weights=share, minlength=len(self.sums)).astype(np.float64)
        held = np.flatnonzero(shares)
        raised = raised_by(shares[held])
        sums = np.bincount(self.codes[inside], weights=moved, minlength=len(self.sums))
        self.sums[held, group] = sums[held] * raised
        self.many[group] = len(held)
        self.effective[group] = 1 / (shares[held] ** 2).sum()
        self.freedom[group] = freedom_of(shares[held], raised)

    @property
    def covariance(self) -> Floats:
        return np.asarray(self.sums.T @ self.sums)

    @property
    def variances(self) -> Floats:
        return np.asarray((self.sums**2).sum(axis=0))


def raised_by(shares: Floats) -> Floats:
    """By how much the sums of clusters (k,) are raised: a mean follows a cluster that holds much of its weight, so that
    its residuals are too small. The jackknife's √((k − 1) ÷ k) ÷ (1 − share) (CR3 of Bell & McCaffrey 2002)."""
    many = len(shares)
    return np.asarray(np.sqrt((many - 1) / many) / np.maximum(1 - shares, 1e-12) if many > 1 else np.ones(many))


def freedom_of(shares: Floats, raised: Floats) -> float:
    """Degrees of freedom of the variance that clusters (k,) give, where each differs by its own effect and by nothing
    else (Bell & McCaffrey 2002, "Bias reduction in standard errors for linear regression with multi-stage samples",
    Surv. Methodol. 28:169–181): k − 1 where all hold as much, fewer where some hold most."""
    weights = (raised * shares) ** 2
    squares = float((shares**2).sum())
    zero, one, two = (float((weights * shares**power).sum()) for power in range(3))
    own = squares - 2 * shares
    mean = float((weights * (1 + own)).sum())
    spread = squares**2 * zero**2 + 2 * zero * two - 4 * squares * zero * one + 2 * one**2
    spread += float((weights**2 * ((1 + own) ** 2 - own**2)).sum())
    return max(1.0, mean**2 / spread) if spread > 0 else 1.0


def rescale_covariance(covariance: Floats, variances: Floats) -> Floats:
    """The covariance (g, g) with other variances (g,) and the same correlations."""
    before = np.diag(covariance)
    ratio = np.sqrt(np.divide(variances, before, out=np.ones_like(before), where=before > 0))
    return covariance * np.outer(ratio, ratio)


def _freedom(parts: list[_Part], twice: Floats, caution: float) -> Floats:
    """Degrees of freedom (g,) of dishes and people together, by Satterthwaite; the fewest where nothing varies.

    The variance of the scarcer kind counts `caution` times, without what both count `twice`: a few people hardly tell
    how much people differ, and look most alike where chance makes the variance small.
    """
    if len(parts) == 1:
        return parts[0].freedom
    scarcer = np.argmin([part.freedom for part in parts], axis=0)
    few, many = (np.choose(which, [part.freedom for part in parts]) for which in (scarcer, 1 - scarcer))
    scarce, other = (np.choose(which, [part.variances for part in parts]) for which in (scarcer, 1 - scarcer))
    part = caution * (np.maximum(scarce - twice, 0) if caution > 1 else scarce)
    weight = np.divide(part, part + other, out=np.ones_like(part), where=part + other > 0)
    return np.maximum(few, 1 / (weight**2 / few + (1 - weight) ** 2 / many))


def mean_test(values: Floats, weights: Floats, dishes: Clusters, raters: Clusters | None) -> Inference:
    """The weighted mean of `values` (n,), at least one, against 0: two-sided, with its 95 % interval."""
    kinds, member = np.unique(weights, return_inverse=True)
    found = estimate_clustered_means(values, member, kinds[:, None], dishes, raters, CAUTION)
    mean, variance, freedom = float(found.values[0]), float(found.covariance[0, 0]), float(found.freedom[0])
    if found.reason:
        return Inference(mean, Interval(None, None, reason=found.reason), None)
    if variance <= _NOTHING * max(1.0, mean * mean):
        return Inference(mean, Interval(None, None, reason=ALIKE), None)
    error = sqrt(variance)
    reach = student_t.student_t_quantile(1 - LEVEL / 2, freedom) * error
    interval = Interval(mean - reach, mean + reach, MEAN.format(*OVER[found.people]))
    return Inference(mean, interval, 2 * student_t.student_t_survival(abs(mean) / error, freedom))


def range_test(found: Means) -> Inference:
    """The gap between the lowest and the highest of two groups or more, against that of groups that do not differ.

    p is the share of draws with a range as large; the interval is the gap ± the range that 95 % of them stay below,
    and so holds for all pairs of groups at once.
    """
    gap = float(found.values.max() - found.values.min())
    if found.reason:
        return Inference(gap, Interval(None, None, reason=found.reason), None)
    variances = found.variances
    nothing = variances <= _NOTHING * np.maximum(1.0, found.values**2)
    if nothing.any():
        return Inference(gap, Interval(None, None, reason=ALIKE if nothing.all() else ALIKE_WITHIN), None)
    # Groups in an order that their names have no part in: so that other names draw the same numbers.
    order = np.lexsort((found.values, found.freedom, variances))
    normal = _normals(len(order)) @ _root(found.covariance[np.ix_(order, order)])
    ranges = np.ptp(normal / _spreads(tuple(found.freedom[order].tolist())), axis=1)
    beyond = int(np.count_nonzero(ranges >= gap * (1 - 1e-12)))
    # The largest range at which p would still be above the level: the gap is larger where p ≤ .05, and only there.
    reach = float(np.partition(ranges, -_most())[-_most()])
    interval = Interval(max(0.0, gap - reach), gap + reach, RANGE.format(*OVER[found.people]))
    return Inference(gap, interval, (beyond + 1) / (DRAWS + 1), float(np.ptp(normal, axis=1).mean()))


def _most() -> int:
    """How many draws at most lie beyond a gap, plus one, where p is at most the level."""
    return round(LEVEL * (DRAWS + 1))


@lru_cache(maxsize=8)
def _normals(groups: int) -> Floats:
    return np.random.default_rng([SEED, groups]).normal(size=(DRAWS, groups))


@lru_cache(maxsize=32)
def _spreads(freedom: tuple[float, ...]) -> Floats:
    """Square roots of χ² ÷ its degrees of freedom, (DRAWS, g)."""
    degrees = np.array(freedom)
    rng = np.random.default_rng([SEED, len(freedom), 1])
    return np.asarray(np.sqrt(rng.standard_gamma(degrees / 2, size=(DRAWS, len(degrees))) * 2 / degrees))


def _root(covariance: Floats) -> Floats:
    """The symmetric square root (g, g) of what is nearly a covariance: its diagonal as it is."""
    scale = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(np.clip(covariance / np.outer(scale, scale), -1, 1))
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    root = root / np.sqrt((root**2).sum(axis=0))
    return np.asarray(root * scale)
