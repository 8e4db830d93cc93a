"""Reviewers choose their language as everybody does: in the address, among the languages that the review has."""

import re

import pytest
from django.test import Client

from review.models import Review, Reviewer, ReviewerConsent
from review.signed_links import back_address
from tests.review.make import FOOD, form_of, make_invitation
from tests.review.phone import PROOF

pytestmark = pytest.mark.django_db

CHOICES = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
ENGLISH = {"Accept-Language": "en-NG"}
LIST = re.compile(r'<nav id="languages".*?</nav>', re.DOTALL)


def offered(page: str) -> list[str]:
    return re.findall(r'<a href="(/[^"]+)"', LIST.findall(page)[0])


def language_of(page: str) -> str:
    return re.findall(r'<html lang="([^"]+)"', page)[0]


def test_every_page_of_the_review_that_is_opened_offers_the_languages_that_the_review_has() -> None:
    invitation = make_invitation()
    browser = Client(headers=ENGLISH)
    address = invitation.get_absolute_url()
    page = browser.get(address).content.decode()
    browser.post(address, {"proof": PROOF.findall(page)[-1], **CHOICES})
    back = back_address(Reviewer.objects.get())
    for path in ("/review/", address, back, "/review/nothing/"):
        page = browser.get(path).content.decode()
        assert language_of(page) == "en"
        assert sorted(offered(page)) == [f"/ar{path}", f"/en{path}"]
        assert 'href="#languages"' in page
        arabic = browser.get(f"/ar{path}")
        assert language_of(arabic.content.decode()) == arabic.headers["Content-Language"] == "ar"
        assert 'dir="rtl"' in arabic.content.decode()


def test_whole_way_keeps_the_language_of_the_address_without_cookies() -> None:
    address = f"/ar{make_invitation().get_absolute_url()}"
    page = Client(headers=ENGLISH).get(address).content.decode()
    assert f'action="{address}"' in page
    page = Client(headers=ENGLISH).post(address, {"proof": PROOF.findall(page)[0], **CHOICES}).content.decode()
    assert language_of(page) == "ar" and f'action="{address}pictures/"' in page
    shown = {"proof": PROOF.findall(page)[0], "do": "show"}
    page = Client(headers=ENGLISH).post(f"{address}pictures/", shown).content.decode()
    image = re.findall(r'<img src="([^"]+)"', page)[0]
    assert Client().get(image).headers["Content-Type"] == "image/jpeg"


def test_language_is_changed_amid_the_questions_and_the_answers_stay() -> None:
    address = make_invitation().get_absolute_url()
    page = Client(headers=ENGLISH).get(address).content.decode()
    page = Client(headers=ENGLISH).post(address, {"proof": PROOF.findall(page)[0], **CHOICES}).content.decode()
    assert f'formaction="/ar{address}pictures/"' in page
    sent = {"proof": PROOF.findall(page)[0], "page": "2", "speak": "2", "shown": "1", **form_of(FOOD)}
    page = Client(headers=ENGLISH).post(f"/ar{address}pictures/", sent).content.decode()
    assert language_of(page) == "ar" and 'name="page" value="2"' in page and "<img src=" in page
    assert 'name="q-familiarity" value="very"' in page
    assert not Review.objects.exists()


def test_language_without_a_text_is_answered_in_the_one_that_the_phone_asks_for() -> None:
    path = make_invitation().get_absolute_url()
    for asked, got in (("ar", "ar"), ("fr", "en"), ("fr, ar;q=0.5", "ar")):
        page = Client(headers={"Accept-Language": asked}).get(f"/fr{path}").content.decode()
        assert language_of(page) == got


def test_new_consent_text_brings_its_language() -> None:
    path = make_invitation().get_absolute_url()
    ReviewerConsent.objects.create(version=1, language="fr", warning=["Attention."], sentences=["Oui."])
    page = Client(headers=ENGLISH).get(path).content.decode()
    assert f"/fr{path}" in offered(page)
    assert language_of(Client(headers=ENGLISH).get(f"/fr{path}").content.decode()) == "fr"
