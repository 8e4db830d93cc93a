"""The pages before anything is asked: consent, reading aloud, and what is shown while nothing is taken."""

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, contributor_for
from collection.consent.readiness import Accepting, current_opening, get_collection_status, takes_from
from collection.consent.record import ConsentWording, Shown, consent_for, texts_in_force, wanted_languages
from collection.forms.consent import AloudForm, ConsentForm
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
            return closed_page(request)

    return inner


def limit_concurrent_submissions(view: View[P]) -> View[P]:
    """For the pages that bring a dish: only so many at once. Goes under `public_form`, over `collecting`."""

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


def closed_page(request: HttpRequest) -> HttpResponse:
    """Nothing is taken now. What was typed is shown, so that it can be copied."""
    typed = [text for name, texts in request.POST.lists() if name not in UNTYPED for text in texts]
    context = {
        "opening": current_opening(),
        "over": get_collection_status() is Accepting.CLOSED,
        "typed": [text for text in typed if text.strip() and text != "on"],
    }
    status = 403 if request.method == "POST" else 200
    return disable_compression(render(request, "collection/closed.html", context, status=status))


def said_on(request: HttpRequest, shown: Shown) -> dict[str, Any]:
    """What every page with a consent text shows around it."""
    standing = {shown.text, shown.draft}
    others = [ConsentWording(text, shown.opening) for text in texts_in_force() if text not in standing]
    return {
        "shown": shown,
        "others": others,
        "demonstration": get_collection_status() is Accepting.DEMONSTRATION,
        "chosen": request.GET.get("language", "")[:12],
    }


def render_form_page(
    request: HttpRequest, template: str, proof: Proof, form: forms.Form, **context: Any
) -> HttpResponse:
    return render(request, f"collection/{template}.html", {**context, "proof": proof, "form": form})


def consent_page(
    request: HttpRequest, form: ConsentForm | None = None, shown: Shown | None = None, notice: str = ""
) -> HttpResponse:
    """The consent, its questions and the two ticks; `shown` keeps the texts of a page that is shown again."""
    shown = shown or consent_for(wanted_languages(request))
    proof = Proof.new("consent", target=shown.mark)
    form = form or ConsentForm(questions=shown.text.questions)
    return render_form_page(request, "consent", proof, form, **said_on(request, shown), notice=notice)


def again_page(request: HttpRequest, proof: Proof, form: ConsentForm, shown: Shown) -> HttpResponse:
    """The sentences that answer what was answered otherwise. One can go on from here in any case."""
    corrections = [(said, said.corrections(form.answers)) for said in shown.texts]
    return render_form_page(request, "consent_again", proof, form, corrections=corrections)


def beside_page(
    request: HttpRequest,
    helper: uuid.UUID | None,
    form: AloudForm | None = None,
    shown: Shown | None = None,
    notice: str = "",
) -> HttpResponse:
    """A text to read aloud to somebody else, and two ticks. The token says who helps."""
    shown = shown or consent_for(wanted_languages(request))
    proof = Proof.new("beside", helper, shown.mark)
    return render_form_page(request, "aloud", proof, form or AloudForm(), **said_on(request, shown), notice=notice)
