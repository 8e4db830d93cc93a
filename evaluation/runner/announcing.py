"""Telling the workers that a run waits. The broker may lose what it is told: the sweep says it again."""

from typing import NamedTuple

from django.db import transaction
from django.db.models import F

from evaluation.models import Run
from evaluation.queue import send_task


class Announcement(NamedTuple):
    """What is sent to the workers: a run and the number of the announcement."""

    run: int
    number: int
    queue: str


def announce_run(run: Run) -> None:
    """Tells the workers, once the transaction is kept. Never raises: a lost announcement is made again by the sweep."""
    transaction.on_commit(lambda: send_announcement(create_announcement(run.pk)))


def create_announcement(run_id: int) -> Announcement:
    """The next announcement of a run, counted in the database."""
    Run.objects.filter(pk=run_id).update(announced=F("announced") + 1)
    return Announcement(*Run.objects.values_list("pk", "announced", "queue").get(pk=run_id))


def send_announcement(given: Announcement) -> None:
    """Hands an announcement to the broker."""
    send_task("evaluation.tasks.work_on_run", given.run, given.number, queue=given.queue)
