"""Tables of shares by country and model: yes among the reviews that count for a metric, with their intervals."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.inference.intervals import Interval, two_way
from evaluation.metrics.inference.proportion import compute_share, wilson_interval
from evaluation.metrics.observations import Observations
from evaluation.metrics.ordering import group_value_sort_key
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.models import Questionnaire
from review.tables.observe import Placed, build_opinion_observations
from review.tables.selection import (
    CHOICES,
    INTERVALS,
    REVIEW_FILTERS,
    REVIEW_INPUTS,
    Opinion,
    Pool,
    describe_nameless_reviews,
    iterate_opinions,
    select_reviews,
)

Read = Callable[[Opinion], Sequence[bool | None]]
UNASKED = "nobody was asked, or nobody answered"


@dataclass(frozen=True)
class Shares:
    """How a table of shares is made of opinions.

    `reader` gives, for the questionnaire at hand, the function that reads an opinion: a yes, a no, or None (does
    not count) for each metric in the order of the definition.
    """

    reader: Callable[[Questionnaire], Read]
    notes: tuple[str, ...]
    includes: Callable[[Opinion], bool] = lambda opinion: True


@dataclass(frozen=True)
class ShareCell:
    """The reviews of one row group: `values` (n, k) of 0, 1 and NaN, `dishes` and `reviewers` (n,) labels."""

    values: npt.NDArray[np.float64]
    dishes: npt.NDArray[np.str_]
    reviewers: npt.NDArray[np.str_]

    @classmethod
    def of(cls, read: Iterable[tuple[Placed, Sequence[bool | None]]]) -> "ShareCell":
        gathered = Gathered([], [], [])
        for one, values in read:
            gathered.add(one, values)
        return gathered.cell

    @property
    def people(self) -> int:
        return len(np.unique(self.reviewers))

    @property
    def dish_count(self) -> int:
        return len(np.unique(self.dishes))


@dataclass(frozen=True)
class Gathered:
    """What a cell is made of, review after review."""

    values: list[Sequence[bool | None]]
    dishes: list[str]
    reviewers: list[str]

    def add(self, one: Placed, values: Sequence[bool | None]) -> None:
        self.values.append(values)
        self.dishes.append(one.dish)
        self.reviewers.append(one.reviewer)

    @property
    def cell(self) -> ShareCell:
        return ShareCell(np.array(self.values, dtype=np.float64), np.array(self.dishes), np.array(self.reviewers))


def table_of_shares(
    name: str,
    title: str,
    source: str,
    metrics: Mapping[str, str],
    made: Shares,
    version: str = "2",
    worse: Mapping[str, Literal["low", "high"]] = MappingProxyType({}),
) -> TableSpec:
    """A named table with the columns country and model, and the filters that all tables of reviews have.

    `worse`: which end of a metric is the worse one.
    """
    columns = ("country", "model")
    return TableSpec(
        name=name,
        title=title,
        source=source,
        version=version,
        columns=columns,
        metrics=metrics,
        inputs=REVIEW_INPUTS,
        filters=REVIEW_FILTERS,
        choices=CHOICES,
        compute=partial(compute_shares, name, version, columns, tuple(metrics), made),
        unread=("country", "model"),
        observe=partial(_observe, tuple(metrics), made),
        worse=worse,
    )


def compute_shares(
    name: str, version: str, columns: tuple[str, ...], metrics: Sequence[str], made: Shares, filters: Filters
) -> TidyTable:
    chosen = select_reviews(filters)
    notes = [*made.notes, *chosen.notes]
    rows: list[TidyRow] = []
    if chosen.questionnaire:
        read = made.reader(chosen.questionnaire)
        cells = by_cell((opinion, read(opinion)) for opinion in select_counted_opinions(chosen, made))
        for (country, model), cell in cells.items():
            rows += cell_rows({"country": country, "model": model}, metrics, cell, filters)
        notes += [*describe_nameless_reviews(chosen.reviews), describe_reviewer_counts(cells)]
    return TidyTable(name, version, columns, tuple(rows), tuple(notes), chosen.demonstration, chosen.extra)


def _observe(metrics: Sequence[str], made: Shares, filters: Filters) -> Observations:
    """The opinions behind the shares, with what was read of each."""
    chosen = select_reviews(filters)
    if chosen.questionnaire is None:
        return build_opinion_observations(metrics, (), chosen)
    read = made.reader(chosen.questionnaire)
    found = ((opinion, read(opinion)) for opinion in select_counted_opinions(chosen, made))
    return build_opinion_observations(metrics, found, chosen, made.notes)


def select_counted_opinions(chosen: Pool, made: Shares) -> Iterable[Opinion]:
    """The opinions that a table of shares counts."""
    return (opinion for opinion in iterate_opinions(chosen.reviews) if opinion.model and made.includes(opinion))


def by_cell(found: Iterable[tuple[Placed, Sequence[bool | None]]]) -> dict[tuple[str, str], ShareCell]:
    """What was read of reviews by country and model, in the one order of both."""
    groups: dict[tuple[str, str], Gathered] = defaultdict(lambda: Gathered([], [], []))
    for one, values in found:
        groups[one.country, one.model].add(one, values)
    in_order = sorted(
        groups, key=lambda key: (group_value_sort_key("country", key[0]), group_value_sort_key("model", key[1]))
    )
    return {key: groups[key].cell for key in in_order}


def cell_rows(
    groups: Mapping[str, str], metrics: Sequence[str], cell: ShareCell, filters: Filters
) -> Iterable[TidyRow]:
    """One row per metric: n are the reviews that count for it, clusters their dishes."""
    held = ~np.isnan(cell.values)
    counts = [(int(np.nansum(cell.values[:, k])), int(held[:, k].sum())) for k in range(len(metrics))]
    claimed = compute_share_intervals(cell, counts, filters.get("interval", INTERVALS[0]))
    dishes, people = (np.unique(labels, return_inverse=True)[1] for labels in (cell.dishes, cell.reviewers))
    for k, (metric, (yes, n)) in enumerate(zip(metrics, counts, strict=True)):
        clusters, judges = (len(np.unique(codes[held[:, k]])) for codes in (dishes, people))
        reason = claimed[k].reason if n else UNASKED
        yield TidyRow(
            groups,
            metric,
            Estimate(
                compute_share(yes, n), n, clusters, claimed[k].low, claimed[k].high, claimed[k].method, reason, judges
            ),
        )


def compute_share_intervals(cell: ShareCell, counts: Sequence[tuple[int, int]], interval: str) -> list[Interval]:
    """The default interval, over dishes and reviewers, or the named variant."""
    if interval == "wilson":
        return [wilson_interval(yes, n) for yes, n in counts]
    return two_way(cell.values, cell.dishes, cell.reviewers)


def describe_reviewer_counts(cells: Mapping[tuple[str, str], ShareCell]) -> str:
    """How many people are behind each row."""
    return f"Reviewers: {'; '.join(f'{country}, {model}: {cell.people}' for (country, model), cell in cells.items())}."
