"""Whether a form is let in: only while the collection takes dishes, and only so many at once."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from collection.access.guards import Sent, contributor_for
from collection.consent.readiness import Accepting, current_opening, get_collection_status, takes_from
from wwd.base.admission import TooManyWaitingError, storing
from wwd.base.middleware import disable_compression
from wwd.base.request_cache import asking_once
from wwd.base.unavailable import unavailable_response

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Sent, P], HttpResponse]
# Parts of a form that nobody typed.
UNTYPED = frozenset(
    {"proof", "form", "dish", "choice", "skip", "place", "suggest", "speak", "again", "also", "website"}
)


def require_open_collection(view: View[P]) -> View[P]:
    """For every view that stores: lets nobody in from whom nothing is taken now. Goes under `public_form`."""

    @wraps(view)
    def inner(request: HttpRequest, sent: Sent, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        with asking_once():
            if takes_from(contributor_for(sent)):
                return view(request, sent, *args, **kwargs)
            return render_closed_page(request)

    return inner


def limit_concurrent_submissions(view: View[P]) -> View[P]:
    """For the pages that bring a dish: only so many at once. Goes under `public_form`, over
    `require_open_collection`."""

    @wraps(view)
    def inner(request: HttpRequest, sent: Sent, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method != "POST":
            return view(request, sent, *args, **kwargs)
        try:
            with storing.place():
                return view(request, sent, *args, **kwargs)
        except TooManyWaitingError as busy:
            return unavailable_response(request, busy.seconds)

    return inner


def render_closed_page(request: HttpRequest) -> HttpResponse:
    """Nothing is taken now. What was typed is shown, so that it can be copied."""
    typed = [text for name, texts in request.POST.lists() if name not in UNTYPED for text in texts]
    context = {
        "opening": current_opening(),
        "over": get_collection_status() is Accepting.CLOSED,
        "typed": [text for text in typed if text.strip() and text != "on"],
    }
    status = 403 if request.method == "POST" else 200
    return disable_compression(render(request, "collection/closed.html", context, status=status))
