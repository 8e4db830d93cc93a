"""The difference between two models (prompts, runs) on the same dishes: dishes differ more than models do.

A pair is a dish under both, by its mean over images; where people judged, the same person's judgement of the same
dish under both. Interval and p come from one variance, over whole dishes and whole people: see `people_tests`.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Clusters, Floats, Ints, Mask
from evaluation.metrics.inference.cluster_tests import mean_test
from evaluation.metrics.inference.intervals import Interval

NO_PAIRS = "no dish was {} under both"
NO_INTERVAL = Interval(None, None)


@dataclass(frozen=True)
class Pairs:
    """Means under the first and under the second, `dishes`, `raters` (None: machines), `weights`: all (pairs,).

    `alone`: dishes that were observed and have no pair.
    """

    first: Floats
    second: Floats
    dishes: Clusters
    raters: Clusters | None
    weights: Floats
    alone: int

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        dishes: Clusters,
        raters: Clusters | None,
        second: Mask,
        weights: npt.ArrayLike | None = None,
        outcomes: Ints | None = None,
    ) -> "Pairs":
        """Pairs of observations: `values` (n,), NaN left out; `second` (n,), False for those under the first;
        `weights` (n,), that of their dish, 1 where there are none; `outcomes` (n,): those that are of one thing count
        as one, by their mean."""
        table = np.asarray(values, dtype=np.float64)
        found = np.flatnonzero(~np.isnan(table))
        # By value: sums are then added in one order, to the last digit.
        kept = found[np.argsort(table[found], kind="stable")]
        weighing = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
        known, dish = np.unique(dishes[kept], return_inverse=True)
        people, rater = np.unique(dish * 0 if raters is None else raters[kept], return_inverse=True)
        keys, place = np.unique(dish * max(len(people), 1) + rater, return_inverse=True)
        shares = np.ones(len(kept))
        if outcomes is not None:
            _, which, times = np.unique(outcomes[kept], return_inverse=True, return_counts=True)
            shares = 1 / times[which]
        sides = [_means(table[kept], shares, place, len(keys), side) for side in (~second[kept], second[kept])]
        both = ~np.isnan(sides[0]) & ~np.isnan(sides[1])
        weight = np.zeros(len(keys))
        weight[place] = weighing[kept]
        of_dish, by = np.divmod(keys[both], max(len(people), 1))
        return cls(
            first=sides[0][both],
            second=sides[1][both],
            dishes=known[of_dish],
            raters=None if raters is None else people[by],
            weights=weight[both],
            alone=len(known) - len(np.unique(of_dish)),
        )

    @property
    def difference(self) -> Floats:
        """The second minus the first, (pairs,)."""
        return self.second - self.first


@dataclass(frozen=True)
class Paired:
    """The mean difference, second minus first, of `n` pairs of `dishes` dishes, by `people` where they judged; None
    with the reason. `p` is None where no interval is claimed."""

    n: int
    dishes: int
    alone: int
    people: int | None = None
    first: float | None = None
    second: float | None = None
    difference: float | None = None
    interval: Interval = NO_INTERVAL
    p: float | None = None
    reason: str = ""


def compare_pairs(pairs: Pairs) -> Paired:
    """The mean difference of pairs, weighted, with interval and p."""
    n, dishes = len(pairs.first), len(np.unique(pairs.dishes))
    people = None if pairs.raters is None else len(np.unique(pairs.raters))
    if not n:
        made = "measured" if pairs.raters is None else "judged by the same person"
        return Paired(n, dishes, pairs.alone, people, reason=NO_PAIRS.format(made))
    first, second = (float(np.average(side, weights=pairs.weights)) for side in (pairs.first, pairs.second))
    tested = mean_test(pairs.difference, pairs.weights, pairs.dishes, pairs.raters)
    return Paired(n, dishes, pairs.alone, people, first, second, tested.difference, tested.interval, tested.p)


def _means(values: Floats, shares: Floats, place: Ints, keys: int, side: Mask) -> Floats:
    """Mean of `values`, weighted by `shares`, per key (keys,) over one side; NaN where it has none."""
    count = np.bincount(place[side], weights=shares[side], minlength=keys)
    total = np.bincount(place[side], weights=values[side] * shares[side], minlength=keys)
    return np.divide(total, count, out=np.full(keys, np.nan), where=count > 0)
