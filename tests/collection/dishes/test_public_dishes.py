"""Pages of accepted dishes: by country, small, in their own direction, without anything personal."""

import html
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from collection.dishes.browse import PER_PAGE
from collection.models import AboutYou, Contributor, Dish, Photo, Report, Source, Submission
from tests.collection.make import make_contributor, make_dish, make_photo

pytestmark = pytest.mark.django_db


def accepted(name: str = "Jollof", **more: Any) -> Dish:
    return make_dish(name, state=Dish.State.ACCEPTED, **more)


def text_of(client: Client, address: str, **query: str) -> str:
    response = client.get(address, query)
    assert response.status_code == 200
    return response.content.decode()


def test_dish_page_shows_its_name_in_its_own_script_and_what_was_told(client: Client) -> None:
    dish = accepted("ثريد", country="Iraq", language="Arabic", drink="شاي", kinds=["soup"], occasions="both")
    text = text_of(client, f"/dishes/{dish.number}/")
    assert '<h1><bdi class="dish-name" dir="auto">ثريد</bdi></h1>' in text
    for words in ("Iraq", "Arabic", "شاي", "Soup", "Both"):
        assert words in text
    assert "More about when" not in text


@pytest.mark.parametrize("state", ["waiting", "hidden", "rejected", "withdrawn"])
def test_only_accepted_dishes_have_a_page_and_stand_in_lists(client: Client, state: str) -> None:
    dish = make_dish("Secret stew", state=state)
    assert client.get(f"/dishes/{dish.number}/").status_code == 404
    assert "Senegal" not in text_of(client, "/dishes/")
    assert client.get("/dishes/", {"place": "Senegal"}).status_code == 404


def test_merged_dish_has_no_page_of_its_own(client: Client) -> None:
    dish, kept = accepted("Jolof"), accepted()
    Dish.objects.filter(pk=dish.pk).update(merged_into=kept)
    assert client.get(f"/dishes/{dish.number}/").status_code == 404


def test_demonstration_dishes_say_so_wherever_they_are_shown(client: Client) -> None:
    dish = accepted(source=Source.DEMONSTRATION)
    for address, query in ((f"/dishes/{dish.number}/", {}), ("/dishes/", {"place": "Senegal"})):
        assert 'class="demonstration">demonstration<' in text_of(client, address, **query)


@pytest.mark.parametrize(
    ("state", "shown"),
    [("accepted", True), ("waiting", False), ("draft", False), ("hidden", False), ("rejected", False)],
)
def test_only_accepted_photos_stand_on_the_page(client: Client, state: str, shown: bool) -> None:
    photo = make_photo(accepted(), state)
    text = text_of(client, f"/dishes/{photo.dish.number}/")
    assert (f'src="/{photo.thumbnail}"' in text) is shown
    assert (f"/pictures/{photo.pk}/report/" in text) is shown


def test_dish_and_every_image_can_be_reported_from_the_page(client: Client) -> None:
    dish = accepted()
    photos = [make_photo(dish, Photo.State.ACCEPTED) for _ in range(2)]
    text = text_of(client, f"/dishes/{dish.number}/")
    assert f"/dishes/{dish.number}/report/" in text
    assert all(f"/pictures/{photo.pk}/report/" in text for photo in photos)


def test_lists_go_by_country_and_are_paged(client: Client) -> None:
    for number in range(PER_PAGE + 1):
        accepted(f"Dish {number:02d}")
    accepted("Injera", country="Ethiopia")
    assert text_of(client, "/dishes/").index("Ethiopia") < text_of(client, "/dishes/").index("Senegal")
    first, second = (text_of(client, "/dishes/", place="Senegal", page=page) for page in ("1", "2"))
    assert "Dish 00" in first and "Dish 40" not in first and "Injera" not in first
    assert "Dish 40" in second and "page 2 of 2" in second
    assert text_of(client, "/dishes/", place="Senegal", page="99") == text_of(
        client, "/dishes/", place="Senegal", page="2"
    )


def test_place_outside_the_list_stands_under_the_name_it_was_given(client: Client) -> None:
    accepted(country="The old valley & co")
    listed = text_of(client, "/dishes/")
    assert "place=The%20old%20valley%20%26%20co" in listed
    assert "Jollof" in text_of(client, "/dishes/", place="The old valley & co")


@pytest.mark.parametrize("page", ["0", "-1", "abc", "1e9", "9" * 40, "\0"])
def test_odd_page_numbers_show_a_page(client: Client, page: str) -> None:
    accepted()
    assert "Jollof" in text_of(client, "/dishes/", place="Senegal", page=page)


@pytest.mark.parametrize("place", ["Atlantis", "\0", "'; --", "x" * 5_000, "%"])
def test_places_without_dishes_are_404(client: Client, place: str) -> None:
    accepted()
    expected = 200 if place == "\0" else 404
    assert client.get("/dishes/", {"place": place}).status_code == expected


@pytest.mark.parametrize("number", ["0", "99999999999999999999999999", "x", "-1"])
def test_numbers_without_a_dish_are_404(client: Client, number: str) -> None:
    assert client.get(f"/dishes/{number}/").status_code == 404


def test_nothing_personal_is_on_public_pages_but_the_chosen_name(client: Client) -> None:
    contributor = make_contributor()
    AboutYou.objects.create(contributor=contributor, agreed_at=timezone.now(), name="Awa Diop", email="a@b.sn")
    dish = make_dish(state=Dish.State.ACCEPTED, contributor=contributor)
    address = f"/dishes/{dish.number}/"
    assert "Told by" not in text_of(client, address)
    Contributor.objects.update(alias="Tata Awa")
    text = text_of(client, address)
    assert "Tata Awa" in text and "Awa Diop" not in text and "a@b.sn" not in text
    assert str(contributor.pk) not in text and contributor.pk.hex not in text


def test_hostile_words_are_only_text(client: Client) -> None:
    name = "<script>alert(1)</script>"
    dish = accepted(name, more_details=name)
    text = text_of(client, f"/dishes/{dish.number}/")
    assert html.escape(name) in text and "<script>alert" not in text


def test_looking_changes_nothing(client: Client) -> None:
    dish = accepted()
    for address in ("/dishes/", f"/dishes/{dish.number}/", f"/dishes/{dish.number}/report/", "/ingredients/?q=ri"):
        assert client.get(address).status_code == 200
        assert client.head(address).status_code == 200
    assert Report.objects.count() == Submission.objects.count() == 0


@pytest.mark.parametrize("address", ["/dishes/", "/dishes/10001/"])
@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_public_pages_take_nothing(client: Client, address: str, method: str) -> None:
    assert getattr(client, method)(address).status_code == 405


def test_empty_collection_says_so(client: Client) -> None:
    assert "Yours can be the first" in text_of(client, "/dishes/")
