"""Builders of the collection's rows and forms, and the persons who use them."""

import io
import re
import uuid
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from PIL import Image

from collection.access.form_tokens import Proof
from collection.consent.record import consent_for, register_contributor
from collection.dishes.write import save_dish
from collection.models import ConsentText, Contributor, Dish, Opening, Photo, Source
from collection.photos.process import prepare_photo, store_photo_files

ANSWERS = {
    "local_name": "Jollof",
    "languages": "Wolof",
    "places": "Senegal",
    "places_more": "",
    "ingredients": "rice, tomatoes, onions",
}
TICKS = {"taken_by_me": "on", "may_be_shared": "on", "no_people": "on", "is_photograph": "on"}
CONSENT = {"adult": "on", "agree": "on"}
TOKEN = re.compile(r'action="(?P<action>[^"]+)"[^>]*><input type="hidden" name="proof" value="(?P<proof>[^"]+)"')


def open_collection(until: date | None = None, **values: Any) -> Opening:
    """Everything that staff fill in before dishes are collected; the English consent text is confirmed."""
    today = timezone.localdate()
    ConsentText.objects.filter(language="en").update(confirmed_by="Ama Mensah", confirmed_on=today)
    filled = {"controller": "Kitchen Table Trust", "contact": "+233 20 000 0000", "ethics_reference": "EC 7/26"}
    return Opening.objects.create(**{**filled, "ethics_until": until or today + timedelta(days=365), **values})


def confirm(language: str, version: int = 1) -> ConsentText:
    text = ConsentText.objects.get(language=language, version=version)
    text.confirmed_by, text.confirmed_on = "Somebody Who Speaks It", timezone.localdate()
    text.save()
    return text


def unopened() -> None:
    """The collection as a fresh clone has it: nothing filled in, nothing confirmed."""
    Contributor.objects.update(consent_opening=None)
    Opening.objects.all().delete()
    ConsentText.objects.update(confirmed_by="", confirmed_on=None)


def make_contributor(**values: Any) -> Contributor:
    return register_contributor(consent_for(), uuid.uuid4(), **values)


def make_dish(
    name: str = "Jollof",
    country: str = "Senegal",
    language: str = "Wolof",
    contributor: Contributor | None = None,
    state: str = Dish.State.WAITING,
    source: str = Source.FORM,
    **words: Any,
) -> Dish:
    words = {"local_name": name, "ingredients": "rice", **words}
    return save_dish(words, [country], [(language, "wol")], contributor=contributor, state=state, source=source)


def make_photo_bytes(
    size: tuple[int, int] = (400, 300), kind: str = "JPEG", mode: str = "RGB", **options: Any
) -> bytes:
    """An image with a gradient, in any kind that Pillow writes."""
    image = Image.linear_gradient("L").resize(size).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def upload(data: bytes, name: str = "photo.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/octet-stream")


def make_photo(dish: Dish, state: str = Photo.State.WAITING, data: bytes | None = None) -> Photo:
    prepared = prepare_photo(data or make_photo_bytes())
    file, thumbnail = store_photo_files(prepared)
    ticked = dict.fromkeys(TICKS, state != Photo.State.DRAFT)
    return Photo.objects.create(
        dish=dish,
        file=file,
        thumbnail=thumbnail,
        sha256=prepared.sha256,
        width=prepared.width,
        height=prepared.height,
        state=state,
        **ticked,
    )


def make_steward(*permissions: str) -> User:
    """A member of staff with these permissions of the collection."""
    user = User.objects.create_user(f"steward{User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="collection", codename__in=permissions))
    return user


def stranger() -> Client:
    """A browser that refuses cookies: each request starts without any."""

    class Refusing(Client):
        def request(self, **request: Any) -> Any:
            self.cookies.clear()
            return super().request(**request)

    return Refusing()


def tokens(html: str) -> dict[str, str]:
    """Form address → token, as the page holds them."""
    return {match["action"]: match["proof"] for match in TOKEN.finditer(html)}


def dish_form(contributor: Contributor, **changes: str) -> dict[str, str]:
    """A filled dish form with a genuine token."""
    return {**ANSWERS, "proof": Proof.new("dish", contributor.pk).token, **changes}


def page(client: Client, address: str, data: Mapping[str, Any], **headers: str) -> str:
    """The page that answers a POST; it is never an error of the server."""
    response = client.post(address, data, headers=headers or None)
    assert response.status_code in (200, 413), response.status_code
    return response.content.decode()
