"""Log lines, for people or as JSON. They carry ids, counts and places in the code, never what people typed.

An exception's own text is left out: it often quotes its input ("invalid literal: …", "Key (email)=(…)").
"""

import json
import logging
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType

# gunicorn's messages that go on with an address, a request line or a query.
QUOTING = ("Invalid request", "Error handling request")

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def places(error: BaseException | None) -> str:
    """Where in the code `error` and its causes came from, with their kinds and without their texts."""
    parts: list[str] = []
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}' for frame in frames]
        kind = type(error)
        parts.insert(0, "\n".join([*lines, f"{kind.__module__}.{kind.__qualname__}"]))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nfollowed by\n".join(parts)


def message(record: logging.LogRecord) -> str:
    """The record's message; those of celery and gunicorn that quote a task's exception or a request are shortened."""
    if record.exc_info and isinstance(record.args, Mapping) and "exc" in record.args:
        task, job = record.args.get("name"), record.args.get("id")
        return f"Task {task}[{job}] failed"
    text = record.getMessage()
    if record.name == "gunicorn.error":
        return next((start for start in QUOTING if text.startswith(start)), text)
    return text


class ConsoleFormatter(logging.Formatter):
    """One readable line, followed by the places of an exception."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = message(record)
        return super().formatMessage(record)

    def formatException(self, ei: ExcInfo) -> str:
        return places(ei[1])


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message and, for an exception, its places."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message(record),
        }
        if record.exc_info:
            line["traceback"] = places(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False, default=str)
