"""The web application for gunicorn."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
application = get_wsgi_application()

if settings.DATABASE_VENDOR == "postgresql":
    from wwd.postgresql.base import kept

    kept.most = settings.WEB_CONNECTIONS
