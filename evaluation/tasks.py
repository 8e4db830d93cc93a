"""Tasks carry ids only; what they do is a plain function."""

import os
import socket

from celery import shared_task

from evaluation import cached_counts, runner
from evaluation.models import Run
from evaluation.runner import purging
from evaluation.tables import compute
from wwd.base.worker_shutdown import is_stopping

# Below the broker's visibility timeout: a task that hangs is gone before its message comes again.
TIME_LIMIT = 3000


@shared_task(time_limit=TIME_LIMIT)
def work_on_run(run_id: int, announcement: int) -> None:
    if runner.accept_announcement(run_id, announcement):
        runner.serve_queue(run_id, f"{socket.gethostname()}:{os.getpid()}", stop=is_stopping)


@shared_task(time_limit=TIME_LIMIT)
def recompute_tables() -> None:
    cached_counts.recount_wanted()
    compute.recompute_wanted()


@shared_task(time_limit=TIME_LIMIT)
def purge_run(run_id: int) -> None:
    for run in Run.objects.filter(pk=run_id):
        purging.purge_run(run)
