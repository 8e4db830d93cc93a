"""World Wide Dishes: settings, addresses, worker application and health pages."""

from wwd.celery import app as celery_app

__all__ = ["celery_app"]
