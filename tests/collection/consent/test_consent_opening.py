"""When the collection takes dishes, demonstrations only, or nothing: by the server's date and what is filled in."""

from collections.abc import Mapping
from datetime import date, timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from collection.access.daily_quotas import DISHES, DISHES_OF_AMBASSADOR, PEOPLE, PEOPLE_OF_AMBASSADOR
from collection.access.form_tokens import Proof
from collection.consent.readiness import Accepting, get_collection_status, list_missing_steps, takes_from
from collection.dishes.numbers import FIRST_OF_DEMONSTRATION
from collection.models import AboutYou, ConsentText, Contributor, Dish, Opening, Photo, Source, Submission
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    TICKS,
    confirm,
    dish_form,
    make_contributor,
    make_dish,
    make_photo,
    make_photo_bytes,
    open_collection,
    page,
    stranger,
    tokens,
    unopened,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

YESTERDAY = -timedelta(days=1)
STATED = "nothing that you write here becomes part of the collection"


def close() -> None:
    open_collection(until=timezone.localdate() + YESTERDAY)


@pytest.mark.parametrize("empty", ["controller", "contact", "ethics_reference", "ethics_until"])
def test_without_one_of_these_only_demonstrations_are_taken(empty: str) -> None:
    opening = Opening.objects.get()
    setattr(opening, empty, None if empty == "ethics_until" else "")
    opening.save()
    assert get_collection_status() is Accepting.DEMONSTRATION
    assert len(list_missing_steps(opening)) == 1


def test_without_a_confirmed_text_only_demonstrations_are_taken() -> None:
    ConsentText.objects.update(confirmed_by="", confirmed_on=None)
    assert get_collection_status() is Accepting.DEMONSTRATION and list_missing_steps(Opening.objects.get()) == [
        "Confirm a consent text."
    ]
    confirm("sw")
    assert get_collection_status() is Accepting.OPEN


def test_what_was_filled_in_last_counts() -> None:
    Opening.objects.create(controller="Nobody yet")
    assert get_collection_status() is Accepting.DEMONSTRATION


@pytest.mark.parametrize(
    ("day", "state"),
    [
        (date(2026, 11, 27), Accepting.OPEN),
        (date(2026, 11, 28), Accepting.OPEN),
        (date(2026, 11, 29), Accepting.CLOSED),
        (date(2031, 1, 1), Accepting.CLOSED),
    ],
)
def test_last_day_of_the_approval_is_the_last_day_of_collecting(day: date, state: Accepting) -> None:
    open_collection(until=date(2026, 11, 28))
    assert get_collection_status(day) is state


def test_end_of_the_approval_closes_also_what_is_only_demonstrated() -> None:
    close()
    ConsentText.objects.update(confirmed_by="", confirmed_on=None)
    assert get_collection_status() is Accepting.CLOSED


def everything_stored() -> tuple[int, ...]:
    models = (Contributor, Dish, Photo, AboutYou, Submission)
    return tuple(model.objects.count() for model in models)


def storing_requests() -> list[tuple[str, Mapping[str, object]]]:
    """Every form of the journey, genuine and filled in."""
    contributor = make_contributor()
    dish = make_dish("Waakye", contributor=contributor)
    photo = make_photo(dish, Photo.State.DRAFT)
    consent = tokens(stranger().get("/describe/").content.decode())["/describe/"]
    aloud = tokens(stranger().get("/beside/").content.decode())["/beside/"]
    mark = Proof.new("dish", target=f"consent:{ConsentText.objects.get(language='en').pk}.0.{Opening.objects.get().pk}")

    def of(purpose: str, about: object = dish.pk) -> str:
        return Proof.new(purpose, contributor.pk, about).token

    return [
        ("/describe/", {**CONSENT, "proof": consent}),
        ("/beside/", {"heard": "on", "public": "on", "proof": aloud}),
        ("/dish/", dish_form(contributor, local_name="Kelewele")),
        ("/dish/", {**ANSWERS, "local_name": "Kelewele", "choice": "correction", "proof": of("dish")}),
        ("/dish/", {**ANSWERS, **CONSENT, "local_name": "Kelewele", "proof": mark.token}),
        ("/more/", {"drink": "Kelewele", "proof": of("more")}),
        ("/photo/", {"photo": upload(make_photo_bytes()), "proof": of("photo")}),
        ("/caption/", {"caption": "Kelewele", **TICKS, "proof": of("caption", photo.pk)}),
        ("/about/", {"name": "Kelewele", "agree": "on", "proof": of("about")}),
    ]


@pytest.mark.parametrize("place", range(9))
def test_after_the_end_nothing_is_stored_and_the_typing_is_shown(place: int) -> None:
    address, data = storing_requests()[place]
    close()
    before = everything_stored()
    response = stranger().post(address, data)
    text = response.content.decode()
    assert response.status_code == 403 and "No dishes are taken now" in text
    assert everything_stored() == before and Dish.objects.get().local_name == "Waakye"
    assert Photo.objects.get().state == Photo.State.DRAFT
    assert ("Kelewele" in text) == ("Kelewele" in data.values())
    assert not [value for name, value in data.items() if name == "proof" and str(value) in text]


@pytest.mark.parametrize("address", ["/describe/", "/beside/"])
def test_closed_page_is_calm_and_says_until_when_and_whom_to_ask(address: str) -> None:
    close()
    response = stranger().get(address)
    text = response.content.decode()
    day = Opening.objects.order_by("-pk")[0].ethics_until
    assert day is not None and response.status_code == 200
    assert f"open until {day.day} {day:%B %Y}" in text and "+233 20 000 0000" in text
    assert 'name="proof"' not in text.split("<footer")[0]


def test_dishes_told_before_can_still_be_seen_after_the_end(client: Client) -> None:
    first = client.get("/describe/").content.decode()
    page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    make_dish("Waakye", contributor=Contributor.objects.get())
    close()
    assert "Waakye" in client.get("/mine/").content.decode()


def walk(client: Client) -> str:
    """Consent and dish as a stranger, to the receipt."""
    first = client.get("/describe/").content.decode()
    assert STATED in first
    second = page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    assert STATED in second
    return page(client, "/dish/", {**ANSWERS, "proof": tokens(second)["/dish/"]})


def test_fresh_clone_lets_a_stranger_walk_the_journey_as_a_demonstration() -> None:
    unopened()
    client = stranger()
    third = walk(client)
    assert 'class="demonstration"' in third
    fourth = page(client, "/more/", {"proof": tokens(third)["/more/"], "drink": "tea"})
    fifth = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "photo": upload(make_photo_bytes())})
    sixth = page(client, "/caption/", {"proof": tokens(fifth)["/caption/"], "caption": "rice", **TICKS})
    page(client, "/about/", {"proof": tokens(sixth)["/about/"], "alias": "A", "agree": "on"})
    dish = Dish.objects.get()
    assert (dish.source, dish.drink, Contributor.objects.get().source) == ("demonstration", "tea", "demonstration")
    assert dish.number >= FIRST_OF_DEMONSTRATION
    Dish.objects.update(state=Dish.State.ACCEPTED)
    assert not Dish.objects.released().exists()


def test_demonstrations_go_with_demo_clear_and_dishes_of_people_stay() -> None:
    kept = make_dish("Waakye", contributor=make_contributor())
    unopened()
    walk(stranger())
    call_command("demo", "clear", "-v0")
    assert list(Dish.objects.all()) == [kept] and Contributor.objects.get() == kept.contributor


def test_demonstrations_use_up_no_number_of_a_dish() -> None:
    first = make_dish("One")
    make_dish("Shown", source=Source.DEMONSTRATION)
    make_dish("Shown too", source=Source.DEMONSTRATION)
    assert make_dish("Two").number == first.number + 1


def test_nobody_adds_to_real_dishes_while_only_demonstrations_are_taken() -> None:
    contributor = make_contributor()
    dish = make_dish("Waakye", contributor=contributor)
    forms = {"more": {"drink": "tea"}, "about": {"name": "Ama", "agree": "on"}}
    unopened()
    for purpose, answers in forms.items():
        token = Proof.new(purpose, contributor.pk, dish.pk).token
        assert stranger().post(f"/{purpose}/", {**answers, "proof": token}).status_code == 403
    dish.refresh_from_db()
    assert dish.drink == "" and not AboutYou.objects.exists()


def test_who_demonstrated_agrees_anew_once_the_collection_is_open(client: Client) -> None:
    unopened()
    walk(client)
    assert "2 of 4" in client.get("/describe/").content.decode()
    open_collection()
    text = client.get("/describe/").content.decode()
    assert "1 of 4" in text and STATED not in text


def test_old_form_of_a_demonstration_stays_a_demonstration() -> None:
    unopened()
    contributor = make_contributor()
    open_collection()
    page(stranger(), "/dish/", dish_form(contributor))
    assert Dish.objects.get().source == Source.DEMONSTRATION


def test_open_collection_stores_what_people_tell() -> None:
    contributor = make_contributor()
    text = page(stranger(), "/dish/", dish_form(contributor))
    assert Dish.objects.get().source == Source.FORM and "demonstration" not in text
    assert takes_from(contributor) and takes_from(None)


def test_dishes_of_one_person_within_a_day_have_a_limit_and_the_typing_stays() -> None:
    contributor = make_contributor()
    for place in range(DISHES):
        make_dish(f"Dish {place}", contributor=contributor)
    form = dish_form(contributor, local_name="One more")
    text = page(stranger(), "/dish/", form)
    assert f"described {DISHES} dishes within a day" in text and 'value="One more"' in text
    assert Dish.objects.count() == DISHES and not Submission.objects.exists()
    Dish.objects.filter(local_name="Dish 0").update(created_at=timezone.now() - timedelta(hours=25))
    page(stranger(), "/dish/", {**form, "proof": tokens(text)["/dish/"]})
    assert Dish.objects.filter(local_name="One more").exists()


def test_limits_are_documented() -> None:
    text = (settings.BASE_DIR / "docs" / "operations" / "collection.md").read_text()
    for row in ((DISHES, DISHES_OF_AMBASSADOR), (PEOPLE, PEOPLE_OF_AMBASSADOR)):
        assert " | {} | {} |".format(*row) in text


def test_receipt_is_shown_again_after_the_limit() -> None:
    contributor = make_contributor()
    form = dish_form(contributor)
    page(stranger(), "/dish/", form)
    for place in range(DISHES):
        make_dish(f"Dish {place}", contributor=contributor)
    page(stranger(), "/dish/", form)
    assert "Your receipt number" in page(stranger(), "/dish/", form)


def test_limit_of_one_person_is_not_the_limit_of_another() -> None:
    for place in range(DISHES):
        make_dish(f"Dish {place}", contributor=make_contributor() if place == 0 else None)
    page(stranger(), "/dish/", dish_form(make_contributor()))
    assert Submission.objects.count() == 1
