"""How far groups of dishes lie apart: the gap between the lowest and the highest, and what chance alone would give.

The gap of several groups is never 0; the more groups there are and the smaller they are, the larger it is where
nothing differs at all. So its mean under chance is beside it, and a p-value. Both, and the interval, come from the
groups' variances over whole dishes and whole people, see `people_tests`: a dish with all its images and opinions is
one cluster, and so is a person with all judgements. A dish in k groups counts 1/k in each of them.

The lowest and the highest group are chosen by the data, so the interval of their gap holds for all pairs of groups at
once.
"""

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.inference.cluster_tests import estimate_clustered_means, range_test
from evaluation.metrics.inference.intervals import LEAST_CLUSTERS, Interval
from evaluation.metrics.samples import Sample
from evaluation.metrics.tidy import SMALL_PEOPLE

FEW_DISHES = f"fewer than {LEAST_CLUSTERS} dishes: groups are not compared"
ONE_GROUP = "fewer than two groups that are not small: groups are not compared"
FEW_PEOPLE = f"fewer than two groups with {SMALL_PEOPLE} reviewers that are not small: groups are not compared"
NO_INTERVAL = Interval(None, None)


@dataclass(frozen=True)
class Group:
    """One group, by its number: weighted mean, observations, dishes, and people where they judged."""

    place: int
    mean: float
    n: int
    dishes: int
    people: int | None = None


@dataclass(frozen=True)
class Disparity:
    """The gap between groups, none of them small. `n`, `dishes`, `people`: what was compared; `reason`: why there is no
    gap.

    `expected`: mean gap of groups that do not differ; `p`: how often theirs is as large; both None where no interval is
    claimed. `ratio`: lowest ÷ highest mean; `variation`: population deviation of the means ÷ their mean; both None
    where a mean is negative or all are 0.
    """

    n: int
    dishes: int
    people: int | None = None
    groups: tuple[Group, ...] = ()
    expected: float | None = None
    p: float | None = None
    interval: Interval = NO_INTERVAL
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


def compute_disparity(sample: Sample) -> Disparity:
    """The disparity of a measure between the groups of `sample` that are not small."""
    large = sample.large()
    if len(large) < 2:
        return Disparity(*count_sample(sample), reason=explain_lack_of_groups(sample))
    kept = sample.among(large)
    means = estimate_clustered_means(kept.values, kept.member, kept.weights, kept.dishes, kept.raters)
    tested = range_test(means)
    groups = (Group(int(large[g]), float(mean), *kept.sizes(g)) for g, mean in enumerate(means.values))
    return Disparity(
        *count_sample(kept), groups=tuple(groups), expected=tested.expected, p=tested.p, interval=tested.interval
    )


def count_sample(sample: Sample) -> tuple[int, int, int | None]:
    """Observations, dishes, people; None where machines judged."""
    people = None if sample.raters is None else len(np.unique(sample.raters))
    return sample.size, len(np.unique(sample.dishes)), people


def explain_lack_of_groups(sample: Sample) -> str:
    """Why fewer than two groups can be compared."""
    if len(np.unique(sample.dishes)) < LEAST_CLUSTERS:
        return FEW_DISHES
    return ONE_GROUP if sample.raters is None else FEW_PEOPLE
