"""What tests need of pages behind cells: everything that is listed for a cell, and whether it is what was counted."""

import math
from collections.abc import Iterable, Iterator

from django.http import QueryDict

from evaluation.drilldown import cells
from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.metrics.tidy import TidyRow
from evaluation.tables import store

# Metrics whose value is no mean over what is listed: their n may be, and is then compared alone.
NO_MEANS = {
    "generation.counts": ("done", "refused", "filtered", "empty", "failed"),
    "stereotypes.flattening": ("entropy", "largest_share"),
    "stereotypes.flattening_country": ("entropy", "largest_share"),
    "colours.diversity": ("divergence",),
    "knowledge.fields": ("sem", "sem_read"),
    "knowledge.fields_country": ("sem", "sem_read"),
    "knowledge.failures": ("sem",),
    "knowledge.failures_language": ("sem",),
    "review.agreement": ("alpha", "ac1", "alpha_computed", "ac1_computed"),
    "review.reviewers": ("reviewers", "images"),
}
# Metrics whose n are people, or nothing that is listed.
OTHER_N = {
    "review.reviewers": (
        "images_per_reviewer",
        "deviation",
        "images_per_reviewer_of_country",
        "deviation_of_country",
    )
}


def cell_of(name: str, row: TidyRow, **filters: str) -> Cell:
    return cells.cell_of(name, QueryDict(cells.cell_query(filters, row.groups, row.metric)[1:]))


def everything(found: Drilldown, most: int = 3) -> list[Observed]:
    """What is counted on all pages, which are short here so that there are many."""
    seen: list[Observed] = []
    ids: list[int] = []
    after: int | None = 0
    while after is not None:
        page, after = found.page(after, most)
        seen += found.observed(page)
        ids += page
    assert ids == sorted(set(ids)), "a row is listed twice, or out of order"
    assert {each.of for each in seen} <= set(ids)
    return seen


def some(rows: Iterable[TidyRow]) -> Iterator[TidyRow]:
    """A few rows of each metric, the first and the last among them: hundreds of cells are all alike."""
    by_metric: dict[str, list[TidyRow]] = {}
    for row in rows:
        by_metric.setdefault(row.metric, []).append(row)
    for found in by_metric.values():
        yield from {id(row): row for row in (found[0], *found[7:70:21], found[-1])}.values()


def check(view: store.TableView, **filters: str) -> int:
    """Holds cells of a stored table against what is listed for them; returns how many had a value."""
    assert view.table is not None
    name, compared = view.spec.name, 0
    for row in some(view.table.rows):
        if row.metric in OTHER_N.get(name, ()):
            continue
        found = everything(cells.load_drilldown(cell_of(name, row, **filters)))
        values = [each.value for each in found if each.value is not None]
        where = f"{name} {dict(row.groups)} {row.metric}"
        assert all(each.why for each in found if each.value is None), where
        if row.estimate.value is None:
            continue
        compared += 1
        assert len(values) == row.estimate.n, where
        if row.metric not in NO_MEANS.get(name, ()):
            assert math.isclose(sum(values) / len(values), row.estimate.value, abs_tol=1e-9), where
    return compared
