"""Outcomes as observations: one of each outcome, or one of each outcome and group where its value differs there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of


def of_outcomes(
    outcomes: Iterable[OutcomeData], read: Callable[[OutcomeData], Mapping[str, float]], table: TableSpec
) -> Observations:
    """Each outcome with its values, one for each of `table.observed`; places by its labels, model by its image."""
    rows = list(outcomes)
    return observe_rows(rows, [read(row) for row in rows], table)


def of_outcomes_within(
    outcomes: Iterable[OutcomeData],
    column: str,
    read: Callable[[OutcomeData, str], Mapping[str, float]],
    table: TableSpec,
) -> Observations:
    """Each outcome once in each of its values of `column`, such as its countries, with its values there.

    For numbers that compare an image with others of the same group: they differ from group to group.
    """
    pairs = [(row, value) for row in outcomes for value in dict.fromkeys(row.labels.get(column, ()))]
    found = observe_rows([row for row, _ in pairs], [read(*pair) for pair in pairs], table)
    groups = {**found.groups, column: Labels.each(value for _, value in pairs)}
    return replace(found, groups=groups, outcomes=found.units)


def get_compared_model(row: OutcomeData, table: TableSpec) -> str:
    """The model that a table compares: the one that made the image, or the one that looked at it."""
    return row.model if table.instrument else row.image_model


def observe_rows(rows: Sequence[OutcomeData], values: Sequence[Mapping[str, float]], table: TableSpec) -> Observations:
    """An observation for each of `rows`, with its values."""
    columns = {
        column: Labels.of(row.labels.get(column, ()) for row in rows) for column in table.columns if column != "model"
    }
    return Observations(
        values={metric: np.array([value[metric] for value in values], dtype=np.float64) for metric in table.observed},
        groups={**columns, "model": Labels.each(get_compared_model(row, table) for row in rows)},
        dishes=hash_labels(row.cluster for row in rows),
        raters=None,
        images=np.array([row.image_id or 0 for row in rows], dtype=np.int64),
        units=np.array([row.unit_id for row in rows], dtype=np.int64),
        reviews=none_of(len(rows)),
    )
