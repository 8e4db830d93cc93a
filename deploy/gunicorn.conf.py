"""gunicorn: a thread is spent only on a request that has arrived whole, so that slow senders hold none."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
# Nobody waits longer for a page; workers and commands may.
os.environ.setdefault("WWD_STATEMENT_SECONDS", "60")
os.environ.setdefault("WWD_WEB_PAGE_SECONDS", "2")

from django.conf import settings

wsgi_app = "wwd.wsgi:application"
bind = os.environ.get("WWD_BIND", "127.0.0.1:8000")
worker_class = "wwd.base.web_server.web_worker.PatientWorker"
# Slow senders are only connections; half of these may be waiting, and then the oldest of anyone who holds most goes.
worker_connections = 2000
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
# A new connection costs a phone on 2G about a second.
keepalive = 30
graceful_timeout = 20
control_socket_disable = True
# The route instead of the path, which may hold somebody's key; neither address nor query nor browser.
logger_class = "wwd.base.web_server.access_log.RouteLogger"
access_log_format = "%(m)s %(U)s %(s)s %(B)s bytes %(M)s ms"
accesslog = "-"
logconfig_dict: dict[str, Any] = {
    **settings.LOGGING,
    "loggers": {
        **settings.LOGGING["loggers"],
        "gunicorn.error": {"handlers": ["out"], "propagate": False, "level": settings.LOG_LEVEL},
        "gunicorn.access": {"handlers": ["out"], "propagate": False, "level": settings.LOG_LEVEL},
    },
}


def pre_request(worker: Any, request: Any) -> None:
    """Nothing: gunicorn's own hook logs the path, which may hold somebody's key."""
