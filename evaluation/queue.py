"""Sends tasks to workers by name, so that code that asks for work does not import the code that does it."""

import logging

from celery import current_app

logger = logging.getLogger(__name__)


def send_task(name: str, *args: object, queue: str = "cpu") -> None:
    """Sends the task `name` with plain arguments. Never raises: the sweep sends again what was lost."""
    try:
        current_app.send_task(name, args, queue=queue, retry=False)
    except Exception:  # Brokers fail in many ways, and none of them may reach the page or command that asks.
        logger.warning("%s%s could not be sent; the sweep will send it again.", name, args, exc_info=True)


def request_tables() -> None:
    """Asks a worker to compute the tables and counts that somebody waits for."""
    send_task("evaluation.tasks.recompute_tables")
