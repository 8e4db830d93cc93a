"""What pages say of a saved dish: its receipt number, and how its author comes back."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from collection.access.form_tokens import Proof
from collection.access.guards import COOKIE_REACH
from collection.dishes.idempotency import receipt_of
from collection.dishes.receipts import format_receipt
from collection.models import Contributor, Dish, Source
from collection.withdrawal.rights import code_context, first_code
from wwd.base.middleware import disable_compression


@dataclass(frozen=True)
class ReceiptPage:
    """The receipt number alone, of a form that was sent before; empty where it may not be shown."""

    receipt: str

    def render(self, request: HttpRequest) -> HttpResponse:
        receipt = format_receipt(self.receipt) if self.receipt else ""
        return render(request, "collection/receipt.html", {"receipt": receipt})


def build_receipt_context(dish: Dish, receipt: str = "") -> dict[str, Any]:
    """What a page says of a saved dish; its receipt number is looked up unless it is given."""
    return {
        "dish": dish,
        "receipt": format_receipt(receipt or receipt_of(dish)),
        "demonstration": dish.source == Source.DEMONSTRATION,
    }


def build_way_back_context(request: HttpRequest, contributor: Contributor, dish: Dish) -> dict[str, Any]:
    """How this person comes back to their dishes: the code beside the receipt of their first one.

    For somebody beside a helper it is on the paper slip alone, to which the page leads.
    """
    if contributor.consent_way == Contributor.Way.SPOKEN:
        return {"next_person": prove_next_person(contributor), "go": Proof.new("go", contributor.pk, dish.pk)}
    return code_context(first_code(contributor, dish), request.build_absolute_uri(reverse("collection:return")))


def protect_code(response: HttpResponse, code: str | None) -> HttpResponse:
    """A page with a code is not compressed, and no browser stores it."""
    if code:
        disable_compression(response)
        response["Cache-Control"] = "no-store"
    return response


def prove_next_person(contributor: Contributor) -> Proof | None:
    """For anyone who writes for several people: on to the next one. Only on the day itself, so that somebody who comes
    back with their own code does not write in the name of the one who helped them."""
    today = contributor.created_at >= timezone.now() - COOKIE_REACH
    spoken = contributor.consent_way == Contributor.Way.SPOKEN
    # A turn of its own, in which the one who helps goes on: *The next person* ends the turn of the one before.
    return Proof.new("beside", contributor.entered_by_id, turn=uuid.uuid4()) if spoken and today else None
