"""The web application for gunicorn."""

import ctypes
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from wwd.base.web_server.response_cache import ResponseCache

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
IN_MEMORY = 256 * 1024
CHUNK = 64 * 1024
django_application = get_wsgi_application()
response_cache = ResponseCache(django_application, 0 if settings.DEBUG else settings.WEB_PAGE_SECONDS)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django's application. It reads a body only where its length is stated: one in chunks is read before it."""
    if environ.get("HTTP_TRANSFER_ENCODING", "").strip().lower() != "chunked" or not environ.get(
        "wsgi.input_terminated"
    ):
        return response_cache(environ, start_response)
    with SpooledTemporaryFile(IN_MEMORY) as body:
        # One byte more than is taken: the length then says that it is too large.
        left = settings.MAX_REQUEST_BYTES + 1
        while left > 0 and (data := environ["wsgi.input"].read(min(left, CHUNK))):
            body.write(data)
            left -= len(data)
        body.seek(0)
        stated = {"wsgi.input": body, "CONTENT_LENGTH": str(settings.MAX_REQUEST_BYTES + 1 - left)}
        given = {name: value for name, value in environ.items() if name != "HTTP_TRANSFER_ENCODING"}
        return django_application({**given, **stated}, start_response)


M_MMAP_THRESHOLD, LARGE = -3, 1024 * 1024


def return_large_blocks() -> None:
    """Has the C library give every large block back to the system when it is freed, in whichever thread.

    glibc keeps blocks of up to 32 MB for their thread once one was freed: each thread that ever decoded a large photo
    would hold its memory. Other C libraries have no such setting and need none.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)


return_large_blocks()

# Seconds after which a thread lets another one go on: a page that is only read waits for a dish that is being stored.
sys.setswitchinterval(0.001)

if settings.DATABASE_VENDOR == "postgresql":
    from wwd.base.postgresql.base import idle_connections

    idle_connections.most = settings.WEB_CONNECTIONS
