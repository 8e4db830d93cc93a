"""Which runs still have something to do, and what follows when one has not."""

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from evaluation.counters import bump_input_counters
from evaluation.models import Run, Unit
from evaluation.runner.announcing import announce_run
from evaluation.runner.chains import plan_due
from evaluation.runner.control import ACTIVE, OPEN

# Who holds the units of a file of work (`Batch.worker`): for days, while nobody is at work on its run.
FILE_HOLDER = "file of work"


def filter_waiting_runs(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Those of `runs` that go on and have units that nobody holds."""
    pending = Unit.objects.filter(run=OuterRef("pk"), state=Unit.State.PENDING)
    return runs.filter(Exists(pending), state__in=ACTIVE)


def complete_finished_runs(runs: QuerySet[Run]) -> None:
    """Those of `runs` in which no unit is open are done."""
    open_units = Unit.objects.filter(run=OuterRef("pk"), state__in=OPEN)
    for run in runs.filter(~Exists(open_units), state__in=ACTIVE):
        with transaction.atomic():
            if Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(state=Run.State.DONE, finished_at=Now()):
                bump_input_counters(f"runs.{run.study}")


def announce_followers(run_id: int) -> None:
    """Plans the runs that waited for this one, where it is done, and tells the workers."""
    for follower in plan_due(Run.objects.filter(after=run_id)):
        announce_run(follower)
