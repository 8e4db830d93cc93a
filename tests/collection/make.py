"""Builders of the collection's rows and forms, and the persons who use them."""

import io
import re
import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from collection.dishes import save_dish
from collection.models import Contributor, Dish, Photo, Source
from collection.photos import prepare, store
from collection.proof import Proof
from collection.submissions import current_consent, join

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


def make_contributor() -> Contributor:
    return join(current_consent(), uuid.uuid4())


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


def picture(size: tuple[int, int] = (400, 300), kind: str = "JPEG", mode: str = "RGB", **options: Any) -> bytes:
    """A picture with a gradient, in any kind that Pillow writes."""
    image = Image.linear_gradient("L").resize(size).convert(mode)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def upload(data: bytes, name: str = "photo.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/octet-stream")


def make_photo(dish: Dish, state: str = Photo.State.WAITING, data: bytes | None = None) -> Photo:
    prepared = prepare(data or picture())
    file, thumbnail = store(prepared)
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
