"""What is behind tables that count what was asked for: single units, with an image or without."""

from collections.abc import Iterator, Sequence
from math import isnan

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.drilldown.studies import (
    iterate_observations,
    load_outcome_data,
    of_run,
    select_cell_units,
    with_missing,
    yes_or_no,
)
from evaluation.models import Outcome, Run

OF = {"sem_read": "read"}


@of_run
def of_units(cell: Cell, run: Run) -> Drilldown:
    """Units of the cell, counted as the study observes them; what was asked narrows them where the table says it."""
    rows = select_cell_units(cell, run)
    if "field" in cell.groups:
        rows = rows.filter(payload__question=cell.groups["field"])
    elif "failure" in cell.groups:
        rows = rows.filter(payload__question="description")

    # What is no mean itself, such as a standard error, is that of one.
    metric = (
        cell.metric if cell.metric in cell.spec.observed else OF.get(cell.metric, next(iter(cell.spec.observed), ""))
    )

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        outcomes = load_outcome_data(cell, Outcome.objects.filter(unit__in=list(ids)))
        found = [observe_unit(unit, value) for _image, unit, value in iterate_observations(cell, run, metric, outcomes)]
        return with_missing(ids, found, "this number is no mean over single answers") if found else iter(())

    return Drilldown("units", rows, observed)


def observe_unit(unit: int, value: float) -> Observed:
    return Observed(unit, None, "unanswered") if isnan(value) else Observed(unit, value, said=yes_or_no(value))
