"""Ten languages: by the address, by the browser, without any cookie, and what was typed stays."""

import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.utils.translation import get_language, ngettext, override

from collection.models import Dish
from tests.collection.make import ANSWERS, CONSENT, stranger, tokens
from tests.collection.make import page as posted
from wwd.base.languages import (
    add_language_context,
    choose_language,
    list_languages,
    offer_languages,
    split_language,
)
from wwd.message_catalogues import list_texts, list_untranslated_texts

CODES = [code for code, _name in settings.LANGUAGES]
OTHERS = [code for code in CODES if code != "en"]


def page(client: Client, path: str, **headers: str) -> str:
    response = client.get(path, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("code", CODES)
def test_an_address_with_a_language_keeps_it_in_every_link_and_form(code: str, client: Client, db: None) -> None:
    text = page(client, f"/{code}/", **{"Accept-Language": "de"})
    assert f'<html lang="{code}" dir="{"rtl" if code == "ar" else "ltr"}">' in text
    own = re.findall(r'(?:href|action)="(/[^"]*)"', text)
    languages = {f"/{other}/" for other in CODES}
    assert own and all(path.startswith((f"/{code}/", "/static/")) or path in languages for path in own)


def test_the_browser_chooses_where_the_address_does_not(client: Client, db: None) -> None:
    response = client.get("/", headers={"Accept-Language": "sw-TZ, en;q=0.5"})
    assert response.headers["Content-Language"] == "sw"
    assert "Accept-Language" in response.headers["Vary"]
    assert client.get("/", headers={"Accept-Language": "xx"}).headers["Content-Language"] == "en"
    fixed = client.get("/en/", headers={"Accept-Language": "sw"})
    assert fixed.headers["Content-Language"] == "en"
    assert "Accept-Language" not in fixed.headers.get("Vary", "")


@pytest.mark.parametrize("path", ["/fr/admin/", "/fr/healthz", "/fr/review/x/", "/fr/static/site.css", "/xx/", "/xx"])
def test_other_addresses_have_no_language(path: str, client: Client, db: None) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("/ha", "/ha/"),
        ("/AR", "/ar/"),
        ("/AR/", "/ar/"),
        ("/Describe/", "/describe/"),
        ("/describe", "/describe/"),
        ("/FR/Leaderboard", "/fr/leaderboard/"),
        ("/Fr/dishes/?country=Ghana", "/fr/dishes/?country=Ghana"),
    ],
)
def test_an_address_without_its_slash_or_in_capitals_leads_where_it_was_meant(
    written: str, meant: str, client: Client, db: None
) -> None:
    for send in (client.get, client.head):
        response = send(written)
        assert (response.status_code, response.headers["Location"]) == (301, meant)
    assert client.get(meant).status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/ha", "/\\evil.example/HA", "//EVIL.example/DISHES/", "/nothing"])
def test_no_address_leads_to_another_host_or_in_a_circle(path: str, client: Client, db: None) -> None:
    response = client.get("/", PATH_INFO=path)
    assert response.status_code == 404 or not response.headers["Location"].startswith(("//", "/\\"))


@pytest.mark.parametrize(
    ("asked", "given"),
    [("in", "id"), ("in-ID, en;q=0.5", "id"), ("ary,fr;q=0.8", "ar"), ("swh-KE", "sw"), ("IN", "id")],
)
def test_other_codes_of_a_language_are_known(asked: str, given: str, client: Client, db: None) -> None:
    response = client.get("/", headers={"Accept-Language": asked})
    assert response.headers["Content-Language"] == given


@pytest.mark.parametrize(
    ("address", "asked", "chosen"),
    [
        ("fr", "ar", "fr"),
        ("", "pt-BR, fr;q=0.9", "fr"),
        ("", "*, fr;q=0.5", "fr"),
        ("ha", "ary;q=0.5, hi", "ar"),
        ("", "xx", "en"),
        ("", "", "en"),
    ],
)
def test_one_choice_serves_every_part_of_the_site(address: str, asked: str, chosen: str) -> None:
    """The address first, then the browser, then English, among the languages that this part has."""
    request = RequestFactory().get("/", headers={"Accept-Language": asked})
    if address:
        request.chosen_language = address  # type: ignore[attr-defined]
    assert choose_language(request, {"en", "ar", "fr"}) == chosen
    with offer_languages(request, [each for each in list_languages() if each.code in ("en", "ar", "fr")]):
        assert get_language() == request.LANGUAGE_CODE == chosen
        assert [each.code for each in add_language_context(request)["all_languages"]] == ["en", "ar", "fr"]


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/fr/", ("fr", "/")),
        ("/fr/dish/", ("fr", "/dish/")),
        ("/fr/fr/", ("fr", "/fr/")),
        ("/french/", ("", "/french/")),
        ("/fr/admin/x", ("", "/fr/admin/x")),
        ("//fr/", ("", "//fr/")),
    ],
)
def test_a_language_is_taken_off_an_address_once(path: str, parts: tuple[str, str]) -> None:
    assert split_language(path) == parts


def test_staff_read_english_whatever_their_browser_asks(admin_client: Client, admin_user: User) -> None:
    response = admin_client.get("/admin/", headers={"Accept-Language": "fr"})
    assert response.headers["Content-Language"] == "en"


def test_another_language_in_the_middle_of_a_dish_keeps_the_typing_and_stores_nothing(db: None) -> None:
    client = stranger()
    first = client.get("/describe/").content.decode()
    second = posted(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    typed = {**ANSWERS, "local_name": "مقلوبة"}
    third = posted(client, "/ar/dish/", {**typed, "proof": tokens(second)["/dish/"], "speak": "new"})
    assert '<html lang="ar" dir="rtl">' in third
    assert 'value="مقلوبة"' in third
    assert not Dish.objects.exists()
    fourth = posted(client, "/ar/dish/", {**typed, "proof": tokens(third)["/ar/dish/"]})
    assert Dish.objects.get().local_name == "مقلوبة"
    fifth = posted(client, "/ar/more/", {"drink": "شاي", "proof": tokens(fourth)["/ar/more/"], "speak": "more"})
    assert 'value="شاي"' in fifth
    assert Dish.objects.get().drink == ""


@pytest.mark.parametrize("code", OTHERS)
def test_no_text_of_the_public_pages_is_untranslated(code: str) -> None:
    """Mended by: python script/messages.py, and then the words."""
    assert list_untranslated_texts(code) == ()


@pytest.mark.parametrize("code", OTHERS)
def test_placeholders_survive_translation(code: str) -> None:
    import gettext

    found = gettext.translation("django", settings.LOCALE_PATHS[0], [code])
    holes = re.compile(r"%\(\w+\)[sd]|\{\w+\}|</?\w+[^>]*>")
    for text in list_texts(code):
        said = (
            [found.ngettext(text.one, text.several, n) for n in range(12)]
            if text.several
            else [found.gettext(text.one)]
        )
        for one in said:
            assert sorted(set(holes.findall(one))) <= sorted(set(holes.findall(text.one + text.several))), (text, one)
            if not text.several:
                assert sorted(holes.findall(one)) == sorted(holes.findall(text.one)), (text, one)


@pytest.mark.parametrize(
    ("number", "form"), [(0, 0), (1, 1), (2, 2), (3, 3), (10, 3), (11, 4), (99, 4), (100, 5), (103, 3)]
)
def test_arabic_has_six_plurals(number: int, form: int) -> None:
    import gettext

    found = gettext.translation("django", settings.LOCALE_PATHS[0], ["ar"])
    catalogue = found._catalog  # type: ignore[attr-defined]
    assert found.ngettext("%(number)s dish", "%(number)s dishes", number) == catalogue["%(number)s dish", form]


@pytest.mark.parametrize(
    ("number", "said"),
    [
        *((0, "0 طبق"), (1, "طبق واحد"), (2, "طبقان"), (3, "3 أطباق"), (10, "10 أطباق"), (11, "11 طبقًا")),
        *((99, "99 طبقًا"), (100, "100 طبق"), (102, "102 طبق"), (103, "103 أطباق")),
    ],
)
def test_arabic_counts_dishes_as_people_do(number: int, said: str) -> None:
    with override("ar"):
        text = ngettext("%(number)s dish", "%(number)s dishes", number) % {"number": number}
    assert text == said


def test_a_draft_says_so_and_names_a_way_to_help(client: Client, db: None) -> None:
    text = page(client, "/ha/")
    assert 'href="/ha/translation/"' in text
    assert page(client, "/ha/translation/")
    assert "/translation/" not in page(client, "/en/")
