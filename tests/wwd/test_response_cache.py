"""The start page for strangers is cached as it went out: only for them, for what it depends on, for some seconds."""

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core import signals
from django.core.handlers.wsgi import WSGIHandler
from django.db import close_old_connections
from django.http import HttpResponse
from django.test import Client

from collection.models import Dish
from tests.collection.make import make_dish, open_collection
from wwd.base.web_server import response_cache
from wwd.base.web_server.response_cache import ResponseCache, cache_for_strangers


@contextmanager
def connection_stays() -> Iterator[None]:
    """A request ends with closing its connection, and with it the test's transaction."""
    both = (signals.request_started, signals.request_finished)
    for signal in both:
        signal.disconnect(close_old_connections)
    yield
    for signal in both:
        signal.connect(close_old_connections)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Counting:
    """A WSGI application that says how often it was asked, in an answer that is the same for strangers."""

    asked = 0

    def __init__(self, **changes: Any) -> None:
        self.changes = changes

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        self.asked += 1
        response = HttpResponse(f"answer {self.asked}", status=self.changes.get("status", 200))
        if cookie := self.changes.get("cookie"):
            response.set_cookie(cookie, "1")
        if self.changes.get("marked", True):
            cache_for_strangers(response)
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return response


def ask(application: Any, path: str = "/en/", **environ: Any) -> tuple[str, dict[str, str], bytes]:
    """Status, head and body of an answer to a request of a browser that was never here."""
    said: list[Any] = []
    given = {"PATH_INFO": path, "HTTP_HOST": "localhost", "HTTP_ACCEPT_ENCODING": "gzip", "wsgi.input": io.BytesIO()}
    given |= environ
    setup_testing_defaults(given)
    with connection_stays():
        response = application(given, lambda status, headers, *_more: said.extend((status, dict(headers))))
        body = b"".join(response)
        if hasattr(response, "close"):
            response.close()
    return said[0], said[1], body


def settle(cache: ResponseCache) -> None:
    """Until nothing is being made anew."""
    cache.refresher.submit(lambda: None).result(30)


class TestStartPage:
    @pytest.fixture(autouse=True)
    def told(self, db: None) -> None:
        open_collection()
        for country in ("Ghana", "Ghana", "Kenya"):
            make_dish(country=country, state=Dish.State.ACCEPTED)

    def test_the_second_stranger_costs_no_query(self, django_assert_num_queries: Any) -> None:
        cache = ResponseCache(WSGIHandler(), 5, Clock())
        first = ask(cache)
        with django_assert_num_queries(0):
            assert ask(cache) == first
        assert first[0] == "200 OK"
        assert first[1]["Content-Encoding"] == "gzip"

    @pytest.mark.parametrize("path", ["/", "/ar/", "/yo/"])
    def test_what_is_cached_is_what_the_application_answers(self, path: str) -> None:
        """Also in its head, in each language, and where the browser names the language."""
        plain = {"HTTP_ACCEPT_ENCODING": "", "HTTP_ACCEPT_LANGUAGE": "sw"}
        cache = ResponseCache(WSGIHandler(), 5, Clock())
        ask(cache, path, **plain)
        assert ask(cache, path, **plain) == ask(WSGIHandler(), path, **plain)

    def test_nobody_who_may_be_known_gets_it(self) -> None:
        """Somebody whose cookie names them is offered to finish, before and after a stranger came."""
        cache = ResponseCache(WSGIHandler(), 5, Clock())
        browser = Client()
        page = browser.get("/en/describe/").content.decode()
        token = re.search(r'name="proof" value="([^"]+)"', page)
        assert token
        browser.post("/en/describe/", {"proof": token[1], "adult": "on", "agree": "on"})
        cookies = "; ".join(f"{name}={value.value}" for name, value in browser.cookies.items())
        for _time in range(2):
            known = ask(cache, HTTP_COOKIE=cookies, HTTP_ACCEPT_ENCODING="")[2].decode()
            unknown = ask(cache, HTTP_ACCEPT_ENCODING="")[2].decode()
            assert 'finish/">' in known
            assert 'finish/" hidden>' in unknown

    def test_no_other_page_is_cached(self) -> None:
        """Pages hold a token for each visitor, so only the start page is marked."""
        cache = ResponseCache(WSGIHandler(), 5, Clock())
        pages = [ask(cache, "/en/describe/", HTTP_ACCEPT_ENCODING="")[2] for _time in range(2)]
        assert pages[0] != pages[1]
        assert not cache.responses


class TestResponseCache:
    @pytest.mark.parametrize(
        "changes",
        [
            {"HTTP_COOKIE": "sessionid=1"},
            {"HTTP_AUTHORIZATION": "Basic eA=="},
            {"QUERY_STRING": "when=today"},
            {"REQUEST_METHOD": "HEAD"},
            {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": "3"},
        ],
    )
    def test_only_strangers_who_ask_for_the_page_get_what_is_cached(self, changes: dict[str, str]) -> None:
        cache = ResponseCache(Counting(), 5, Clock())
        ask(cache)
        assert ask(cache, **changes)[2] == b"answer 2"
        assert ask(cache)[2] == b"answer 1"

    @pytest.mark.parametrize(
        "changes",
        [
            {"HTTP_HOST": "other.example"},
            {"HTTP_ACCEPT_ENCODING": "identity"},
            {"HTTP_ACCEPT_LANGUAGE": "fr"},
            {"HTTP_X_FORWARDED_PROTO": "https"},
            {"wsgi.url_scheme": "https"},
            {"SCRIPT_NAME": "/under"},
            {"PATH_INFO": "/fr/"},
        ],
    )
    def test_what_a_page_depends_on_has_an_answer_of_its_own(self, changes: dict[str, str]) -> None:
        cache = ResponseCache(Counting(), 5, Clock())
        ask(cache)
        assert ask(cache, **changes)[2] == b"answer 2"
        assert ask(cache, **changes)[2] == b"answer 2"

    @pytest.mark.parametrize("changes", [{"marked": False}, {"cookie": "who"}, {"status": 503}])
    def test_answers_for_one_and_errors_are_not_cached(self, changes: dict[str, Any]) -> None:
        cache = ResponseCache(Counting(**changes), 5, Clock())
        assert ask(cache)[2] != ask(cache)[2]

    def test_an_answer_is_made_anew_before_it_is_too_old(self) -> None:
        """Whoever comes meanwhile gets the one before; nobody gets one of five seconds."""
        clock = Clock()
        cache = ResponseCache(Counting(), 5, clock)
        ask(cache)
        clock.now += 4.9
        assert ask(cache)[2] == b"answer 1"
        settle(cache)
        assert ask(cache)[2] == b"answer 2"
        clock.now += 5
        assert ask(cache)[2] == b"answer 3"

    def test_what_cannot_be_made_anew_is_forgotten(self) -> None:
        clock, application = Clock(), Counting()
        cache = ResponseCache(application, 5, clock)
        ask(cache)
        application.changes = {"status": 503}
        clock.now += 3
        ask(cache)
        settle(cache)
        assert ask(cache)[0].startswith("503")

    def test_nothing_is_cached_where_that_is_switched_off(self) -> None:
        cache = ResponseCache(Counting(), 0, Clock())
        assert ask(cache)[2] != ask(cache)[2]

    def test_made_up_languages_fill_no_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(response_cache, "MOST", 3)
        clock = Clock()
        cache = ResponseCache(Counting(), 5, clock)
        for number in range(10):
            ask(cache, HTTP_ACCEPT_LANGUAGE=f"x-{number}")
        assert len(cache.responses) == 3
        assert ask(cache, HTTP_ACCEPT_LANGUAGE="x-0")[2] == b"answer 1"
        clock.now += 5
        ask(cache)
        assert len(cache.responses) == 1
