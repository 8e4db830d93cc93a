"""95 % intervals for clustered observations: those of one dish, or by one person, resemble each other.

Each cluster is left out once; the squared changes of the statistic add up to its variance (jackknife: Tukey 1958;
Efron & Stein 1981: it errs to the wide side). Reviews have two kinds of clusters, dishes and people: their variances
are added and that of single pairs is taken off, which both hold (Cameron, Gelbach & Miller 2011, J. Bus. Econ. Stat.
29:238–249); at least the largest of the three is taken. What has bounds is measured on the logit scale between them,
amounts on the scale of their logarithm, moved by what that adds to bias and skewness; no limit lies beyond a bound.

The reach is Student's t. Its degrees of freedom are those of the variance where whole clusters differ (Bell &
McCaffrey 2002, Survey Methodology 28:169–181): many small clusters beside a large one count as few. For two kinds they
come from Satterthwaite's formula, in which the part of the scarcer kind counts `CAUTION` times: a few people hardly
tell how much people differ, and look most alike where chance makes the variance small.

Where all values lie at one bound nothing varies. If m of them share neither dish nor person, all would lie there with a
chance of at most (1 − distance of the mean)ᵐ: that gives the other limit (Clopper & Pearson 1934), however clustered
the rest is.

`python -m bench.coverage` counts how often these intervals hold the truth. Nothing is drawn, and no order of
observations or names matters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.interval_reach import t_critical_value
from evaluation.metrics.matching import most_pairs

LEAST_CLUSTERS = 10
LEAST_REVIEWERS = 5
CAUTION = 20.0
# Corrections of bias and skewness are series that say nothing where they are large: on the logit scale, this at most.
MOST_MOVED = 0.35
# Below, one cluster outweighs all others, which cannot tell how much it differs.
LEAST_FREEDOM = 1.75
TAIL = 0.025
SHARE = (0.0, 1.0)
AMOUNT = (0.0, float("inf"))
# Each names its row of `python -m bench.coverage`.
ONE_WAY = "jackknife over {}, Student’s t (bench.coverage: {})"
TWO_WAY = "two-way jackknife over dishes and reviewers, Student’s t (bench.coverage: reviews)"
ONE_END = (
    "exact for as many answers that share neither dish nor person, Clopper & Pearson (bench.coverage: nothing varies)"
)
OUTWEIGHED = "one of the {} has so many of the answers that the others hardly count: no interval is claimed"
ALIKE = "all values are equal: no interval is claimed"
ALIKE_CLUSTERS = "leaving out any of the {} changes nothing: no interval is claimed"
NOTHING_LEFT = "without some of the {} there is no value: no interval is claimed"
# Values that differ by less are equal: sums in another order round otherwise.
TOLERANCE = 1e-9
_CHUNK = 2_000_000

Codes = npt.NDArray[np.intp]
Labels = npt.NDArray[np.generic]
Bounds = tuple[float, float] | None


@dataclass(frozen=True)
class Interval:
    """A 95 % interval, or (`low` and `high` None) the `reason` why none is claimed."""

    low: float | None
    high: float | None
    method: str = ""
    reason: str = ""


def build_empty_interval(reason: str) -> Interval:
    """No interval, with the reason."""
    return Interval(None, None, reason=reason)


def explain_few_clusters(least: int, what: str) -> str:
    """The reason where clusters are too few."""
    return f"fewer than {least} {what}: no interval is claimed"


def row_of(bounds: Bounds) -> str:
    """The row of the bench that simulates means between these bounds."""
    if bounds is None:
        return "score"
    low, high = bounds
    return "difference" if low < 0 else "amount" if np.isinf(high) else "share"


def one_way(
    values: npt.ArrayLike,
    clusters: Labels,
    weights: Floats | None = None,
    bounds: Bounds = None,
    what: str = "dishes",
) -> list[Interval]:
    """Intervals of k means over the same observations; `clusters` (n,) labels of `what`.

    `values` (n, k), NaN where an observation does not count for a mean; `weights` (n,), above 0, all 1 where there are
    none; `bounds`: between which all values must lie, None for any. Length k.
    """
    made = _Means.of(values, weights, bounds)
    kind = _Kind.of(made, _coded(clusters), evened=True)
    lacks = kind.lacks(LEAST_CLUSTERS, what)
    method = ONE_WAY.format(what, row_of(bounds))
    return made.intervals(kind.variance, kind.freedom, lacks, method, ALIKE_CLUSTERS.format(what), [kind])


def two_way(
    values: npt.ArrayLike, dishes: Labels, reviewers: Labels, weights: Floats | None = None, bounds: Bounds = SHARE
) -> list[Interval]:
    """Intervals of k means of the same reviews, clustered by dish and by reviewer; arguments as in `one_way`."""
    made = _Means.of(values, weights, bounds)
    first, second = _coded(dishes), _coded(reviewers)
    kinds = [_Kind.of(made, codes) for codes in (first, second)]
    pairs = _Kind.of(made, _coded(first * (int(second.max(initial=0)) + 1) + second), single=True)
    variance, freedom = _both(kinds[0], kinds[1], pairs.variance)
    lacks = [
        of_dishes or of_people
        for of_dishes, of_people in zip(
            kinds[0].lacks(LEAST_CLUSTERS, "dishes"), kinds[1].lacks(LEAST_REVIEWERS, "reviewers"), strict=True
        )
    ]
    return made.intervals(variance, freedom, lacks, TWO_WAY, ALIKE_CLUSTERS.format("dishes or reviewers"), kinds)


def of_sums(
    parts: Floats,
    statistic: Callable[[Floats], Floats],
    bounds: Bounds | list[Bounds] = None,
    what: str = "dishes",
) -> list[Interval]:
    """Intervals of k statistics that depend on sums over clusters of `what`.

    `parts` (clusters, m): what each cluster adds; `statistic` maps sums (…, m) to (…, k), NaN where they say nothing;
    `bounds` of each statistic, or of all. Length k.
    """
    whole = statistic(parts.sum(axis=0, keepdims=True))[0]
    count = len(parts)
    if count < LEAST_CLUSTERS:
        return [build_empty_interval(explain_few_clusters(LEAST_CLUSTERS, what))] * len(whole)
    left = _left_out(parts, statistic)
    of_each = bounds if isinstance(bounds, list) else [bounds] * len(whole)
    return [
        _of_left_out(float(value), without, count, within, what)
        for value, without, within in zip(whole, left.T, of_each, strict=True)
    ]


def _left_out(parts: Floats, statistic: Callable[[Floats], Floats]) -> Floats:
    """The statistics (clusters, k) without each cluster, a part of them at a time."""
    total = parts.sum(axis=0)
    step = max(1, _CHUNK // max(parts.shape[1], 1))
    found = [statistic(total - parts[start : start + step]) for start in range(0, len(parts), step)]
    return np.concatenate(found)


def _of_left_out(whole: float, left: Floats, count: int, bounds: Bounds, what: str) -> Interval:
    if np.isnan(whole) or np.isnan(left).any():
        return build_empty_interval(NOTHING_LEFT.format(what))
    link = _Link(bounds, 0.5 / count)
    moved = np.sort(link.to(left) - link.to(np.array(whole)))
    variance = float((moved**2).sum())
    if variance <= TOLERANCE**2 * max(1.0, float(link.to(np.array(whole))) ** 2):
        return build_empty_interval(ALIKE_CLUSTERS.format(what))
    bias = np.clip((count - 1) * moved.mean(), -MOST_MOVED, MOST_MOVED)
    centre = link.to(np.array(whole)) - bias
    half = float(t_critical_value(np.array(count - 1.0))) * np.sqrt(variance)
    return Interval(
        _rounded(link.back(centre - half)), _rounded(link.back(centre + half)), ONE_WAY.format(what, "statistic")
    )


@dataclass(frozen=True)
class _Link:
    """From a value between `bounds` to a scale without bounds; `off` keeps its ends away from infinity."""

    bounds: Bounds
    off: float | Floats = 0.0

    @property
    def _amount(self) -> bool:
        return self.bounds is not None and np.isinf(self.bounds[1])

    def to(self, values: Floats) -> Floats:
        if self.bounds is None:
            return np.asarray(values, dtype=np.float64)
        low, high = self.bounds
        if self._amount:
            return np.asarray(np.log(np.maximum(values - low, 0) + self.off))
        share = np.clip((values - low) / (high - low), 0, 1)
        return np.asarray(np.log((share + self.off) / (1 - share + self.off)))

    def back(self, values: Floats) -> Floats:
        if self.bounds is None:
            return np.asarray(values)
        low, high = self.bounds
        if self._amount:
            return np.asarray(low + np.maximum(np.exp(values) - self.off, 0))
        # tanh is the logistic function that never overflows.
        share = (1 + np.tanh(np.asarray(values) / 2)) / 2
        return np.asarray(low + (high - low) * np.clip(share * (1 + 2 * self.off) - self.off, 0, 1))

    def slope(self, values: Floats) -> Floats:
        """Its derivative, without `off`; 1 where that is infinite."""
        if self.bounds is None:
            return np.ones_like(values)
        low, high = self.bounds
        rise, inside = (1.0, values - low) if self._amount else (high - low, (values - low) * (high - values))
        return np.divide(rise, inside, out=np.ones_like(values), where=inside > 0)

    def bend(self, values: Floats) -> Floats:
        """By how much an interval is moved, for a variance of 1 on this scale: twice the bias of a mean's logarithm.
        The first half is that bias; the second stands for the skewness that few clusters hide."""
        if self.bounds is None:
            return np.zeros_like(values)
        low, high = self.bounds
        return np.ones_like(values) if self._amount else 1 - 2 * (values - low) / (high - low)


@dataclass(frozen=True)
class _Means:
    """k weighted means of n observations: `present` (n, k) weights, 0 where a value does not count; `residuals`."""

    present: Floats
    residuals: Floats
    total: Floats
    means: Floats
    lowest: Floats
    highest: Floats
    bounds: Bounds

    @classmethod
    def of(cls, values: npt.ArrayLike, weights: Floats | None, bounds: Bounds) -> "_Means":
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2 or (weights is not None and len(weights) != len(table)):
            raise ValueError(f"values (n, k) and a weight for each are needed, got {table.shape}")
        counts = ~np.isnan(table)
        if bounds is not None and ((table < bounds[0]) | (table > bounds[1])).any():
            raise ValueError(f"values between {bounds[0]:g} and {bounds[1]:g} are needed")
        present = counts * (np.ones(len(table)) if weights is None else weights)[:, None]
        held = np.where(counts, table, 0.0)
        total = present.sum(axis=0)
        means = np.divide((present * held).sum(axis=0), total, out=np.full(len(total), np.nan), where=total > 0)
        lowest = np.min(np.where(counts, table, np.inf), axis=0, initial=np.inf)
        highest = np.max(np.where(counts, table, -np.inf), axis=0, initial=-np.inf)
        return cls(present, present * (held - means), total, means, lowest, highest, bounds)

    def link(self, count: npt.NDArray[np.intp]) -> _Link:
        """The scale of the means, ends kept off by half of one of `count` (k,) clusters: what one of them decides alone
        moves a mean far, but not for ever."""
        off = 0.5 / np.maximum(count, 1)
        amount = self.bounds is not None and np.isinf(self.bounds[1])
        return _Link(self.bounds, off * np.maximum(np.nan_to_num(self.means) - self._ends[0], 1e-12) if amount else off)

    def intervals(
        self,
        variance: Floats,
        freedom: Floats,
        lacks: Sequence[str],
        method: str,
        alike: str,
        kinds: Sequence["_Kind"],
    ) -> list[Interval]:
        """One interval for each mean, on the scale of the link; or why there is none."""
        same = self.highest - self.lowest <= TOLERANCE * np.maximum(1, np.abs(self.highest))
        still = variance <= TOLERANCE**2 * np.maximum(1.0, self.means**2)
        lows, highs = self._limits(np.where(still, 1.0, variance), freedom)
        found = []
        for k, lack in enumerate(lacks):
            if lack:
                found.append(build_empty_interval(lack))
            elif same[k]:
                found.append(self._at_end(k, kinds))
            elif still[k]:
                found.append(build_empty_interval(alike))
            else:
                found.append(Interval(_rounded(lows[k]), _rounded(highs[k]), method))
        return found

    def _limits(self, variance: Floats, freedom: Floats) -> tuple[Floats, Floats]:
        plain = _Link(self.bounds)
        # Where no mean is known, or it lies at a bound, the result is not used.
        safe = (self.lowest < self.highest) & (self.means > self._ends[0]) & (self.means < self._ends[1])
        means = np.where(safe, self.means, self._within)
        centre = plain.to(means) + plain.bend(means) * np.minimum(variance, MOST_MOVED)
        half = t_critical_value(freedom) * np.sqrt(variance)
        return plain.back(centre - half), plain.back(centre + half)

    @property
    def _ends(self) -> tuple[float, float]:
        return self.bounds or (-np.inf, np.inf)

    @property
    def _within(self) -> float:
        """Any value between the bounds."""
        low, high = self._ends
        return low + 1 if np.isfinite(low) and np.isinf(high) else 0.0 if np.isinf(low) else (low + high) / 2

    def _at_end(self, k: int, kinds: Sequence["_Kind"]) -> Interval:
        """All values are equal: an exact limit where they lie at a bound."""
        if self.bounds is None:
            return build_empty_interval(ALIKE)
        low, high = self.bounds
        value, near = float(self.highest[k]), TOLERANCE * (high - low)
        if np.isinf(high) or low + near < value < high - near:
            return build_empty_interval(ALIKE)
        codes = [kind.codes[self.present[:, k] > 0] for kind in kinds]
        alone = most_pairs(*codes) if len(codes) == 2 else len(np.unique(codes[0]))
        far = (high - low) * (1 - TAIL ** (1 / alone))
        return (
            Interval(low, _rounded(low + far), ONE_END)
            if value <= low + near
            else Interval(_rounded(high - far), high, ONE_END)
        )


@dataclass(frozen=True)
class _Kind:
    """One kind of clusters: the `variance` (k,) of each mean on the scale of the link when whole clusters are left out,
    its degrees of `freedom` (k,), and how many clusters `count` (k,)."""

    codes: Codes
    variance: Floats
    freedom: Floats
    count: npt.NDArray[np.intp]

    @classmethod
    def of(cls, made: _Means, codes: Codes, single: bool = False, evened: bool = False) -> "_Kind":
        """`single`: the clusters are pairs, whose variance is that of their sums. `evened`: what a large cluster adds
        is taken as if all were equally large, which is enough where there is one kind of clusters."""
        if len(codes) != len(made.present):
            raise ValueError(f"a label for each of {len(made.present)} observations is needed, got {len(codes)}")
        sizes, moves = _summed(made.present, codes), _summed(made.residuals, codes)
        count = (sizes > 0).sum(axis=0)
        total = np.where(made.total > 0, made.total, 1.0)
        link = made.link(count)
        slope = link.slope(made.means)
        if single:
            factor = count / np.maximum(count - 1, 1)
            return cls(codes, _sum_of_squares(moves / total) * factor * slope**2, np.ones(len(total)), count)
        rest = total - sizes
        moved = np.divide(-moves, rest, out=np.zeros_like(moves), where=rest > 0)
        weight = np.sqrt((1 - sizes / total) * count / np.maximum(count - 1, 1)) if evened else np.ones_like(moved)
        variance = _sum_of_squares(moved * weight) * slope**2
        if made.bounds is not None:
            variance = np.maximum(
                variance, _sum_of_squares((link.to(made.means + moved) - link.to(made.means)) * weight)
            )
        return cls(codes, variance, _freedom(sizes / total), count)

    def lacks(self, least: int, what: str) -> list[str]:
        """Why each mean claims no interval, or empty texts."""
        return [
            explain_few_clusters(least, what)
            if count < least
            else OUTWEIGHED.format(what)
            if freedom < LEAST_FREEDOM
            else ""
            for count, freedom in zip(self.count, self.freedom, strict=True)
        ]


def _both(first: _Kind, second: _Kind, pairs: Floats) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom (k,) of two kinds of clusters together."""
    largest = np.maximum.reduce([first.variance, second.variance, pairs])
    variance = np.maximum(first.variance + second.variance - pairs, largest)
    scarcer = first.freedom <= second.freedom
    scarce, other = np.where(scarcer, (first.variance, second.variance), (second.variance, first.variance))
    few, many = np.minimum(first.freedom, second.freedom), np.maximum(first.freedom, second.freedom)
    part = CAUTION * np.maximum(scarce - pairs, 0)
    weight = np.divide(part, part + other, out=np.ones_like(part), where=part + other > 0)
    freedom = 1 / (weight**2 / few + (1 - weight) ** 2 / many)
    return variance, np.maximum(freedom, few)


def _freedom(shares: Floats) -> Floats:
    """Of the variance where whole clusters differ, (k,), from their shares (clusters, k) of the observations.

    The variance is then a quadratic form e′Be of the clusters' effects e; its degrees of freedom are tr(B)² ÷ tr(B²).
    """
    weight = np.divide(shares**2, 1 - shares, out=np.zeros_like(shares), where=shares < 1)
    a, aa, ah, aah, ahh, hh = (
        np.sort(term, axis=0).sum(axis=0)
        for term in (weight, weight**2, weight * shares, weight**2 * shares, weight * shares**2, shares**2)
    )
    trace = a - 2 * ah + a * hh
    squared = aa - 4 * aah + 2 * a * ahh + 2 * ah**2 + 2 * aa * hh - 4 * a * ah * hh + (a * hh) ** 2
    return np.maximum(1.0, np.divide(trace**2, squared, out=np.ones_like(trace), where=squared > 0))


def _sum_of_squares(table: Floats) -> Floats:
    """Over the clusters (k,), from the smallest on, so that the order of the clusters changes nothing."""
    return np.asarray(np.sort(table**2, axis=0).sum(axis=0))


def _summed(table: Floats, codes: Codes) -> Floats:
    """Sums (clusters, k) of `table` (n, k) by `codes` (n,), each cluster's in the order of the observations."""
    if not len(codes):
        return np.zeros((0, table.shape[1]))
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return np.add.reduceat(table[order], starts, axis=0)


def _coded(labels: Labels) -> Codes:
    """Numbers from 0 of labels (n,)."""
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _rounded(value: float | Floats) -> float:
    """To twelve significant digits: what lies beyond depends on the processor."""
    return float(f"{float(value):.12g}")
