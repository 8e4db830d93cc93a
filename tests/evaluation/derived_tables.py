"""Builders for tests of derived tables: observations by hand, and a table that they are the observations of."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of
from evaluation.metrics.tidy import Estimate, TidyTable

Row = tuple[float, str, str, tuple[str, ...], str]


def answers(
    places: str | tuple[str, ...], model: str, dishes: int, values: Iterable[float], people: bool = False
) -> list[Row]:
    """The same values for every dish of a place: value, dish, person, places, model."""
    where = (places,) if isinstance(places, str) else places
    named = "+".join(where)
    return [
        (value, f"{named} {dish}", f"{named} {number}" if people else "", where, model)
        for dish in range(dishes)
        for number, value in enumerate(values)
    ]


def make_observations(rows: Iterable[Row], column: str = "country", images: Iterable[int] = ()) -> Observations:
    """Rows as observations of the one metric `food`; raters where people are named."""
    held = list(rows)
    values, dishes, people, places, models = zip(*held, strict=True) if held else ((), (), (), (), ())
    images = np.array(list(images) or [0] * len(held), dtype=np.int64)
    return Observations(
        values={"food": np.array(values, dtype=np.float64)},
        groups={column: Labels.of(places), "model": Labels.each(models)},
        dishes=hash_labels(dishes),
        raters=hash_labels(people) if any(people) else None,
        images=images,
        units=none_of(len(held)),
        reviews=none_of(len(held)),
        notes=("Said under the table.",),
    )


def make_base(found: Observations, **values: Any) -> TableSpec:
    """A table with these observations."""
    columns = tuple(found.groups)
    fields: dict[str, Any] = {
        "name": "test.food",
        "title": "Food",
        "source": "test",
        "version": "1",
        "columns": columns,
        "metrics": {"food": "Share of food."},
        "inputs": ("test",),
        "filters": (*columns, "campaign"),
        "observe": lambda filters: found,
        "worse": {"food": "low"},
    }
    return TableSpec(**{**fields, **values})


def twice(found: Observations, metric: str) -> Observations:
    """The same observations with a second metric: 1 − the first."""
    return replace(found, values={**found.values, metric: 1 - found.values["food"]})


def estimates(made: TidyTable, **groups: str) -> dict[str, Estimate]:
    """Metric → estimate of the rows with these groups."""
    return {
        row.metric: row.estimate
        for row in made.rows
        if all(row.groups[column] == value for column, value in groups.items())
    }


def column(made: TidyTable, name: str) -> set[str]:
    return {row.groups[name] for row in made.rows}
