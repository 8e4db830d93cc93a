"""The difference between two models (prompts, runs) on the same dishes: dishes differ more than models do.

A pair is a dish under both, by its mean over pictures; where people judged, the same person's judgement of the same
dish under both. The p-value flips signs of whole dishes, with all their pairs: under no difference, which of the two
is called first says nothing about a dish (Fisher 1935, The Design of Experiments, §21).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.intervals import LEAST_CLUSTERS, Interval, one_way, two_way
from evaluation.metrics.multiple import resampled_p

FLIPS = 2000
SEED = 20260417
METHOD = f"{FLIPS} random flips of the signs of whole dishes, seed {SEED}"
NO_PAIRS = "no dish was {} under both"
FEW_DISHES = f"fewer than {LEAST_CLUSTERS} dishes with a pair: no test is made"
NO_INTERVAL = Interval(None, None)
_CHUNK = 250

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]
Clusters = npt.NDArray[np.generic]


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
    ) -> "Pairs":
        """Pairs of observations: `values` (n,), NaN left out; `second` (n,), False for those under the first;
        `weights` (n,), that of their dish, 1 where there are none."""
        table = np.asarray(values, dtype=np.float64)
        found = np.flatnonzero(~np.isnan(table))
        # By value: sums are then added in one order, to the last digit.
        kept = found[np.argsort(table[found], kind="stable")]
        weighing = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
        known, dish = np.unique(dishes[kept], return_inverse=True)
        people, rater = np.unique(dish * 0 if raters is None else raters[kept], return_inverse=True)
        keys, place = np.unique(dish * max(len(people), 1) + rater, return_inverse=True)
        sides = [_means(table[kept], place, len(keys), side) for side in (~second[kept], second[kept])]
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
    """The mean difference, second minus first, of `n` pairs of `dishes` dishes; None with the reason.

    `p` is None, for `untested`, where the dishes are too few.
    """

    n: int
    dishes: int
    alone: int
    first: float | None = None
    second: float | None = None
    difference: float | None = None
    interval: Interval = NO_INTERVAL
    p: float | None = None
    reason: str = ""
    untested: str = ""


def paired(pairs: Pairs) -> Paired:
    """The mean difference of pairs, weighted, with interval and p."""
    n, dishes = len(pairs.first), len(np.unique(pairs.dishes))
    if not n:
        made = "measured" if pairs.raters is None else "judged by the same person"
        reason = NO_PAIRS.format(made)
        return Paired(n, dishes, pairs.alone, reason=reason, untested=reason)
    first, second = (float(np.average(side, weights=pairs.weights)) for side in (pairs.first, pairs.second))
    table = pairs.difference[:, None]
    if pairs.raters is None:
        [interval] = one_way(table, pairs.dishes, pairs.weights)
    else:
        [interval] = two_way(table, pairs.dishes, pairs.raters, pairs.weights, bounds=None)
    few = dishes < LEAST_CLUSTERS
    return Paired(
        n=n,
        dishes=dishes,
        alone=pairs.alone,
        first=first,
        second=second,
        difference=float(np.average(pairs.difference, weights=pairs.weights)),
        interval=interval,
        p=None if few else flipped_p(pairs),
        untested=FEW_DISHES if few else "",
    )


def flipped_p(pairs: Pairs) -> float:
    """How often the mean difference is at least as far from 0 after random flips of the signs of dishes."""
    dish = np.unique(pairs.dishes, return_inverse=True)[1]
    sums = np.bincount(dish, weights=pairs.weights * pairs.difference)
    rng = np.random.default_rng(SEED)
    drawn = [
        np.abs((2.0 * rng.integers(0, 2, (min(_CHUNK, FLIPS - start), len(sums))) - 1.0) @ sums)
        for start in range(0, FLIPS, _CHUNK)
    ]
    total = float(pairs.weights.sum())
    return resampled_p(abs(float(sums.sum())) / total, np.concatenate(drawn) / total)


def _means(values: Floats, place: Ints, keys: int, side: Mask) -> Floats:
    """Mean of `values` per key (keys,) over one side; NaN where it has none."""
    count = np.bincount(place[side], minlength=keys).astype(np.float64)
    total = np.bincount(place[side], weights=values[side], minlength=keys)
    return np.divide(total, count, out=np.full(keys, np.nan), where=count > 0)
