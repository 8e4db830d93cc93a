"""Tasks carry ids only; what they do is a plain function."""

from celery import shared_task

# Below the broker's visibility timeout: a task that hangs is gone before its message comes again.
TIME_LIMIT = 3000


@shared_task(name="wwd.tasks.export", time_limit=TIME_LIMIT)
def export(pk: int) -> None:
    from wwd.exchange.bundles import jobs

    jobs.run_export_job(pk)
