"""What holds between a table and its observations, for any table."""

from collections.abc import Iterator

import numpy as np
import pytest

from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate
from evaluation.registry import lookup
from evaluation.tables import compute, observe


def observed(name: str, **filters: str) -> Observations:
    found = observe.observe_table(lookup.find_table_spec(name), filters)
    assert found is not None
    return found


def cells(name: str, **filters: str) -> Iterator[tuple[Estimate, Observations, str]]:
    """Every number of a table that is a mean of observations, these, and the metric."""
    found = observed(name, **filters)
    for row in compute.compute_table(lookup.find_table_spec(name), filters).rows:
        if row.metric in found.values:
            yield row.estimate, found.picked(found.within(row.groups)), row.metric


def check(name: str, **filters: str) -> int:
    """Asserts that every number is the mean of its observations; returns how many numbers were compared."""
    compared = 0
    for estimate, inside, metric in cells(name, **filters):
        values = inside.values[metric]
        held = ~np.isnan(values)
        if estimate.value is None:
            assert not held.any(), (name, metric)
            continue
        expected = estimate.value / estimate.n if estimate.method == "count" else estimate.value
        assert values[held].mean() == pytest.approx(expected, abs=1e-12), (name, metric)
        assert (int(held.sum()), len(np.unique(inside.dishes[held]))) == (estimate.n, estimate.clusters), (name, metric)
        compared += 1
    return compared


def declares(table: TableSpec) -> bool:
    """Whether a table says that its numbers are means of observations."""
    return table.observe is not None or bool(table.observed)
