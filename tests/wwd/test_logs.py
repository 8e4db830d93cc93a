"""Logs: enough to find a fault, nothing of what people typed."""

import json
import logging
import sys
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError

from tests.wwd.processes import environment, gunicorn, status
from wwd.base.logs import ConsoleFormatter, JsonFormatter, describe_error_origin

TYPED = "Ndolé-aunt-Ngozi"
FORMATTERS = [JsonFormatter(), ConsoleFormatter("%(levelname)s %(name)s: %(message)s")]


def record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("wwd.test", logging.ERROR, __file__, 1, message, args, info)


def caught(inner: Exception, outer: Exception) -> Exception:
    """`outer` as it looks after it was raised while `inner` was being handled."""
    try:
        try:
            raise inner
        except type(inner):
            raise outer  # noqa: B904  (the implicit context is the point)
    except type(outer):
        found = sys.exc_info()[1]
        assert isinstance(found, Exception)
        return found


def test_a_json_line_says_when_how_bad_who_and_what() -> None:
    line = json.loads(JsonFormatter().format(record("unit %s failed", 7)))
    assert (line["level"], line["logger"], line["message"]) == ("error", "wwd.test", "unit 7 failed")
    assert line["time"].endswith("+00:00")


def test_a_json_line_is_one_line_whatever_the_message() -> None:
    assert "\n" not in JsonFormatter().format(record("two\nlines"))


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_a_traceback_shows_places_and_kinds_but_not_what_was_typed(formatter: logging.Formatter) -> None:
    error = caught(ValidationError(TYPED), IntegrityError(f"Key (email)=({TYPED}) already exists"))
    text = formatter.format(record("saving failed", error=error))
    assert TYPED not in text
    assert "test_logs.py" in text
    assert "IntegrityError" in text
    assert "ValidationError" in text


@pytest.mark.parametrize("formatter", FORMATTERS)
def test_a_failed_task_is_reported_without_its_exceptions_text(formatter: logging.Formatter) -> None:
    """Celery's own report quotes the exception in the message."""
    error = caught(ValueError(TYPED), KeyError(TYPED))
    context = {"name": "evaluation.run", "id": "5", "exc": repr(error), "traceback": TYPED}
    text = formatter.format(record("Task %(name)s[%(id)s] raised: %(exc)s\n%(traceback)s", context, error=error))
    assert TYPED not in text
    assert "Task evaluation.run[5] failed" in text


def test_the_cause_stands_before_what_it_led_to() -> None:
    text = describe_error_origin(caught(ValueError("x"), KeyError("y")))
    assert text.index("ValueError") < text.index("followed by") < text.index("KeyError")


def test_a_hidden_cause_stays_hidden() -> None:
    error = caught(ValueError("x"), KeyError("y"))
    error.__suppress_context__ = True
    assert "ValueError" not in describe_error_origin(error)


@pytest.mark.parametrize("form", ["json", "console"])
def test_what_a_form_sends_does_not_reach_the_logs_of_the_web_server(tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    environ = environment(tmp_path / "var", WWD_LOG_FORMAT=form, WWD_LOG_LEVEL="debug", WWD_WEB_PROCESSES="1")
    with gunicorn(environ, log) as site:
        body = urlencode({"username": TYPED, "password": TYPED, "local_name": TYPED, "proof": TYPED}).encode()
        for path in ("/admin/login/", "/describe/", "/dish/", "/nothing/"):
            headers = {"User-Agent": TYPED.encode("ascii", "ignore").decode(), "Cookie": "turn=typed-cookie"}
            request = Request(f"{site}{path}?q={urlencode({'q': TYPED})}", body, headers)
            assert status_of(request) >= 200
        assert status(f"{site}/nothing/?q=typed-query") == 404
    text = log.read_text()
    assert "POST /admin/login/" in text
    for piece in (TYPED, "Ndol", "Ngozi", "typed-query", "typed-cookie", "127.0.0.1 "):
        assert piece not in text, piece


def test_a_request_that_is_no_http_leaves_no_address_in_the_logs(tmp_path: Path) -> None:
    import socket

    log = tmp_path / "log"
    with gunicorn(environment(tmp_path / "var", WWD_WEB_PROCESSES="1"), log) as site:
        port = int(site.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
            line.sendall(b"NONSENSE typed-nonsense\r\n\r\n")
            assert line.recv(1000).startswith(b"HTTP/1.1 400")
    text = log.read_text()
    assert "Invalid request" in text
    assert "typed-nonsense" not in text
    assert "127.0.0.1:" not in text.replace(f"127.0.0.1:{port}", "")
    assert "ip=" not in text


def status_of(request: Request) -> int:
    from urllib.error import HTTPError

    try:
        with urlopen(request, timeout=20) as response:
            return int(response.status)
    except HTTPError as error:
        return error.code
