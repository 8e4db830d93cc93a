"""Tasks carry ids only; what they do is a plain function."""

from celery import shared_task

from review.campaigns import prepare_job
from wwd.base.worker_shutdown import is_stopping


@shared_task(time_limit=3000)
def prepare_images(pk: int) -> None:
    prepare_job.continue_preparation(pk, stop=is_stopping)
