"""Staff fill in what must be known, and confirm texts by name; the texts themselves stay as they were agreed to."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from collection.consent.readiness import Accepting, get_collection_status
from collection.models import ConsentText, Opening
from tests.collection.make import make_steward, open_collection, unopened

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

FILLED = {
    "controller": "Kitchen Table Trust",
    "contact": "+233 20 000 0000",
    "ethics_reference": "EC 7/26",
    "thanks": "",
    "kilobytes": "50",
    "megabytes": "15",
}
NEW_TEXT = {
    "version": "2",
    "language": "yo",
    "sentences": json.dumps(["{controller}.", "{payment}"]),
    "unpaid": "-",
    "paid": "{thanks}",
    "questions": json.dumps([{"text": "?", "answer": True, "sentence": 1}] * 3),
    "aloud": json.dumps(["{contact}."]),
    "licence_words": "CC-BY-4.0",
    "licence_photos": "CC-BY-NC-4.0",
}


def confirm(client: Client, text: ConsentText, **values: Any) -> str:
    address = f"/admin/collection/consenttext/{text.pk}/change/"
    return client.post(address, values, follow=True).content.decode()


def test_collection_opens_by_what_staff_fill_in_and_confirm(client: Client) -> None:
    unopened()
    steward = make_steward("add_opening", "view_opening", "change_consenttext", "view_consenttext")
    client.force_login(steward)
    until = timezone.localdate() + timedelta(days=100)
    text = client.post("/admin/collection/opening/add/", {**FILLED, "ethics_until": until}, follow=True)
    assert "Confirm a consent text." in text.content.decode() and get_collection_status() is Accepting.DEMONSTRATION
    confirm(client, ConsentText.objects.get(language="sw"), confirmed_by="Neema", confirmed_on=timezone.localdate())
    assert get_collection_status() is Accepting.OPEN and Opening.objects.get().made_by == steward
    assert 'class="success">The collection is open.' in client.get("/admin/collection/opening/").content.decode()


def test_list_says_what_is_still_to_be_done(client: Client) -> None:
    unopened()
    client.force_login(make_steward("view_opening", "view_consenttext"))
    for address in ("/admin/collection/opening/", "/admin/collection/consenttext/"):
        text = client.get(address).content.decode()
        assert (
            'class="warning">The collection takes demonstrations only: Name the controller. Fill in the contact.'
            in text
        )
    open_collection(until=timezone.localdate() - timedelta(days=1))
    assert "ethics approval is over" in client.get("/admin/collection/opening/").content.decode()


def test_change_is_a_new_row_that_begins_with_the_present_values(client: Client) -> None:
    client.force_login(make_steward("add_opening", "view_opening", "change_opening", "delete_opening"))
    former = Opening.objects.get()
    form = client.get("/admin/collection/opening/add/").content.decode()
    assert 'value="Kitchen Table Trust"' in form and 'value="EC 7/26"' in form
    address = f"/admin/collection/opening/{former.pk}"
    assert client.post(f"{address}/change/", FILLED).status_code == 403
    assert client.post(f"{address}/delete/", {"post": "yes"}).status_code == 403
    assert Opening.objects.get().contact == "+233 20 000 0000"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"kilobytes": "0"}, "greater than or equal to 1"),
        ({"megabytes": "16"}, "less than or equal to 15"),
        ({"ethics_until": "tomorrow"}, "valid date"),
        ({"controller": "x" * 201}, "at most 200"),
    ],
)
def test_opening_that_cannot_be_kept_gets_its_sentence(client: Client, values: dict[str, str], sentence: str) -> None:
    client.force_login(make_steward("add_opening", "view_opening"))
    text = client.post("/admin/collection/opening/add/", {**FILLED, **values}).content.decode()
    assert sentence in text and Opening.objects.count() == 1


@pytest.mark.parametrize("values", [{"confirmed_by": "Neema"}, {"confirmed_on": "2026-11-28"}, {"confirmed_by": " "}])
def test_confirmation_has_a_name_and_a_day_or_neither(client: Client, values: dict[str, str]) -> None:
    client.force_login(make_steward("change_consenttext", "view_consenttext"))
    swahili = ConsentText.objects.get(language="sw")
    text = confirm(client, swahili, **values)
    swahili.refresh_from_db()
    assert not swahili.confirmed and swahili.confirmed_by == ""
    assert ("Give the name" in text) == (values != {"confirmed_by": " "})


def test_text_that_exists_is_not_rewritten(client: Client) -> None:
    client.force_login(make_steward("change_consenttext", "view_consenttext", "delete_consenttext"))
    text = ConsentText.objects.get(language="sw")
    confirm(client, text, confirmed_by="", confirmed_on="", sentences=json.dumps(["Other."]), licence_words="other")
    text.refresh_from_db()
    assert len(text.sentences) == 8 and text.licence_words == "CC-BY-4.0"
    assert client.post(f"/admin/collection/consenttext/{text.pk}/delete/", {"post": "yes"}).status_code == 403


def test_staff_add_a_language_as_a_draft(client: Client) -> None:
    client.force_login(make_steward("add_consenttext", "view_consenttext"))
    client.post("/admin/collection/consenttext/add/", NEW_TEXT)
    text = ConsentText.objects.get(language="yo")
    assert text.sentences == ["{controller}.", "{payment}"] and not text.confirmed


@pytest.mark.parametrize(
    "values",
    [
        {"sentences": "[]"},
        {"sentences": json.dumps(["x."] * 9)},
        {"sentences": "not JSON"},
        {"sentences": json.dumps(["{who}"])},
        {"questions": "[]"},
        {"questions": json.dumps([{"text": "?", "answer": True, "sentence": 2}] * 3)},
        {"aloud": "[]"},
        {"unpaid": ""},
        {"version": "1", "language": "sw"},
    ],
)
def test_text_that_could_not_be_shown_is_not_added(client: Client, values: dict[str, str]) -> None:
    client.force_login(make_steward("add_consenttext", "view_consenttext"))
    before = ConsentText.objects.count()
    response = client.post("/admin/collection/consenttext/add/", {**NEW_TEXT, **values})
    assert response.status_code == 200 and ConsentText.objects.count() == before


@pytest.mark.parametrize("name", ["opening", "consenttext", "ambassador"])
def test_lists_open_only_with_their_permission(client: Client, name: str) -> None:
    client.force_login(make_steward())
    assert client.get(f"/admin/collection/{name}/").status_code == 403
    client.force_login(make_steward(f"view_{name}"))
    assert client.get(f"/admin/collection/{name}/").status_code == 200
