"""`variance.<table>`: how much dishes, images and people differ within the cells of a table, to plan from."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics import observations
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.metrics.variance_components import PARTS, Components, estimate_components
from evaluation.tables import observe

METRICS = {
    "dish": "Variance between dishes.",
    "image": "Variance between images of a dish; where each dish has one image it is part of the one of dishes.",
    "reviewer": "Variance between people; not measured where machines judged.",
    "residual": "Variance that is left: between opinions of one person on images of one dish.",
}
NO_INTERVAL = "no interval: a variance component of a pilot, to plan from"
NOTHING = "components cannot be separated: too few observations, or all are equal"
NOTES = (
    "Method of moments (Henderson 1953; Gao & Owen 2017) within each cell. A component that comes out below 0 is "
    "taken as 0, so small pilots say little.",
)


def spec_of(base: TableSpec) -> TableSpec | None:
    """The table of components of `base`; None where its numbers are no means of observations."""
    if not (base.observe or base.observed):
        return None
    return TableSpec(
        name=f"variance.{base.name}",
        title="How much dishes, images and people differ",
        source=f"{base.source}; Henderson 1953; Gao & Owen 2017",
        version=f"{base.version}.1",
        columns=("measure", *base.columns),
        metrics=METRICS,
        inputs=base.inputs,
        filters=("measure", *(name for name in base.filters if name != "interval")),
        choices={name: values for name, values in base.choices.items() if name != "interval"},
        compute=partial(compute_variance_components, base),
        figure=False,
    )


def compute_variance_components(base: TableSpec, filters: Filters) -> TidyTable:
    """The components of every measure in every cell of `base`."""
    table = spec_of(base)
    assert table is not None
    found = observe.observe_table(base, {name: value for name, value in filters.items() if name != "measure"})
    assert found is not None
    rows = tuple(rows_of(base, found))
    return TidyTable(table.name, table.version, table.columns, rows, (*NOTES, *found.notes), found.demonstration)


def rows_of(base: TableSpec, found: Observations) -> Iterator[TidyRow]:
    for cell, at in observations.iterate_observation_cells(found, base.columns):
        held = found.picked(at)
        for measure, values in held.values.items():
            yield from rows_of_cell({"measure": measure, **cell}, held.picked(~np.isnan(values)), measure)


def rows_of_cell(groups: dict[str, str], held: Observations, measure: str) -> Iterator[TidyRow]:
    """One row per component; n are observations, clusters their dishes."""
    levels = {"dish": held.dishes}
    if held.images.any():
        levels["image"] = held.images
    if held.raters is not None:
        levels["reviewer"] = held.raters
    parts = estimate_components(held.values[measure], levels)
    clusters = len(np.unique(held.dishes))
    people = None if held.raters is None else len(np.unique(held.raters))
    for metric in METRICS:
        value, reason = get_component_value(parts, metric, judged=held.raters is not None)
        yield TidyRow(groups, metric, Estimate(value, len(held), clusters, reason=reason, people=people))


def get_component_value(parts: Components | None, metric: str, *, judged: bool) -> tuple[float | None, str]:
    """A component with the reason that is beside it."""
    if metric == PARTS[-1] and not judged:
        return None, "no people judged"
    if parts is None:
        return None, NOTHING
    return float(getattr(parts, metric)), NO_INTERVAL


def pool_components(table: TidyTable, measure: str) -> tuple[Components, int, int] | None:
    """Components of a measure over the cells of a stored table, weighted by n, with the sum of n and the cells.

    None where none was measured.
    """
    rows = [row for row in table.rows if row.groups["measure"] == measure and row.estimate.value is not None]
    weights = {metric: sum(row.estimate.n for row in rows if row.metric == metric) for metric in METRICS}
    if not weights["residual"]:
        return None
    sums = {
        metric: sum((row.estimate.value or 0.0) * row.estimate.n for row in rows if row.metric == metric)
        for metric in METRICS
    }
    means = {metric: sums[metric] / weights[metric] if weights[metric] else 0.0 for metric in METRICS}
    cells = sum(row.metric == "residual" for row in rows)
    return Components(**means), weights["residual"], cells
