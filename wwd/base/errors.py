"""Answers where something went wrong: each says what happened and what to do next."""

import sys

from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults
from django.views.decorators.csrf import requires_csrf_token

from wwd.base.unavailable import is_temporary, unavailable_response


def too_large(request: HttpRequest) -> HttpResponse:
    return render(request, "413.html", status=413)


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400, with an answer of its own for what is too large."""
    if isinstance(exception, RequestDataTooBig | TooManyFilesSent):
        return too_large(request)
    return render(request, "400.html", status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500. Where the database, the storage or the disk is away, another try helps: 503."""
    return unavailable_response(request) if is_temporary(sys.exc_info()[1]) else defaults.server_error(request)
