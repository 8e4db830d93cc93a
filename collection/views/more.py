"""The rest of B.4 after a receipt."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import SimpleLazyObject

from collection.access.form_tokens import Proof
from collection.access.guards import Sent, author_and_dish, author_by_cookie, public_form
from collection.dishes.submit import submit_more
from collection.forms import MoreForm, more_answers
from collection.forms.typed import collect_typed_values
from collection.models import Contributor, Dish
from collection.views.open_collection import limit_concurrent_submissions, require_open_collection
from collection.views.photo import render_photo_page
from collection.views.receipt import build_receipt_context, build_way_back_context, protect_code
from collection.views.refused import not_known, render_unsaved_page
from wwd.base.prepared_pages import render_prepared


@dataclass(frozen=True)
class MorePage:
    """The receipt, the way back, and the rest of B.4.

    `form`: None for what the dish says already. `by_token`: the form of this turn says whose dish it is; to a cookie
    alone no code is shown.
    """

    contributor: Contributor
    dish: Dish
    form: MoreForm | None = None
    proof: Proof | None = None
    notice: str = ""
    receipt: str = ""
    by_token: bool = True

    def render(self, request: HttpRequest) -> HttpResponse:
        code = build_way_back_context(request, self.contributor, self.dish) if self.by_token else {}
        answers = more_answers(self.dish)
        fresh = self.form is None and not any(answers.values())
        context = {
            **build_receipt_context(self.dish, self.receipt),
            **code,
            "form": self.form or SimpleLazyObject(lambda: MoreForm(initial=answers)),
            "speak": "more",
            "proof": self.proof or Proof.new("more", self.contributor.pk, self.dish.pk),
            "notice": self.notice,
        }
        response = render_prepared(
            request,
            "collection/more.html",
            context,
            marked=("proof.token", "dish.pk", "dish.local_name", "receipt", "code", "sms", "whatsapp"),
            same=("demonstration", "notice", "speak"),
            constant=("form",) if fresh else (),
        )
        return protect_code(response, code.get("code"))


@public_form("more", "GET")
@limit_concurrent_submissions
@require_open_collection
def save_further_answers(request: HttpRequest, sent: Sent) -> HttpResponse:
    """The rest of B.4, or *skip* → the photo."""
    if request.method != "POST":
        return redirect("collection:describe")
    if sent.proof is None:
        return answer_unproved_answers(request)
    contributor, dish = author_and_dish(sent)
    if "skip" in request.POST:
        return render_photo_page(request, contributor, dish)
    if "speak" in request.POST:
        return MorePage(contributor, dish, build_typed_form(request), sent.proof).render(request)
    form = MoreForm(request.POST)
    if not form.is_valid():
        # The code was on the page before. A page with it is not compressed, and with all its errors too large then.
        return MorePage(contributor, dish, form, sent.proof, by_token=False).render(request)
    submit_more(sent.proof, contributor, dish, form.content)
    return render_photo_page(request, contributor, dish)


def build_typed_form(request: HttpRequest) -> MoreForm:
    """The form with what was typed, not judged."""
    return MoreForm(initial=collect_typed_values(request.POST, MoreForm))


def answer_unproved_answers(request: HttpRequest) -> HttpResponse:
    """Without a current proof: the form again, where the cookie says whose dish it is."""
    known = author_by_cookie(request)
    if known is None:
        return render_unsaved_page(request, MoreForm)
    return MorePage(*known, build_typed_form(request), notice=not_known(), by_token=False).render(request)
