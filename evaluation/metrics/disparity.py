"""How far groups of dishes lie apart: the gap between the lowest and the highest, and what chance alone would give.

The gap of several groups is never 0; the more groups there are and the smaller they are, the larger it is where
nothing differs at all. So its mean over random labelings stands beside it, and a p-value. Whole dishes are relabelled,
with all their pictures and opinions, since these resemble each other (Good 2005, Permutation, Parametric and Bootstrap
Tests of Hypotheses, §3.7). A dish in k groups counts 1/k in each of them, and its set of groups moves as one.

The lowest and the highest group are chosen by the data, so the interval of their gap holds for all pairs of groups at
once: the gap ± the 95 % point of the range of the groups' resampled deviations (Tukey's range, by bootstrap).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.groups import Floats, Ints, Sample
from evaluation.metrics.intervals import LEAST_CLUSTERS, LEAST_REVIEWERS, Interval
from evaluation.metrics.multiple import resampled_p

PERMUTATIONS = 2000
SEED = 20260311
DRAWS, BOOTSTRAP_SEED = 2000, 20250623
METHOD = f"{PERMUTATIONS} permutations of whole dishes, seed {SEED}"
INTERVAL = f"gap ± 95 % point of the range of resampled deviations, over {{}}, {DRAWS} draws, seed {BOOTSTRAP_SEED}"
FEW_DISHES = f"fewer than {LEAST_CLUSTERS} dishes: groups are not compared"
ONE_GROUP = "fewer than two groups that are not small: groups are not compared"
FEW_PEOPLE = f"a group has fewer than {LEAST_REVIEWERS} reviewers: no interval is claimed"
ALIKE = "all values are equal, resampling cannot vary them: no interval is claimed"
NO_INTERVAL = Interval(None, None)
_CHUNK = 100
# Orders of more blocks are too large to be kept: these take 40 MB.
_MOST_KEPT = 5000


@dataclass(frozen=True)
class Group:
    """One group, by its number: weighted mean, observations, dishes."""

    place: int
    mean: float
    n: int
    dishes: int


@dataclass(frozen=True)
class Disparity:
    """The gap between groups, none of them small. `n`, `dishes`: what was compared; `reason`: why there is no gap.

    `expected`: mean gap of random labelings; `p`: how often theirs is as large. `ratio`: lowest ÷ highest mean;
    `variation`: population deviation of the means ÷ their mean; both None where a mean is negative or all are 0.
    `split`: dishes whose observations do not all belong to the same groups; their parts are relabelled one by one.
    """

    n: int
    dishes: int
    groups: tuple[Group, ...] = ()
    expected: float | None = None
    p: float | None = None
    interval: Interval = NO_INTERVAL
    split: int = 0
    reason: str = ""

    @property
    def lowest(self) -> Group:
        return min(self.groups, key=lambda group: group.mean)

    @property
    def highest(self) -> Group:
        return max(self.groups, key=lambda group: group.mean)

    @property
    def gap(self) -> float | None:
        return self.highest.mean - self.lowest.mean if self.groups else None

    @property
    def ratio(self) -> float | None:
        return self.lowest.mean / self.highest.mean if self._positive else None

    @property
    def variation(self) -> float | None:
        means = np.array([group.mean for group in self.groups])
        return float(means.std() / means.mean()) if self._positive else None

    @property
    def _positive(self) -> bool:
        return bool(self.groups) and self.lowest.mean >= 0 and self.highest.mean > 0


def disparity(sample: Sample) -> Disparity:
    """The disparity of a measure between the groups of `sample` that are not small."""
    large = sample.large()
    dishes = len(np.unique(sample.dishes))
    if len(large) < 2:
        few = dishes < LEAST_CLUSTERS
        return Disparity(len(sample.values), dishes, reason=FEW_DISHES if few else ONE_GROUP)
    kept = sample.among(large)
    blocks = Blocks.of(kept)
    means = blocks.means(np.arange(len(blocks.sums))[None])[0]
    gaps = blocks.random_gaps()
    found = range(len(large))
    return Disparity(
        n=len(kept.values),
        dishes=len(np.unique(kept.dishes)),
        groups=tuple(Group(int(large[g]), float(means[g]), int(kept.within(g).sum()), kept.clusters(g)) for g in found),
        expected=float(gaps.mean()),
        p=resampled_p(float(means.max() - means.min()), gaps),
        interval=interval(kept, means),
        split=blocks.split,
    )


@dataclass(frozen=True)
class Blocks:
    """What moves as one: the observations of a dish that belong to the same groups.

    `sums`, `counts` (blocks,): of their values, and how many. Memberships, sorted by group: `block`, `weight`
    (memberships,), and `starts` (groups,), where each group begins.
    """

    sums: Floats
    counts: Floats
    block: Ints
    weight: Floats
    starts: Ints
    split: int

    @classmethod
    def of(cls, sample: Sample) -> "Blocks":
        dish = np.unique(sample.dishes, return_inverse=True)[1]
        keys, place = np.unique(dish * len(sample.weights) + sample.member, return_inverse=True)
        dishes, members = np.divmod(keys, len(sample.weights))
        group, block = np.nonzero(sample.weights[members].T)
        return cls(
            sums=np.bincount(place, weights=sample.values).astype(np.float64),
            counts=np.bincount(place).astype(np.float64),
            block=block,
            weight=sample.weights[members[block], group],
            starts=np.searchsorted(group, np.arange(sample.weights.shape[1])),
            split=int((np.bincount(dishes) > 1).sum()),
        )

    def means(self, orders: Ints) -> Floats:
        """Means of the groups (orders, groups) where block i holds what block `orders[:, i]` holds."""
        taken = orders[:, self.block]
        sums = np.add.reduceat(self.sums[taken] * self.weight, self.starts, axis=1)
        return sums / np.add.reduceat(self.counts[taken] * self.weight, self.starts, axis=1)

    def random_gaps(self) -> Floats:
        """Gaps of random labelings, (PERMUTATIONS,)."""
        means = [self.means(orders) for orders in _orders(len(self.sums))]
        return np.concatenate([part.max(axis=1) - part.min(axis=1) for part in means])


def _orders(blocks: int) -> Iterable[Ints]:
    """Random orders of so many blocks, (PERMUTATIONS, blocks) in parts; few are kept for the next measure."""
    return _kept_orders(blocks) if blocks <= _MOST_KEPT else _new_orders(blocks)


def _new_orders(blocks: int) -> Iterator[Ints]:
    rng = np.random.default_rng(SEED)
    order = np.arange(blocks, dtype=np.int32)
    for start in range(0, PERMUTATIONS, _CHUNK):
        size = min(_CHUNK, PERMUTATIONS - start)
        yield rng.permuted(np.tile(order, (size, 1)), axis=1)


@lru_cache(maxsize=1)
def _kept_orders(blocks: int) -> Sequence[Ints]:
    return list(_new_orders(blocks))


def interval(sample: Sample, means: Floats) -> Interval:
    """The interval of the gap, resampling dishes and, where people judged, reviewers."""
    people = sample.raters is not None
    if people and min(_people(sample, group) for group in range(len(means))) < LEAST_REVIEWERS:
        return Interval(None, None, reason=FEW_PEOPLE)
    moved = resampled(sample) - means
    held = moved[~np.isnan(moved).any(axis=1)]
    ranges = held.max(axis=1) - held.min(axis=1)
    if not ranges.size or ranges.max() == 0:
        return Interval(None, None, reason=ALIKE)
    gap, reach = float(means.max() - means.min()), float(np.percentile(ranges, 95))
    over = "dishes and reviewers" if people else "dishes"
    return Interval(max(0.0, gap - reach), gap + reach, INTERVAL.format(over))


def _people(sample: Sample, group: int) -> int:
    assert sample.raters is not None
    return len(np.unique(sample.raters[sample.within(group)]))


def resampled(sample: Sample) -> Floats:
    """Means of the groups (DRAWS, groups) in resamples; NaN where one holds nothing of a group.

    An observation weighs the product of the draws of its dish and its reviewer, the pigeonhole bootstrap (Owen 2007).
    """
    dishes, dish = np.unique(sample.dishes, return_inverse=True)
    raters, rater = np.unique(dish * 0 if sample.raters is None else sample.raters, return_inverse=True)
    tables = [_table(sample, group, dish, rater) for group in range(sample.weights.shape[1])]
    drawn = _drawn(len(dishes), 0 if sample.raters is None else len(raters))
    found = []
    for start in range(0, DRAWS, _CHUNK):
        first, second = (draws[start : start + _CHUNK] for draws in drawn)
        found.append(
            np.column_stack(
                [_means(first.take(rows, 1), second.take(columns, 1), *sums) for rows, columns, *sums in tables]
            )
        )
    return np.concatenate(found)


@lru_cache(maxsize=1)
def _drawn(dishes: int, raters: int) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """How often each dish and each rater is drawn, (DRAWS, number) each; without raters one, always. They depend on
    numbers alone, so that the next measure of the same dishes and people takes the same ones."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    found = [
        rng.multinomial(number, np.full(number, 1 / number), size=DRAWS).astype(np.uint16)
        for number in (dishes, raters)
        if number
    ]
    return found[0], found[1] if raters else np.ones((DRAWS, 1), dtype=np.uint16)


def _table(sample: Sample, group: int, dish: Ints, rater: Ints) -> tuple[Ints, Ints, Floats, Floats]:
    """The dishes and the raters of a group, and its weighted sums and counts, (dishes, raters) each."""
    inside = sample.within(group)
    rows, row = np.unique(dish[inside], return_inverse=True)
    columns, column = np.unique(rater[inside], return_inverse=True)
    weight = sample.weights[sample.member[inside], group]
    sums, counts = np.zeros((2, len(rows), len(columns)))
    np.add.at(sums, (row, column), weight * sample.values[inside])
    np.add.at(counts, (row, column), weight)
    return rows, columns, sums, counts


def _means(first: npt.NDArray[Any], second: npt.NDArray[Any], sums: Floats, counts: Floats) -> Floats:
    """Weighted means (draws,) of a group: `first` (draws, dishes), `second` (draws, raters)."""
    first = first.astype(np.float64)
    total = ((first @ sums) * second).sum(axis=1)
    weight = ((first @ counts) * second).sum(axis=1)
    return np.divide(total, weight, out=np.full_like(total, np.nan), where=weight > 0)
