"""Describing for somebody beside one: the text read aloud, and the paper slip with that person's own code."""

import uuid
from contextlib import suppress

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from collection.access import return_codes
from collection.access.daily_quotas import QuotaReachedError, take_person
from collection.access.form_tokens import Proof, ProofError, read_token
from collection.access.guards import Sent, contributor_for, contributor_from_cookie, public_form, recent_dishes, sign_in
from collection.access.request_info import in_a_crowd, network_of
from collection.access.turns import finish_turn
from collection.consent.readiness import current_opening
from collection.consent.record import Shown, is_mark, register_contributor, shown_consent
from collection.dishes.idempotency import receipt_of
from collection.dishes.receipts import format_receipt
from collection.forms import DishForm
from collection.forms.consent import AloudForm
from collection.models import Ambassador, Contributor, ReturnCode
from collection.views.consent import beside_page, require_open_collection
from collection.views.pages import consent_spent, dish_page, next_person, not_known, show_unsaved_page
from collection.vocabularies.places import translate_place_name
from wwd.base.middleware import disable_compression


@public_form("beside", "GET")
@require_open_collection
def start_assisted_entry(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The text to read aloud → a dish form for a new person. The helper stays who they were on this phone."""
    if request.method != "POST" or sent.proof is None:
        known = contributor_from_cookie(request)
        notice = consent_spent() if sent.finished else not_known() if sent.refused else ""
        return beside_page(request, known.pk if known else None, notice=notice)
    helper = sent.person if sent.proof.named else None
    if "language" in request.POST or not is_mark(sent.proof.target):
        known = contributor_from_cookie(request)
        ended = end_turn_before(request)
        response = beside_page(request, helper)
        return sign_in(response, known) if ended and known else response
    shown = shown_consent(sent.proof)
    if shown is None:
        return beside_page(request, helper, notice=not_known())
    form = AloudForm(request.POST)
    if not form.is_valid():
        return beside_page(request, helper, form, shown)
    try:
        person = register_assisted_contributor(shown, contributor_for(sent), crowd=in_a_crowd(network_of(request)))
    except QuotaReachedError as reached:
        return beside_page(request, helper, form, shown, notice=str(reached))
    return first_dish(request, person)


def end_turn_before(request: HttpRequest) -> bool:
    """*The next person*: forms of the person before, also those behind the Back button, open nothing any more.

    The consent that was read aloud to that person is one of them. The helper goes on in another turn.
    """
    with suppress(ProofError):
        done = read_token(request.POST.get("done", ""), "go")
        before = contributor_for(Sent(proof=done))
        if before and before.consent_way == Contributor.Way.SPOKEN:
            finish_turn(*(pk for pk in (before.pk, done.turn) if pk))
            return True
    return False


@transaction.atomic
def register_assisted_contributor(shown: Shown, helper: Contributor | None, *, crowd: bool = False) -> Contributor:
    """A new person who agreed in speech. A new one each time: two people may be served from one cached page."""
    if helper:
        take_person(helper)
    return register_contributor(shown, uuid.uuid4(), way=Contributor.Way.SPOKEN, entered_by=helper, crowd=crowd)


def first_dish(request: HttpRequest, person: Contributor) -> HttpResponse:
    """The dish form, with the ambassador's country. No cookie of theirs: only the code reopens what they told."""
    invited = Ambassador.objects.active().filter(contributor=person.entered_by_id).first()
    initial = (
        {"places": translate_place_name(invited.country_id, invited.country.name).text}
        if invited and person.entered_by_id
        else None
    )
    response = dish_page(request, Proof.new("dish", person.pk), DishForm(initial=initial))
    # Nothing of the person before is left behind the Back button.
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


@public_form("go", "GET")
def show_paper_slip(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The paper slip: that person's code, and the receipts of what they told today."""
    if request.method != "POST":
        return redirect("collection:describe")
    person = contributor_for(sent)
    if person is None:
        return show_unsaved_page(request)
    if person.consent_way != Contributor.Way.SPOKEN:
        raise Http404
    dishes = [(dish, format_receipt(receipt_of(dish))) for dish in recent_dishes(person).order_by("created_at")]
    context = {
        "code": return_codes.issue_first_code(person.pk, ReturnCode.Kind.CONTRIBUTOR),
        "dishes": dishes,
        "opening": current_opening(),
        "proof": Proof.new("go", person.pk),
        "next_person": next_person(person),
    }
    response = disable_compression(render(request, "collection/slip.html", context))
    response["Cache-Control"] = "no-store"
    return response
