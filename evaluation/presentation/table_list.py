"""The list of all tables: grouped by study, each with a sentence and how fresh it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

from evaluation import studies
from evaluation.contracts.table import TableSpec
from evaluation.models import InputCounter, StoredTable
from evaluation.registry import lookup
from evaluation.tables import store

# Groups that are no study, by the beginning of their tables' names.
TITLES = {
    "review": "Reviews by people",
    "agreement": "People and machine",
    "novelty": "What the collection adds",
    "disparity": "Gaps between groups",
    "compare": "Models, prompts and runs compared",
}
State = Literal["fresh", "stale", "failed", "never"]


@dataclass(frozen=True)
class Listed:
    """A table in the list. `state` is that of the table without any filter."""

    spec: TableSpec
    state: State
    computed_at: datetime | None

    @property
    def sentence(self) -> str:
        """What it shows, in one sentence."""
        columns = ", ".join(column.replace("_", " ") for column in self.spec.columns)
        metrics = ", ".join(metric.replace("_", " ") for metric in self.spec.metrics)
        return f"By {columns}: {metrics}."


@dataclass(frozen=True)
class Group:
    slug: str
    title: str
    tables: tuple[Listed, ...]


def group_tables(names: Iterable[str]) -> list[Group]:
    """The tables of `names` in their groups: people first, then studies. Three queries."""
    specs = [
        lookup.find_table_spec(name)
        for name in sorted(names, key=lambda name: (table_group_sort_key(slug_of(name)), name))
    ]
    rows = store.rows_of((spec, {}) for spec in specs)
    counted = dict(InputCounter.objects.values_list("name", "value"))
    none = store.filters_hash({})
    listed = [_listed(spec, rows.get((spec.name, none)), counted) for spec in specs]
    return [
        Group(slug, title_of(slug), tuple(held)) for slug, held in groupby(listed, lambda one: slug_of(one.spec.name))
    ]


def slug_of(name: str) -> str:
    return name.partition(".")[0]


def table_group_sort_key(slug: str) -> tuple[int, str]:
    """People and what was put together come first, studies after them in the order of the alphabet."""
    order = list(TITLES)
    return (order.index(slug), slug) if slug in order else (len(order), slug)


def title_of(slug: str) -> str:
    if slug in TITLES:
        return TITLES[slug]
    return studies.load_study(slug).title if slug in studies.STUDIES else slug.capitalize()


def _listed(spec: TableSpec, row: StoredTable | None, counted: dict[str, int]) -> Listed:
    if row is None or (row.computed_at is None and not row.error):
        return Listed(spec, "never", None)
    if row.error:
        return Listed(spec, "failed", row.computed_at)
    fresh = row.fingerprint == store.compute_table_fingerprint(spec, counted)
    return Listed(spec, "fresh" if fresh else "stale", row.computed_at)
