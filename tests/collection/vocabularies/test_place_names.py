"""Countries and languages as a page in each language calls them, and a typed name is understood."""

import pytest
from django.conf import settings
from django.test import Client
from django.utils.translation import override

from collection.access.form_tokens import Proof
from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import Dish
from collection.text import fold_spelling, split_list
from collection.vocabularies import cldr, country_table
from collection.vocabularies.languages import code_for as language_code
from collection.vocabularies.languages import read_languages
from collection.vocabularies.languages import translate_language_name as language_named
from collection.vocabularies.places import all_names, all_places, code_for, translate_place_name
from evaluation.readers.countries import read_countries
from tests.collection.make import make_contributor, make_dish, page, stranger

pytestmark = pytest.mark.embedded

CODES = [code for code, _name in settings.LANGUAGES]
OTHERS = [code for code in CODES if code != "en"]


@pytest.mark.parametrize("language", CODES)
def test_every_name_that_a_page_offers_is_understood_as_that_place(language: str) -> None:
    with override(language):
        offered = {translate_place_name(place.code, place.name).text: place.code for place in all_places()}
    assert len(offered) == len(all_places())
    assert {name: code_for(name) for name in offered} == offered
    # What is offered in English is tried in test_reference.
    assert language == "en" or [name for name in offered if len(split_list(name)) != 1] == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_country_has_a_name_in_every_language(language: str) -> None:
    """Parts of a country that people name as theirs have English names only, and say that they are English."""
    with override(language):
        english = {place.code for place in all_places() if translate_place_name(place.code, "").language == "en"}
    assert {code for code in english if len(code) == 3 and not code.startswith("X")} == set()
    assert len(english) == 20


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("Côte d’Ivoire", "CIV"),
        ("ساحل العاج", "CIV"),
        ("नाइजीरिया", "NGA"),
        ("टोगो", "TGO"),
        ("टोंगा", "TON"),
        ("Nàìjíríà", "NGA"),
        ("Najeriya", "NGA"),
        ("Afrika Kusini", "ZAF"),
        ("Alemanha", "DEU"),
        ("Belanda", "NLD"),
        ("Congo", None),
    ],
)
def test_country_is_known_by_its_name_in_any_of_the_languages(typed: str, code: str | None) -> None:
    assert code_for(typed) == code


@pytest.mark.parametrize(("typed", "code"), [("Faransanci", "fra"), ("Bahasa Arab", "ara"), ("Kiyoruba", "yor")])
def test_language_is_known_by_its_name_in_any_of_the_languages(typed: str, code: str) -> None:
    assert language_code(typed) == code


@pytest.mark.parametrize(("one", "other"), [("टोगो", "टोंगा"), ("कोटा", "काटा"), ("ไทย", "ไทยี"), ("தமிழ்", "தமிழா")])
def test_vowel_signs_tell_words_apart(one: str, other: str) -> None:
    assert fold_spelling(one) != fold_spelling(other)


@pytest.mark.parametrize(("one", "other"), [("Òkè", "oke"), ("خُبْز", "خبز"), ("बाज़ार", "बाजार"), ("The Fufu!", "fufu")])
def test_accents_and_marks_that_people_leave_out_do_not(one: str, other: str) -> None:
    assert fold_spelling(one) == fold_spelling(other)


def test_unknown_place_and_language_stand_as_they_were_told() -> None:
    with override("ar"):
        assert translate_place_name(None, "The old valley") == ("The old valley", "")
        assert language_named("mis", "Our way") == ("Our way", "")


def test_form_offers_places_in_the_language_of_the_page_in_its_order() -> None:
    with override("es"):
        names = all_names()
    assert names.index("Alemania") < names.index("Brasil") < names.index("España") < names.index("Marruecos")


@pytest.mark.django_db
def test_pages_name_the_country_in_their_language_and_keep_the_contributors_words(client: Client) -> None:
    dish = make_dish("Tuwo", country="Naija", language="Hausa", state=Dish.State.ACCEPTED)
    update_leaderboard_counters([dish.pk])
    for address in ("/ar/leaderboard/", "/ar/dishes/", "/ar/dishes/?place=Nigeria"):
        text = client.get(address).content.decode()
        assert '<bdi dir="auto">نيجيريا</bdi>' in text, address
    own = client.get(f"/ar/dishes/{dish.number}/").content.decode()
    assert '<bdi dir="auto">Naija</bdi> · <bdi dir="auto">نيجيريا</bdi>' in own
    assert dish.places.get().name == "Naija"
    assert '<bdi dir="auto">Nigeria</bdi>' in client.get("/en/leaderboard/").content.decode()


@pytest.mark.django_db
def test_place_without_a_name_in_the_language_says_that_it_is_english(client: Client) -> None:
    dish = make_dish(country="Somaliland", state=Dish.State.ACCEPTED)
    update_leaderboard_counters([dish.pk])
    for address in ("/ar/leaderboard/", "/ar/dishes/"):
        assert '<bdi dir="auto" lang="en">Somaliland</bdi>' in client.get(address).content.decode()


@pytest.mark.django_db
def test_language_heard_for_the_first_time_is_named_in_the_language_of_the_page(client: Client) -> None:
    update_leaderboard_counters([make_dish(language="Wolof", state=Dish.State.ACCEPTED).pk])
    assert '<bdi dir="auto">الولوفية</bdi>' in client.get("/ar/leaderboard/").content.decode()
    assert '<bdi dir="auto">Wolof</bdi>' in client.get("/en/leaderboard/").content.decode()


@pytest.mark.django_db
def test_places_stand_in_the_order_of_the_pages_language(client: Client) -> None:
    for country in ("Germany", "Spain", "Morocco"):
        make_dish(country=country, state=Dish.State.ACCEPTED)
    text = client.get("/es/dishes/").content.decode()
    assert text.index("Alemania") < text.index("España") < text.index("Marruecos")


@pytest.mark.django_db
def test_country_chosen_in_arabic_is_kept_as_chosen_and_counted_as_the_country() -> None:
    client, contributor = stranger(), make_contributor()
    answers = {"local_name": "كسكس", "languages": "الدارجة", "places": "المغرب", "ingredients": "سميد"}
    page(client, "/ar/dish/", {**answers, "proof": Proof.new("dish", contributor.pk).token})
    place = Dish.objects.get().places.get()
    assert (place.name, place.country_id) == ("المغرب", "MAR")


def test_hand_made_names_are_only_those_that_cldr_has_otherwise() -> None:
    """A name written by hand that CLDR gives too would stay when CLDR changes."""
    own = [(row["code"], row["language"], row["name"]) for row in country_table.read_table("country_names.tsv")]
    own += [(row["code"], "en", row["name"]) for row in country_table.read_table("countries.tsv") if row["name"]]
    given = {
        (code, language): cldr.load_territory_names(language).get(cldr.find_territory(code))
        for code, language, _name in own
    }
    assert [(code, language) for code, language, name in own if given[code, language] == name] == []
    assert len(own) == 81
    copied = [
        (code, names)
        for code, names, listed in read_languages()
        if (name := cldr.load_language_names("en").get(listed)) and name in names
    ]
    assert copied == []


def test_reader_of_answers_knows_every_place_by_the_name_that_the_form_offers() -> None:
    assert {
        place.code for place in all_places() if read_countries(f"It is from {place.name}.").codes != (place.code,)
    } == set()


@pytest.mark.parametrize(("alias", "code"), [("Alba", "GB-SCT"), ("Lao", "LAO"), ("Mann", "IMN")])
def test_alias_that_is_a_word_within_sentences_is_understood_when_typed_only(alias: str, code: str) -> None:
    assert code_for(alias) == code
    assert read_countries(f"{alias} is what they say.").state == "no answer"
