"""Look-alike letters are shown to stewards; people who write with digits or Latin letters are left alone."""

import pytest
from django.test import Client

from collection.models import Dish
from collection.text_confusables import mixes_confusable_letters
from tests.collection.make import dish_form, make_contributor, make_dish, make_steward, page, stranger


@pytest.mark.parametrize(
    "name",
    [
        "Jоllof",  # Cyrillic о
        "Pаеlla",  # Cyrillic а, е
        "Ρizza",  # Greek Rho
        "bοrshch",  # Greek omicron
        "Сoca-Сola",  # Cyrillic С
        "tofս",  # Armenian seh
        "Борщ Bорщ",  # Latin B
        "hummus ѕаlаd",
    ],
)
def test_words_that_mix_look_alike_letters_are_flagged(name: str) -> None:
    assert mixes_confusable_letters(name)


@pytest.mark.parametrize(
    "name",
    [
        "3aseeda",
        "7alawa",
        "ma7shi 2ar3",
        "Jollof",
        "Jollof رز",
        "खिचड़ी khichdi",
        "Борщ (borshch)",
        "Μουσακάς mousaka",
        "Àmàlà",
        "ʻOta ʻika",
        "Phở bò",
        "寿司 sushi",
        "ᐸᓚᐅᒑᖅ",
        "Հարիսա harisa",
        "C'est bon",
        "",
        "１２３",
    ],
)
def test_arabizi_and_latin_letters_beside_other_scripts_are_not_flagged(name: str) -> None:
    assert not mixes_confusable_letters(name)


@pytest.mark.django_db
def test_flagged_names_are_kept_and_stewards_find_them(client: Client) -> None:
    page(stranger(), "/dish/", dish_form(make_contributor(), local_name="Jоllof"))
    make_dish("Thieb")
    assert [dish.mixed_letters for dish in Dish.objects.order_by("pk")] == [True, False]
    client.force_login(make_steward("view_dish"))
    listed = client.get("/admin/collection/dish/", {"mixed_letters__exact": "1"}).content.decode()
    assert "Jоllof" in listed and "Thieb" not in listed


@pytest.mark.django_db
def test_corrected_name_loses_its_flag() -> None:
    dish = make_dish("Jоllof")
    dish.local_name = "Jollof"
    dish.save()
    assert not Dish.objects.get().mixed_letters
