"""Telling the workers that a run waits. The broker may lose what it is told: the sweep says it again."""

import logging
from typing import NamedTuple

from django.db import transaction
from django.db.models import F

from evaluation.models import Run

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
