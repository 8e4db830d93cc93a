"""A reviewer's turn ends on any page: the invitation, the forms and the code of before lead back to nobody."""

import pytest
from django.test import Client

from collection.access import return_codes
from review import rights
from review.models import Review, Reviewer
from tests.review.make import make_invitation
from tests.review.phone import PROOF, Phone, joined

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def begin(browser: Client, address: str) -> dict[str, str]:
    """The form of the consent as it was sent."""
    shown = browser.get(address).content.decode()
    choices = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
    form = {"proof": PROOF.findall(shown)[-1], **choices}
    assert "Picture 1 of" in browser.post(address, form).content.decode()
    return form


@pytest.mark.parametrize("where", ["/", "/leaderboard/", "/describe/"])
def test_finish_on_any_page_ends_the_turn_of_a_reviewer(where: str) -> None:
    address = make_invitation().get_absolute_url()
    browser = Client()
    form = begin(browser, address)
    kept = {name: cookie.value for name, cookie in browser.cookies.items()}
    assert "You have begun on this phone" in browser.get(address).content.decode()
    assert 'action="/finish/"><' in browser.get(where).content.decode()
    browser.post("/finish/")
    assert "You have begun" not in browser.get(address).content.decode()
    for name, value in kept.items():
        browser.cookies[name] = value
    assert "You have begun" not in browser.get(address).content.decode()
    again = browser.post(address, form).content.decode()
    assert "The turn of the person before is over" in again and 'value="volunteer" checked' not in again
    assert Reviewer.objects.count() == 1


def test_forms_of_a_reviewer_who_finished_answer_nothing_and_show_no_word() -> None:
    phone = joined()
    old = phone.proof()
    phone.send(phone.address, forget="1", proof=old)
    assert "can show and change nothing any more" in phone.page
    again = Client().post(f"{phone.address}pictures/", {"proof": old, "do": "note", "text": "Of the first one"})
    text = again.content.decode()
    assert again.status_code == 403 and "is over" in text and "Of the first one" not in text
    assert not Review.objects.exists()


def test_code_of_a_reviewer_that_is_sent_again_after_finish_opens_nothing() -> None:
    phone = joined()
    code = return_codes.issue_return_code(Reviewer.objects.get().pk, rights.KIND)
    browser = Client()
    form = {"code": code, "proof": PROOF.findall(browser.get("/review/").content.decode())[-1]}
    own = browser.post("/review/", form).content.decode()
    assert "My own page" in own and 'action="/finish/"><' in browser.get("/").content.decode()
    browser.post("/finish/")
    again = browser.post("/review/", form).content.decode()
    assert "My own page" not in again and code not in again
    assert "My own page" in phone.send("/review/", code=code)


def test_another_site_ends_no_turn_of_a_reviewer() -> None:
    address = make_invitation().get_absolute_url()
    browser = Client()
    begin(browser, address)
    browser.post(address, {"forget": "1"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert "You have begun on this phone" in browser.get(address).content.decode()


def test_invitation_without_anybody_offers_no_finish_and_claims_nothing() -> None:
    phone = Phone()
    assert "Finish" not in phone.send(phone.address)
    assert "does not remember" not in phone.send(phone.address, forget="1")


def test_page_on_which_finish_was_pressed_begins_the_next_turn() -> None:
    address, browser = make_invitation().get_absolute_url(), Client()
    choices = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
    begin(browser, address)
    known = browser.get(address).content.decode()
    foot = {"proof": PROOF.findall(known)[-1], "forget": "1"}
    after = browser.post(f"{address}?finish", foot).content.decode()
    assert "does not remember you any more" in after
    form = {"proof": PROOF.findall(after)[0], "begun": "no", **choices}
    assert "Picture 1 of" in browser.post(address, form).content.decode()
