"""What the numbers of a table are means of: one row per observation, for disparities, comparisons and planning.

A table says how to get them in its `TableSpec.observe`, a study's table by its `Study.observe`. For every row of such
a table, the mean of the observations in its cell is its value, and their number its n: a test holds it for all.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import overload

import numpy as np
import numpy.typing as npt

# The value of a column whose row takes all the others together.
ALL = "all"
# A rater in a bundle (`wwd/exchange/bundles/pseudonyms.py`): the second number is the place of the hash.
BUNDLED = re.compile(r"reviewer-\d{7}-(\d{7})")


@dataclass(frozen=True, eq=False)
class Labels(Sequence[tuple[str, ...]]):
    """Which values n observations belong to, in a few bytes each: `kinds[codes[i]]` are those of observation i."""

    codes: npt.NDArray[np.int32]
    kinds: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, values: Iterable[tuple[str, ...]]) -> "Labels":
        """Those of a plain sequence."""
        if isinstance(values, cls):
            return values
        known: dict[tuple[str, ...], int] = {}
        codes = np.fromiter((known.setdefault(value, len(known)) for value in values), np.int32)
        return cls(codes, tuple(known))

    @classmethod
    def each(cls, values: Iterable[str]) -> "Labels":
        """One value for each observation."""
        return cls.of((value,) for value in values)

    @classmethod
    def same(cls, value: str, n: int) -> "Labels":
        """The same value for all n."""
        return cls(np.zeros(n, dtype=np.int32), ((value,),))

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, at: slice) -> "Labels": ...
    def __getitem__(self, at: int | slice) -> "tuple[str, ...] | Labels":
        return Labels(self.codes[at], self.kinds) if isinstance(at, slice) else self.kinds[self.codes[at]]

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The distinct values that occur, in alphabetical order."""
        used = np.flatnonzero(np.bincount(self.codes, minlength=len(self.kinds)))
        return tuple(sorted({value for code in used for value in self.kinds[code]}))

    def holding(self, value: str) -> npt.NDArray[np.bool_]:
        """(n,) which observations belong to the value."""
        return np.array([value in kind for kind in self.kinds], dtype=np.bool_)[self.codes]

    def only(self, value: str) -> "Labels":
        """The same with nothing but `value` for those that belong to it."""
        return Labels(self.codes, tuple((value,) if value in kind else kind for kind in self.kinds))

    def picked(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Labels":
        """Those of the chosen observations."""
        return Labels(self.codes[chosen], self.kinds)


@dataclass(frozen=True)
class Observations:
    """Columns of one length n, aligned.

    `values`: metric → (n,) float64, NaN where the observation does not count for it. `groups`: column of the table →
    the values that each observation belongs to (several continents, in one order). `dishes`: (n,) labels of clusters,
    `raters`: (n,) labels of the people who judged, None where machines did: equal where the dish or the person is,
    also between runs (see `coded`). `images`, `units`, `reviews`: (n,) primary keys, 0 where there is none.
    `demonstration`: made by stand-ins. `notes`: what was counted and what was left out, as under the table itself.

    `outcomes`: where one thing has another value in each of its groups, such as an image in each of its countries, it
    has an observation in each of them, and these share a number here: (n,), None where nothing is observed twice.
    """

    values: Mapping[str, npt.NDArray[np.float64]]
    groups: Mapping[str, Sequence[tuple[str, ...]]]
    dishes: npt.NDArray[np.generic]
    raters: npt.NDArray[np.generic] | None
    images: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]
    reviews: npt.NDArray[np.int64]
    demonstration: bool = False
    notes: tuple[str, ...] = ()
    outcomes: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.dishes)

    def count_groups(self, column: str) -> npt.NDArray[np.intp]:
        """(n,) how many values of a column that which is observed belongs to, in all its observations together."""
        labels = self.labels(column)
        if self.outcomes is None:
            return np.array([len(set(kind) - {ALL}) for kind in labels.kinds] or [0], dtype=np.intp)[labels.codes]
        known, which = np.unique(self.outcomes, return_inverse=True)
        counts = np.zeros(len(known), dtype=np.intp)
        for value in labels.values:
            if value != ALL:
                counts[np.unique(which[labels.holding(value)])] += 1
        return counts[which]

    def labels(self, column: str) -> Labels:
        """The groups of a column."""
        return Labels.of(self.groups[column])

    def within(self, cell: Mapping[str, str]) -> npt.NDArray[np.bool_]:
        """(n,) which observations belong to a cell: column → value."""
        inside = np.ones(len(self), dtype=np.bool_)
        for column, value in cell.items():
            inside &= self.labels(column).holding(value)
        return inside

    def picked(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Observations":
        """The chosen observations: a mask (n,), or their places."""
        return replace(
            self,
            values={metric: values[chosen] for metric, values in self.values.items()},
            groups={column: self.labels(column).picked(chosen) for column in self.groups},
            dishes=self.dishes[chosen],
            raters=None if self.raters is None else self.raters[chosen],
            images=self.images[chosen],
            units=self.units[chosen],
            reviews=self.reviews[chosen],
            outcomes=None if self.outcomes is None else self.outcomes[chosen],
        )

    def only(self, cell: Mapping[str, str]) -> "Observations":
        """Those of a cell, which then belong to nothing else in its columns: what a filter on columns keeps."""
        kept = self.picked(self.within(cell))
        narrowed = {column: kept.labels(column).only(value) for column, value in cell.items()}
        return replace(kept, groups={**kept.groups, **narrowed})


def hash_labels(labels: Iterable[str]) -> npt.NDArray[np.int64]:
    """A number for each label, the same in every run and every database: 64 bits of its hash.

    People in a bundle have other labels, which bring a number of the same order: resampling draws them alike.
    """
    found = Labels.each(labels)
    return np.array([_number(name) for (name,) in found.kinds], dtype=np.int64)[found.codes]


def _number(name: str) -> int:
    if bundled := BUNDLED.fullmatch(name):
        return int(bundled[1])
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def none_of(n: int) -> npt.NDArray[np.int64]:
    """The primary keys of n observations that have none; takes no memory, and cannot be written to."""
    return np.broadcast_to(np.int64(0), (n,))


def create_empty_observations(columns: Iterable[str], notes: tuple[str, ...] = ()) -> Observations:
    """No observations of a table with these columns."""
    empty = np.empty(0, dtype=np.int64)
    groups = {column: Labels(np.empty(0, dtype=np.int32), ()) for column in columns}
    return Observations({}, groups, empty, None, empty, empty, empty, notes=notes)


def stack_observations(parts: Sequence[Observations]) -> Observations:
    """Several, one after the other: all with the same metrics and columns, by machines. At least one."""
    first = parts[0]
    outcomes = [part.outcomes for part in parts if part.outcomes is not None]
    return Observations(
        values={metric: np.concatenate([part.values[metric] for part in parts]) for metric in first.values},
        groups={column: _joined([part.labels(column) for part in parts]) for column in first.groups},
        dishes=np.concatenate([part.dishes for part in parts]),
        raters=None,
        images=np.concatenate([part.images for part in parts]),
        units=np.concatenate([part.units for part in parts]),
        reviews=np.concatenate([part.reviews for part in parts]),
        demonstration=first.demonstration,
        notes=first.notes,
        outcomes=np.concatenate(outcomes) if len(outcomes) == len(parts) else None,
    )


def _joined(parts: Sequence[Labels]) -> Labels:
    known: dict[tuple[str, ...], int] = {}
    codes = []
    for part in parts:
        new = np.array([known.setdefault(kind, len(known)) for kind in part.kinds], dtype=np.int32)
        codes.append(new[part.codes] if len(part) else part.codes)
    return Labels(np.concatenate(codes), tuple(known))


def iterate_observation_cells(
    found: Observations, columns: Sequence[str]
) -> Iterator[tuple[dict[str, str], npt.NDArray[np.intp]]]:
    """Every combination of values of `columns` that occurs, and which observations lie in it (their places)."""
    parts: list[tuple[dict[str, str], npt.NDArray[np.intp]]] = [({}, np.arange(len(found)))]
    for column in columns:
        labels = found.labels(column)
        parts = [
            ({**cell, column: value}, at[kept.holding(value)])
            for cell, at in parts
            for kept in [labels.picked(at)]
            for value in kept.values
        ]
    yield from parts
