"""Log lines, for people or as JSON. They carry ids, counts and places in the code, never what people typed.

An exception's own text is left out: it often quotes its input ("invalid literal: …", "Key (email)=(…)"). A request is
named by its route: paths hold people's keys, queries and hosts what somebody typed.
"""

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from urllib.parse import urlsplit

from django.http import HttpRequest

from wwd.base.routes import route_of

# gunicorn's messages that go on with an address, a request line or a query.
QUOTING = (
    "Invalid request",
    "Error handling request",
    "Ignored premature client disconnection",
    "Closing connection",
    "HTTP/2",
)

# Loggers of Django whose messages quote paths, hosts and senders.
REQUEST_LOGGERS = ("django.request", "django.security")

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def describe_error_origin(error: BaseException | None) -> str:
    """Where in the code `error` and its causes came from, with their kinds and without their texts."""
    parts: list[str] = []
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in frames]
        kind = type(error)
        parts.insert(0, "\n".join([*lines, f"{kind.__module__}.{kind.__qualname__}"]))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nfollowed by\n".join(parts)


def format_log_message(record: logging.LogRecord) -> str:
    """The record's message; those of celery and gunicorn that quote a task's exception or a request are shortened."""
    if record.exc_info and isinstance(record.args, Mapping) and "exc" in record.args:
        task, job = record.args.get("name"), record.args.get("id")
        return f"Task {task}[{job}] failed"
    if record.name == "django.server":
        return format_served_request(record)
    if record.name.startswith(REQUEST_LOGGERS):
        return describe_request_record(record)
    text = record.getMessage()
    if record.name == "gunicorn.error":
        return next((start for start in QUOTING if text.startswith(start)), text)
    return text


def describe_request_record(record: logging.LogRecord) -> str:
    """What Django says of a request, without its path: it would quote the path, the host, the sender or the error."""
    what = record.name.rpartition(".")[2]
    status = getattr(record, "status_code", "")
    request = getattr(record, "request", None)
    # Where the error is about the request itself, asking for its path could raise it again; `path_info` never does.
    asked = f"{request.method} {route_of(request.path_info)}" if isinstance(request, HttpRequest) else ""
    return " ".join(str(part) for part in (what, status, asked) if part)


def format_served_request(record: logging.LogRecord) -> str:
    """A line of Django's own server, for development: `"%s" %s %s` with the request line, or words about it."""
    args = record.args if isinstance(record.args, tuple) else ()
    method, _, rest = str(args[0] if args else "").partition(" ")
    if len(args) < 2 or not rest.startswith("/"):
        return "a request that could not be read"
    return f"{method} {route_of(urlsplit(rest.partition(' ')[0]).path)} {args[1]}"


class ConsoleFormatter(logging.Formatter):
    """One readable line, followed by the places of an exception."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = format_log_message(record)
        return super().formatMessage(record)

    def formatException(self, ei: ExcInfo) -> str:
        return describe_error_origin(ei[1])


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message and, for an exception, its places."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": format_log_message(record),
        }
        if record.exc_info:
            line["traceback"] = describe_error_origin(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)
