"""Tasks carry ids only; what they do is a plain function."""

from celery import shared_task

from review import preparing
from wwd.sweeper import ending


@shared_task(time_limit=3000)
def prepare_pictures(pk: int) -> None:
    preparing.work(pk, stop=ending)
