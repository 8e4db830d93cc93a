"""What belongs to one person: the list on their own page, and everything about them to take along."""

import base64
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.files.storage import default_storage
from django.db.models import Prefetch, QuerySet
from django.utils.translation import get_language_bidi
from django.utils.translation import gettext as _

from collection.access import return_codes
from collection.consent.record import END, ConsentWording
from collection.dishes.receipts import format_receipt
from collection.dishes.write import WORDS
from collection.models import AboutYou, Contributor, Dish, Photo, ReturnCode, Submission, Withdrawal
from collection.withdrawal.withdraw import list_undoable_withdrawals

FROM_LEFT = "\u2066"
SHOWN_WITH_PHOTO = ("caption", "state", "created_at", "width", "height")


@dataclass(frozen=True)
class OwnDish:
    """A dish on its contributor's page; `withdrawal` where it was taken back and can still be undone."""

    dish: Dish
    withdrawal: Withdrawal | None


def by_code(person: uuid.UUID | None) -> Contributor | None:
    """The contributor who proved the code, also one who has withdrawn everything and may still undo it."""
    return Contributor.objects.filter(pk=person).first() if person else None


def list_unerased_dishes(contributor: Contributor) -> QuerySet[Dish]:
    """All dishes of this person of which something is left."""
    return Dish.objects.filter(contributor=contributor).exclude(
        pk__in=Withdrawal.objects.exclude(erased_at=None).exclude(dish=None).values("dish")
    )


def own_dishes(contributor: Contributor) -> list[OwnDish]:
    """Newest first, with those that can still be undone."""
    standing = Prefetch("withdrawals", queryset=list_undoable_withdrawals(), to_attr="standing")
    dishes = list_unerased_dishes(contributor).prefetch_related(standing).order_by("-created_at", "-pk")
    return [OwnDish(dish, next(iter(dish.standing), None)) for dish in dishes]


def everything_withdrawn(contributor: Contributor) -> Withdrawal | None:
    return list_undoable_withdrawals().filter(person=contributor.pk, dish=None).first()


def has_details(contributor: Contributor) -> bool:
    return bool(contributor.alias) or AboutYou.objects.filter(contributor=contributor).exists()


def first_code(contributor: Contributor, dish: Dish) -> str | None:
    """The return code for the page that ends somebody's first dish; None on every other page."""
    first = Dish.objects.filter(contributor=contributor).order_by("pk").values_list("pk", flat=True).first()
    return return_codes.issue_first_code(contributor.pk, ReturnCode.Kind.CONTRIBUTOR) if first == dish.pk else None


def code_context(code: str | None, address: str) -> dict[str, Any]:
    """A code with links by which somebody sends it to themselves; `address` is where it is typed in."""
    if code is None:
        return {}
    # From right to left, the four groups would otherwise be read from the last one. Elsewhere a message without such
    # signs stays one SMS.
    digits = f"{FROM_LEFT}{code}{END}" if get_language_bidi() else code
    text = quote(_("World Wide Dishes, my return code: %(code)s %(address)s") % {"code": digits, "address": address})
    return {"code": code, "sms": f"sms:?body={text}", "whatsapp": f"https://wa.me/?text={text}"}


def export_contributor(
    contributor: Contributor, *, with_photos: bool = False, photo_files: Mapping[Any, str] | None = None
) -> dict[str, Any]:
    """All that is stored about a person and their dishes, as plain data.

    `with_photos`: their bytes are in it. `photo_files`: a photo's key → the file beside it that holds them.
    """
    consent = contributor.consent
    return {
        "person": {
            "id": contributor.pk,
            "since": contributor.created_at,
            "name_shown": contributor.alias,
            "entered_by_somebody_else": contributor.entered_by_id is not None,
        },
        "consent": {
            "version": consent.version if consent else None,
            "language": consent.language if consent else None,
            "text": ConsentWording(consent, contributor.consent_opening).sentences if consent else [],
            "draft_shown_beside": str(contributor.consent_draft or ""),
            "given": contributor.consent_at,
            "way": contributor.consent_way,
            "answers_to_questions": contributor.understood,
        },
        "details": collect_personal_details(contributor),
        "dishes": [
            export_dish(dish, with_photos, photo_files or {})
            for dish in list_unerased_dishes(contributor).order_by("pk")
        ],
    }


def collect_personal_details(contributor: Contributor) -> dict[str, Any]:
    row = AboutYou.objects.filter(contributor=contributor)
    found = dict(row.values().first() or {})
    if found:
        found["nationalities"] = list(row.get().nationalities.values_list("name", flat=True))
    return found


def export_dish(dish: Dish, with_photos: bool, photo_files: Mapping[Any, str]) -> dict[str, Any]:
    """One dish with its words, history, photos and receipts."""
    sent = list(Submission.objects.filter(dish=dish).order_by("created_at").values_list("receipt", "device"))
    return {
        "number": dish.number,
        "state": dish.state,
        "described": dish.created_at,
        "changed": dish.changed_at,
        "receipts": [format_receipt(receipt) for receipt, _device in sent],
        "device": next((device for _receipt, device in sent if device), ""),
        "words": {name: getattr(dish, name) for name in WORDS},
        "places": list(dish.places.values_list("name", flat=True)),
        "languages": list(dish.languages.values("name", "code")),
        "continents": list(dish.continents.values_list("continent", flat=True)),
        "earlier_words": list(dish.changes.values("at", "before")),
        "links": list(dish.links.values("kind", "url", "caption")),
        "photos": [export_photo(photo, with_photos, photo_files) for photo in dish.photos.order_by("created_at")],
    }


def export_photo(photo: Photo, with_bytes: bool, files: Mapping[Any, str]) -> dict[str, Any]:
    found = {name: getattr(photo, name) for name in SHOWN_WITH_PHOTO}
    if photo.pk in files:
        found["file"] = files[photo.pk]
    if with_bytes and photo.file:
        try:
            with default_storage.open(photo.file) as file:
                found["jpeg_base64"] = base64.b64encode(file.read()).decode()
        except FileNotFoundError:
            found["jpeg_base64"] = None
    return found
