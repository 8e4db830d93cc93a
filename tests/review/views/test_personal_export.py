"""A reviewer takes their answers along as a page that a phone can show."""

import re

import pytest
from django.test import Client

from collection.access import return_codes
from review.models import Note, Reviewer, ReviewerBackground
from tests.review.make import GOOD
from tests.review.phone import PROOF, joined

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_page_of_a_reviewer_says_their_answers_in_words_and_loads_nothing() -> None:
    phone = joined()
    phone.answer({**GOOD, "explanation": "Too <red>"})
    person = Reviewer.objects.get()
    Note.objects.create(reviewer=person, text="A note & more")
    ReviewerBackground.objects.create(reviewer=person, languages="Yorùbá")
    own = Client().post("/review/", {"code": return_codes.issue_return_code(person.pk, "reviewer")}).content.decode()
    form = next(part for part in own.split("<form")[1:] if 'value="download-page"' in part)
    sent = {"proof": PROOF.findall(form)[0], "do": "download-page"}
    response = Client().post(f"{phone.address}pictures/", sent)
    assert response.headers["Content-Disposition"] == 'attachment; filename="my-answers.html"'
    assert response.headers["Cache-Control"] == "no-store"
    page = response.content.decode()
    for words in ("Àmàlà", "Very well: I eat it regularly", "Too &lt;red&gt;", "A note &amp; more", "Yorùbá"):
        assert words in page
    assert re.findall(r'(?:src|href|action)="', page) == []


def test_page_of_a_reviewer_needs_the_return_code() -> None:
    phone = joined()
    phone.press("me")
    phone.press("download-page", 'value="next"')
    assert phone.status == 403
