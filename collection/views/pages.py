"""The pages of the journey as responses, each with a fresh token for the form it holds."""

import uuid
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from collection.access.form_tokens import Proof
from collection.access.guards import COOKIE_REACH, finished_form
from collection.consent.readiness import Accepting, get_collection_status
from collection.consent.record import shown_consent
from collection.dishes.idempotency import content_hash, receipt_of, replayed_receipt
from collection.dishes.receipts import format_receipt
from collection.forms import (
    CaptionForm,
    ConsentForm,
    DishForm,
    MoreForm,
    PersonalDetailsForm,
    more_answers,
    place_answers,
    with_chosen,
)
from collection.models import Contributor, Dish, Photo, Source
from collection.vocabularies.ingredients import suggest_for
from collection.vocabularies.places import all_names
from collection.withdrawal.rights import code_context, first_code
from wwd.base.middleware import disable_compression
from wwd.base.prepared_pages import render_prepared
from wwd.base.static import compute_page_edition


def not_known() -> str:
    return _("We could not tell where this form came from, so nothing was saved. Look through it and send it again.")


def turn_over() -> str:
    return _("The turn of the person before is over, so nothing is saved yet. Look through it and send it again.")


def consent_spent() -> str:
    return _("The turn of the person before is over. If you want to take part, read this and agree for yourself.")


def collect_typed_values(data: QueryDict, form: type[forms.Form]) -> dict[str, Any]:
    """What was typed, as initial values: it is shown again without being judged."""
    several = (forms.MultipleChoiceField,)
    data = with_chosen(data) if form is DishForm else data
    return {
        name: data.getlist(name) if isinstance(field, several) else data[name]
        for name, field in form.base_fields.items()
        if name in data
    }


def dish_page(
    request: HttpRequest,
    proof: Proof,
    form: DishForm,
    *,
    mode: str = "new",
    notice: str = "",
    suggestions: list[str] | None = None,
) -> HttpResponse:
    """The four questions. `mode`: *new*, *ask* (another dish or a correction?) or *correct*."""
    context = {
        "form": form,
        "proof": proof,
        "mode": mode,
        "notice": notice,
        "suggestions": suggestions,
        "speak": mode,
        # A correction already names its country, and from the page of the code it goes over the line uncompressed.
        "countries": () if mode == "correct" else all_names(),
        "shown": shown_consent(proof) if form.asks_consent else None,
        "demonstration": get_collection_status() is Accepting.DEMONSTRATION,
    }
    if mode == "new" and not form.asks_consent:
        context |= for_the_phone(request, proof)
    return render(request, "collection/dish.html", context)


def for_the_phone(request: HttpRequest, proof: Proof) -> dict[str, Any]:
    """What a page needs so that the phone can keep dishes until there is a network."""
    return {"queue": Proof.new("queue", proof.person), "edition": compute_page_edition(request.LANGUAGE_CODE)}


def typing_page(request: HttpRequest, proof: Proof, *, asks_consent: bool) -> HttpResponse:
    """The same typing in another language, or with ingredients to tick; nothing is stored and nothing is judged yet."""
    typed = {
        **collect_typed_values(request.POST, DishForm),
        **{name: name in request.POST for name in ConsentForm.base_fields},
    }
    form = DishForm(initial=typed, asks_consent=asks_consent)
    wish = request.POST.get("suggest", request.POST.get("speak"))
    mode = wish if wish in ("ask", "correct") else "new"
    suggestions = suggest_for(typed.get("ingredients", "")) if "suggest" in request.POST else None
    return dish_page(request, proof, form, mode=mode, suggestions=suggestions)


def empty_dish_page(request: HttpRequest, contributor: Contributor, place_of: Dish | None = None) -> HttpResponse:
    """A dish not yet told; with `place_of`, from the same place and in the same language."""
    proof = Proof.new("dish", contributor.pk)
    if place_of:
        return dish_page(request, proof, DishForm(initial=place_answers(place_of)))
    context = {
        "form": SimpleLazyObject(DishForm),
        "proof": proof,
        "mode": "new",
        "speak": "new",
        "countries": SimpleLazyObject(all_names),
        "demonstration": get_collection_status() is Accepting.DEMONSTRATION,
        **for_the_phone(request, proof),
    }
    return render_prepared(
        request,
        "collection/dish.html",
        context,
        marked=("proof.token", "proof.form", "queue.token"),
        same=("mode", "speak", "demonstration", "edition"),
        constant=("form", "countries"),
    )


def receipt_context(dish: Dish, receipt: str = "") -> dict[str, Any]:
    """What a page says of a saved dish; its receipt number is looked up unless it is given."""
    return {
        "dish": dish,
        "receipt": format_receipt(receipt or receipt_of(dish)),
        "demonstration": dish.source == Source.DEMONSTRATION,
    }


def more_page(
    request: HttpRequest,
    contributor: Contributor,
    dish: Dish,
    form: MoreForm | None = None,
    *,
    proof: Proof | None = None,
    notice: str = "",
    receipt: str = "",
    by_token: bool = True,
) -> HttpResponse:
    """The receipt, the way back, and the rest of B.4. `by_token`: the form of this turn says whose dish it is; to a
    cookie alone no code is shown."""
    code = way_back(request, contributor, dish) if by_token else {}
    answers = more_answers(dish)
    fresh = form is None and not any(answers.values())
    context = {
        **receipt_context(dish, receipt),
        **code,
        "form": form or SimpleLazyObject(lambda: MoreForm(initial=answers)),
        "speak": "more",
        "proof": proof or Proof.new("more", contributor.pk, dish.pk),
        "notice": notice,
    }
    response = render_prepared(
        request,
        "collection/more.html",
        context,
        marked=("proof.token", "dish.pk", "dish.local_name", "receipt", "code", "sms", "whatsapp"),
        same=("demonstration", "notice", "speak"),
        constant=("form",) if fresh else (),
    )
    return forbid_storing(response, code.get("code"))


def way_back(request: HttpRequest, contributor: Contributor, dish: Dish) -> dict[str, Any]:
    """How this person comes back to their dishes: the code beside the receipt of their first one.

    For somebody beside a helper it is on the paper slip alone, to which the page leads.
    """
    if contributor.consent_way == Contributor.Way.SPOKEN:
        return {"next_person": next_person(contributor), "go": Proof.new("go", contributor.pk, dish.pk)}
    return code_context(first_code(contributor, dish), request.build_absolute_uri(reverse("collection:return")))


def forbid_storing(response: HttpResponse, code: str | None) -> HttpResponse:
    """A page with a code is not compressed, and no browser keeps it."""
    if code:
        disable_compression(response)
        response["Cache-Control"] = "no-store"
    return response


def next_person(contributor: Contributor) -> Proof | None:
    """For anyone who writes for several people: on to the next one. Only on the day itself, so that somebody who comes
    back with their own code does not write in the name of the one who helped them."""
    today = contributor.created_at >= timezone.now() - COOKIE_REACH
    spoken = contributor.consent_way == Contributor.Way.SPOKEN
    # A turn of its own, in which the one who helps goes on: *The next person* ends the turn of the one before.
    return Proof.new("beside", contributor.entered_by_id, turn=uuid.uuid4()) if spoken and today else None


def photo_page(request: HttpRequest, contributor: Contributor, dish: Dish, error: str = "") -> HttpResponse:
    proof = Proof.new("photo", contributor.pk, dish.pk)
    return render(request, "collection/photo.html", {**receipt_context(dish), "proof": proof, "error": error})


def caption_page(
    request: HttpRequest, contributor: Contributor, photo: Photo, form: CaptionForm | None = None
) -> HttpResponse:
    proof = Proof.new("caption", contributor.pk, photo.pk)
    form = form or CaptionForm(initial={"caption": photo.caption})
    return render(request, "collection/caption.html", {**receipt_context(photo.dish), "proof": proof, "form": form})


def thanks_page(
    request: HttpRequest,
    contributor: Contributor,
    dish: Dish,
    form: PersonalDetailsForm | None = None,
    *,
    told: bool = False,
    notice: str = "",
    by_token: bool = True,
) -> HttpResponse:
    """The end of one dish. `told`: the personal details have just been stored; `by_token` as for `more_page`."""
    code = way_back(request, contributor, dish) if by_token else {}
    context = {
        "go": Proof.new("go", contributor.pk, dish.pk),
        **receipt_context(dish),
        **code,
        "form": form or PersonalDetailsForm(),
        "proof": Proof.new("about", contributor.pk, dish.pk),
        "told": told,
        "notice": notice,
    }
    response = render(request, "collection/thanks.html", context)
    return forbid_storing(disable_compression(response) if form is not None else response, code.get("code"))


def show_unsaved_page(request: HttpRequest, form: forms.Form | None = None) -> HttpResponse:
    """Nobody is known, so nothing can be saved; what was typed is shown so that it can be copied."""
    names = () if form is None or typed_by_another(request, form) else form.fields
    typed = [value for name in names for value in request.POST.getlist(name) if value.strip()]
    return disable_compression(render(request, "collection/kept.html", {"typed": typed}))


def typed_by_another(request: HttpRequest, form: forms.Form) -> bool:
    """The browser sends again (Back, reload) what somebody who has finished sent: not for the phone's next user."""
    finished = finished_form(request)
    if finished is None:
        return False
    more = MoreForm(request.POST) if isinstance(form, MoreForm) else None
    if more is None or not more.is_valid():
        return more is None
    return replayed_receipt(finished.form, content_hash(more.content)) is not None
