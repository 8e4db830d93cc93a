"""Everything of one person to take along: a page that any phone shows and prints, and a ZIP with their photos."""

import base64
import json
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from django.core.files.storage import default_storage
from django.core.serializers.json import DjangoJSONEncoder
from django.template.loader import render_to_string
from django.utils.text import slugify
from django.utils.translation import gettext as _

from collection.consent.record import ConsentWording
from collection.dishes.browse import QUESTIONS, in_words, list_dish_answers
from collection.dishes.receipts import format_receipt
from collection.forms import PersonalDetailsForm
from collection.models import AboutYou, Contributor, Dish, Photo, Submission
from collection.withdrawal.rights import export_contributor, list_unerased_dishes

# A ZIP of more bytes is made on the disk.
IN_MEMORY = 4 * 2**20


@dataclass(frozen=True)
class ExportedPhoto:
    """A photo as the page names it: a file beside the page, or a thumbnail within it."""

    address: str
    caption: str


@dataclass(frozen=True)
class ExportedDish:
    """A dish on the page that somebody takes along."""

    dish: Dish
    answers: list[tuple[str, str]]
    earlier: list[tuple[Any, list[tuple[str, str]]]]
    receipts: list[str]
    photos: list[ExportedPhoto]


def file_name() -> str:
    """What the files are called, without an ending, in the person's language."""
    return slugify(_("my dishes")) or "dishes"


def page_along(contributor: Contributor) -> str:
    """One page that needs no other file: thumbnails are within it."""
    return _page(contributor, {photo.pk: _within(photo) for photo in photos_of(contributor)})


def zip_along(contributor: Contributor) -> IO[bytes]:
    """A ZIP with the page, all photos as JPEG, and the same as JSON; open for reading from its start."""
    names = dict(_named(contributor))
    made = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # the response closes it
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        kept: dict[Any, str] = {}
        for pk, (name, file) in names.items():
            if (content_of := _bytes(file)) is not None:
                archive.writestr(zipfile.ZipInfo(name), content_of, zipfile.ZIP_STORED)
                kept[pk] = name
        archive.writestr(f"{file_name()}.html", _page(contributor, kept))
        content = export_contributor(contributor, photo_files=kept)
        text = json.dumps(content, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1)
        archive.writestr(f"{file_name()}.json", text)
    made.seek(0)
    return made


def photos_of(contributor: Contributor) -> list[Photo]:
    return list(
        Photo.objects.filter(dish__in=list_unerased_dishes(contributor)).exclude(file="").order_by("dish", "created_at")
    )


def _named(contributor: Contributor) -> Iterator[tuple[Any, tuple[str, str]]]:
    """Each photo's key, its name in the ZIP (`photos/<dish>-<which>.jpg`) and its file."""
    for place, photo in enumerate(photos_of(contributor), 1):
        yield photo.pk, (f"photos/{photo.dish.number}-{place}.jpg", photo.file)


def _page(contributor: Contributor, addresses: dict[Any, str]) -> str:
    dishes = (
        list_unerased_dishes(contributor).prefetch_related("places", "languages", "photos", "changes").order_by("pk")
    )
    consent = contributor.consent
    context = {
        "contributor": contributor,
        "consent": ConsentWording(consent, contributor.consent_opening) if consent else None,
        "about": _list_personal_details(contributor),
        "dishes": [_build_exported_dish(dish, addresses) for dish in dishes],
    }
    return render_to_string("collection/taken_along.html", context)


def _build_exported_dish(dish: Dish, addresses: dict[Any, str]) -> ExportedDish:
    sent = Submission.objects.filter(dish=dish).order_by("created_at").values_list("receipt", flat=True)
    photos = sorted(dish.photos.all(), key=lambda photo: photo.created_at)
    return ExportedDish(
        dish,
        list_dish_answers(dish),
        [(change.at, _earlier(change.before)) for change in dish.changes.all()],
        [format_receipt(receipt) for receipt in sent],
        [ExportedPhoto(addresses[photo.pk], photo.caption) for photo in photos if addresses.get(photo.pk)],
    )


def _earlier(before: dict[str, Any]) -> list[tuple[str, str]]:
    """The values before a change, as (question, words)."""
    asked = {field: (label, choices) for field, label, choices in QUESTIONS}
    rows = [(*asked.get(name, (name, None)), value) for name, value in before.items()]
    return [(label, in_words(value, choices)) for label, choices, value in rows]


def _list_personal_details(contributor: Contributor) -> list[tuple[str, str]]:
    """What somebody told about themselves, as (question, words)."""
    row = AboutYou.objects.filter(contributor=contributor).first()
    if row is None:
        return []
    nationalities = [*row.nationalities.values_list("name", flat=True), row.nationalities_more]
    values = {
        "name": row.name,
        "email": row.email,
        "year_of_birth": row.year_of_birth,
        "nationalities": ", ".join(filter(None, nationalities)),
        "credit_me": _("yes") if row.credit_me else "",
        "may_contact": _("yes") if row.may_contact else "",
    }
    labels = {name: field.label for name, field in PersonalDetailsForm.base_fields.items()}
    return [(str(labels.get(name, name)), str(value)) for name, value in values.items() if value]


def _within(photo: Photo) -> str:
    content = _bytes(photo.thumbnail or photo.file)
    return f"data:image/jpeg;base64,{base64.b64encode(content).decode()}" if content else ""


def _bytes(file: str) -> bytes | None:
    """A stored file; None where it is gone."""
    try:
        with default_storage.open(file) as opened:
            return bytes(opened.read())
    except FileNotFoundError:
        return None
