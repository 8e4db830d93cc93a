"""Looking changes nothing: neither by people, nor by the fetchers that make a card of a link that somebody sent."""

import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.http import HttpResponse
from django.test import Client
from django.urls import URLResolver, get_resolver, resolve, reverse
from PIL import Image

from collection.access.form_tokens import Proof
from collection.access.guards import COOKIE, sign_in
from collection.consent.recordings import path_of
from collection.models import ConsentText, Contributor, Dish, Photo, Withdrawal
from collection.withdrawal.withdraw import withdraw_dish
from evaluation.models import InputCounter
from review import signed_links
from review.models import Invitation, Reviewer
from tests.collection.dishes.test_ambassadors import make_ambassador
from tests.collection.make import ANSWERS, CONSENT, TICKS, make_contributor, make_dish, make_photo, open_collection
from tests.review.make import first_image, make_campaign, make_invitation, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

CODES = [code for code, _name in settings.LANGUAGES]
WHATSAPP = {"User-Agent": "WhatsApp/2.23.20.0 A", "Accept": "*/*"}
FACEBOOK = {
    "User-Agent": "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "Accept": "*/*",
    "Accept-Encoding": "deflate, gzip",
    "Range": "bytes=0-524287",
}
FETCHERS = {"WhatsApp": WHATSAPP, "Facebook": FACEBOOK}
CARD = re.compile(r'<meta property="og:(\w+)" content="([^"]*)">')
RECORDING = "en.mp3"
PURPOSES = ("consent", "dish", "review.join")
# Two lines of a card on a small phone.
LONGEST = 100


@dataclass(frozen=True)
class World:
    """Something of everything that a public address can show."""

    person: Contributor
    dish: Dish
    photo: Photo
    ambassador: Any
    invitation: Invitation
    reviewer: Reviewer

    def parts(self) -> dict[str, object]:
        """The variable part of each address that has one."""
        return {
            "collection:invitation": self.ambassador.invitation,
            "collection:public-dish": self.dish.number,
            "collection:report-dish": self.dish.number,
            "collection:report-photo": self.photo.pk,
            "collection:recording": RECORDING,
            "collection:photo-file": self.photo.file.removeprefix("photos/"),
            "review:picture": resolve(signed_links.image_address(first_image(self.reviewer.campaign))).kwargs["token"],
            "review:back": resolve(signed_links.back_address(self.reviewer)).kwargs["token"],
            "review:invitation": self.invitation.code,
            "review:pictures": self.invitation.code,
        }

    def sent(self, purpose: str) -> dict[str, Any]:
        """All that any form sends, with a genuine token."""
        return {
            **ANSWERS,
            **CONSENT,
            **TICKS,
            **dict.fromkeys(("heard", "public", "forget", "save"), "on"),
            "proof": Proof.new(purpose, self.person.pk, self.dish.pk).token,
            "alias": "Ama",
            "do": "answer",
            "reason": "wrong",
            "dish": self.dish.pk,
            "code": self.invitation.short,
            "country": "Ghana",
            "role": "volunteer",
            "begun": "no",
            "when": "today",
            "by": "name",
            "place": "Ghana",
            "q": "ri",
        }

    def browser(self) -> Client:
        """The phone of the person who described these dishes."""
        client = Client()
        signed = sign_in(HttpResponse(), self.person)
        client.cookies[COOKIE] = signed.cookies[COOKIE].value
        return client


@pytest.fixture
def world() -> World:
    open_collection(aliases=True)
    person = make_contributor()
    dish = make_dish("Kenkey", "Ghana", contributor=person, state=Dish.State.ACCEPTED)
    photo = make_photo(dish, Photo.State.ACCEPTED)
    make_dish("Fufu", "Ghana", contributor=person)
    withdraw_dish(make_dish("Poi", "Ghana", state=Dish.State.ACCEPTED), Withdrawal.Reason.STEWARD)
    default_storage.save(path_of(RECORDING), ContentFile(bytes(900)))
    ConsentText.objects.filter(language="en").update(recording=RECORDING)
    reviewer = make_reviewer(make_campaign(images=2))
    return World(person, dish, photo, make_ambassador(), make_invitation(reviewer.campaign, limit=1), reviewer)


def patterns(resolver: URLResolver | None = None, before: str = "") -> Iterator[tuple[str, str]]:
    """Name and route of every address that needs neither an account nor a token of a worker."""
    top = resolver or get_resolver()
    for found in top.url_patterns:
        route = before + str(found.pattern)
        if route.startswith(("admin/", "worker/")):
            continue
        if isinstance(found, URLResolver):
            yield from patterns(found, route)
        else:
            yield f"{top.namespace}:{found.name}", route


def addresses(world: World) -> dict[str, str]:
    """Name → address. A new one with a variable part needs an example in `World.parts`."""
    parts = world.parts()
    return {
        name if "<" in route else route: reverse(name, args=[parts[name]]) if "<" in route else f"/{route}"
        for name, route in patterns()
    }


def rows() -> dict[str, list[str]]:
    """Everything that the database holds."""
    models = [model for model in apps.get_models(include_auto_created=True) if not model._meta.proxy]
    return {
        model._meta.label: sorted(str(sorted(row.items())) for row in model._base_manager.values()) for model in models
    }


def files() -> dict[str, str]:
    place = Path(default_storage.location)  # type: ignore[attr-defined]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in place.rglob("*") if path.is_file()}


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def test_a_change_in_any_table_or_file_would_be_seen(world: World) -> None:
    before, kept = rows(), files()
    InputCounter.objects.create(name="looked", value=1)
    Invitation.objects.filter(pk=world.invitation.pk).update(used=1)
    default_storage.save("looked", ContentFile(b"at"))
    assert changed(before, rows()) == ["evaluation.InputCounter", "review.Invitation"]
    assert len(changed(kept, files())) == 1


def test_no_get_of_a_public_address_changes_a_row_or_a_file(world: World) -> None:
    """Not even one that brings all that its form would send."""
    asked = addresses(world)
    before, kept = rows(), files()
    answered: dict[str, set[int]] = {}
    for client, headers in (
        (Client(), {}),
        (world.browser(), {"Accept-Language": "hi"}),
        *((Client(), headers) for headers in FETCHERS.values()),
    ):
        for name, address in asked.items():
            for query in ({}, *map(world.sent, PURPOSES)):
                response = client.get(address, query, headers=headers)
                list(response) if response.streaming else response.content
                answered.setdefault(name, set()).add(response.status_code)
            client.head(address, headers=headers)
            client.get(f"/ar{address}", world.sent("go"), headers=headers)
    assert changed(before, rows()) == []
    assert changed(kept, files()) == []
    assert {name for name, statuses in answered.items() if max(statuses) >= 500} == set()
    assert answered["finish/"] == answered["phone/send/"] == {405}
    # The examples are real ones: each leads to something.
    assert {name for name in world.parts() if not answered[name] & {200, 206, 302}} == set()


@pytest.mark.parametrize("fetcher", FETCHERS)
def test_fifty_fetchers_leave_invitations_that_open_once_unopened(world: World, fetcher: str) -> None:
    before = rows()
    mine = (world.invitation.get_absolute_url(), reverse("collection:invitation", args=[world.ambassador.invitation]))
    for address in (
        *mine,
        "/",
        "/leaderboard/",
        f"/dishes/{world.dish.number}/",
        signed_links.back_address(world.reviewer),
    ):
        for _ in range(50):
            assert Client().get(address, headers=FETCHERS[fetcher]).status_code == 200
    assert changed(before, rows()) == []
    page = Client().get(mine[0]).content.decode()
    proof = re.findall(r'name="proof" value="([^"]+)"', page)[-1]
    said = {"begun": "no", "country": "Nigeria", "role": "volunteer"}
    choices = {**said, "adult": "on", "agree": "on", "proof": proof}
    assert Client().post(mine[0], choices).status_code == 200
    assert Invitation.objects.get(pk=world.invitation.pk).used == 1


def card(text: str) -> dict[str, str]:
    return {name: html.unescape(value) for name, value in CARD.findall(text)}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("path", ["/", "/describe/", "/leaderboard/", "/dishes/"])
def test_a_shared_page_has_a_card_in_its_language_that_no_preview_cuts(code: str, path: str) -> None:
    open_collection()
    text = Client().get(f"/{code}{path}", headers=WHATSAPP).content.decode()
    found, english = card(text), card(Client().get(f"/en{path}").content.decode())
    assert found["url"] == f"http://testserver/{code}{path}"
    assert len(found["description"]) <= LONGEST
    if code != "en":
        assert found["title"] != english["title"] and found["description"] != english["description"]
    assert 'name="robots"' not in text


def test_the_image_of_a_card_is_small_and_no_browser_loads_it() -> None:
    text = Client().get("/").content.decode()
    name = "card.png"
    place = Path(settings.BASE_DIR, "static", name)
    assert card(text)["image"] == f"http://testserver/static/{name}"
    assert place.stat().st_size <= 100_000
    with Image.open(place) as image:
        assert image.size == (1200, 630)
    assert text.count(name) == 1
    assert name not in Path(settings.BASE_DIR, "static", "site.css").read_text()


def test_a_dish_gives_its_card_its_own_name() -> None:
    dish = make_dish('ثريد "Tharid" <2>', state=Dish.State.ACCEPTED)
    found = card(Client().get(f"/ar/dishes/{dish.number}/").content.decode())
    assert found["title"] == 'ثريد "Tharid" <2>'


def test_personal_pages_and_invitations_tell_nothing_and_are_not_indexed(world: World) -> None:
    personal = (
        world.invitation.get_absolute_url(),
        reverse("collection:invitation", args=[world.ambassador.invitation]),
        signed_links.back_address(world.reviewer),
        "/mine/",
        "/return/",
        "/ambassador/",
    )
    for address in personal:
        text = world.browser().get(address, headers=WHATSAPP).content.decode()
        assert card(text) == {}, address
        assert '<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">' in text, address
