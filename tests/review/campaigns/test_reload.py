"""Anyone who loads the page anew amid the questions is asked what they were asked before, with what they chose."""

import pytest
from django.test import Client

from review import rights
from review.models import Assignment, Review, Reviewer
from tests.review.make import FOOD, GOOD, NOT_FOOD, form_of, make_invitation
from tests.review.phone import PROOF, Phone, joined

pytestmark = pytest.mark.django_db

SECOND = 'name="page" value="2"'
CHOSEN = 'name="q-familiarity" value="very"'


def in_second_step(browser: Client, answers: dict[str, str] = FOOD) -> tuple[str, str]:
    """The address of the images, and the page that asks the second questions."""
    address = make_invitation().get_absolute_url()
    page = browser.get(address).content.decode()
    choices = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
    page = browser.post(address, {"proof": PROOF.findall(page)[0], **choices}).content.decode()
    images = f"{address}pictures/"
    page = browser.post(images, {"proof": PROOF.findall(page)[0], "do": "show"}).content.decode()
    sent = {"proof": PROOF.findall(page)[0], "do": "answer", "page": "1", "shown": "1", **form_of(answers)}
    return images, browser.post(images, sent).content.decode()


def test_address_of_the_images_shows_the_second_questions_to_whom_the_browser_knows() -> None:
    browser = Client()
    images, page = in_second_step(browser)
    assert SECOND in page
    before = Assignment.objects.count()
    again = browser.get(images)
    assert again.status_code == 200 and again.headers["Cache-Control"] == "no-store"
    text = again.content.decode()
    assert SECOND in text and CHOSEN in text and "The picture is covered." in text
    assert Assignment.objects.count() == before
    sent = {"proof": PROOF.findall(text)[0], "do": "answer", "page": "2", **form_of(GOOD)}
    assert "Your answers are kept." in browser.post(images, sent).content.decode()
    assert Review.objects.count() == 1
    assert not Assignment.objects.exclude(begun={}).exists()


def test_address_of_the_images_gives_nobody_a_new_image() -> None:
    browser = Client()
    images, _page = in_second_step(browser)
    Assignment.objects.update(state="expired")
    assert browser.get(images).status_code == 302
    assert Client().get(images).status_code == 302


def test_going_on_from_the_invitation_or_own_page_asks_the_second_questions_without_cookies() -> None:
    phone = joined()
    phone.press("show")
    phone.press("answer", page="1", shown="1", **form_of(FOOD))
    assert SECOND in phone.page
    phone.press("me")
    page = phone.press("next", 'value="next"')
    assert SECOND in page and CHOSEN in page


def test_free_words_are_not_kept_before_somebody_keeps_their_answers() -> None:
    phone = joined()
    phone.press("show")
    sent = {**form_of({**NOT_FOOD, "seen": "A wall"}), "q-quality": "99"}
    phone.press("hide", page="2", **sent)
    begun = Assignment.objects.get().begun
    assert begun["food"] == "no" and "seen" not in begun and "quality" not in begun
    assert rights.collect_reviewer_data(Reviewer.objects.get())["begun"]


@pytest.mark.parametrize("button", ["skip", "report"])
def test_what_was_begun_is_forgotten_with_the_image(button: str) -> None:
    phone: Phone = joined()
    phone.press("show")
    phone.press("answer", page="1", shown="1", **form_of(FOOD))
    assert Assignment.objects.get().begun
    phone.press(button)
    assert not Assignment.objects.exclude(begun={}).exists()
