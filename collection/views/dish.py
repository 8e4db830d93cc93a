"""Consent and the dish: the two steps that make a receipt."""

import uuid
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from collection.access.daily_quotas import QuotaReachedError
from collection.access.form_tokens import Proof
from collection.access.guards import Sent, contributor_for, contributor_from_cookie, dish_for, public_form, sign_in
from collection.access.request_info import IN_A_CROWD, collect_request_circumstances, in_a_crowd, network_of
from collection.consent.readiness import goes_on_as
from collection.consent.record import consent_for, is_mark, register_contributor, shown_consent, wanted_languages
from collection.dishes.idempotency import Entry, content_hash, replayed_receipt
from collection.dishes.receipts import format_receipt
from collection.dishes.submit import submit_correction, submit_dish
from collection.forms import DishForm
from collection.forms.consent import ConsentForm
from collection.models import Contributor
from collection.views.consent import again_page, consent_page, limit_concurrent_submissions, require_open_collection
from collection.views.pages import (
    collect_typed_values,
    consent_spent,
    dish_page,
    empty_dish_page,
    more_page,
    not_known,
    turn_over,
    typing_page,
)
from wwd.base.admission import storing


@public_form("consent", "GET")
@limit_concurrent_submissions
@require_open_collection
def start_dish_entry(request: HttpRequest, sent: Sent) -> HttpResponse:
    """GET: the consent, or the dish form where a cookie says that it was given. POST: consent → the dish form."""
    if request.method != "POST":
        contributor = signed_in(request)
        return empty_dish_page(request, contributor) if contributor else consent_page(request)
    shown = shown_consent(sent.proof) if sent.proof else None
    if shown is None or sent.proof is None:
        return consent_page(request, notice=consent_spent() if sent.finished else not_known())
    form = ConsentForm(request.POST, questions=shown.text.questions)
    if not form.is_valid():
        return consent_page(request, form, shown)
    if "again" not in request.POST and shown.said.corrections(form.answers):
        return again_page(request, sent.proof, form, shown)
    storing.step_aside()
    # A new person each time: a consent page from the cache may be sent by the next one who holds the phone.
    crowd = in_a_crowd(network_of(request))
    contributor = register_contributor(shown, None, understood=form.answers, crowd=crowd)
    return sign_in(empty_dish_page(request, contributor), contributor)


def signed_in(request: HttpRequest) -> Contributor | None:
    """The cookie's contributor, where their next dish is of the kind that is taken now."""
    contributor = contributor_from_cookie(request)
    return contributor if contributor and goes_on_as(contributor) else None


@public_form("dish", "GET")
@limit_concurrent_submissions
@require_open_collection
def submit_dish_form(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The four answers → receipt and the next page."""
    if request.method != "POST":
        return redirect("collection:describe")
    contributor = contributor_for(sent)
    if sent.proof is None or not (contributor or shown_consent(sent.proof)):
        return refused_dish(request, sent)
    if "suggest" in request.POST or "speak" in request.POST:
        return typing_page(request, sent.proof, asks_consent=contributor is None)
    form = DishForm(request.POST, asks_consent=contributor is None)
    mode = "correct" if request.POST.get("choice") == "correction" else "new"
    if not form.is_valid():
        return dish_page(request, sent.proof, form, mode=mode)
    if contributor is None:
        return save_as_newcomer(request, sent.proof, form)
    if sent.proof.target and not is_mark(sent.proof.target):
        return choose_new_or_correction(request, sent.proof, contributor, form)
    return save_submitted_dish(request, sent.proof, form)


def save_submitted_dish(request: HttpRequest, proof: Proof, form: DishForm, *, newcomer: bool = False) -> HttpResponse:
    """Saves the dish, or asks where this form was sent before with other words."""
    how = collect_request_circumstances(request, proof)
    if newcomer and in_a_crowd(how.network):
        how = replace(how, flags=(*how.flags, IN_A_CROWD))
    try:
        entry = submit_dish(proof, form.content, how)
    except QuotaReachedError as reached:
        return dish_page(request, proof, form, notice=str(reached))
    contributor, saved = entry.submission.contributor, entry.submission.dish
    if saved is not None and saved.state == saved.State.WITHDRAWN:
        return sent_and_withdrawn(request, entry)
    if saved is None or entry.other:
        about = Proof.new("dish", contributor.pk, saved.pk if saved else "")
        return dish_page(request, about, DishForm(initial=collect_typed_values(request.POST, DishForm)), mode="ask")
    return more_page(request, contributor, saved, receipt=entry.submission.receipt)


def sent_and_withdrawn(request: HttpRequest, entry: Entry) -> HttpResponse:
    """The dish of this form was taken back: the same words give their receipt, other words are a new dish."""
    if entry.same:
        return render(request, "collection/receipt.html", {"receipt": format_receipt(entry.submission.receipt)})
    form = DishForm(initial=collect_typed_values(request.POST, DishForm))
    notice = _("The dish that was sent with this form is withdrawn. To send this one, press the button again.")
    return dish_page(request, Proof.new("dish", entry.submission.contributor_id), form, notice=notice)


def save_as_newcomer(request: HttpRequest, proof: Proof, form: DishForm) -> HttpResponse:
    """Consent and dish came in one form. Only here a saved dish also begins a turn: sending an old form must not
    bring back somebody who has finished."""
    response = save_submitted_dish(request, proof, form, newcomer=True)
    return sign_in(response, Contributor.objects.get(pk=proof.person))


def choose_new_or_correction(
    request: HttpRequest, proof: Proof, contributor: Contributor, form: DishForm
) -> HttpResponse:
    """The answer to *another dish or a correction?*; `proof.about` names the dish that may be corrected."""
    former = dish_for(contributor, proof.target)
    choice = request.POST.get("choice")
    if choice == "another":
        return save_submitted_dish(request, proof, form)
    if choice == "somebody":
        return asked_who(request, None, _("Nothing is saved yet. Read this and agree; then this dish is yours."))
    if choice != "correction":
        return dish_page(request, proof, form, mode="ask")
    submit_correction(proof, contributor, former, form.content)
    former.refresh_from_db()
    return more_page(request, contributor, former)


def refused_dish(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Without a current proof: the receipt of the very same words sent before, or the form again with the typing."""
    form = DishForm(request.POST)
    sent_form = sent.expired.form if sent.expired else form_id(request.POST.get("form"))
    if form.is_valid() and (receipt := replayed_receipt(sent_form, content_hash(form.content))):
        return render(request, "collection/receipt.html", {"receipt": "" if sent.finished else format_receipt(receipt)})
    return asked_who(request, signed_in(request), turn_over() if sent.finished else not_known())


def asked_who(request: HttpRequest, contributor: Contributor | None, notice: str) -> HttpResponse:
    """The form with the typing and a fresh token, with the consent for somebody who is not known."""
    again = DishForm(initial=collect_typed_values(request.POST, DishForm), asks_consent=contributor is None)
    known = Proof.new("dish", contributor.pk) if contributor else None
    proof = known or Proof.new("dish", target=consent_for(wanted_languages(request)).mark)
    return dish_page(request, proof, again, notice=notice)


def form_id(text: Any) -> uuid.UUID | None:
    """The form's UUID as the page sends it beside the token, for a token that the server cannot read any more."""
    try:
        return uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
