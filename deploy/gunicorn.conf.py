"""gunicorn: many threads, because phones on slow lines keep one busy for as long as they send."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
# Nobody waits longer for a page; workers and commands may.
os.environ.setdefault("WWD_STATEMENT_SECONDS", "60")

from django.conf import settings

wsgi_app = "wwd.wsgi:application"
bind = os.environ.get("WWD_BIND", "127.0.0.1:8000")
worker_class = "gthread"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
# A new connection costs a phone on 2G about a second.
keepalive = 30
graceful_timeout = 20
control_socket_disable = True
# Neither address nor query nor browser: they say who somebody is.
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
