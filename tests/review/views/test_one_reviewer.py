"""One person is one reviewer of a campaign: the page asks before it makes a second."""

import pytest
from django.test import Client

from review.models import Invitation, Reviewer
from tests.review.make import make_campaign, make_invitation
from tests.review.phone import CODE, PROOF, Phone

pytestmark = pytest.mark.django_db

CHOICES = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
ASKS = "Have you begun already, on this phone or another?"
SAY = "Say whether you have begun already."


def look(browser: Client, invitation: Invitation) -> str:
    return browser.get(invitation.get_absolute_url()).content.decode()


def send(browser: Client, invitation: Invitation, page: str, **more: str) -> str:
    form = {"proof": PROOF.findall(page[page.index("<h1>") :])[0], **CHOICES, **more}
    return browser.post(invitation.get_absolute_url(), form).content.decode()


def test_first_reviewer_of_a_campaign_is_asked_nothing_more() -> None:
    invitation, browser = make_invitation(), Client()
    page = look(browser, invitation)
    assert ASKS not in page
    assert "Picture 1 of" in send(browser, invitation, page)


@pytest.mark.parametrize("said", [{}, {"begun": "no"}])
def test_two_tabs_of_one_browser_make_one_reviewer(said: dict[str, str]) -> None:
    invitation, browser = make_invitation(), Client()
    tabs = [look(browser, invitation) for _tab in range(2)]
    assert "Picture 1 of" in send(browser, invitation, tabs[0], **said)
    second = send(browser, invitation, tabs[1], **said)
    assert SAY in second and "You have begun on this phone" in second
    assert Reviewer.objects.count() == 1
    go_on = {"proof": PROOF.findall(second)[0], "do": "next"}
    assert "Picture 1 of" in browser.post(f"{invitation.get_absolute_url()}pictures/", go_on).content.decode()


def test_two_tabs_without_cookies_are_asked_and_both_sends_of_one_form_are_one() -> None:
    invitation = make_invitation()
    tabs = [look(Client(), invitation) for _tab in range(2)]
    for _time in range(2):
        assert "Picture 1 of" in send(Client(), invitation, tabs[0])
    asked = send(Client(), invitation, tabs[1])
    assert SAY in asked and 'value="volunteer" checked' in asked
    assert Reviewer.objects.count() == 1 and Invitation.objects.get().used == 1
    assert "Picture 1 of" in send(Client(), invitation, asked, begun="no")
    assert Reviewer.objects.count() == 2


def test_another_invitation_of_the_campaign_knows_who_has_begun_in_this_browser() -> None:
    campaign = make_campaign()
    first, second, other = make_invitation(campaign), make_invitation(campaign), make_invitation()
    browser = Client()
    send(browser, first, look(browser, first))
    page = look(browser, second)
    assert "You have begun on this phone" in page and f'action="/review/{first.code}/pictures/"' in page
    assert SAY in send(browser, second, page)
    assert "Picture 1 of" in send(browser, second, page, begun="yes")
    assert Reviewer.objects.count() == 1
    assert ASKS not in look(browser, other)


def test_yes_leads_to_the_return_code_where_nobody_is_known_and_keeps_the_one_reviewer() -> None:
    invitation = make_invitation()
    phone = Phone(invitation)
    code = CODE.findall(phone.join())[0]
    page = look(Client(), invitation)
    assert ASKS in page
    codes = send(Client(), invitation, page, begun="yes")
    assert "return code" in codes and "personal link" in codes
    form = {"proof": PROOF.findall(codes)[0], "code": code}
    assert "My own page" in Client().post("/review/", form).content.decode()
    assert Reviewer.objects.count() == 1


def test_somebody_else_on_the_same_phone_begins_anew_and_ends_the_turn_of_the_one_before() -> None:
    invitation, browser = make_invitation(), Client()
    page = look(browser, invitation)
    first = send(browser, invitation, page)
    known = look(browser, invitation)
    assert "Picture 1 of" in send(browser, invitation, known, begun="no")
    assert Reviewer.objects.count() == 2
    old = {"proof": PROOF.findall(first)[0], "do": "next"}
    assert "is over" in browser.post(f"{invitation.get_absolute_url()}pictures/", old).content.decode()


def test_invitation_that_is_full_still_leads_to_the_return_code() -> None:
    invitation = make_invitation(limit=1)
    Phone(invitation).join()
    page = look(Client(), invitation)
    assert "Everybody who was invited" in page and 'href="/review/"' in page
