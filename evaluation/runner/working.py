"""Announcing runs, working through them, and the sweep that heals what was lost on the way."""

import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from evaluation import studies
from evaluation.backends.base import BackendError
from evaluation.models import Batch, Run, Unit
from evaluation.runner import leases
from evaluation.runner.execution import compute
from evaluation.studies.base import Study
from evaluation.tables import bump

# A worker goes through a run for so long and then lets the next message have its turn.
SLICE_SECONDS = 30
ACTIVE = (Run.State.PLANNED, Run.State.RUNNING)
OPEN = (Unit.State.PENDING, Unit.State.LEASED)
logger = logging.getLogger(__name__)


class Announcement(NamedTuple):
    """What is sent to the workers: a run and the number of the announcement."""

    run: int
    number: int
    queue: str


def announce(run: Run) -> None:
    """Tells the workers, once the transaction is kept. Never raises: a lost announcement is made again by the sweep."""
    transaction.on_commit(lambda: post(announcement(run.pk)))


def announcement(run_id: int) -> Announcement:
    """The next announcement of a run, counted in the database."""
    Run.objects.filter(pk=run_id).update(announced=F("announced") + 1)
    return Announcement(*Run.objects.values_list("pk", "announced", "queue").get(pk=run_id))


def post(given: Announcement) -> None:
    """Hands an announcement to the broker."""
    from evaluation.tasks import work_on_run

    try:
        work_on_run.apply_async((given.run, given.number), queue=given.queue, retry=False)
    except Exception:  # Brokers fail in many ways, and none of them may reach whoever started the run.
        logger.warning("Run %s could not be announced; the sweep will try again.", given.run, exc_info=True)


def hear(run_id: int, number: int) -> bool:
    """True for the first announcement since work last began; older ones and copies are spent."""
    return bool(Run.objects.filter(pk=run_id, heard__lt=number).update(heard=F("announced")))


def work(
    run_id: int,
    worker: str,
    seconds: float = SLICE_SECONDS,
    report: Callable[[], None] = lambda: None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Works through a run in batches for about `seconds`, or until `stop`; returns how many units it ended.

    Where more waits than the first batch, one more announcement calls the next idle worker. `report` is called
    after every batch.
    """
    run = Run.objects.get(pk=run_id)
    study, end, ended, called = studies.load(run.study), time.monotonic() + seconds, 0, False
    while time.monotonic() < end and not stop() and (batch := next_batch(run, worker, study.batch_size)):
        if not called and waiting(Run.objects.filter(pk=run.pk)).exists():
            announce(run)
            called = True
        ended += work_batch(run, study, batch)
        report()
    settle(Run.objects.filter(pk=run.pk))
    return ended


def next_batch(run: Run, worker: str, size: int) -> Batch | None:
    """A leased batch of a run that goes on; None where it is paused, cancelled or has nothing that waits."""
    if not Run.objects.filter(pk=run.pk, state__in=ACTIVE).exists():
        return None
    batch = leases.lease(run, worker, size)
    if batch:
        Run.objects.filter(pk=run.pk, state=Run.State.PLANNED).update(state=Run.State.RUNNING)
    return batch


def work_batch(run: Run, study: Study, batch: Batch) -> int:
    """Executes and ends a batch. A backend that cannot work here pauses the run and gives the units back."""
    units = list(Unit.objects.filter(batch=batch).select_related("subject", "model").order_by("pk"))
    with leases.Heartbeat(batch):
        try:
            return leases.finish(batch, compute(study, units))
        except BackendError as error:
            leases.release(batch)
            pause(run, str(error))
            return 0


def pause(run: Run, problem: str = "") -> None:
    """Stops leasing; what is leased is finished. `problem` says why, where it was not a person who paused."""
    logger.warning("Run %s paused. %s", run.pk, problem)
    Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(state=Run.State.PAUSED, problem=problem)


def resume(run: Run) -> None:
    Run.objects.filter(pk=run.pk, state=Run.State.PAUSED).update(state=Run.State.RUNNING, problem="")
    announce(run)


def waiting(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Those of `runs` that go on and have units that nobody holds."""
    pending = Unit.objects.filter(run=OuterRef("pk"), state=Unit.State.PENDING)
    return runs.filter(Exists(pending), state__in=ACTIVE)


def settle(runs: QuerySet[Run]) -> None:
    """Those of `runs` in which no unit is open are done."""
    open_units = Unit.objects.filter(run=OuterRef("pk"), state__in=OPEN)
    for run in runs.filter(~Exists(open_units), state__in=ACTIVE):
        with transaction.atomic():
            if Run.objects.filter(pk=run.pk, state__in=ACTIVE).update(state=Run.State.DONE, finished_at=Now()):
                bump(f"runs.{run.study}")


def sweep() -> list[Announcement]:
    """Takes back expired leases, ends finished runs; returns what to announce: runs that wait with nobody at work."""
    leases.release_expired()
    settle(Run.objects.all())
    live = Batch.objects.filter(run=OuterRef("pk"), finished_at=None, until__gte=Now())
    idle = waiting(Run.objects.filter(~Exists(live))).order_by("-priority", "pk")
    return [announcement(run.pk) for run in idle]


def progress(run: Run) -> dict[str, int]:
    """Unit state → number, every state named."""
    counted = dict(Unit.objects.filter(run=run).values_list("state").annotate(Count("pk")).order_by())
    return {state: counted.get(state, 0) for state in Unit.State.values}
