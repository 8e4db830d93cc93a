"""Chooses the run that a table is made from."""

from dataclasses import replace
from typing import Any
from evaluation import studies
from evaluation.about import LABELS, NARROWING, Watched
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Run
from evaluation.observations import Observations, nothing
from evaluation.runner.results import labels_of, outcomes, subjects_of, withdrawn_dishes
from evaluation.table_spec import Filters, TableSpec



def chosen_run(study: str, filters: Filters) -> Run | None:
    """The run that the filter names, else the latest finished one, demonstrations only where there is nothing else."""
    finished = Run.objects.filter(study=study, state=Run.State.DONE)
    if "run" in filters:
        return finished.filter(slug=filters["run"]).first()
    return finished.order_by("demonstration", "-finished_at", "-pk").first()
