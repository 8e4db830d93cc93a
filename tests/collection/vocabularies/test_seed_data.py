"""Countries, languages and consent texts that every database has."""

import pytest
from pytest_django import DjangoAssertNumQueries

from collection.models import ConsentText, Continent, Country
from collection.seed_data import load_reference
from collection.text import fold_spelling
from collection.vocabularies.languages import code_for as language_code
from collection.vocabularies.languages import names_by_code, split_languages
from collection.vocabularies.places import all_places, code_for, continents_of, countries_for, country_for

pytestmark = pytest.mark.embedded


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("Ivory Coast", "CIV"),
        ("côte d’ivoire", "CIV"),
        ("Burma", "MMR"),
        ("USA", "USA"),
        ("U.S.A.", "USA"),
        ("Turkey", "TUR"),
        ("the gambia", "GMB"),
        ("Viet Nam", "VNM"),
        ("भारत", "IND"),
        ("مصر", "EGY"),
        ("中国", "CHN"),
        ("England", "GB-ENG"),
        ("Zanzibar", "TZ-ZAN"),
        ("Congo-Kinshasa", "COD"),
        ("Atlantis", None),
        ("", None),
    ],
)
def test_country_is_known_by_the_names_people_use(typed: str, code: str | None) -> None:
    assert code_for(typed) == code


@pytest.mark.parametrize(
    ("name", "continents"),
    [
        ("Russia", ("Asia", "Europe")),
        ("Türkiye", ("Asia", "Europe")),
        ("Kazakhstan", ("Asia", "Europe")),
        ("Egypt", ("Africa", "Asia")),
        ("Nigeria", ("Africa",)),
    ],
)
@pytest.mark.django_db
def test_countries_between_continents_count_in_both(name: str, continents: tuple[str, ...]) -> None:
    country = country_for(name)
    assert country is not None
    assert continents_of([country, country]) == continents


def test_list_has_every_continent_and_no_spelling_of_two_places() -> None:
    places = all_places()
    assert {continent for place in places for continent in place.continents} == set(Continent.values)
    spellings = [(fold_spelling(name), place.code) for place in places for name in {place.name, *place.aliases}]
    codes: dict[str, set[str]] = {}
    for spelling, code in spellings:
        codes.setdefault(spelling, set()).add(code)
    assert {spelling: owners for spelling, owners in codes.items() if len(owners) > 1} == {}
    assert len([place for place in places if len(place.code) == 3]) == 250


def test_no_name_of_a_place_holds_a_comma_twice_split() -> None:
    with_comma = [place.name for place in all_places() if "," in place.name]
    assert with_comma == ["Saint Helena, Ascension and Tristan da Cunha"]


@pytest.mark.django_db
def test_loading_again_repairs_what_differs_and_adds_nothing() -> None:
    counts = Country.objects.count(), ConsentText.objects.count()
    Country.objects.filter(pk="GHA").update(continents=["Europe"])
    load_reference()
    assert (Country.objects.count(), ConsentText.objects.count()) == counts
    assert Country.objects.get(pk="GHA").continents == ["Africa"]


@pytest.mark.django_db
def test_several_names_are_looked_up_in_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        found = countries_for(["Ghana", "Atlantis", "Ivory Coast"])
    assert {name: country.pk for name, country in found.items()} == {"Ghana": "GHA", "Ivory Coast": "CIV"}


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("Yoruba", "yor"),
        ("yorùbá", "yor"),
        ("Kiswahili", "swa"),
        ("Darija", "ary"),
        ("Bahasa Indonesia", "ind"),
        ("हिन्दी", "hin"),
        ("العربية", "ara"),
        ("English language", "eng"),
        ("Pidgin", "pcm"),
        ("Martian", "mis"),
        ("", "mis"),
    ],
)
def test_language_is_matched_as_people_call_it(typed: str, code: str) -> None:
    assert language_code(typed) == code


def test_comma_in_brackets_does_not_separate_languages() -> None:
    assert split_languages("Yoruba (Oyo, Ibadan), Hausa") == [("Yoruba (Oyo, Ibadan)", "yor"), ("Hausa", "hau")]


def test_language_codes_are_iso_639_3() -> None:
    codes = names_by_code()
    assert len(codes) > 300
    assert all(len(code) == 3 and code.isascii() and code.islower() for code in codes)
