"""The consent: its page, the sentences that answer its questions, and the way on to the first dish."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, public_form, sign_in
from collection.access.request_info import in_a_crowd, network_of
from collection.consent.readiness import Accepting, get_collection_status
from collection.consent.record import (
    ConsentWording,
    Shown,
    consent_for,
    register_contributor,
    shown_consent,
    texts_in_force,
    wanted_languages,
)
from collection.forms.consent import ConsentForm
from collection.views.dish import DishPage, find_signed_in
from collection.views.open_collection import limit_concurrent_submissions, require_open_collection
from collection.views.refused import consent_spent, not_known
from wwd.base.admission import storing


def build_consent_context(request: HttpRequest, shown: Shown) -> dict[str, Any]:
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


def render_consent_page(
    request: HttpRequest, form: ConsentForm | None = None, shown: Shown | None = None, notice: str = ""
) -> HttpResponse:
    """The consent, its questions and the two ticks; `shown` keeps the texts of a page that is shown again."""
    shown = shown or consent_for(wanted_languages(request))
    proof = Proof.new("consent", target=shown.mark)
    form = form or ConsentForm(questions=shown.text.questions)
    context = build_consent_context(request, shown)
    return render_form_page(request, "consent", proof, form, **context, notice=notice)


@public_form("consent", "GET")
@limit_concurrent_submissions
@require_open_collection
def start_dish_entry(request: HttpRequest, sent: Sent) -> HttpResponse:
    """GET: the consent, or the dish form where a cookie says that it was given. POST: consent → the dish form."""
    if request.method != "POST":
        known = find_signed_in(request)
        return DishPage(Proof.new("dish", known.pk)).render(request) if known else render_consent_page(request)
    shown = shown_consent(sent.proof) if sent.proof else None
    if shown is None or sent.proof is None:
        return render_consent_page(request, notice=consent_spent() if sent.finished else not_known())
    form = ConsentForm(request.POST, questions=shown.text.questions)
    if not form.is_valid():
        return render_consent_page(request, form, shown)
    if "again" not in request.POST and shown.said.corrections(form.answers):
        # The sentences that answer what was answered otherwise. One can go on from there in any case.
        corrections = [(said, said.corrections(form.answers)) for said in shown.texts]
        return render_form_page(request, "consent_again", sent.proof, form, corrections=corrections)
    storing.step_aside()
    # A new person each time: a consent page from the cache may be sent by the next one who holds the phone.
    crowd = in_a_crowd(network_of(request))
    contributor = register_contributor(shown, None, understood=form.answers, crowd=crowd)
    return sign_in(DishPage(Proof.new("dish", contributor.pk)).render(request), contributor)
