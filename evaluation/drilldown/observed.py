"""What is behind a cell of a study that brings no way of its own to say it: what its `observe` counted there."""

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.drilldown.studies import DIGITS, drill_down_group, run_of, yes_or_no
from evaluation.metrics.observations import Observations
from evaluation.models import GeneratedImage, Run, Unit
from evaluation.tables import observe
from evaluation.tables.format import format_number

# Units of a run; of more, a page would take minutes to read.
MOST_UNITS = 50_000
NO_MEAN = "this number is no mean over single observations"
NOT_COUNTED = "it could not be measured, or does not belong to what is counted"


def drill_down_observed(cell: Cell) -> Drilldown:
    """The images, else the units, of the cell's observations, each with its value; for other tables see the group."""
    run = run_of(cell) if cell.spec.study and cell.spec.observed else None
    if run is None or is_large(run):
        return drill_down_group(cell)
    found = observe.observe_table(cell.spec, {**cell.filters, "run": run.slug})
    assert found is not None
    mine = found.picked(found.within(cell.groups))
    if (mine.images > 0).any():
        rows = GeneratedImage.objects.filter(pk__in=np.unique(mine.images).tolist())
        return Drilldown("images", rows, lambda ids: list_counted(cell, mine, mine.images, ids))
    units = Unit.objects.filter(pk__in=np.unique(mine.units).tolist())
    return Drilldown("units", units, lambda ids: list_counted(cell, mine, mine.units, ids))


def is_large(run: Run) -> bool:
    return Unit.objects.filter(run=run)[MOST_UNITS : MOST_UNITS + 1].exists()


def list_counted(cell: Cell, found: Observations, of: np.ndarray, ids: Sequence[int]) -> Iterator[Observed]:
    """What was counted of each of `ids`: an image may have several observations."""
    values = found.values.get(cell.metric)
    for each in ids:
        held = np.flatnonzero(of == each)
        if values is None:
            yield Observed(each, None, NO_MEAN)
            continue
        for value in values[held].tolist():
            if isnan(value):
                yield Observed(each, None, NOT_COUNTED)
            else:
                yield Observed(each, value, said=say_value(value))


def say_value(value: float) -> str:
    return yes_or_no(value) if value in (0.0, 1.0) else format_number(value, DIGITS)
