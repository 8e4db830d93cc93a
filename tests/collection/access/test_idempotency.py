"""Sending twice, late, from a cached page, without proof: nothing is lost, doubled, swallowed or leaked."""

import uuid
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client

from collection.access import form_tokens as proof_module
from collection.access.form_tokens import Proof
from collection.consent.record import consent_for
from collection.dishes.receipts import format_receipt
from collection.models import Dish, DishChange, Photo, Submission
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    dish_form,
    make_contributor,
    make_dish,
    make_photo_bytes,
    page,
    stranger,
    tokens,
    upload,
)

pytestmark = pytest.mark.django_db


def test_same_form_with_same_words_gives_one_dish_and_the_same_receipt() -> None:
    form = dish_form(make_contributor())
    texts = [page(stranger(), "/dish/", form) for _ in range(3)]
    receipt = format_receipt(Submission.objects.get().receipt)
    assert Dish.objects.count() == 1
    assert all(receipt in text for text in texts)


def test_blanks_and_composed_letters_do_not_make_another_dish() -> None:
    contributor = make_contributor()
    form = dish_form(contributor, local_name="Bánh mì")
    page(stranger(), "/dish/", form)
    page(stranger(), "/dish/", {**form, "local_name": " Ba\u0301nh  mi\u0300 "})
    assert Dish.objects.get().local_name == "Bánh mì"


def test_same_form_with_other_words_keeps_the_typing_and_asks() -> None:
    form = dish_form(make_contributor())
    page(stranger(), "/dish/", form)
    text = page(stranger(), "/dish/", {**form, "local_name": "Mafé"})
    assert "Another dish, or a correction?" in text and 'value="Mafé"' in text
    assert "Jollof" not in text
    assert Dish.objects.count() == 1


def answer(choice: str) -> str:
    form = dish_form(make_contributor())
    page(stranger(), "/dish/", form)
    asked = page(stranger(), "/dish/", {**form, "local_name": "Mafé"})
    other = {**ANSWERS, "local_name": "Mafé", "proof": tokens(asked)["/dish/"], "choice": choice}
    page(stranger(), "/dish/", other)
    return page(stranger(), "/dish/", other)


def test_another_dish_is_a_second_dish_even_when_sent_twice() -> None:
    answer("another")
    assert sorted(Dish.objects.values_list("local_name", flat=True)) == ["Jollof", "Mafé"]


def test_correction_changes_the_dish_and_keeps_the_old_words() -> None:
    text = answer("correction")
    dish = Dish.objects.get()
    first = Submission.objects.get(purpose="dish")
    assert dish.local_name == "Mafé" and format_receipt(first.receipt) in text
    assert DishChange.objects.get().before == {"local_name": "Jollof"}


def test_unknown_answer_asks_again_and_saves_nothing() -> None:
    assert "Another dish, or a correction?" in answer("neither")
    assert Dish.objects.get().local_name == "Jollof"


def test_correction_keeps_old_places_and_languages_too() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("dish", contributor.pk, dish.pk).token
    changed = {**ANSWERS, "places": "Türkiye", "languages": "Turkish", "proof": token, "choice": "correction"}
    page(stranger(), "/dish/", changed)
    before = DishChange.objects.get().before
    assert (before["places"], before["languages"]) == (["Senegal"], [["Wolof", "wol"]])
    assert sorted(row.continent for row in dish.continents.all()) == ["Asia", "Europe"]


def expired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_module, "MAX_AGE", timedelta(seconds=-1))


def test_replay_with_an_expired_token_gives_the_receipt_number_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = dish_form(make_contributor())
    page(stranger(), "/dish/", form)
    expired(monkeypatch)
    text = page(stranger(), "/dish/", form)
    assert format_receipt(Submission.objects.get().receipt) in text
    assert "Jollof" not in text and "proof" not in text and "turn=" not in text
    assert Dish.objects.count() == 1


def test_replay_without_proof_gives_the_receipt_number_and_no_cookie(client: Client) -> None:
    contributor = make_contributor()
    proof = Proof.new("dish", contributor.pk)
    page(stranger(), "/dish/", {**ANSWERS, "proof": proof.token})
    response = client.post("/dish/", {**ANSWERS, "form": str(proof.form)})
    assert format_receipt(Submission.objects.get().receipt) in response.content.decode()
    assert not response.cookies


def test_expired_form_with_other_words_shows_them_again_and_saves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    form = dish_form(make_contributor())
    page(stranger(), "/dish/", form)
    expired(monkeypatch)
    text = page(stranger(), "/dish/", {**form, "local_name": "Mafé"})
    assert 'value="Mafé"' in text and format_receipt(Submission.objects.get().receipt) not in text
    assert Dish.objects.count() == 1


def forged(contributor_id: uuid.UUID) -> dict[str, str]:
    genuine = Proof.new("dish", contributor_id).token
    other_salt = signing.dumps(["dish", uuid.uuid4().hex, contributor_id.hex, ""], salt="another")
    return {
        "missing": "",
        "altered": genuine[:-1] + ("A" if genuine[-1] != "A" else "B"),
        "other key": other_salt,
        "other purpose": Proof.new("more", contributor_id).token,
        "garbage": "a:b:c",
        "not text": "\x00\ud7ff",
    }


@pytest.mark.parametrize("kind", ["missing", "altered", "other key", "other purpose", "garbage", "not text"])
def test_form_without_genuine_token_is_shown_again_with_the_typing_and_stores_nothing(kind: str) -> None:
    token = forged(make_contributor().pk)[kind]
    text = page(stranger(), "/dish/", {**ANSWERS, "proof": token})
    assert 'value="Jollof"' in text and "rice, tomatoes, onions" in text
    assert "nothing was saved" in text
    assert Dish.objects.count() == Submission.objects.count() == 0
    again = {**ANSWERS, **CONSENT, "proof": tokens(text)["/dish/"]}
    page(stranger(), "/dish/", again)
    saved = Dish.objects.get()
    assert saved.contributor is not None and saved.contributor.consent is not None


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "http://testserver.elsewhere.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_site_cannot_send_a_form(headers: dict[str, str]) -> None:
    text = page(stranger(), "/dish/", dish_form(make_contributor()), **headers)
    assert "nothing was saved" in text and 'value="Jollof"' in text
    assert Dish.objects.count() == 0


@pytest.mark.parametrize("headers", [{"Origin": "http://testserver"}, {"Sec-Fetch-Site": "same-origin"}, {}])
def test_our_own_pages_can(headers: dict[str, str]) -> None:
    page(stranger(), "/dish/", dish_form(make_contributor()), **headers)
    assert Dish.objects.count() == 1


def test_somebody_who_never_agreed_is_asked_before_anything_is_saved() -> None:
    proof = Proof.new("dish", target=consent_for().mark)
    text = page(stranger(), "/dish/", {**ANSWERS, "proof": proof.token})
    assert "Without it nothing can be kept" in text and Dish.objects.count() == 0
    page(stranger(), "/dish/", {**ANSWERS, **CONSENT, "proof": proof.token})
    assert Dish.objects.count() == 1


def test_form_of_somebody_who_is_gone_is_shown_again_with_the_consent() -> None:
    text = page(stranger(), "/dish/", {**ANSWERS, "proof": Proof.new("dish").token})
    assert 'value="Jollof"' in text and "I have read this, and I agree." in text
    assert Dish.objects.count() == 0


def test_same_photo_sent_twice_is_one_photo() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    for _ in range(2):
        page(stranger(), "/photo/", {"proof": token, "photo": upload(make_photo_bytes())})
    assert Photo.objects.count() == 1


def test_another_image_from_the_same_form_takes_the_place_of_the_draft() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    page(stranger(), "/photo/", {"proof": token, "photo": upload(make_photo_bytes())})
    page(stranger(), "/photo/", {"proof": token, "photo": upload(make_photo_bytes((500, 500)))})
    assert Photo.objects.get().width == 500


def test_consent_page_from_the_cache_makes_another_person() -> None:
    first = stranger().get("/describe/").content.decode()
    sent = {**CONSENT, "proof": tokens(first)["/describe/"]}
    pages = [tokens(page(stranger(), "/describe/", sent))["/dish/"] for _ in range(2)]
    for token in pages:
        page(stranger(), "/dish/", {**ANSWERS, "proof": token})
    assert Dish.objects.values("contributor").distinct().count() == 2
