"""Observations of one measure that belong to groups, several at once or none: what disparities are computed of."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Clusters, Floats, Ints, Mask
from evaluation.metrics.tidy import is_small


@dataclass(frozen=True)
class Sample:
    """Observations of one measure: `values`, `dishes`, `raters` (n,; None where nobody judged), and `member` (n,), the
    row of `weights` of each.

    `weights` (kinds, groups): 1/k for the k groups that what is observed belongs to, 0 in others. `several` (kinds,):
    whether these are several groups. `outcomes` (n,): equal for the observations of one thing that has a value of its
    own in each of its groups; None where nothing is observed twice.
    """

    values: Floats
    dishes: Clusters
    raters: Clusters | None
    member: Ints
    weights: Floats
    several: Mask
    outcomes: Ints | None = None

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        dishes: Clusters,
        raters: Clusters | None,
        kind: npt.NDArray[np.integer],
        kinds: Mask,
        outcomes: Ints | None = None,
    ) -> "Sample":
        """`kind` (n,) is the row of `kinds` (kinds, groups), True for the groups of an observation.

        What is NaN, and what belongs to no group, is left out. The order of the observations changes nothing.
        """
        table = np.asarray(values, dtype=np.float64)
        found = np.flatnonzero(~np.isnan(table) & np.any(kinds, axis=1, keepdims=True)[kind, 0])
        # By value: sums are then added in one order, to the last digit.
        kept = found[np.argsort(table[found], kind="stable")]
        people = None if raters is None else raters[kept]
        if outcomes is not None:
            member, weights, several = weigh_outcomes(kinds[kind], outcomes)
            return cls(table[kept], dishes[kept], people, member[kept], weights, several, outcomes[kept])
        rows, place = np.unique(kinds, axis=0, return_inverse=True)
        weights = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
        return cls(table[kept], dishes[kept], people, place.ravel()[kind[kept]], weights, rows.sum(axis=1) > 1)

    def picked(self, kinds: Mask) -> "Sample":
        """The observations of the chosen kinds (kinds,)."""
        kept = kinds[self.member]
        raters = None if self.raters is None else self.raters[kept]
        return replace(
            self,
            values=self.values[kept],
            dishes=self.dishes[kept],
            raters=raters,
            member=self.member[kept],
            outcomes=None if self.outcomes is None else self.outcomes[kept],
        )

    def unshared(self) -> "Sample":
        """Without the observations that belong to several groups."""
        return self.picked(~self.several)

    @cached_property
    def shared(self) -> int:
        """How many dishes belong to several groups."""
        return len(np.unique(self.dishes[self.several[self.member]]))

    @property
    def size(self) -> int:
        """How many things were observed, each once however many groups it belongs to."""
        return len(self.values) if self.outcomes is None else len(np.unique(self.outcomes))

    def within(self, group: int) -> Mask:
        """(n,) which observations belong to a group."""
        return (self.weights[:, group] > 0)[self.member]

    def sizes(self, group: int) -> tuple[int, int, int | None]:
        """The observations of a group, their dishes, and the people who judged; None where machines did."""
        inside = self.within(group)
        people = None if self.raters is None else len(np.unique(self.raters[inside]))
        return int(inside.sum()), len(np.unique(self.dishes[inside])), people

    def large(self) -> Ints:
        """The groups that are not small."""
        groups = range(self.weights.shape[1])
        return np.array([group for group in groups if not is_small(*self.sizes(group))], dtype=np.intp)

    def among(self, groups: Ints) -> "Sample":
        """The observations of these groups, their weights in others forgotten."""
        weights = self.weights[:, groups]
        return replace(self, weights=weights).picked(np.count_nonzero(weights, axis=1) > 0)


def weigh_outcomes(own: Mask, outcomes: Ints) -> tuple[Ints, Floats, Mask]:
    """`own` (n, groups): the groups of each observation. Rows of weights of each (n,), these (kinds, groups), and
    whether what is observed belongs to several groups (kinds,), in all its observations together."""
    known, which = np.unique(outcomes, return_inverse=True)
    counts = np.zeros((len(known), own.shape[1]), dtype=np.intp)
    np.add.at(counts, which, own)
    many = np.count_nonzero(counts, axis=1)[which]
    rows, member = np.unique(np.column_stack([own, many]), axis=0, return_inverse=True)
    return member.ravel(), rows[:, :-1] / np.maximum(rows[:, -1:], 1), rows[:, -1] > 1
