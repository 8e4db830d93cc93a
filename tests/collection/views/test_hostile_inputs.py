"""Hostile inputs: each gets its sentence, the typing stays, nothing is stored, nothing fails in the server."""

import html
import uuid
from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client

from collection.access.form_tokens import Proof
from collection.models import AboutYou, Dish, Photo, Submission
from tests.collection.make import (
    TICKS,
    dish_form,
    make_contributor,
    make_dish,
    make_photo,
    page,
    stranger,
)
from tests.collection.photos.test_photos import HOSTILE

pytestmark = pytest.mark.django_db

HIDDEN = "turns the direction of writing"
UNSHOWN = "a sign that cannot be shown"
MARKS = "too many marks on one letter"
LETTER = "at least one letter or digit"

DISH_INPUTS = [
    ({"local_name": ""}, "Write what the dish is called."),
    ({"local_name": "   \u3000 "}, "Write what the dish is called."),
    ({"local_name": "\u2066\u2069"}, "Write what the dish is called."),
    ({"local_name": "a\x00b"}, UNSHOWN),
    ({"local_name": "a\x07b"}, UNSHOWN),
    ({"local_name": "jollof\u202egnp.exe"}, HIDDEN),
    ({"local_name": "\u202djollof"}, HIDDEN),
    ({"local_name": "J" + "\u0336\u0337\u0338" * 20 + "ollof"}, MARKS),
    ({"local_name": "🍛🍛🍛"}, LETTER),
    ({"local_name": "---"}, LETTER),
    ({"local_name": "\u200b\u200b\u2800"}, LETTER),
    ({"local_name": "\u3164"}, LETTER),
    ({"local_name": "x" * 201}, "too long: 201 signs"),
    ({"local_name": "👩‍👩‍👧" * 41 + "x"}, "too long"),
    ({"languages": ""}, "Write which language the name is in."),
    ({"languages": ",,,"}, "Write which language the name is in."),
    ({"languages": "?"}, LETTER),
    ({"languages": "x" * 130}, "too long: 130 signs. Up to 120"),
    ({"languages": ",".join(f"l{n}" for n in range(25))}, "too many. Write up to 20"),
    ({"languages": "a\x00"}, UNSHOWN),
    ({"places": ""}, "Write which country the dish is from."),
    ({"places": "؛،"}, "Write which country the dish is from."),
    ({"places": "🇸🇳"}, LETTER),
    ({"places": "y" * 1001}, "too long: 1001 signs"),
    ({"places": ",".join(f"p{n}" for n in range(21))}, "too many. Write up to 20"),
    ({"places_more": "\u202e"}, HIDDEN),
    ({"places_more": "z" * 121}, "too long: 121 signs. Up to 120"),
    ({"ingredients": ""}, "Write what is in it."),
    ({"ingredients": "\n\n\n"}, "Write what is in it."),
    ({"ingredients": "i" * 4001}, "too long: 4001 signs"),
    ({"ingredients": "salt\x00"}, UNSHOWN),
    ({"ingredients": "sa\u202dlt"}, HIDDEN),
    ({"ingredients": "a" + "\u0e49" * 7}, MARKS),
    ({"ingredients": "\x1b[31mred"}, UNSHOWN),
    ({"languages": "Wolof\u202e"}, HIDDEN),
    ({"places": "Sene\x07gal"}, UNSHOWN),
    ({"places": "S" + "\u0301" * 8 + "enegal"}, MARKS),
    ({"places_more": "🏴"}, LETTER),
    ({"local_name": "\u2068\u200d\u2069"}, LETTER),
]


@pytest.mark.parametrize(("changes", "sentence"), DISH_INPUTS)
def test_dish_that_cannot_be_kept_gets_its_sentence(changes: dict[str, str], sentence: str) -> None:
    form = dish_form(make_contributor(), **changes)
    text = page(stranger(), "/dish/", form)
    assert sentence in html.unescape(text) and 'class="errors"' in text
    assert 'value="Wolof"' in text or "languages" in changes
    assert "rice, tomatoes, onions" in text or "ingredients" in changes
    assert Dish.objects.count() == Submission.objects.count() == 0


def test_refused_typing_is_shown_again_as_it_was_typed() -> None:
    text = page(stranger(), "/dish/", dish_form(make_contributor(), local_name="---", languages="<b>&\"'"))
    assert 'value="---"' in text and "&lt;b&gt;&amp;&quot;&#x27;" in text


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "'; DROP TABLE collection_dish; --", "{{ 7|add:7 }} x", "%s%n x", "../x"]
)
def test_text_that_means_something_to_machines_is_only_text(name: str) -> None:
    text = page(stranger(), "/dish/", dish_form(make_contributor(), local_name=name))
    assert Dish.objects.get().local_name == name
    assert html.escape(name) in text.replace("&#39;", "&#x27;")
    assert "<script>alert" not in text


@pytest.mark.parametrize("name", ["3aseeda", "Jollof_x", "مُلوخيّة", "ಬಿಸಿ ಬೇಳೆ ಬಾತ್", "ʻUlu", "C'est", "1", "Ⅷ"])
def test_names_that_only_look_odd_are_kept(name: str) -> None:
    page(stranger(), "/dish/", dish_form(make_contributor(), local_name=name))
    assert Dish.objects.get().local_name == name


MORE_INPUTS: list[tuple[dict[str, object], str]] = [
    ({"english_name": "x" * 201}, "too long"),
    ({"regions": "a\x00"}, UNSHOWN),
    ({"time_of_day": ["midnight"]}, "none of the choices"),
    ({"kinds": ["soup", "<b>"]}, "none of the choices"),
    ({"occasions": "never"}, "none of the choices"),
    ({"recipe": "x" * 2001}, "too long"),
    ({"more_details": "x" * 8001}, "too long"),
    ({"drink": "\u202e"}, HIDDEN),
    ({"utensils": "x" * 1001}, "too long: 1001 signs"),
    ({"occasions_more": "a" + "\u0489" * 9}, MARKS),
]


@pytest.mark.parametrize(("answers", "sentence"), MORE_INPUTS)
def test_more_that_cannot_be_kept_gets_its_sentence(answers: dict[str, object], sentence: str) -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("more", contributor.pk, dish.pk).token
    text = page(stranger(), "/more/", {"cultures": "Lebou", **answers, "proof": token})
    assert sentence in html.unescape(text) and 'value="Lebou"' in text
    dish.refresh_from_db()
    assert dish.cultures == ""


ABOUT_INPUTS = [
    ({"year_of_birth": "yesterday"}, "four digits"),
    ({"year_of_birth": "1850"}, "between 1900 and"),
    ({"year_of_birth": "99999999999999999999"}, "between 1900 and"),
    ({"year_of_birth": "²"}, "four digits"),
    ({"year_of_birth": "2999"}, "between 1900 and"),
    ({"email": "awa"}, "not a whole e-mail address"),
    ({"email": "awa@\u202eexample.org"}, "not a whole e-mail address"),
    ({"name": "x" * 121}, "too long"),
    ({"alias": "x" * 61}, "too long"),
    ({"nationalities": "a\x00"}, UNSHOWN),
]


@pytest.mark.parametrize(("answers", "sentence"), ABOUT_INPUTS)
def test_details_that_cannot_be_kept_get_their_sentence(answers: dict[str, str], sentence: str) -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("about", contributor.pk, dish.pk).token
    response = stranger().post("/about/", {"agree": "on", **answers, "proof": token}, HTTP_ACCEPT_ENCODING="gzip")
    assert sentence in html.unescape(response.content.decode())
    assert "Content-Encoding" not in response.headers
    assert AboutYou.objects.count() == 0


CAPTION_INPUTS = [
    ({"caption": ""}, "Write what the photo shows."),
    ({"caption": " \n "}, "Write what the photo shows."),
    ({"caption": "x" * 1001}, "too long: 1001 signs"),
    ({"caption": "\x00"}, UNSHOWN),
    ({"caption": "a\u202eb"}, HIDDEN),
    ({"caption": "a" + "\u0301" * 9}, MARKS),
    ({"taken_by_me": ""}, "Only a photo of your own can be shown."),
    ({"may_be_shared": ""}, "A photo that may not be shared is not kept."),
    ({"no_people": ""}, "A photo in which somebody can be recognised is not kept."),
    ({"is_photograph": ""}, "Only a real photograph of the dish is kept."),
]


@pytest.mark.parametrize(("answers", "sentence"), CAPTION_INPUTS)
def test_caption_that_cannot_be_kept_gets_its_sentence(answers: dict[str, str], sentence: str) -> None:
    contributor = make_contributor()
    photo = make_photo(make_dish(contributor=contributor), Photo.State.DRAFT)
    token = Proof.new("caption", contributor.pk, photo.pk).token
    sent = {"caption": "A red rice", "proof": token, **TICKS, **answers}
    text = html.unescape(page(stranger(), "/caption/", sent))
    assert sentence in text
    assert "A red rice" in text or "caption" in answers
    photo.refresh_from_db()
    assert photo.state == Photo.State.DRAFT


OVERSIZED = {
    "more than a megabyte": {"ingredients": "x" * 1_100_000},
    "more than a thousand fields": {f"field{number}": "x" for number in range(1_100)},
}


@pytest.mark.parametrize("kind", OVERSIZED)
def test_form_that_cannot_be_read_at_all_gets_a_page_that_says_so(kind: str) -> None:
    text = page(stranger(), "/dish/", dish_form(make_contributor(), **OVERSIZED[kind]))
    assert "nothing was saved" in text and Dish.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\xff\xfe\x00", "application/x-www-form-urlencoded"),
        (b"%ZZ=%", "application/x-www-form-urlencoded"),
        (b'{"local_name": "x"}', "application/json"),
        (b"--x\r\nContent-Disposition: form-data; name=", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
        (b"--x", "multipart/form-data; boundary=" + "x" * 300),
        (b"local_name=x", "application/x-www-form-urlencoded; charset=klingon"),
    ],
)
@pytest.mark.parametrize("address", ["/dish/", "/photo/"])
def test_broken_bodies_store_nothing_and_never_fail_in_the_server(
    client: Client, address: str, body: bytes, content_type: str
) -> None:
    response = client.generic("POST", address, body, content_type=content_type)
    assert response.status_code < 500
    assert Dish.objects.count() == 0


@pytest.mark.parametrize("about", ["0", "-1", "999999999999999999999999", "abc", "1; --", "", str(uuid.UUID(int=7))])
@pytest.mark.parametrize("purpose", ["more", "photo", "caption", "about", "go"])
def test_form_about_no_row_of_theirs_finds_nothing(purpose: str, about: str) -> None:
    contributor = make_contributor()
    address = "/another/" if purpose == "go" else f"/{purpose}/"
    token = Proof.new(purpose, contributor.pk, about).token
    assert stranger().post(address, {"proof": token}).status_code == 404


def test_repeated_fields_and_unknown_ones_do_no_harm(client: Client) -> None:
    form: Mapping[str, object] = {
        **dish_form(make_contributor()),
        "state": "accepted",
        "number": "1",
        "source": "import",
    }
    page(client, "/dish/", form)
    dish = Dish.objects.get()
    assert (dish.state, dish.source) == ("waiting", "form") and dish.number > 10_000


TYPED = {
    "dish": {"local_name": "Kept words", "ingredients": "kept ingredients"},
    "more": {"drink": "Kept words"},
    "photo": {},
    "caption": {"caption": "Kept words"},
    "about": {"name": "Kept words"},
}
REFUSED = {
    "dish": "We could not tell where this form came from, so nothing was saved.",
    "more": "We could not tell where this form came from, or it is too old.",
    "photo": "We could not tell where this form came from, or it is too old.",
    "caption": "We could not tell where this form came from, or it is too old.",
    "about": "We could not tell where this form came from, or it is too old.",
}


def altered(token: str) -> str:
    """The same token with one sign of its content changed."""
    return ("A" if token[4] != "A" else "B").join((token[:4], token[5:]))


def forged(kind: str, purpose: str) -> str:
    contributor = make_contributor()
    genuine = Proof.new(purpose, contributor.pk, make_dish(contributor=contributor).pk).token
    return {
        "missing": "",
        "nonsense": "\x00\U0001f4a5" * 50,
        "long": "x" * 50_000,
        "altered": altered(genuine),
        "without signature": genuine.rpartition(":")[0],
        "of another form": Proof.new("go", contributor.pk, "1").token,
        "signed for something else": signing.dumps(["dish", "x", "y", ""], salt="other"),
    }[kind]


@pytest.mark.parametrize("purpose", TYPED)
@pytest.mark.parametrize(
    "kind",
    ["missing", "nonsense", "long", "altered", "without signature", "of another form", "signed for something else"],
)
def test_forged_token_gets_its_sentence_and_keeps_the_typing(kind: str, purpose: str) -> None:
    token = forged(kind, purpose)
    before = Dish.objects.count()
    text = html.unescape(page(stranger(), f"/{purpose}/", {"proof": token, **TYPED[purpose]}))
    assert REFUSED[purpose] in text
    assert all(words in text for words in TYPED[purpose].values())
    assert Dish.objects.count() == before and Photo.objects.count() == AboutYou.objects.count() == 0


@pytest.mark.parametrize("purpose", TYPED)
def test_token_that_is_too_old_gets_its_sentence_and_keeps_the_typing(
    monkeypatch: pytest.MonkeyPatch, purpose: str
) -> None:
    contributor = make_contributor()
    token = Proof.new(purpose, contributor.pk, make_dish(contributor=contributor).pk).token
    monkeypatch.setattr("collection.access.form_tokens.MAX_AGE", timedelta(seconds=-1))
    text = html.unescape(page(stranger(), f"/{purpose}/", {"proof": token, **TYPED[purpose]}))
    assert REFUSED[purpose] in text and all(words in text for words in TYPED[purpose].values())
    assert Dish.objects.get().drink == ""


@pytest.mark.parametrize("purpose", ["more", "photo", "about", "caption", "go"])
def test_row_of_somebody_else_is_not_found_and_not_shown(purpose: str) -> None:
    dish = make_dish("Hers alone", contributor=make_contributor())
    row = make_photo(dish, Photo.State.DRAFT).pk if purpose == "caption" else dish.pk
    token = Proof.new(purpose, make_contributor().pk, row).token
    address = "/another/" if purpose == "go" else f"/{purpose}/"
    response = stranger().post(address, {"proof": token, "caption": "x", **TICKS})
    assert response.status_code == 404
    assert "Hers alone" not in response.content.decode()
    assert Photo.objects.filter(state=Photo.State.DRAFT).count() == (purpose == "caption")


FORMS = ("/describe/", "/dish/", "/more/", "/photo/", "/caption/", "/about/", "/another/", "/mine/")


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("address", [*FORMS, "/finish/", "/photo/part/"])
def test_wrong_methods_are_refused_and_the_right_ones_named(client: Client, address: str, method: str) -> None:
    response = getattr(client, method)(address)
    assert response.status_code == 405 and "POST" in response.headers["Allow"]


@pytest.mark.parametrize("site", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}])
def test_form_that_another_site_sends_is_refused_with_the_typing(site: dict[str, str]) -> None:
    text = html.unescape(page(stranger(), "/dish/", dish_form(make_contributor(), local_name="Kept words"), **site))
    assert REFUSED["dish"] in text and "Kept words" in text and Dish.objects.count() == 0


def test_the_table_of_hostile_inputs_stays_long() -> None:
    described = [*DISH_INPUTS, *MORE_INPUTS, *ABOUT_INPUTS, *CAPTION_INPUTS, *OVERSIZED, *HOSTILE]
    assert len(described) >= 80
