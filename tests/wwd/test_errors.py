"""Error pages: in the look of the site, saying what to do, and needing nothing that may just have broken."""

import re
from collections.abc import Iterator

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.test import Client, override_settings
from django.urls import path

from wwd.base.errors import bad_request as handler400  # noqa: F401  (Django looks for it in the module of the addresses)
from wwd.base.middleware import never_compress

RAISED: dict[str, Exception] = {
    "denied": PermissionDenied(),
    "suspicious": SuspiciousOperation(),
    "big": RequestDataTooBig(),
    "many": TooManyFilesSent(),
    "cut": UnreadablePostError(),
    "fault": ZeroDivisionError(),
}


def fails(request: HttpRequest, how: str) -> HttpResponse:
    raise RAISED[how]


def echo(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"{len(request.POST.get('words', ''))} characters")


@never_compress
def code(request: HttpRequest) -> HttpResponse:
    return HttpResponse("1234 5678 " * 200)


urlpatterns = [path("fails/<how>", fails), path("echo", echo), path("code", code)]


@pytest.fixture
def visitor() -> Iterator[Client]:
    """Somebody whose requests may fail; without the database, so that needing it fails the test."""
    with override_settings(ROOT_URLCONF=__name__):
        yield Client(raise_request_exception=False)


@pytest.mark.parametrize(
    ("how", "status"),
    [("denied", 403), ("suspicious", 400), ("big", 413), ("many", 413), ("cut", 400), ("fault", 500)],
)
def test_every_failure_has_a_page_that_says_what_to_do(visitor: Client, how: str, status: int) -> None:
    response = visitor.get(f"/fails/{how}")
    text = response.content.decode()
    assert response.status_code == status
    assert 'rel="stylesheet"' in text
    assert len(re.findall(r"<h1>", text)) == 1
    assert "start page" in text
    assert "!" not in re.sub(r"<!doctype html>", "", text)


def test_a_missing_page_points_to_the_start(client: Client) -> None:
    response = client.get("/nothing-here/")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()


def test_a_fault_shows_nothing_of_what_was_asked(visitor: Client) -> None:
    text = visitor.get("/fails/fault?q=typed-query").content.decode()
    assert "typed-query" not in text
    assert "ZeroDivisionError" not in text


def test_a_form_longer_than_we_keep_in_memory_gets_the_page_for_large_things(visitor: Client) -> None:
    with override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000):
        assert visitor.post("/echo", {"words": "x" * 900}).content == b"900 characters"
        response = visitor.post("/echo", {"words": "x" * 1100}, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413
    assert "Nothing was saved" in response.content.decode()


def test_a_body_of_absurd_length_is_not_handed_to_any_view(visitor: Client) -> None:
    with override_settings(MAX_REQUEST_BYTES=5000):
        assert visitor.post("/echo", {"words": "x" * 4000}).status_code == 200
        response = visitor.post("/echo", {"words": "x" * 6000})
    assert response.status_code == 413
    assert response.headers["Connection"] == "close"


@pytest.mark.parametrize("length", ["", "many", "-5"])
def test_a_nonsensical_length_is_no_fault_of_ours(visitor: Client, length: str) -> None:
    assert visitor.get("/echo", CONTENT_LENGTH=length).status_code == 200


@pytest.mark.django_db
def test_a_staff_form_without_its_cookie_says_that_cookies_are_needed() -> None:
    response = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a", "password": "b"})
    assert response.status_code == 403
    assert "Allow cookies" in response.content.decode()


def test_a_foreign_host_name_is_refused(client: Client) -> None:
    assert client.get("/healthz", headers={"host": "elsewhere.example"}).status_code == 400


def test_pages_allow_nothing_from_another_host(client: Client) -> None:
    policy = client.get("/nothing-here/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "unsafe" not in policy


def test_long_pages_are_compressed_and_those_with_codes_are_not(visitor: Client) -> None:
    asks = {"accept-encoding": "gzip"}
    assert visitor.get("/fails/fault", headers=asks).headers["Content-Encoding"] == "gzip"
    plain = visitor.get("/code", headers=asks)
    assert "Content-Encoding" not in plain.headers
    assert plain.content == b"1234 5678 " * 200


def test_compressed_pages_differ_in_length_so_that_length_tells_nothing(visitor: Client) -> None:
    """Django pads each answer with up to 100 random bytes against BREACH."""
    lengths = {len(visitor.get("/fails/fault", headers={"accept-encoding": "gzip"}).content) for _ in range(20)}
    assert len(lengths) > 1
