"""Announcing runs, working through them, and the sweep that repairs what was lost on the way."""

import logging
import time
from collections.abc import Callable, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from evaluation import studies
from evaluation.contracts.study import Study
from evaluation.counters import bump_input_counters
from evaluation.models import Batch, Run, Unit
from evaluation.readers.text_cleaning import clean_foreign_text
from evaluation.runner import failure_streaks, leases
from evaluation.runner.announcing import Announcement, announce_run, create_announcement
from evaluation.runner.chains import plan_due
from evaluation.runner.control import ACTIVE, OPEN, pause_run
from evaluation.runner.execution import ResultPairs, compute_results
from wwd.base.db_connections import LOST, retry_on_lost_connection

# A worker goes through a run for so long and then lets the next message have its turn.
SLICE_SECONDS = 30
# Calls of providers take seconds and wait for their turn with those of all workers: a batch must end long before a
# task's time limit, and pause and cancel take hold between batches.
MOST_CALLS = 16
logger = logging.getLogger(__name__)


def accept_announcement(run_id: int, number: int) -> bool:
    """True for the first announcement since work last began; older ones and copies are spent."""
    return bool(Run.objects.filter(pk=run_id, heard__lt=number).update(heard=F("announced")))


def serve_queue(run_id: int, worker: str, stop: Callable[[], bool] = lambda: False) -> int:
    """Works for a slice of time on the run that was announced, or on one of its queue that is more urgent."""
    run = Run.objects.get(pk=run_id)
    urgent = filter_waiting_runs(Run.objects.filter(queue=run.queue, priority__gt=run.priority))
    first = urgent.order_by("-priority", "pk").first() or run
    ended = process_run(first.pk, worker, stop=stop)
    if first != run and filter_waiting_runs(Run.objects.filter(pk=run.pk)).exists():
        announce_run(run)
    return ended


def process_run(
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
    study, end, ended, called, after = studies.load_study(run.study), time.monotonic() + seconds, 0, False, ""
    size = min(study.batch_size, MOST_CALLS) if run.queue == "api" else study.batch_size
    while time.monotonic() < end and not stop() and (batch := next_batch(run, worker, size, after)):
        if not called and filter_waiting_runs(Run.objects.filter(pk=run.pk)).exists():
            announce_run(run)
        called = True
        units = list(Unit.objects.filter(batch=batch).select_related("subject", "model").order_by("pk"))
        after = max((unit.affinity for unit in units), default="")
        ended += work_batch(run, study, batch, units)
        report()
    complete_finished_runs(Run.objects.filter(pk=run.pk))
    for follower in plan_due(Run.objects.filter(after=run.pk)):
        announce_run(follower)
    return ended


def next_batch(run: Run, worker: str, size: int, after: str) -> Batch | None:
    """A leased batch of a run that goes on; None where it is paused, cancelled or has nothing that waits."""
    if not Run.objects.filter(pk=run.pk, state__in=ACTIVE).exists():
        return None
    batch = leases.lease_units(run, worker, size, after)
    if batch and not after:
        Run.objects.filter(pk=run.pk, state=Run.State.PLANNED).update(state=Run.State.RUNNING)
    return batch


def work_batch(run: Run, study: Study, batch: Batch, units: Sequence[Unit]) -> int:
    """Executes and ends a batch. A backend that cannot go on pauses the run; what it did before counts.

    Whatever goes wrong with what came, the batch is given back: nothing waits for the end of its lease.
    """
    ended, problem = 0, ""

    def keep(pairs: ResultPairs) -> bool:
        nonlocal ended
        stored = retry_on_lost_connection(lambda: leases.finish_units(batch, pairs, last=False), settings.LEASE_SECONDS)
        ended += stored
        return stored > 0

    with leases.Heartbeat(batch):
        try:
            computed = compute_results(study, units, keep, failure_streaks.of_run(run.pk))
            problem = computed.problem
            if computed.pairs:
                ended += retry_on_lost_connection(
                    lambda: leases.finish_units(batch, computed.pairs), settings.LEASE_SECONDS
                )
            else:
                retry_on_lost_connection(lambda: leases.release_batch(batch))
        except LOST:
            raise
        except Exception as error:  # A full disk, a storage that is away: no other batch would fare better.
            logger.exception("The results of batch %s could not be stored.", batch.pk)
            retry_on_lost_connection(lambda: leases.release_batch(batch))
            problem = f"The results could not be stored: {clean_foreign_text(f'{type(error).__name__}: {error}')}"
    if problem and Unit.objects.filter(run=run, state__in=OPEN).exists():
        retry_on_lost_connection(lambda: pause_run(run, problem))
    return ended


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


def sweep_runs() -> list[Announcement]:
    """Takes back expired leases, ends finished runs, plans those that waited for them.

    Returns what to announce: runs that wait with nobody at work.
    """
    leases.release_expired()
    complete_finished_runs(Run.objects.all())
    plan_due()
    live = Batch.objects.filter(run=OuterRef("pk"), finished_at=None, until__gte=Now())
    idle = filter_waiting_runs(Run.objects.filter(~Exists(live))).order_by("-priority", "pk")
    return [create_announcement(run.pk) for run in idle]
