"""The four questions: the page that asks them, and what is made of the answers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from collection.access.daily_quotas import QuotaReachedError
from collection.access.form_tokens import Proof, read_form_id
from collection.access.guards import Sent, contributor_for, contributor_from_cookie, dish_for, public_form, sign_in
from collection.access.request_info import IN_A_CROWD, Circumstances, collect_request_circumstances, in_a_crowd
from collection.consent.readiness import Accepting, get_collection_status, goes_on_as
from collection.consent.record import consent_for, is_mark, shown_consent, wanted_languages
from collection.dishes.idempotency import Entry, content_hash, replayed_receipt
from collection.dishes.submit import submit_correction, submit_dish
from collection.forms.consent import ConsentForm
from collection.forms.dish import DishForm, build_dish_form, dish_answers
from collection.models import Contributor, Dish
from collection.views.more import MorePage
from collection.views.open_collection import limit_concurrent_submissions, require_open_collection
from collection.views.receipt import ReceiptPage
from collection.views.refused import not_known, turn_over
from collection.vocabularies.ingredients import suggest_for
from collection.vocabularies.places import all_names
from wwd.base.prepared_pages import render_prepared
from wwd.base.static import compute_page_edition

Mode = Literal["new", "ask", "correct"]


class Page(Protocol):
    """An answer that is decided; it still needs the request to become a response."""

    def render(self, request: HttpRequest) -> HttpResponse: ...


@dataclass(frozen=True)
class DishPage:
    """The page of the four questions.

    `form`: None for an empty one. `mode`: *new*, *ask* (another dish or a correction?) or *correct*. `suggestions`:
    ingredients to tick, None where nobody asked for any.
    """

    proof: Proof
    form: DishForm | None = None
    mode: Mode = "new"
    notice: str = ""
    suggestions: list[str] | None = None

    def render(self, request: HttpRequest) -> HttpResponse:
        asks_consent = self.form is not None and self.form.asks_consent
        context = {
            "form": self.form or SimpleLazyObject(build_dish_form),
            "proof": self.proof,
            "mode": self.mode,
            "notice": self.notice,
            "suggestions": self.suggestions,
            "speak": self.mode,
            # A correction already names its country, and from the page of the code it goes over the line uncompressed.
            "countries": () if self.mode == "correct" else SimpleLazyObject(all_names),
            "shown": shown_consent(self.proof) if asks_consent else None,
            "demonstration": get_collection_status() is Accepting.DEMONSTRATION,
        }
        if self.mode == "new" and not asks_consent:
            # What a page needs so that the phone can store dishes until there is a network.
            context["queue"] = Proof.new("queue", self.proof.person)
            context["edition"] = compute_page_edition(request.LANGUAGE_CODE)
        return render_prepared(
            request,
            "collection/dish.html",
            context,
            marked=("proof.token", "proof.form", "queue.token"),
            same=("mode", "notice", "suggestions", "speak", "shown", "demonstration", "edition"),
            constant=("form", "countries") if self.form is None else (),
        )


def build_correction_page(dish: Dish) -> DishPage:
    """A dish with its answers, to be corrected by its author."""
    form = build_dish_form(answers=dish_answers(dish))
    return DishPage(Proof.new("dish", dish.contributor_id, dish.pk), form, "correct")


@public_form("dish", "GET")
@limit_concurrent_submissions
@require_open_collection
def submit_dish_form(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The four answers → receipt and the next page, or the form once more."""
    if request.method != "POST":
        return redirect("collection:describe")
    contributor = contributor_for(sent)
    if sent.proof is None or not (contributor or shown_consent(sent.proof)):
        return answer_unproved_form(request, sent).render(request)
    newcomer = contributor is None
    if "suggest" in request.POST or "speak" in request.POST:
        return build_typing_page(sent.proof, request.POST, asks_consent=newcomer).render(request)
    form = build_dish_form(sent=request.POST, asks_consent=newcomer)
    if not form.is_valid():
        mode: Mode = "correct" if request.POST.get("choice") == "correction" else "new"
        return DishPage(sent.proof, form, mode).render(request)
    response = answer_valid_form(request, sent.proof, contributor, form).render(request)
    # Consent and dish came in one form. Only here a saved dish also begins a turn: sending an old form must not bring
    # back somebody who has finished.
    return sign_in(response, Contributor.objects.get(pk=sent.proof.person)) if newcomer else response


def answer_valid_form(request: HttpRequest, proof: Proof, contributor: Contributor | None, form: DishForm) -> Page:
    """Saves the dish, unless the form asked *another dish or a correction?* and was answered otherwise.

    The proof of such a form is about the dish that may be corrected. `contributor`: None where the consent came with
    the dish.
    """
    if contributor and proof.target and not is_mark(proof.target):
        former = dish_for(contributor, proof.target)
        choice = request.POST.get("choice")
        if choice == "correction":
            submit_correction(proof, contributor, former, form.content)
            former.refresh_from_db()
            return MorePage(contributor, former)
        if choice == "somebody":
            notice = _("Nothing is saved yet. Read this and agree; then this dish is yours.")
            return build_resend_page(request.POST, None, wanted_languages(request), notice)
        if choice != "another":
            return DishPage(proof, form, "ask")
    how = collect_request_circumstances(request, proof)
    if contributor is None and in_a_crowd(how.network):
        how = replace(how, flags=(*how.flags, IN_A_CROWD))
    return save_submitted_dish(proof, form, how, request.POST)


def save_submitted_dish(proof: Proof, form: DishForm, how: Circumstances, typed: QueryDict) -> Page:
    """Saves the dish and says so, or asks where this form was sent before with other words."""
    try:
        entry = submit_dish(proof, form.content, how)
    except QuotaReachedError as reached:
        return DishPage(proof, form, notice=str(reached))
    contributor, saved = entry.submission.contributor, entry.submission.dish
    if saved is not None and saved.state == saved.State.WITHDRAWN:
        return answer_withdrawn_dish(entry, typed)
    if saved is None or entry.other:
        about = Proof.new("dish", contributor.pk, saved.pk if saved else "")
        return DishPage(about, build_dish_form(typed=typed), "ask")
    return MorePage(contributor, saved, receipt=entry.submission.receipt)


def answer_withdrawn_dish(entry: Entry, typed: QueryDict) -> Page:
    """The dish of this form was withdrawn: the same words give their receipt, other words are a new dish."""
    if entry.same:
        return ReceiptPage(entry.submission.receipt)
    notice = _("The dish that was sent with this form is withdrawn. To send this one, press the button again.")
    proof = Proof.new("dish", entry.submission.contributor_id)
    return DishPage(proof, build_dish_form(typed=typed), notice=notice)


def answer_unproved_form(request: HttpRequest, sent: Sent) -> Page:
    """Without a current proof: the receipt of the very same words sent before, or the form again with the typing."""
    form = build_dish_form(sent=request.POST)
    sent_form = sent.expired.form if sent.expired else read_form_id(request.POST.get("form"))
    if form.is_valid() and (receipt := replayed_receipt(sent_form, content_hash(form.content))):
        return ReceiptPage("" if sent.finished else receipt)
    notice = turn_over() if sent.finished else not_known()
    return build_resend_page(request.POST, find_signed_in(request), wanted_languages(request), notice)


def find_signed_in(request: HttpRequest) -> Contributor | None:
    """The cookie's contributor, where their next dish is of the kind that is taken now."""
    contributor = contributor_from_cookie(request)
    return contributor if contributor and goes_on_as(contributor) else None


def build_resend_page(
    typed: QueryDict, contributor: Contributor | None, languages: Iterable[str], notice: str
) -> DishPage:
    """The form with the typing and a fresh token, with the consent for somebody who is not known."""
    known = Proof.new("dish", contributor.pk) if contributor else None
    proof = known or Proof.new("dish", target=consent_for(languages).mark)
    return DishPage(proof, build_dish_form(typed=typed, asks_consent=contributor is None), notice=notice)


def build_typing_page(proof: Proof, typed: QueryDict, *, asks_consent: bool) -> DishPage:
    """The same typing in another language, or with ingredients to tick; nothing is stored and nothing is judged yet."""
    ticks = {name: name in typed for name in ConsentForm.base_fields}
    form = build_dish_form(typed=typed, answers=ticks, asks_consent=asks_consent)
    wish = typed.get("suggest", typed.get("speak"))
    mode: Mode = "ask" if wish == "ask" else "correct" if wish == "correct" else "new"
    suggestions = suggest_for(form.initial.get("ingredients", "")) if "suggest" in typed else None
    return DishPage(proof, form, mode, suggestions=suggestions)
