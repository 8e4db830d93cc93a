"""Answers that all strangers get alike, kept in the process for a few seconds as they went out: head, compressed bytes.

A page that is only read then waits for no query and for no thread that stores a dish. A stranger is a request without
cookies and without a query: nothing in it says who asks. Views mark such answers (`keep_for_strangers`).
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
RENEWED_FROM = 0.2
MOST = 100
GZIP = re.compile(r"\bgzip\b")
# What else a page may depend on. Whoever adds a header that a page looks at adds it here.
ASKED = (
    *("wsgi.url_scheme", "SCRIPT_NAME", "PATH_INFO", "HTTP_HOST", "SERVER_NAME", "SERVER_PORT"),
    *("HTTP_X_FORWARDED_PROTO", "HTTP_ACCEPT_LANGUAGE"),
)
Response = TypeVar("Response", bound=HttpResponse)
logger = logging.getLogger(__name__)


def keep_for_strangers(response: Response) -> Response:
    """Says of a page that everybody without cookies gets it alike, and that it may be some seconds old."""
    response.for_strangers = True  # type: ignore[attr-defined]
    return response


class Kept(NamedTuple):
    """An answer as it went out, and when it was asked for (of the monotonic clock)."""

    at: float
    status: str
    headers: list[tuple[str, str]]
    body: bytes


class KeptAnswers:
    """A WSGI application that gives answers of another one again, until they are `seconds` old; 0 keeps none."""

    def __init__(self, application: Any, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.application, self.seconds, self.clock = application, seconds, clock
        self.answers: dict[Hashable, Kept] = {}
        self.renewing: set[Hashable] = set()
        self.lock = threading.Lock()
        self.renewer = ThreadPoolExecutor(1, "renew-answers")

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        key = identify_answer(environ) if self.seconds else None
        if key is None:
            return self.application(environ, start_response)
        kept = self.answers.get(key)
        age = self.clock() - kept.at if kept else self.seconds
        if kept is None or age >= self.seconds:
            return self.make(key, environ, start_response)
        if age >= self.seconds * RENEWED_FROM:
            self.renew(key, environ)
        start_response(kept.status, list(kept.headers))
        return [kept.body]

    def make(self, key: Hashable, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Asks the application, and keeps what it answers where its view allows that."""
        said: list[tuple[str, list[tuple[str, str]]]] = []
        asked_at = self.clock()

        def listen(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            said.append((status, list(headers)))
            return start_response(status, headers, *more)

        response: Iterable[bytes] = self.application(environ, listen)
        if is_kept(response) and (key in self.answers or self.has_room()):
            self.answers[key] = Kept(asked_at, *said[-1], response.content)  # type: ignore[attr-defined]
        else:
            self.answers.pop(key, None)
        return response

    def has_room(self) -> bool:
        """Whether one more can be kept, once those are gone that are too old."""
        if len(self.answers) >= MOST:
            oldest = self.clock() - self.seconds
            for key, kept in list(self.answers.items()):
                if kept.at <= oldest:
                    self.answers.pop(key, None)
        return len(self.answers) < MOST

    def renew(self, key: Hashable, environ: dict[str, Any]) -> None:
        """Makes an answer anew in a thread of its own, unless that is being done."""
        with self.lock:
            if key in self.renewing:
                return
            self.renewing.add(key)
        # The connection of whoever asked is theirs.
        kept = {name: value for name, value in environ.items() if name in ASKED or name.startswith("wsgi.")}
        said = {"REQUEST_METHOD": "GET", "QUERY_STRING": "", "HTTP_ACCEPT_ENCODING": "", "wsgi.input": io.BytesIO()}
        said |= {name: environ[name] for name in ("HTTP_ACCEPT_ENCODING", "SERVER_PROTOCOL") if name in environ}
        self.renewer.submit(self.make_aside, key, {**kept, **said})

    def make_aside(self, key: Hashable, environ: dict[str, Any]) -> None:
        """An answer that nobody waits for. Where it cannot be made, the next visitor is told why."""
        try:
            response = self.make(key, environ, lambda *_said: None)
            if hasattr(response, "close"):
                response.close()
        except Exception:
            logger.exception("A page for strangers could not be made anew.")
        finally:
            with self.lock:
                self.renewing.discard(key)


def identify_answer(environ: dict[str, Any]) -> Hashable | None:
    """What an answer to a stranger depends on; None where somebody asks who may be known, or for something else."""
    if environ["REQUEST_METHOD"] != "GET" or environ.get("CONTENT_LENGTH") not in (None, "", "0"):
        return None
    if any(environ.get(name) for name in ("HTTP_COOKIE", "HTTP_AUTHORIZATION", "QUERY_STRING")):
        return None
    return (bool(GZIP.search(environ.get("HTTP_ACCEPT_ENCODING", ""))), *(environ.get(name) for name in ASKED))


def is_kept(response: Any) -> bool:
    """Whether an answer may be given to the next stranger too: a page, marked by its view, that sets no cookie."""
    if not isinstance(response, HttpResponse) or not getattr(response, "for_strangers", False):
        return False
    return response.status_code == 200 and not response.cookies
