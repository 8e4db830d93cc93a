"""Outcomes as observations: one outcome, one observation."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of


def of_outcomes(
    outcomes: Iterable[OutcomeData], read: Callable[[OutcomeData], Mapping[str, float]], table: TableSpec
) -> Observations:
    """Each outcome with its values, one for each of `table.observed`; places by its labels, model by its image."""
    rows = list(outcomes)
    values = [read(row) for row in rows]
    places = {column: Labels.of(row.labels.get(column, ()) for row in rows) for column in table.columns[:-1]}
    return Observations(
        values={metric: np.array([value[metric] for value in values], dtype=np.float64) for metric in table.observed},
        groups={**places, "model": Labels.each(row.image_model for row in rows)},
        dishes=hash_labels(row.cluster for row in rows),
        raters=None,
        images=np.array([row.image_id or 0 for row in rows], dtype=np.int64),
        units=np.array([row.unit_id for row in rows], dtype=np.int64),
        reviews=none_of(len(rows)),
    )
