"""The way of one dish, request by request, in a browser that refuses cookies."""

import pytest
from django.test import Client

from collection.consent.record import ConsentWording
from collection.models import AboutYou, Contributor, Dish, DishChange, Photo, Submission
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    TICKS,
    dish_form,
    make_contributor,
    make_photo_bytes,
    page,
    stranger,
    tokens,
    upload,
)

pytestmark = pytest.mark.django_db


def walk_to_photo(client: Client) -> str:
    first = client.get("/describe/").content.decode()
    second = page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    third = page(client, "/dish/", {**ANSWERS, "proof": tokens(second)["/dish/"]})
    return page(client, "/more/", {"proof": tokens(third)["/more/"], "kinds": ["soup"], "drink": "bissap"})


def test_whole_journey_without_cookies_leaves_dish_photo_and_details() -> None:
    client = stranger()
    fourth = walk_to_photo(client)
    fifth = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "photo": upload(make_photo_bytes())})
    sixth = page(client, "/caption/", {"proof": tokens(fifth)["/caption/"], "caption": "A red rice", **TICKS})
    answers = {"name": "Awa", "year_of_birth": "١٩٩٠", "nationalities": "Senegal, Atlantis", "agree": "on"}
    last = page(client, "/about/", {"proof": tokens(sixth)["/about/"], **answers})
    dish = Dish.objects.get()
    assert (dish.local_name, dish.kinds, dish.drink, dish.state) == ("Jollof", ["soup"], "bissap", "waiting")
    assert [language.code for language in dish.languages.all()] == ["wol"]
    assert [row.continent for row in dish.continents.all()] == ["Africa"]
    assert dish.contributor is not None and dish.contributor.consent is not None
    photo = Photo.objects.get()
    assert (photo.state, photo.caption) == ("waiting", "A red rice")
    about = AboutYou.objects.get()
    assert (about.name, about.year_of_birth, about.nationalities_more) == ("Awa", 1990, "Atlantis")
    assert [country.code for country in about.nationalities.all()] == ["SEN"]
    assert "is kept" in last


def test_each_step_says_where_one_is() -> None:
    client = stranger()
    first = client.get("/describe/").content.decode()
    second = page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    third = page(client, "/dish/", {**ANSWERS, "proof": tokens(second)["/dish/"]})
    fourth = page(client, "/more/", {"proof": tokens(third)["/more/"], "skip": "1"})
    steps = ["1 of 4: before you start", "2 of 4: the dish", "3 of 4: more about it", "4 of 4: a photo"]
    assert [step in text for step, text in zip(steps, [first, second, third, fourth], strict=True)] == [True] * 4


def test_looking_at_pages_changes_nothing(client: Client) -> None:
    for address in ("/", "/describe/", "/leaderboard/", "/mine/", "/dish/", "/more/", "/photo/", "/another/"):
        assert client.get(address, follow=True).status_code == 200
    assert (Contributor.objects.count(), Submission.objects.count(), Dish.objects.count()) == (0, 0, 0)


def test_consent_is_recorded_with_the_text_that_was_shown() -> None:
    client = stranger()
    first = client.get("/describe/").content.decode()
    page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    contributor = Contributor.objects.get()
    assert contributor.consent is not None and contributor.consent_at is not None
    said = ConsentWording(contributor.consent, contributor.consent_opening).sentences
    assert all(sentence in first for sentence in said)
    assert len(said) <= 8 and "Kitchen Table Trust" in said[0] and "+233 20 000 0000" in said[-1]


@pytest.mark.parametrize("ticked", [{}, {"adult": "on"}, {"agree": "on"}])
def test_nobody_goes_on_without_both_ticks(ticked: dict[str, str]) -> None:
    client = stranger()
    first = client.get("/describe/").content.decode()
    text = page(client, "/describe/", {**ticked, "proof": tokens(first)["/describe/"]})
    assert "1 of 4" in text and 'class="error"' in text
    assert Contributor.objects.count() == 0


def test_receipt_shows_the_dish_name_and_a_number_that_checks() -> None:
    contributor = make_contributor()
    text = page(stranger(), "/dish/", dish_form(contributor, local_name="ثريد"))
    receipt = Submission.objects.get().receipt
    assert f"{receipt[:3]} {receipt[3:6]} {receipt[6:]}" in text
    assert '<bdi class="dish-name" dir="auto">ثريد</bdi>' in text


def test_every_later_step_can_be_skipped() -> None:
    client = stranger()
    third = page(client, "/dish/", dish_form(make_contributor()))
    fourth = page(client, "/more/", {"proof": tokens(third)["/more/"], "skip": "1"})
    last = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "skip": "1"})
    assert "Thank you" in last and Dish.objects.count() == 1 and Photo.objects.count() == 0


def test_photo_page_holds_one_file_input_and_no_typed_field() -> None:
    text = walk_to_photo(stranger())
    main = text[text.index("<main") : text.index("</main>")]
    assert main.count('type="file"') == 1
    assert 'type="text"' not in main and "<textarea" not in main


def test_going_on_without_the_photo_removes_it_again() -> None:
    client = stranger()
    fourth = walk_to_photo(client)
    fifth = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "photo": upload(make_photo_bytes())})
    last = page(client, "/caption/", {"proof": tokens(fifth)["/caption/"], "skip": "1"})
    assert "Thank you" in last and Photo.objects.count() == 0


def test_photo_without_all_confirmations_stays_a_draft() -> None:
    client = stranger()
    fourth = walk_to_photo(client)
    fifth = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "photo": upload(make_photo_bytes())})
    three = {**TICKS, "no_people": ""}
    text = page(client, "/caption/", {"proof": tokens(fifth)["/caption/"], "caption": "rice", **three})
    assert "in which somebody can be recognised is not kept" in text and ">\nrice</textarea>" in text
    assert Photo.objects.get().state == Photo.State.DRAFT


def test_another_dish_from_this_place_carries_place_and_language_only() -> None:
    client = stranger()
    third = page(client, "/dish/", dish_form(make_contributor()))
    fourth = page(client, "/more/", {"proof": tokens(third)["/more/"], "skip": "1"})
    last = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "skip": "1"})
    text = page(client, "/another/", {"proof": tokens(last)["/another/"], "place": "1"})
    assert 'value="Wolof"' in text and 'value="Senegal"' in text
    assert "Jollof" not in text and "tomatoes" not in text


def test_telling_more_a_second_time_keeps_the_former_words() -> None:
    client, contributor = stranger(), make_contributor()
    third = page(client, "/dish/", dish_form(contributor))
    token = tokens(third)["/more/"]
    for drink in ("tea", "tea", "coffee"):
        page(client, "/more/", {"proof": token, "drink": drink})
    assert Dish.objects.get().drink == "coffee"
    assert [change.before for change in DishChange.objects.order_by("pk")] == [{"drink": ""}, {"drink": "tea"}]


def test_details_are_kept_only_with_their_own_consent() -> None:
    client = stranger()
    fourth = walk_to_photo(client)
    last = page(client, "/photo/", {"proof": tokens(fourth)["/photo/"], "skip": "1"})
    text = page(client, "/about/", {"proof": tokens(last)["/about/"], "name": "Awa"})
    assert "Tick this if the project may keep it" in text and 'value="Awa"' in text
    assert AboutYou.objects.count() == 0
