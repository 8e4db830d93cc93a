"""Dishes that a phone keeps until the project has them: their page, and the answer that ends their waiting."""

import uuid
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from collection.access import return_codes
from collection.access.daily_quotas import QuotaReachedError
from collection.access.form_tokens import Proof, read_form_id
from collection.access.guards import Sent, find_active_contributor, own_dishes, public_form
from collection.access.request_info import collect_request_circumstances
from collection.consent.readiness import Accepting, get_collection_status, goes_on_as, takes_from
from collection.consent.record import consent_for, is_mark, shown_consent
from collection.dishes.idempotency import Entry, content_hash, earlier_entry
from collection.dishes.receipts import format_receipt, read_receipt
from collection.dishes.submit import submit_dish
from collection.forms.dish import build_dish_form
from collection.models import ReturnCode, Withdrawal
from collection.views.open_collection import limit_concurrent_submissions
from collection.views.refused import not_known
from collection.vocabularies.places import all_names
from wwd.base.static import compute_page_edition

DAY = 60 * 60 * 24


@require_safe
def show_offline_page(request: HttpRequest) -> HttpResponse:
    """The dishes of this phone, the consent and the four questions. Nothing here is about anybody: phones keep this
    page, and anyone who holds one without a network may agree on it and describe a dish. Its token, which belongs to no
    turn, says which texts was there."""
    shown = consent_for([request.LANGUAGE_CODE])
    context = {
        "form": build_dish_form(asks_consent=True),
        "countries": all_names(),
        "speak": "",
        "shown": shown,
        "consent": Proof.new("queue", target=shown.mark),
        "demonstration": get_collection_status() is Accepting.DEMONSTRATION,
        "by_script": True,
        "named_by_cookie": False,
    }
    response = render(request, "collection/phone.html", context)
    response.headers["ETag"] = f'"{compute_page_edition(request.LANGUAGE_CODE)}"'
    response.headers["Cache-Control"] = "no-cache"
    return response


@require_safe
def serve_service_worker(request: HttpRequest) -> HttpResponse:
    """The service worker. It is at the root because it may only answer for what lies below its own address."""
    script = (Path(settings.BASE_DIR) / "static" / "worker.js").read_bytes()
    response = HttpResponse(script, content_type="text/javascript")
    response.headers["Cache-Control"] = f"max-age={DAY}"
    return response


@public_form("queue")
@limit_concurrent_submissions
def save_queued_dish(request: HttpRequest, sent: Sent) -> HttpResponse:
    """A dish that a phone kept → JSON that names its form: a receipt number, or what is wrong with it.

    Its token outlives the turn in which the dish was told. It lets a dish arrive and shows nothing of anybody; only
    while the turn lasts does the answer lead on to the rest of the questions. The number and the code that the phone
    showed (`number`, `seal`) count from now on, unless they are somebody else's: then they are not taken, and the
    answer does not say so.
    """
    form = read_form_id(request.POST.get("form"))
    token = sent.proof or (sent.expired if sent.finished else None)
    newcomer = token is not None and is_mark(token.target)
    person = author_of(request, token) if token else None
    if form is None or token is None or person is None:
        return build_form_response(form, 403, error=not_known())
    asked = build_dish_form(sent=request.POST, asks_consent=newcomer)
    if not asked.is_valid():
        return build_form_response(form, 400, error=" ".join(str(errors[0]) for errors in asked.errors.values()))
    seal = request.POST.get("seal", "")
    if known := earlier_entry(form, content_hash(asked.content)):
        if known.same and known.submission.contributor_id == person:
            return_codes.store_phone_code(person, ReturnCode.Kind.CONTRIBUTOR, seal)
        return respond_with_receipt(known, sent)
    contributor = find_active_contributor(person)
    if contributor is None and (not newcomer or shown_consent(token) is None or has_gone(person)):
        return build_form_response(form, 403, error=not_known())
    if not (goes_on_as(contributor) if contributor else takes_from(None)):
        return build_form_response(form, 403, error=_("The collection is not open at the moment."))
    proof = Proof("dish", form, person, token.target, at=token.at)
    try:
        with transaction.atomic():
            entry = submit_dish(proof, asked.content, collect_request_circumstances(request, proof), number_in(request))
            return_codes.store_phone_code(person, ReturnCode.Kind.CONTRIBUTOR, seal)
    except QuotaReachedError as reached:
        return build_form_response(form, 429, error=str(reached), later=True)
    return respond_with_receipt(entry, sent)


def author_of(request: HttpRequest, token: Proof) -> uuid.UUID | None:
    """Whose dish this is: the token's person; after an agreement without a network, the one who has the phone's code.

    None where such a dish came without the code that lets its author withdraw it.
    """
    if is_mark(token.target):
        return return_codes.person_of_seal(request.POST.get("seal", ""))
    return token.person


def has_gone(person: uuid.UUID) -> bool:
    """Whether this person was here and withdrew everything: an old copy of a dish does not bring them back."""
    return Withdrawal.objects.filter(person=person, dish=None, undone_at=None).exists()


def number_in(request: HttpRequest) -> str:
    """The receipt number that the phone made and showed; empty where it made none."""
    return read_receipt(request.POST.get("number", "")) or ""


def respond_with_receipt(entry: Entry, sent: Sent) -> JsonResponse:
    """The receipt of this dish, and for its author the token of the next page; or that its form brought other words."""
    submission = entry.submission
    if entry.other:
        return build_form_response(submission.form, 409, error=_("This dish was sent before with other words."))
    own = sent.person == submission.contributor_id
    dish = own_dishes(submission.contributor).filter(submission=submission).first() if own else None
    more = Proof.new("more", sent.person, dish.pk).token if dish else ""
    return build_form_response(submission.form, 200, receipt=format_receipt(submission.receipt), more=more)


def build_form_response(form: uuid.UUID | None, status: int, **said: Any) -> JsonResponse:
    """`form` is what a phone takes as the sign that this is our answer and about its dish."""
    return JsonResponse({"form": str(form or ""), **said}, status=status)
