"""The web application for gunicorn."""

import os
import sys

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
application = get_wsgi_application()

# Seconds after which a thread lets another one go on: a page that is only read waits for a dish that is being stored.
sys.setswitchinterval(0.001)

if settings.DATABASE_VENDOR == "postgresql":
    from wwd.postgresql.base import kept

    kept.most = settings.WEB_CONNECTIONS
