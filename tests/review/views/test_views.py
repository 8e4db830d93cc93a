"""Pages of the review from the outside: what a request answers and what it leaves in the database."""

import re
import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.translation import gettext, override

from collection.access.form_tokens import Proof
from evaluation.models import InputCounter
from review.assignment import take_back
from review.models import Assignment, Campaign, CampaignImage, Invitation, Review, Reviewer, ReviewerConsent
from tests.review.make import (
    FOOD,
    GOOD,
    NOT_FOOD,
    first_image,
    form_of,
    make_campaign,
    make_country,
    make_image,
    make_invitation,
    make_reviewer,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

DRAFT = (
    "The questions are a draft translation that nobody has confirmed yet. "
    "If a word is wrong, tell the team on your own page."
)
PROOF = re.compile(r'name="proof" value="([^"]+)"')
IMAGE = re.compile(r"/review/picture/[^\"']+")


class Phone:
    """A browser that keeps no cookie and runs no script: it only knows the page in front of it."""

    def __init__(self, invitation: Invitation) -> None:
        self.invitation = invitation
        self.page = ""
        self.status = 0

    def _took(self, response: Any) -> str:
        self.page, self.status = response.content.decode(), response.status_code
        return self.page

    @property
    def proof(self) -> str:
        return PROOF.findall(self.page)[-1]

    def look(self) -> str:
        return self._took(Client().get(self.invitation.get_absolute_url()))

    def join(self, **changes: Any) -> str:
        choices = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
        asked = {"begun": "no"} if 'name="begun"' in self.page else {}
        sent = {"proof": self.proof, **asked, **choices}
        sent = {name: value for name, value in {**sent, **changes}.items() if value is not None}
        return self._took(Client().post(self.invitation.get_absolute_url(), sent))

    def press(self, do: str, proof: str = "", **fields: Any) -> str:
        sent = {"proof": proof or self.proof, "do": do, **fields}
        return self._took(Client().post(f"{self.invitation.get_absolute_url()}pictures/", sent))

    def answer(self, answers: Any, page: int = 2, proof: str = "", do: str = "answer") -> str:
        return self.press(do, proof, page=page, shown="1", **form_of(answers))


def joined(invitation: Invitation | None = None, **changes: Any) -> Phone:
    phone = Phone(invitation or make_invitation())
    phone.look()
    phone.join(**changes)
    return phone


def counted() -> int:
    row = InputCounter.objects.filter(name="reviews").first()
    return row.value if row else 0


def test_looking_at_an_invitation_warns_first_and_changes_nothing() -> None:
    invitation = make_invitation(limit=1)
    page = Phone(invitation).look()
    assert page.index("may upset") < page.index("I am 18 years old") < page.index("Begin</button>")
    invitation.refresh_from_db()
    assert (invitation.used, Reviewer.objects.count()) == (0, 0)


def test_agreeing_counts_the_invitation_and_keeps_the_text_that_was_shown() -> None:
    phone = joined()
    reviewer = Reviewer.objects.get()
    assert reviewer.consent == ReviewerConsent.objects.get(version=1, language="en")
    assert (reviewer.country, reviewer.role) == ("Nigeria", "volunteer")
    assert reviewer.consent_at is not None
    assert Invitation.objects.get(pk=phone.invitation.pk).used == 1
    assert "Picture 1 of 2" in phone.page


def test_consent_is_recorded_as_the_page_showed_it_though_a_newer_text_came_meanwhile() -> None:
    phone = Phone(make_invitation())
    shown = ReviewerConsent.objects.get(language="en")
    phone.look()
    ReviewerConsent.objects.create(version=2, language="en", warning=["New."], sentences=["New."])
    phone.join()
    assert Reviewer.objects.get().consent == shown


@pytest.mark.parametrize("missing", ["adult", "agree", "country", "role"])
def test_joining_needs_age_agreement_country_and_role_and_keeps_the_rest(missing: str) -> None:
    phone = joined(**{missing: None})
    assert not Reviewer.objects.exists()
    assert "Something is missing" in phone.page
    assert phone.page.count(" checked") == 3


def test_country_outside_the_campaign_is_refused() -> None:
    phone = joined(country="Kenya")
    assert "Choose one of the countries that are shown." in phone.page
    assert not Reviewer.objects.exists()


def test_invitation_for_one_country_offers_no_other() -> None:
    campaign = make_campaign()
    make_country("KEN", "Kenya")
    invitation = make_invitation(campaign, country=make_country())
    from review.campaigns.service import prepare_campaign_images

    prepare_campaign_images(campaign, [make_image(country="Kenya")])
    assert 'value="Kenya"' not in Phone(invitation).look()
    assert 'value="Kenya"' in Phone(make_invitation(campaign)).look()


def test_same_form_twice_is_the_same_reviewer_counted_once() -> None:
    phone = Phone(make_invitation(limit=2))
    phone.look()
    proof = phone.proof
    first = phone.join(proof=proof)
    second = phone.join(proof=proof)
    assert ("Picture 1 of 2" in first, "Picture 1 of 2" in second) == (True, True)
    assert Reviewer.objects.count() == 1
    assert Invitation.objects.get().used == 1


def test_used_page_with_other_choices_asks_to_begin_as_oneself() -> None:
    phone = Phone(make_invitation())
    phone.look()
    proof = phone.proof
    phone.join(proof=proof)
    page = phone.join(proof=proof, role="author")
    assert "Somebody already began with this page" in page
    assert Reviewer.objects.count() == 1
    phone.join(role="author")
    assert set(Reviewer.objects.values_list("role", flat=True)) == {"volunteer", "author"}


def test_full_invitation_takes_nobody_more() -> None:
    invitation = make_invitation(limit=1)
    late = Phone(invitation)
    late.look()
    joined(invitation)
    assert "Everybody who was invited with this link has joined" in late.join()
    assert late.status == 409
    assert Reviewer.objects.count() == 1
    assert "Begin</button>" not in Phone(invitation).look()


def shut(campaign: Campaign, invitation: Invitation, how: str) -> None:
    now = timezone.now()
    if how == "revoked":
        Invitation.objects.filter(pk=invitation.pk).update(revoked_at=now)
    elif how == "closed":
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.CLOSED)
    elif how == "draft":
        Campaign.objects.filter(pk=campaign.pk).update(state=Campaign.State.DRAFT)
    elif how == "over":
        Campaign.objects.filter(pk=campaign.pk).update(closes_at=now - timedelta(seconds=1))
    else:
        Campaign.objects.filter(pk=campaign.pk).update(opens_at=now + timedelta(days=1))


SHUT = {
    "revoked": "This invitation was withdrawn.",
    "closed": "This round of pictures is not open now.",
    "draft": "This round of pictures is not open now.",
    "over": "This round of pictures is not open now.",
    "early": "This round of pictures is not open now.",
}


@pytest.mark.parametrize(("how", "sentence"), SHUT.items())
def test_shut_campaign_or_invitation_refuses_joining_with_a_sentence(how: str, sentence: str) -> None:
    campaign = make_campaign()
    phone = Phone(make_invitation(campaign))
    phone.look()
    shut(campaign, phone.invitation, how)
    assert sentence in phone.join()
    assert phone.status == 403
    assert sentence in phone.look()
    assert (Reviewer.objects.count(), Invitation.objects.get().used) == (0, 0)


@pytest.mark.parametrize(("how", "sentence"), SHUT.items())
def test_shut_campaign_or_invitation_refuses_answers_with_a_sentence(how: str, sentence: str) -> None:
    campaign = make_campaign()
    phone = joined(make_invitation(campaign))
    phone.press("show")
    proof = phone.proof
    shut(campaign, phone.invitation, how)
    before = list(Assignment.objects.values())
    assert sentence in phone.answer(GOOD, proof=proof)
    for button in ("next", "show", "skip", "report", "correct"):
        assert sentence in phone.press(button, proof)
        assert phone.status == 403
    assert (Review.objects.count(), counted()) == (0, 0)
    assert list(Assignment.objects.values()) == before


def test_image_stays_covered_and_without_address_until_it_is_asked_for() -> None:
    phone = joined()
    assert not IMAGE.search(phone.page)
    assert "<img" not in phone.page
    assert "The picture is covered." in phone.page
    address = IMAGE.search(phone.press("show"))
    assert address
    response = Client().get(unquote(address[0]))
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert not IMAGE.search(phone.press("hide"))


def test_showing_and_hiding_keep_what_was_typed() -> None:
    phone = joined()
    page = phone.press("show", **form_of({"associates": "no", "quality": "2"}))
    assert page.count(" checked") == 2
    page = phone.press("hide", page="2", **form_of({**FOOD, "explanation": "ፍሪዳ <b>"}))
    assert "ፍሪዳ &lt;b&gt;" in page
    assert 'type="hidden" name="q-quality" value="4"' in page


def test_first_questions_lead_to_the_food_branch_and_its_answers_are_kept() -> None:
    phone = joined()
    phone.press("show")
    page = phone.answer(FOOD, page=1)
    assert "<bdi>Does the picture show <bdi>Àmàlà</bdi>?</bdi>" in page
    assert "What do you see" not in page
    assert Review.objects.count() == 0
    page = phone.answer({**GOOD, "explanation": "Like my grandmother's"})
    review = Review.objects.get()
    assert review.answers == {**GOOD, "explanation": "Like my grandmother's"}
    assert (review.food, review.correct_dish, review.match, review.quality) == (True, True, "exact", 4)
    assert (review.disturbing, review.surplus) == (False, False)
    assert "Picture 2 of 2" in page
    assert counted() == 1


def test_not_food_leads_to_what_was_seen_and_ends() -> None:
    phone = joined()
    phone.press("show")
    page = phone.answer({**FOOD, "food": "no"}, page=1)
    assert "What do you see" in page
    assert "Which of these are true" not in page
    phone.answer(NOT_FOOD)
    review = Review.objects.get()
    assert (review.food, review.correct_dish, review.match) == (False, None, "")


def test_answers_to_both_branches_are_refused_and_nothing_is_stored() -> None:
    phone = joined()
    phone.press("show")
    page = phone.answer({**GOOD, "seen": "A wall"})
    assert "does not follow from your first answers" in page
    assert (Review.objects.count(), counted()) == (0, 0)


def test_changing_the_mind_about_food_drops_what_belongs_to_the_other_branch() -> None:
    phone = joined()
    phone.press("show")
    phone.answer(FOOD, page=1)
    page = phone.answer({**GOOD, "explanation": "Hm, no"}, do="back")
    assert 'name="q-explanation" value="Hm, no"' in page
    phone.answer({**GOOD, "explanation": "Hm, no", "food": "no"}, page=1)
    assert "Hm, no" not in phone.page
    phone.answer(NOT_FOOD)
    assert Review.objects.get().answers == NOT_FOOD


def test_missing_answer_is_named_at_its_question_and_the_rest_is_kept() -> None:
    phone = joined()
    phone.press("show")
    page = phone.answer({"associates": "yes", "familiarity": "very", "food": "yes"}, page=1)
    assert 'href="#id_q-quality"' in page
    assert page.count(" checked") == 3
    assert IMAGE.search(page)


def test_answer_without_having_seen_the_image_is_refused() -> None:
    phone = joined()
    page = phone.press("answer", page="1", **form_of(FOOD))
    assert "You have not seen the picture. Show it, or skip it." in page
    assert Review.objects.count() == 0


def test_same_answers_twice_are_one_review() -> None:
    phone = joined()
    proof = PROOF.findall(phone.press("show"))[-1]
    phone.answer(GOOD, proof=proof)
    page = phone.answer(GOOD, proof=proof)
    assert "Picture 2 of 2" in page
    assert (Review.objects.count(), counted()) == (1, 1)


def test_other_answers_for_an_answered_image_ask_whether_they_are_a_correction() -> None:
    phone = joined()
    proof = PROOF.findall(phone.press("show"))[-1]
    phone.answer(GOOD, proof=proof)
    page = phone.answer({**GOOD, "match": "added", "explanation": "Too much oil"}, proof=proof)
    assert "Do you want to change them?" in page
    assert 'value="Too much oil"' in page
    assert Review.objects.get().match == "exact"
    phone.answer({**GOOD, "match": "added", "explanation": "Too much oil"}, do="correct")
    review = Review.objects.get()
    assert (review.match, review.answers["explanation"]) == ("added", "Too much oil")
    assert [change.before for change in review.changes.all()] == [GOOD]
    assert counted() == 2


def test_correction_that_lacks_an_answer_asks_for_it_and_changes_nothing() -> None:
    phone = joined()
    proof = PROOF.findall(phone.press("show"))[-1]
    phone.answer(GOOD, proof=proof)
    phone.answer({**GOOD, "match": "added"}, proof=proof)
    page = phone.answer({**GOOD, "quality": ""}, do="correct")
    assert "Choose one of the answers." in page and "The picture is covered." in page
    assert Review.objects.get().answers == GOOD


def test_who_goes_back_to_the_first_questions_goes_on_with_what_was_chosen_on_the_second_page() -> None:
    phone = joined()
    phone.press("show")
    phone.answer(FOOD, page=1)
    page = phone.press("back", page=2, shown="1", **form_of(GOOD))
    assert 'name="q-match" value="exact"' in page
    page = phone.answer({**GOOD, "familiarity": "somewhat"}, page=1)
    assert 'name="page" value="2"' in page and "Something is missing" not in page
    phone.answer({**GOOD, "familiarity": "somewhat"})
    assert Review.objects.get().answers == {**GOOD, "familiarity": "somewhat"}


def test_answers_that_were_never_given_cannot_be_changed() -> None:
    phone = joined()
    page = phone.press("edit", which=str(Assignment.objects.get().pk))
    assert "You have not answered the questions about this picture." in page and phone.status == 409


def test_skip_that_was_answered_meanwhile_is_not_taken_back() -> None:
    phone = joined()
    phone.press("skip")
    skipped = Assignment.objects.get(state="skipped")
    Assignment.objects.filter(pk=skipped.pk).update(state="answered")
    take_back(skipped)
    assert Assignment.objects.get(pk=skipped.pk).state == "answered"


def test_earlier_answers_can_be_kept_instead() -> None:
    phone = joined()
    proof = PROOF.findall(phone.press("show"))[-1]
    phone.answer(GOOD, proof=proof)
    phone.answer(NOT_FOOD, proof=proof)
    assert "Picture 2 of 2" in phone.press("next")
    assert Review.objects.get().answers == GOOD


def test_skipped_image_does_not_come_back() -> None:
    phone = joined()
    skipped = Assignment.objects.get().image
    assert "Picture 2 of 2" in phone.press("skip")
    phone.press("skip")
    assert "You have seen every picture" in phone.page
    assert Assignment.objects.get(image=skipped).state == "skipped"
    assert Review.objects.count() == 0


def test_reported_image_is_hidden_for_everybody_in_the_campaign() -> None:
    campaign = make_campaign(images=1)
    phone = joined(make_invitation(campaign))
    proof = phone.proof
    assert "The picture is reported." in phone.press("report")
    assert "It stays hidden" in phone.press("show", proof)
    assert "There are no pictures for you now" in joined(make_invitation(campaign)).page


def test_pause_gives_a_personal_link_that_leads_back_without_cookies() -> None:
    phone = joined()
    page = phone.press("stop")
    address = re.search(r"/review/back/[^\"]+/", page)
    assert address
    assert "0 of 2 pictures are done" in page
    assert "gzip" not in Client(HTTP_ACCEPT_ENCODING="gzip").get(address[0]).headers.get("Content-Encoding", "")
    before = list(Assignment.objects.values())
    phone._took(Client().get(unquote(address[0])))
    assert list(Assignment.objects.values()) == before
    assert "Picture 1 of 2" in phone.press("next")
    assert Reviewer.objects.count() == 1


def test_altered_personal_link_leads_nowhere() -> None:
    page = joined().press("stop")
    found = re.search(r"/review/back/([^\"]+)/", page)
    assert found
    response = Client().get(f"/review/back/{found[1][:-3]}abc/")
    assert response.status_code == 404
    assert "This link is too old or not complete." in response.content.decode()


def test_cookie_leads_back_where_cookies_work_and_is_forgotten_when_asked() -> None:
    invitation = make_invitation()
    browser = Client()
    page = browser.get(invitation.get_absolute_url()).content.decode()
    sent = {"proof": PROOF.findall(page)[-1], "country": "Nigeria", "role": "author", "adult": "on", "agree": "on"}
    assert browser.post(invitation.get_absolute_url(), sent).cookies[f"turn-{invitation.pk}"]["httponly"]
    page = browser.get(invitation.get_absolute_url()).content.decode()
    assert "You have begun on this phone." in page
    proof = PROOF.findall(page)[0]
    answer = browser.post(f"{invitation.get_absolute_url()}pictures/", {"proof": proof, "do": "next"})
    assert "Picture 1 of 2" in answer.content.decode()
    forgotten = browser.post(invitation.get_absolute_url(), {"forget": "1"}).content.decode()
    assert "This phone does not remember you any more." in forgotten
    assert "You have begun" not in browser.get(invitation.get_absolute_url()).content.decode()


def test_every_page_that_knows_somebody_offers_to_finish_and_finishing_works_when_the_campaign_is_over() -> None:
    campaign = make_campaign()
    phone = joined(make_invitation(campaign))
    pages = [phone.page, phone.press("show"), phone.press("answer"), phone.press("stop")]
    proof = phone.proof
    pages.append(phone.look())
    assert ["Finish, or somebody else" in page for page in pages] == [True] * 4 + [False]
    shut(campaign, phone.invitation, "closed")
    response = Client().post(phone.invitation.get_absolute_url(), {"forget": "1", "proof": proof})
    assert "The pages of this turn can show and change nothing any more." in response.content.decode()


def test_unknown_invitation_is_a_page_that_says_what_to_do() -> None:
    response = Client().get("/review/no-such-code/")
    assert response.status_code == 404
    assert "This link leads to no review." in response.content.decode()


@pytest.mark.parametrize("token", ["", "forged", "a:b:c"])
def test_forged_or_missing_proof_is_refused_and_nothing_is_stored(token: str) -> None:
    phone = joined()
    before = list(Assignment.objects.values())
    page = phone.press("skip", proof=token or "none")
    assert "This page is too old, or did not come from here." in page
    assert phone.status == 403
    assert list(Assignment.objects.values()) == before


def test_page_that_is_too_old_shows_the_own_words_again_and_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    phone = joined()
    phone.press("show")
    monkeypatch.setattr("collection.access.form_tokens.MAX_AGE", timedelta(seconds=-1))
    phone.answer({**NOT_FOOD, "seen": "A wall\nand <a door>"})
    assert phone.status == 403
    assert "This page is too old" in phone.page
    assert "Copy what you want to use again." in phone.page
    assert "A wall<br>and &lt;a door&gt;" in phone.page
    assert not Review.objects.exists()


@pytest.mark.parametrize(("language", "draft"), [("en", False), ("ar", True), ("ar-EG", True), ("fr", False)])
def test_questions_in_a_translation_that_nobody_confirmed_say_so(language: str, draft: bool) -> None:
    phone = joined()
    sent = {"proof": phone.proof, "do": "next"}
    address = f"{phone.invitation.get_absolute_url()}pictures/"
    page = Client().post(address, sent, headers={"Accept-Language": language}).content.decode()
    with override("ar" if draft else "en"):
        assert (gettext(DRAFT) in page) is draft


def test_proof_made_for_joining_does_not_open_images() -> None:
    phone = joined()
    reviewer = Reviewer.objects.get()
    phone.press("next", Proof.new("review.join", reviewer.pk).token)
    assert phone.status == 403


def test_join_form_of_another_campaign_is_refused_with_the_choices_kept() -> None:
    phone, other = Phone(make_invitation()), Phone(make_invitation())
    other.look()
    phone.look()
    page = phone.join(proof=other.proof)
    assert "Send it once more." in page
    assert page.count(" checked") == 4
    assert not Reviewer.objects.exists()


def test_stranger_with_a_genuine_proof_of_somebody_else_reaches_no_image() -> None:
    phone = joined()
    phone.press("next", Proof.new("review", uuid.uuid4()).token)
    assert "You have not joined with this invitation." in phone.page
    other = make_reviewer()
    phone.press("next", Proof.new("review", other.pk).token)
    assert phone.status == 403
    assert not other.assignments.exists()


def refused_images(campaign: Campaign) -> dict[str, CampaignImage | str]:
    from review.campaigns.service import prepare_campaign_images

    prepare_campaign_images(campaign, [make_image(country="Kenya")])
    return {
        "another campaign's": first_image(make_campaign()),
        "another country's": campaign.images.get(country="Kenya"),
        "never given": campaign.images.exclude(assignments__isnull=False).filter(country="Nigeria")[0],
        "no id": "17",
    }


@pytest.mark.parametrize("which", ["another campaign's", "another country's", "never given", "no id"])
def test_image_that_was_not_given_to_this_person_is_refused(which: str) -> None:
    campaign = make_campaign()
    phone = joined(make_invitation(campaign))
    reviewer = Reviewer.objects.get()
    image = refused_images(campaign)[which]
    token = Proof.new("review", reviewer.pk, image).token
    before = list(Assignment.objects.values())
    for button in ("show", "hide", "answer", "correct", "skip", "report"):
        page = phone.press(button, token, page="2", **form_of(GOOD))
        assert "This picture is not one of yours." in page
        assert not IMAGE.search(page)
    assert list(Assignment.objects.values()) == before
    assert Review.objects.count() == 0


def test_another_site_cannot_send_the_form() -> None:
    phone = joined()
    address = f"{phone.invitation.get_absolute_url()}pictures/"
    for header in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        response = Client().post(address, {"proof": phone.proof, "do": "skip"}, headers=header)
        assert response.status_code == 403
    assert Assignment.objects.get().state == "reserved"


def test_wrong_methods_are_refused_and_looking_at_the_address_of_forms_leads_to_the_invitation() -> None:
    invitation = make_invitation()
    address = invitation.get_absolute_url()
    for method in ("put", "delete", "patch"):
        assert getattr(Client(), method)(address).status_code == 405
        assert getattr(Client(), method)(f"{address}pictures/").status_code == 405
    assert Client().post("/review/picture/x").status_code == 405
    assert Client().post("/review/back/x/").status_code == 405
    assert Client().get(f"{address}pictures/").headers["Location"] == address


def test_unknown_button_is_refused() -> None:
    phone = joined()
    phone.press("explode")
    assert phone.status == 400


@pytest.mark.parametrize("hostile", ["\x00", "\ud800", "<script>", "x" * 3000, "%s%n{{ 7 }}", "\u202e"])
def test_hostile_text_never_breaks_the_page(hostile: str) -> None:
    phone = joined()
    phone.press("show")
    typed = hostile.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    page = phone.answer({**NOT_FOOD, "seen": typed})
    assert phone.status == 200
    assert "<script>" not in page
    if Review.objects.exists():
        assert "\x00" not in Review.objects.get().answers.get("seen", "")


def test_pages_are_never_kept_and_the_copy_only_on_the_phone() -> None:
    phone = joined()
    address = phone.invitation.get_absolute_url()
    assert Client().get(address).headers["Cache-Control"] == "no-store"
    response = Client().post(f"{address}pictures/", {"proof": phone.proof, "do": "show"})
    assert response.headers["Cache-Control"] == "no-store"
    found = IMAGE.search(response.content.decode())
    assert found
    assert Client().get(unquote(found[0])).headers["Cache-Control"] == "private, max-age=3600"


@pytest.mark.parametrize("token", ["x", "a.b:c", "0" * 32 + ".7a1:sig"])
def test_altered_image_address_shows_nothing(token: str) -> None:
    assert Client().get(f"/review/picture/{token}").status_code == 404


def test_image_whose_file_is_gone_is_not_found() -> None:
    phone = joined()
    found = IMAGE.search(phone.press("show"))
    assert found
    CampaignImage.objects.update(copy_sha256="0" * 64)
    assert Client().get(unquote(found[0])).status_code == 404


def test_demonstration_says_so_on_every_page() -> None:
    campaign = make_campaign(source="demonstration")
    phone = Phone(make_invitation(campaign))
    assert 'class="demonstration"' in phone.look()
    assert 'class="demonstration"' in phone.join()
    assert Reviewer.objects.get().source == "demonstration"
