"""The answer when the site cannot work just now: the database is away, a disk is full, too many ask at once.

The page is made from memory alone. It is in the visitor's language, says when to come back (`Retry-After`), and holds
what somebody sent, so that one button sends it again.
"""

import errno
from collections.abc import Iterator

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from wwd.base.decode_memory import DecodeMemoryFullError
from wwd.base.languages import STAFF, choose_language

SECONDS = 30
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
# More than any of our forms; a page that repeats more would not be a small one.
MOST_FIELDS = 100
MOST_SIGNS = 20_000


class StorageUnavailableError(OSError):
    """The storage did not answer in time; another try may help."""


def unavailable_response(request: HttpRequest, seconds: int = SECONDS) -> HttpResponse:
    """503 with `Retry-After: seconds`, in the visitor's language. It asks neither database nor storage.

    What a public form brought is in the page again, except files.
    """
    language = getattr(request, "LANGUAGE_CODE", "") or choose_language(request, dict(settings.LANGUAGES))
    chosen = getattr(request, "chosen_language", "")
    with translation.override(language):
        context = {
            "fields": list_public_form_fields(request),
            "seconds": seconds,
            "home": f"/{chosen}/" if chosen else "/",
        }
        response = render(request, "503.html", context, status=503)
    response.headers["Content-Language"] = language
    response.headers["Retry-After"] = str(seconds)
    response.headers["Cache-Control"] = "no-store"
    # The typing and the form's token are in it.
    response.never_compress = True  # type: ignore[attr-defined]
    return response


def list_public_form_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Name and value of every field that a public form sent and that was read before; of staff's forms nothing."""
    first = request.path_info.removeprefix("/").partition("/")[0]
    if request.method != "POST" or first in STAFF or not hasattr(request, "_post"):
        return []
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    whole = sum(len(name) + len(value) for name, value in fields)
    return fields if len(fields) <= MOST_FIELDS and whole <= MOST_SIGNS else []


def is_temporary(error: BaseException | None) -> bool:
    """Whether `error`, or what caused it, means that the database, the storage or the disk cannot work just now."""
    return any(
        isinstance(each, OperationalError | InterfaceError | StorageUnavailableError | DecodeMemoryFullError)
        or (isinstance(each, OSError) and each.errno in NO_ROOM)
        for each in iterate_causes(error)
    )


def iterate_causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, then what caused it, as far back as is known."""
    while error is not None:
        yield error
        error = error.__cause__
