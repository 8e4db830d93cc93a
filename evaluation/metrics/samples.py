"""Observations of one measure that belong to groups, several at once or none: what disparities are computed of."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Clusters, Floats, Ints, Mask
from evaluation.metrics.tidy import is_small


@dataclass(frozen=True)
class Sample:
    """Observations of one measure: `values`, `dishes`, `raters` (n,; None where nobody judged), and `member` (n,), the
    row of `weights` of each.

    `weights` (kinds, groups): 1/k for the k groups that observations of a kind belong to, else 0.
    """

    values: Floats
    dishes: Clusters
    raters: Clusters | None
    member: Ints
    weights: Floats

    @classmethod
    def of(
        cls,
        values: npt.ArrayLike,
        dishes: Clusters,
        raters: Clusters | None,
        kind: npt.NDArray[np.integer],
        kinds: Mask,
    ) -> "Sample":
        """`kind` (n,) is the row of `kinds` (kinds, groups), True for the groups of an observation.

        What is NaN, and what belongs to no group, is left out. The order of the observations changes nothing.
        """
        table = np.asarray(values, dtype=np.float64)
        found = np.flatnonzero(~np.isnan(table) & np.any(kinds, axis=1, keepdims=True)[kind, 0])
        # By value: sums are then added in one order, to the last digit.
        kept = found[np.argsort(table[found], kind="stable")]
        rows, place = np.unique(kinds, axis=0, return_inverse=True)
        weights = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1)
        member = place.ravel()[kind[kept]]
        return cls(table[kept], dishes[kept], None if raters is None else raters[kept], member, weights)

    def picked(self, kinds: Mask) -> "Sample":
        """The observations of the chosen kinds (kinds,)."""
        kept = kinds[self.member]
        raters = None if self.raters is None else self.raters[kept]
        return Sample(self.values[kept], self.dishes[kept], raters, self.member[kept], self.weights)

    def unshared(self) -> "Sample":
        """Without the observations that belong to several groups."""
        return self.picked(~self._several)

    @cached_property
    def shared(self) -> int:
        """How many dishes belong to several groups."""
        return len(np.unique(self.dishes[self._several[self.member]]))

    @property
    def _several(self) -> Mask:
        return np.count_nonzero(self.weights, axis=1) > 1

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
        kept = Sample(self.values, self.dishes, self.raters, self.member, weights)
        return kept.picked(np.count_nonzero(weights, axis=1) > 0)
