"""Chooses the run that a table is made from."""

from evaluation.contracts.table import Filters
from evaluation.models import Run


def chosen_run(study: str, filters: Filters) -> Run | None:
    """The run that the filter names, else the latest finished one, demonstrations only where there is nothing else."""
    finished = Run.objects.filter(study=study, state=Run.State.DONE)
    if "run" in filters:
        return finished.filter(slug=filters["run"]).first()
    return finished.order_by("demonstration", "-finished_at", "-pk").first()
