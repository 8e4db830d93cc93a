"""Working through runs a slice of time each, and the sweep that repairs what was lost on the way."""

import logging
import time
from collections.abc import Callable

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from evaluation import studies
from evaluation.contracts.study import Result, Study
from evaluation.models import Batch, Run
from evaluation.readers.text_cleaning import clean_foreign_text
from evaluation.runner import failure_streaks, leases
from evaluation.runner.announcing import Announcement, announce_run, create_announcement
from evaluation.runner.chains import plan_due
from evaluation.runner.completion import complete_finished_runs, filter_waiting_runs
from evaluation.runner.direct_transport import DirectTransport
from evaluation.runner.execution import ResultPairs, compute_results
from evaluation.runner.heartbeat import Heartbeat
from evaluation.runner.transport import LOST, Lease, Transport

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
    transport: Transport | None = None,
) -> int:
    """Works through a run in batches for about `seconds`, or until `stop`; returns how many units it ended.

    Where more waits than the first batch, one more announcement calls the next idle worker. `report` is called
    after every batch. `transport`: the way to units and back; the database beside us unless given.
    """
    way = transport or DirectTransport()
    run = way.read_run(run_id)
    study, end, ended, called, after = studies.load_study(run.study), time.monotonic() + seconds, 0, False, ""
    size = min(study.batch_size, MOST_CALLS) if run.queue == "api" else study.batch_size
    while time.monotonic() < end and not stop() and (lease := way.lease_units(run, worker, size, after)):
        if not called:
            way.call_others(run)
        called = True
        after = max((unit.affinity for unit in lease.units), default="")
        ended += work_batch(way, study, lease)
        report()
    way.complete_run(run)
    return ended


def work_batch(transport: Transport, study: Study, lease: Lease) -> int:
    """Executes and ends a batch. A backend that cannot go on pauses the run; what it did before counts.

    Whatever goes wrong with what came, the batch is given back: nothing waits for the end of its lease.
    """
    ended, problem = 0, ""

    def keep(pairs: ResultPairs, last: bool = False) -> bool:
        nonlocal ended
        hashes = {unit.key: transport.store_content(content) for unit, content in list_contents(pairs)}
        stored = transport.deliver_results(lease, pairs, hashes, last=last)
        ended += stored
        return stored > 0

    with Heartbeat(transport, lease.seconds) as heartbeat:
        heartbeat.hold(lease)
        try:
            computed = compute_results(study, transport, lease, keep, failure_streaks.of_run(lease.run.id))
            problem = computed.problem
            if computed.pairs:
                keep(computed.pairs, last=True)
            else:
                transport.release_lease(lease)
        except LOST:
            raise
        except Exception as error:  # A full disk, a storage that is away: no other batch would fare better.
            logger.exception("The results of batch %s could not be stored.", lease.id)
            transport.release_lease(lease)
            problem = f"The results could not be stored: {clean_foreign_text(f'{type(error).__name__}: {error}')}"
    if problem:
        transport.pause_run(lease.run, problem)
    return ended


def list_contents(pairs: ResultPairs) -> list[tuple[Result, bytes]]:
    """The results that hold a file, with it."""
    return [(result, result.image.content) for _, result in pairs if result.image and result.image.content]


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
