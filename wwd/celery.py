"""The worker application. The broker only carries announcements: the database is the record."""

import os

from celery import Celery
from django.conf import settings

from wwd import broker
from wwd.sweeper import SweepStep

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")

broker.register_transport()
app = Celery("wwd")


def broker_options() -> dict[str, object]:
    """Transport options: folders for the embedded broker, a visibility timeout for Redis."""
    if settings.REDIS_URL:
        at_once = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
        return {"visibility_timeout": 3600, "socket_connect_timeout": 2, "socket_timeout": 5, **at_once}
    folder = settings.CELERY_BROKER_FOLDER
    for name in ("queue", "control"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
    }


app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_transport_options=broker_options(),
    broker_connection_timeout=2,
    # A page must not wait for a broker that is down: the sweep announces again what was not announced.
    task_publish_retry=False,
    # Over folders, commands to workers would only pile up as files.
    worker_enable_remote_control=bool(settings.REDIS_URL),
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue="cpu",
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=settings.WORKER_SLICES,
    # In kilobytes; None is no limit.
    worker_max_memory_per_child=settings.WORKER_MEGABYTES * 1024 or None,
    worker_hijack_root_logger=False,
    enable_utc=True,
)
app.steps["worker"].add(SweepStep)
app.autodiscover_tasks()
app.autodiscover_tasks(["wwd.exchange"])
