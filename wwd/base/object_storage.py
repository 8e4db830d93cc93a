"""The bucket of Google Cloud Storage may hang: no request waits long, and a failing one is tried for so long only.

The client's own patience is a minute for each try and two for all of them; meanwhile a thread of the web server waits.
"""

import threading
import time
from functools import partial
from typing import Any

from django.conf import settings
from storages.backends.gcloud import GoogleCloudStorage

from wwd.base.unavailable import StorageUnavailableError

# Statuses after which the client tries again.
AGAIN = (408, 429, 500, 502, 503, 504)


class Failing(threading.local):
    """Since when this thread's requests have failed one after the other, and when the last one did; 0: they do not."""

    since = 0.0
    last = 0.0


class PatientBucket(GoogleCloudStorage):
    """Raises StorageUnavailableError once a request and its repetitions have failed for `WWD_STORAGE_SECONDS`."""

    @property
    def client(self) -> Any:
        if self._client is None:
            made = super().client
            session = made._http
            session.request = partial(request_with_timeout, session.request, Failing())
        return self._client


def request_with_timeout(request: Any, failing: Failing, method: str, url: str, **given: Any) -> Any:
    """One request of the client's session, with a bound in time."""
    most, now = float(settings.STORAGE_SECONDS), time.monotonic()
    if failing.since and now - failing.last > most:
        failing.since = 0.0
    if failing.since and now - failing.since > most:
        failing.since = 0.0
        raise StorageUnavailableError("The storage does not answer.")
    began = failing.since or now
    try:
        response = request(method, url, **{**given, "timeout": most})
    except Exception:
        failing.since, failing.last = began, time.monotonic()
        raise
    failed = response.status_code in AGAIN
    failing.since, failing.last = (began, time.monotonic()) if failed else (0.0, 0.0)
    return response
