"""The sweep: a thread in every worker's main process that repairs what brokers and killed workers lose.

It needs neither a broker nor a clock service. What is due is found by asking the database.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from celery import bootsteps
from django.conf import settings
from django.db import connections

from wwd.base.worker_shutdown import ENDING

logger = logging.getLogger(__name__)
# Held while the thread uses the database, and around every fork: no child inherits an open connection.
FORKING = threading.Lock()
HOUR = 60 * 60
DAY = 24 * HOUR


@dataclass(frozen=True)
class Job:
    """Something to do again and again. `database` returns what is to be sent once the database is let go."""

    name: str
    every: float
    first: float
    database: Callable[[], list[Callable[[], None]]]


def sweep_runs() -> list[Callable[[], None]]:
    from evaluation import runner

    return [partial(runner.send_announcement, due) for due in runner.sweep_runs()]


def sweep_tables() -> list[Callable[[], None]]:
    from evaluation import cached_counts, queue
    from evaluation.tables import store

    wanted = store.list_requested_tables().exists() or cached_counts.list_requested_counts().exists()
    return [queue.request_tables] if wanted else []


def sweep_files() -> list[Callable[[], None]]:
    from evaluation import content_store

    content_store.remove_orphans()
    return []


def sweep_file_cache() -> list[Callable[[], None]]:
    from wwd.base import file_cache

    file_cache.get_file_cache().remove_unused()
    return []


def erase_withdrawn() -> list[Callable[[], None]]:
    from collection.access import return_codes
    from collection.withdrawal import erase

    erase.erase_due()
    return_codes.forget_seeds()
    return []


def retire_old() -> list[Callable[[], None]]:
    from collection.withdrawal import retention

    retention.apply_retention_rules()
    return []


def sweep_parts() -> list[Callable[[], None]]:
    from collection.photos import chunked_upload

    chunked_upload.delete_stale_parts()
    return []


def sweep_uploads() -> list[Callable[[], None]]:
    from evaluation.worker_api import uploads

    uploads.delete_stale_uploads()
    return []


def sweep_leaderboard() -> list[Callable[[], None]]:
    from collection.leaderboard import counters

    counters.rebuild_leaderboard()
    return []


def sweep_ingredients() -> list[Callable[[], None]]:
    from collection.vocabularies import ingredients

    ingredients.rebuild_ingredient_index()
    return []


def sweep_preparations() -> list[Callable[[], None]]:
    from review.campaigns import prepare_job

    return [partial(prepare_job.announce_preparation, pk) for pk in prepare_job.list_waiting_preparations()]


def sweep_exports() -> list[Callable[[], None]]:
    from wwd.exchange.bundles import jobs

    return [partial(jobs.announce_export_job, pk) for pk in jobs.list_waiting_exports()]


def remove_exports() -> list[Callable[[], None]]:
    from wwd.exchange.bundles import jobs

    jobs.remove_old()
    return []


def erase_reviewers() -> list[Callable[[], None]]:
    from review import rights

    rights.erase_withdrawn()
    return []


def recheck_campaigns() -> list[Callable[[], None]]:
    from review.campaigns import readiness

    readiness.recheck_open_campaigns()
    return []


def list_sweep_jobs() -> list[Job]:
    return [
        Job("runs", settings.SWEEP_SECONDS, 0, sweep_runs),
        Job("tables", settings.SWEEP_SECONDS, 0, sweep_tables),
        Job("files", DAY, 10 * 60, sweep_files),
        Job("file cache", HOUR, 4 * 60, sweep_file_cache),
        Job("parts", HOUR, 7 * 60, sweep_parts),
        Job("uploads", HOUR, 9 * 60, sweep_uploads),
        Job("ingredients", DAY, 20 * 60, sweep_ingredients),
        Job("leaderboard", DAY, 25 * 60, sweep_leaderboard),
        Job("preparations", settings.SWEEP_SECONDS, 0, sweep_preparations),
        Job("exports", settings.SWEEP_SECONDS, 0, sweep_exports),
        Job("old exports", HOUR, 12 * 60, remove_exports),
        Job("campaigns", HOUR, 3 * 60, recheck_campaigns),
        Job("reviewers", HOUR, 8 * 60, erase_reviewers),
        Job("withdrawals", HOUR, 5 * 60, erase_withdrawn),
        Job("retention", DAY, 15 * 60, retire_old),
    ]


def perform_job(job: Job) -> None:
    """Does a job once. Whatever goes wrong is logged: the next time comes."""
    try:
        with FORKING:
            try:
                due = job.database()
            finally:
                connections.close_all()
        for send in due:
            send()
    except Exception:  # A database that restarts must not end the sweep.
        logger.exception("The sweep of %s went wrong.", job.name)
    finally:
        connections.close_all()


class Sweeper(threading.Thread):
    """Performs the jobs until it is stopped."""

    def __init__(self, planned: Sequence[Job]) -> None:
        super().__init__(name="sweep", daemon=True)
        self.planned = planned
        self.stopping = threading.Event()

    def run(self) -> None:
        due = [(time.monotonic() + job.first, job) for job in self.planned]
        while not self.stopping.wait(max(0.0, min(at for at, _ in due) - time.monotonic())):
            now = time.monotonic()
            for job in [job for at, job in due if at <= now]:
                perform_job(job)
            due = [(at if at > now else now + job.every, job) for at, job in due]


class SweepStep(bootsteps.StartStopStep):
    """Starts the sweep with the worker, before it has reached a broker."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: object, **options: object) -> None:
        super().__init__(parent, **options)
        self.sweeper = Sweeper(list_sweep_jobs())

    def start(self, parent: object) -> None:
        os.register_at_fork(before=FORKING.acquire, after_in_parent=FORKING.release, after_in_child=FORKING.release)
        self.sweeper.start()

    def stop(self, parent: object) -> None:
        ENDING[0] = 1
        self.sweeper.stopping.set()

    terminate = stop
