"""Working through runs a slice of time each, and the sweep that repairs what was lost on the way."""

import time
from collections.abc import Callable

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from evaluation import studies
from evaluation.models import Batch, Run
from evaluation.runner import leases
from evaluation.runner.announcing import Announcement, announce_run, create_announcement
from evaluation.runner.chains import plan_due
from evaluation.runner.completion import FILE_HOLDER, complete_finished_runs, filter_waiting_runs
from evaluation.runner.direct_transport import DirectTransport
from evaluation.runner.pipeline import Pipeline
from evaluation.runner.transport import Transport

# A worker goes through a run for so long and then lets the next message have its turn.
SLICE_SECONDS = 30


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
    transport: Transport | None = None,
) -> int:
    """Works through a run in batches for about `seconds`, or until `stop`; returns how many units it ended.

    Where more waits than the first batch, one more announcement calls the next idle worker. `report` is called
    after every batch. `transport`: the way to units and back; the database beside us unless given.
    """
    way = transport or DirectTransport()
    run = way.read_run(run_id)
    study = studies.load_study(run.study)
    ended = Pipeline(way, run, study, worker, time.monotonic() + seconds, stop).work(report)
    way.complete_run(run)
    return ended


def sweep_runs() -> list[Announcement]:
    """Takes back expired leases, ends finished runs, plans those that waited for them.

    Returns what to announce: runs that wait with nobody at work.
    """
    leases.release_expired()
    complete_finished_runs(Run.objects.all())
    plan_due()
    live = Batch.objects.filter(run=OuterRef("pk"), finished_at=None, until__gte=Now()).exclude(worker=FILE_HOLDER)
    idle = filter_waiting_runs(Run.objects.filter(~Exists(live))).order_by("-priority", "pk")
    return [create_announcement(run.pk) for run in idle]
