"""Estimates and tidy tables: no number without its n, its clusters and its uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SMALL_N = 30
SMALL_CLUSTERS = 10
SMALL_PEOPLE = 5


def is_small(n: int, clusters: int, people: int | None = None) -> bool:
    """Whether a group is too small to be named, ranked or compared: the one rule of all tables.

    `people`: how many judged; None where machines did.
    """
    return n < SMALL_N or clusters < SMALL_CLUSTERS or (people is not None and people < SMALL_PEOPLE)


@dataclass(frozen=True)
class Estimate:
    """A value with its n, number of clusters and 95 % interval. `value` None: not measured, `reason` says why.

    `low` and `high` are None where no interval may be claimed; `method` names how the interval was made. `people`: how
    many people judged, None where the number rests on no judgement.
    """

    value: float | None
    n: int
    clusters: int
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""
    people: int | None = None

    @property
    def small(self) -> bool:
        """True for a group that is never named best or worst."""
        return is_small(self.n, self.clusters, self.people)


@dataclass(frozen=True)
class TidyRow:
    """`planned`: listed by a plan that was frozen before the data; everything else is exploratory."""

    groups: Mapping[str, str]
    metric: str
    estimate: Estimate
    planned: bool = False


@dataclass(frozen=True)
class TidyTable:
    """A named table, one row per group and metric. `notes` are sentences shown under it and in its methods.

    `about`: what it keeps about itself for pages and methods, see `evaluation/tables/metadata.py`.
    """

    name: str
    version: str
    columns: tuple[str, ...]
    rows: tuple[TidyRow, ...]
    notes: tuple[str, ...] = ()
    demonstration: bool = False
    extra: Mapping[str, float | str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
