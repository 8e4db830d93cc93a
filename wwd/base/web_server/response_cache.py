"""Answers that all strangers get alike, cached in the process for a few seconds: heads and compressed bytes.

A page that is only read then waits for no query and for no thread that stores a dish. A stranger is a request without
cookies and without a query: nothing in it says who asks. Views mark such answers (`cache_for_strangers`).
"""

import io
import logging
import re
import threading
import time
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from django.http import HttpResponse

# Of the age up to which an answer is given: from here on it is made anew, while visitors still get the one before.
REFRESHED_FROM = 0.5
MOST = 100
GZIP = re.compile(r"\bgzip\b")
# What else a page may depend on. Anyone who adds a header that a page looks at adds it here.
ASKED = (
    *("wsgi.url_scheme", "SCRIPT_NAME", "PATH_INFO", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT"),
    *("HTTP_X_FORWARDED_PROTO", "HTTP_ACCEPT_LANGUAGE"),
)
Response = TypeVar("Response", bound=HttpResponse)
logger = logging.getLogger(__name__)


def cache_for_strangers(response: Response) -> Response:
    """Says of a page that everybody without cookies gets it alike, and that it may be some seconds old."""
    response.for_strangers = True  # type: ignore[attr-defined]
    return response


class CachedResponse(NamedTuple):
    """An answer as it went out, and when it was asked for (of the monotonic clock)."""

    at: float
    status: str
    headers: list[tuple[str, str]]
    body: bytes


class ResponseCache:
    """A WSGI application that gives answers of another one again, until they are `seconds` old; 0 caches none."""

    def __init__(self, application: Any, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.application, self.seconds, self.clock = application, seconds, clock
        self.responses: dict[Hashable, CachedResponse] = {}
        self.refreshing: set[Hashable] = set()
        self.lock = threading.Lock()
        self.refresher = ThreadPoolExecutor(1, "refresh-responses")

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        key = build_cache_key(environ) if self.seconds else None
        if key is None:
            return self.application(environ, start_response)
        cached = self.responses.get(key)
        age = self.clock() - cached.at if cached else self.seconds
        if cached is None or age >= self.seconds:
            return self.make(key, environ, start_response)
        if age >= self.seconds * REFRESHED_FROM:
            self.refresh(key, environ)
        start_response(cached.status, list(cached.headers))
        return [cached.body]

    def make(self, key: Hashable, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Asks the application, and caches what it answers where its view allows that."""
        said: list[tuple[str, list[tuple[str, str]]]] = []
        asked_at = self.clock()

        def listen(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            said.append((status, list(headers)))
            return start_response(status, headers, *more)

        response: Iterable[bytes] = self.application(environ, listen)
        if is_cacheable(response) and (key in self.responses or self.has_room()):
            self.responses[key] = CachedResponse(asked_at, *said[-1], response.content)  # type: ignore[attr-defined]
        else:
            self.responses.pop(key, None)
        return response

    def has_room(self) -> bool:
        """Whether one more can be cached, once those are gone that are too old."""
        if len(self.responses) >= MOST:
            oldest = self.clock() - self.seconds
            for key, cached in list(self.responses.items()):
                if cached.at <= oldest:
                    self.responses.pop(key, None)
        return len(self.responses) < MOST

    def refresh(self, key: Hashable, environ: dict[str, Any]) -> None:
        """Makes an answer anew in a thread of its own, unless that is being done."""
        with self.lock:
            if key in self.refreshing:
                return
            self.refreshing.add(key)
        # The connection of anyone who asked is theirs.
        same = {name: value for name, value in environ.items() if name in ASKED or name.startswith("wsgi.")}
        said = {"REQUEST_METHOD": "GET", "QUERY_STRING": "", "HTTP_ACCEPT_ENCODING": "", "wsgi.input": io.BytesIO()}
        said |= {name: environ[name] for name in ("HTTP_ACCEPT_ENCODING", "SERVER_PROTOCOL") if name in environ}
        self.refresher.submit(self.refresh_aside, key, {**same, **said})

    def refresh_aside(self, key: Hashable, environ: dict[str, Any]) -> None:
        """An answer that nobody waits for. Where it cannot be made, the next visitor is told why."""
        try:
            response = self.make(key, environ, lambda *_said: None)
            if hasattr(response, "close"):
                response.close()
        except Exception:
            logger.exception("A page for strangers could not be made anew.")
        finally:
            with self.lock:
                self.refreshing.discard(key)


def build_cache_key(environ: dict[str, Any]) -> Hashable | None:
    """What an answer to a stranger depends on; None where somebody asks who may be known, or for something else."""
    if environ["REQUEST_METHOD"] != "GET" or environ.get("CONTENT_LENGTH") not in (None, "", "0"):
        return None
    if any(environ.get(name) for name in ("HTTP_COOKIE", "HTTP_AUTHORIZATION", "QUERY_STRING")):
        return None
    return (bool(GZIP.search(environ.get("HTTP_ACCEPT_ENCODING", ""))), *(environ.get(name) for name in ASKED))


def is_cacheable(response: Any) -> bool:
    """Whether an answer may be given to the next stranger too: a page, marked by its view, that sets no cookie."""
    if not isinstance(response, HttpResponse) or not getattr(response, "for_strangers", False):
        return False
    return response.status_code == 200 and not response.cookies
