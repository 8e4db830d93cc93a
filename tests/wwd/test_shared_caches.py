"""What depends on who asks is never kept by a cache that others use."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, reverse

from collection import urls as collection_urls
from collection.access.guards import sign_in
from collection.models import Ambassador, Contributor, Country, Dish, Photo
from review import urls as review_urls
from review.models import Invitation
from review.signed_links import back_address
from tests.collection.make import make_contributor, make_dish, make_photo, open_collection
from tests.review.make import make_campaign, make_invitation, make_reviewer

pytestmark = pytest.mark.embedded


def arguments() -> dict[str, dict[str, object]]:
    """Values for addresses that hold some, by name of the address."""
    photo, invitation = Photo.objects.get(), Invitation.objects.get()
    back = back_address(make_reviewer(invitation.campaign, invitation=invitation))
    return {
        "invitation": {"code": Ambassador.objects.get().invitation},
        "public-dish": {"number": photo.dish.number},
        "report-dish": {"number": photo.dish.number},
        "report-photo": {"pk": photo.pk},
        "recording": {"name": "en.mp3"},
        "photo-file": {"name": photo.file.removeprefix("photos/")},
        "review:invitation": {"code": invitation.code},
        "review:pictures": {"code": invitation.code},
        "review:picture": {"token": "x"},
        "review:back": {"token": back.strip("/").rpartition("/")[2]},
    }


def public_addresses() -> Iterator[str]:
    """Every public address, from the lists of addresses themselves."""
    known = arguments()
    for space, patterns in (("collection", collection_urls.urlpatterns), ("review", review_urls.urlpatterns)):
        for pattern in patterns:
            assert isinstance(pattern, URLPattern)
            name = str(pattern.name)
            yield reverse(f"{space}:{name}", kwargs=known.get(f"{space}:{name}") or known.get(name, {}))


def known_phone(person: Contributor) -> Client:
    client = Client()
    for name, value in sign_in(HttpResponse(), person).cookies.items():
        client.cookies[name] = value.value
    return client


def kept_apart(response: HttpResponse) -> bool:
    said = response.headers.get("Cache-Control", "")
    return "no-store" in said or "private" in said


@pytest.mark.django_db
def test_no_shared_cache_keeps_what_depends_on_who_asks() -> None:
    open_collection()
    person = make_contributor()
    make_dish("Waiting", contributor=person)
    make_photo(make_dish(contributor=person, state=Dish.State.ACCEPTED), Photo.State.ACCEPTED)
    make_invitation(make_campaign(images=1))
    Ambassador.objects.create(label="Ama", country=Country.objects.get(pk="GHA"), until="2999-01-01")
    asked = 0
    for path in [*public_addresses(), "/leaderboard/?when=today", "/fr/leaderboard/", "/nowhere/"]:
        known: Any = known_phone(person).get(path)
        unknown: Any = Client().get(path)
        bodies = [
            # The token of the page that phones keep is new each time, and nobody's.
            re.sub(rb'data-consent="[^"]*"', b"", b"".join(each.streaming_content) if each.streaming else each.content)
            for each in (known, unknown)
        ]
        if bodies[0] == bodies[1] and all("private" not in each.headers["Cache-Control"] for each in (known, unknown)):
            continue
        asked += 1
        assert kept_apart(known), path
        assert kept_apart(unknown), path
    assert asked > 20


@pytest.mark.django_db
def test_the_leaderboard_says_what_waits_to_nobody_else() -> None:
    open_collection()
    person = make_contributor()
    make_dish("Waiting", contributor=person)
    response = known_phone(person).get("/leaderboard/")
    assert "yours wait" in response.content.decode()
    assert "private" in response.headers["Cache-Control"]
    assert "no-cache" in response.headers["Cache-Control"]
