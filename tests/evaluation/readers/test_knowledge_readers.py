"""Readers of answers about dishes: real-looking answers with what is expected of them, and hostile ones."""

import ast
import builtins
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.readers import hostile
from collection.vocabularies.places import all_places
from evaluation.readers import countries, ingredients, lists
from evaluation.readers.choice import State
from evaluation.readers.countries import (
    countries_in,
    find_exact_country,
    is_country_correct,
    read_countries,
    same_place,
)
from evaluation.readers.ingredients import ingredients_in, normal_form, read_ingredients
from evaluation.readers.lists import MOST_ITEMS, read_list, read_options
from evaluation.studies.knowledge.fields import OPTIONS

STATES = ("answered", "ambiguous", "no answer", "failed")

COUNTRIES: list[tuple[str, State, str]] = [
    ("Nigeria", "answered", "NGA"),
    ("Nigeria.", "answered", "NGA"),
    ("  nigeria\n", "answered", "NGA"),
    ("**Nigeria**", "answered", "NGA"),
    ("`China`", "answered", "CHN"),
    ("The Gambia.", "answered", "GMB"),
    ("the Netherlands", "answered", "NLD"),
    ("U.S.A.", "answered", "USA"),
    ("The United States", "answered", "USA"),
    ("United States of America (USA)", "answered", "USA"),
    ("It is eaten in the US and Canada.", "answered", "USA CAN"),
    ("UK", "answered", "GBR"),
    ("Cote d'Ivoire", "answered", "CIV"),
    ("Côte d’Ivoire", "answered", "CIV"),
    ("Ivory Coast", "answered", "CIV"),
    ("Zaire", "answered", "COD"),
    ("Burma", "answered", "MMR"),
    ("Myanmar (Burma)", "answered", "MMR"),
    ("Ceylon", "answered", "LKA"),
    ("Persia", "answered", "IRN"),
    ("Siam", "answered", "THA"),
    ("Swaziland", "answered", "SWZ"),
    ("Upper Volta", "answered", "BFA"),
    ("Abyssinia", "answered", "ETH"),
    ("Rhodesia", "answered", "ZWE"),
    ("Czech Republic", "answered", "CZE"),
    ("Turkey", "answered", "TUR"),
    ("Türkiye", "answered", "TUR"),
    ("سودان", "answered", "SDN"),
    ("الجزائر", "answered", "DZA"),
    ("日本", "answered", "JPN"),
    ("これは日本の料理です。", "answered", "JPN"),
    ("भारत", "answered", "IND"),
    ("Россия", "answered", "RUS"),
    ("Estados Unidos", "answered", "USA"),
    ("Afrique du Sud", "answered", "ZAF"),
    ("Deutschland", "answered", "DEU"),
    ("Korea", "answered", "KOR|PRK"),
    ("Congo.", "answered", "COG|COD"),
    ("DR Congo", "answered", "COD"),
    ("Democratic Republic of Congo.", "answered", "COD"),
    ("Republic of the Congo", "answered", "COG"),
    ("Congo (the Democratic Republic of the Congo)", "answered", "COD"),
    ("Guinea-Bissau", "answered", "GNB"),
    ("Papua New Guinea", "answered", "PNG"),
    ("Louisiana", "answered", "USA"),
    ("Cornwall", "answered", "GB-ENG"),
    ("Wales.", "answered", "GB-WLS"),
    ("Zanzibar", "answered", "TZ-ZAN"),
    ("Nigeria, Ghana", "answered", "NGA GHA"),
    ("Nigeria and Ghana", "answered", "NGA GHA"),
    ("Nigeria/Cameroon", "answered", "NGA CMR"),
    ("Syria, Lebanon & Jordan", "answered", "SYR LBN JOR"),
    ("Nigeria or Ghana", "ambiguous", ""),
    ("Either Peru or Bolivia.", "ambiguous", ""),
    ("Various countries such as Nigeria, Ghana, India, and Brazil prepare it.", "ambiguous", ""),
    ("Many countries, including Greece, Turkey and Australia.", "ambiguous", ""),
    ("It is associated with Spain, China, and Brazil, among other countries.", "ambiguous", ""),
    ("Algeria, Morocco, Tunisia, Libya, Egypt, Sudan", "ambiguous", ""),
    ("This dish is from Kenya.", "answered", "KEN"),
    ("The country of origin is Togo.", "answered", "TGO"),
    ("It originates from the Philippines, where it is eaten at Christmas.", "answered", "PHL"),
    ("It is a Nigerian dish.", "answered", "NGA"),
    ("A popular Japanese snack!", "answered", "JPN"),
    ("It is common in South African cuisine.", "answered", "ZAF"),
    ("Filipinos eat it for breakfast.", "answered", "PHL"),
    ("It is a Japanese noodle dish from Vietnam.", "ambiguous", ""),
    ("It is not from Nigeria but from Ghana.", "answered", "GHA"),
    ("Not Kenya, but Uganda.", "answered", "UGA"),
    ("It isn't a traditional dish of Vietnam.", "no answer", ""),
    ("It is not known in Nigeria.", "no answer", ""),
    ("It resembles Italian lasagna, but it is Egyptian.", "answered", "EGY"),
    ("A stew similar to Hungarian goulash, eaten in Austria.", "answered", "AUT"),
    ("I'm not sure, but it may be from Eritrea.", "answered", "ERI"),
    ("Is it from Nigeria?", "no answer", ""),
    ("Unknown", "no answer", ""),
    ("I don't know.", "no answer", ""),
    ("I'm sorry, but this is not a known dish from any country.", "no answer", ""),
    ("There is no specific country associated with it.", "no answer", ""),
    ("Africa", "no answer", ""),
    ("Middle East", "no answer", ""),
    ("West Africa.", "no answer", ""),
    ("Latin American countries", "no answer", ""),
    ("Middle East (specifically Lebanon and Syria)", "answered", "LBN SYR"),
    ("Azuria.", "no answer", ""),
    ("It is made with turkey and brazil nuts.", "no answer", ""),
    ("Guinea fowl is stewed with Irish potatoes.", "no answer", ""),
    ("They tell us that china plates are used.", "no answer", ""),
    ("", "no answer", ""),
    ("   \n\t", "no answer", ""),
    ("???", "no answer", ""),
    ("Error: 503 Service Unavailable", "failed", ""),
    ("<html>Bad gateway</html>", "failed", ""),
    ("<think>Nigeria? Ghana?</think>Benin", "answered", "BEN"),
    ('{"country": "Mali"}', "answered", "MLI"),
    ('["Niger"]', "answered", "NER"),
    ("1. Chad", "answered", "TCD"),
    ("Georgia", "answered", "GEO"),
    ("New Mexico", "answered", "USA"),
    ("ｋｅｎｙａ", "answered", "KEN"),
]

LISTS: list[tuple[str, State, str]] = [
    ('["rice", "beans"]', "answered", "rice|beans"),
    ("['rice', 'beans']", "answered", "rice|beans"),
    ("['rice', 'beans',]", "answered", "rice|beans"),
    ("['Shepherd's pie', 'peas']", "answered", "Shepherd's pie|peas"),
    ("['Shepherd\\'s pie']", "answered", "Shepherd's pie"),
    ("[\"baker's yeast\", 'rock 'n' roll sugar']", "answered", "baker's yeast|rock 'n' roll sugar"),
    ("[‘rice’, ‘beans’]", "answered", "rice|beans"),
    ("[rice, beans, salt (coarse, grey)]", "answered", "rice|beans|salt (coarse, grey)"),
    ("['rice' 'beans']", "answered", "rice' 'beans"),
    ("['rice', ['beans', 'peas'], 'salt']", "answered", "rice|beans|peas|salt"),
    ("['rice', 'rice', 'Rice']", "answered", "rice"),
    ("['rice', '', ' ']", "answered", "rice"),
    ("['rice', 'beans'", "answered", "rice|beans"),
    ("('rice', 'beans')", "answered", "rice|beans"),
    ("{'rice', 'beans'}", "answered", "rice|beans"),
    ('{"ingredients": ["rice", "beans"]}', "answered", "rice|beans"),
    ('[{"name": "rice", "amount": "1 cup"}, {"name": "beans"}]', "answered", "rice|beans"),
    ('```python\n["rice", "beans"]\n```', "answered", "rice|beans"),
    ('Here is the list:\n\n["rice", "beans"]\n\nEnjoy!', "answered", "rice|beans"),
    ('["caf\\u00e9", "\\"palm\\" oil"]', "answered", 'café|"palm" oil'),
    ("- rice\n- beans\n- salt", "answered", "rice|beans|salt"),
    ("* Rice\n* Beans", "answered", "Rice|Beans"),
    ("• rice\n• beans (black)", "answered", "rice|beans"),
    ("1. Rice\n2. Beans\n3. Palm oil", "answered", "Rice|Beans|Palm oil"),
    ("1) **Rice** – the base\n2) **Beans**: for protein", "answered", "Rice|Beans"),
    ("The ingredients are:\n1. rice\n2. beans", "answered", "rice|beans"),
    ("rice, beans and salt", "answered", "rice|beans|salt"),
    ("Rice; beans; salt", "answered", "Rice|beans|salt"),
    ("It is usually made with rice, beans, and palm oil.", "answered", "rice|beans|palm oil"),
    ("Ingredients: rice, beans", "answered", "rice|beans"),
    ("rice", "answered", "rice"),
    ("['Dried beef (seca), cornmeal, onion, garlic']", "answered", "Dried beef (seca)|cornmeal|onion|garlic"),
    ("[]", "no answer", ""),
    ("", "no answer", ""),
    ("I'm sorry, I don't know this dish.", "no answer", ""),
    ("It is a dish that people cook at home when guests come.", "no answer", ""),
    ("HTTP 500 Internal Server Error", "failed", ""),
    ("__import__('os').system('rm -rf /')", "answered", "import('os').system('rm -rf /')"),
]  # fmt: skip

CHOSEN: list[tuple[str, str, State, str]] = [
    ("time_of_day", "['lunch', 'dinner']", "answered", "lunch dinner"),
    ("time_of_day", '["Dinner", "lunch"]', "answered", "lunch dinner"),
    ("time_of_day", "Lunch and dinner.", "answered", "lunch dinner"),
    ("time_of_day", "It is eaten at any time of the day.", "answered", "anytime"),
    ("time_of_day", "Usually for supper, never for breakfast.", "answered", "dinner"),
    ("time_of_day", "It is not eaten for breakfast.", "no answer", ""),
    ("time_of_day", "['other (please elaborate)']", "no answer", ""),
    ("time_of_day", "I don't know.", "no answer", ""),
    ("time_of_day", "- breakfast\n- snack", "answered", "breakfast snack"),
    ("type_of_dish", "['Main dish - stand alone (e.g. one pot meal)']", "answered", "main_alone"),
    ("type_of_dish", "['Main dish - eaten with sides', 'Side dish']", "answered", "side_dish main_sides"),
    ("type_of_dish", "['side_dish']", "answered", "side_dish"),
    ("type_of_dish", "Soup", "answered", "soup"),
    ("type_of_dish", "['Small plate / bowl served as a part of a collection']", "answered", "small_collection"),
    ("type_of_dish", '["Small plate / bowl for sharing", "Dessert"]', "answered", "small_shared dessert"),
    ("type_of_dish", "A main dish.", "no answer", ""),
    ("utensils", "['Fingers', 'Right Hand']", "answered", "hand"),
    ("utensils", "['Spoon', 'Fork', 'Knife']", "answered", "knife fork spoon"),
    ("utensils", "Chopsticks", "answered", "chopsticks"),
    ("utensils", "People eat it with their hands rather than with a spoon.", "answered", "hand"),
    ("utensils", "['Other food', 'Other']", "no answer", ""),
    ("utensils", "Error: timeout", "failed", ""),
]


@pytest.mark.parametrize(("text", "state", "codes"), COUNTRIES)
def test_countries(text: str, state: State, codes: str) -> None:
    found = read_countries(text)
    assert (found.state, found.codes) == (state, tuple(code.replace("|", " ") for code in codes.split()))


@pytest.mark.parametrize(("text", "state", "items"), LISTS)
def test_lists(text: str, state: State, items: str) -> None:
    found = read_list(text)
    assert (found.state, "|".join(found.items)) == (state, items)


@pytest.mark.parametrize(("field", "text", "state", "codes"), CHOSEN)
def test_options(field: str, text: str, state: State, codes: str) -> None:
    found = read_options(text, OPTIONS[field])
    assert (found.state, " ".join(found.items)) == (state, codes)


def test_there_are_more_than_a_hundred_answers() -> None:
    assert len(COUNTRIES) + len(LISTS) + len(CHOSEN) > 150
    assert {state for _, state, _ in COUNTRIES} == set(STATES)


def test_words_of_the_dishs_own_name_do_not_count() -> None:
    assert read_countries("Turkish delight is from Greece.").state == "ambiguous"
    assert read_countries("`Turkish delight` is from Greece.", "Turkish delight").codes == ("GRC",)
    assert read_countries("I do not know Spanish rice.", "Spanish rice").state == "no answer"


def test_every_country_of_the_list_is_read_by_each_of_its_names() -> None:
    wrong = []
    for place in all_places():
        for name in (place.name, *place.aliases):
            found = find_exact_country(name)
            if found and not same_place(found, place.code):
                wrong.append((name, found, place.code))
        assert find_exact_country(place.name) == place.code
    assert wrong == []


@pytest.mark.parametrize(
    ("answer", "truth", "same"),
    [
        ("Tanzania", "Zanzibar, Kenya", True),
        ("England", "United Kingdom (UK)", True),
        ("Wales", "England", False),
        ("Spain", "Spain, Catalonia", True),
        ("Korea", "Russia, North Korea", True),
        ("South Korea", "Russia, North Korea", False),
        ("Congo", "Democratic Republic of the Congo", True),
        ("Tunisia", "Algeria", False),
        ("Denmark", "Netherlands", False),
        ("Myanmar", "Burma, India, Myanmar", True),
        ("China", "China, Taiwan", True),
        ("Hong Kong", "China", False),
        ("Ghana, Nigeria", "Nigeria, Togo, Benin, Côte d'Ivoire", True),
        ("Middle East", "Egypt", False),
    ],
)
def test_an_answer_is_right_where_it_names_one_of_the_dishs_countries(answer: str, truth: str, same: bool) -> None:
    assert is_country_correct(read_countries(answer).codes, countries_in(truth)) is same


def test_countries_of_a_dish_are_all_read() -> None:
    truth = "Algeria, Egypt, Lebanon, Palestine, Saudi Arabia, Sudan, Syrian Arab Republic, United Arab Emirates"
    assert countries_in(truth) == ("DZA", "EGY", "LBN", "PSE", "SAU", "SDN", "SYR", "ARE")
    assert countries_in("Burma, Myanmar") == ("MMR",)
    assert countries_in("Sint Maarten (Dutch part)") == ("SXM",)


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("Onions", "onion"),
        ("2 cups of finely chopped red onions", "onion"),
        ("fresh tomatoes (ripe)", "tomato"),
        ("Aubergine", "eggplant"),
        ("Groundnuts", "peanut"),
        ("ground pepper", "black pepper"),
        ("prawns", "shrimp"),
        ("Bay leaves", "bay leaf"),
        ("couscous", "couscous"),
        ("Mbongo", "mbongo"),
        ("garri", "gari"),
        ("crème fraîche", "creme fraiche"),
        ("3", ""),
        ("الزيت", "الزيت"),
    ],
)
def test_normal_forms_of_ingredients(written: str, form: str) -> None:
    assert normal_form(ingredients.PARENTHESES.sub("", written)) == form


def test_ingredients_are_compared_by_normal_form_and_alias() -> None:
    answer = read_ingredients("['Garri', 'Groundnuts', 'Salt and pepper', 'Onions (optional)']")
    assert answer.names == {"gari", "peanut", "salt", "black pepper", "onion"}
    assert ingredients_in("gari; peanuts,\nred onion, salt") == {"gari", "peanut", "onion", "salt"}
    assert read_ingredients("I apologize, this is not a real dish.").state == "no answer"


def test_lists_have_a_limit_of_items_and_of_depth() -> None:
    assert len(read_list(str([f"item {number}" for number in range(5000)])).items) == MOST_ITEMS
    assert read_list("[" * 5000 + "'rice'" + "]" * 5000).items == ("rice",)
    assert read_list('[{"a":' * 2000).state in STATES
    assert read_list("['" + "x" * 100_000 + "']").state in STATES


def read_everything(text: str) -> None:
    states = [read_countries(text, text[:40]).state, read_list(text).state, read_ingredients(text).state]
    states += [read_options(text, options).state for options in OPTIONS.values()]
    assert set(states) <= set(STATES)
    countries_in(text)
    ingredients_in(text)


def test_hostile_answers_neither_raise_nor_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 9,500 strings after these, and how long each takes, are read by `python -m bench.readers`."""

    def forbidden(*_: Any) -> NoReturn:
        raise AssertionError("an answer was executed")

    texts = list(hostile(500))
    for name in ("eval", "exec"):
        monkeypatch.setattr(builtins, name, forbidden)
    for text in texts:
        read_everything(text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    read_everything(text)


def test_no_reader_can_execute_what_it_reads() -> None:
    folder = Path(countries.__file__).parent
    nodes = (node for path in folder.glob("*.py") for node in ast.walk(ast.parse(path.read_text())))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    assert names.isdisjoint({"eval", "exec", "compile", "__import__", "literal_eval", "pickle"})
    assert not hasattr(lists, "ast")
