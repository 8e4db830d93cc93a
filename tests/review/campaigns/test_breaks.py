"""Kindness: rests, milder images, reasons afterwards, taking back, what one never wants to see."""

import re
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from PIL import Image

from review.assignment import report_assignment, reserve_image, skip_assignment
from review.breaks import IMAGES
from review.campaigns.service import prepare_campaign_images, save_review
from review.models import Assignment, ContentTag, Review, Reviewer, SupportContact
from tests.review.make import GOOD, make_campaign, make_image, make_invitation, make_reviewer
from tests.review.phone import LEFT, Phone, joined

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
DISTURBING = {**GOOD, "checks": ["disturbing"]}


def phone_in(images: int = 6, **more: Any) -> Phone:
    return joined(make_invitation(make_campaign(images=images, **more)))


def test_two_distressing_images_in_a_row_bring_a_rest_that_stays_until_somebody_goes_on() -> None:
    phone = phone_in()
    assert "Time for a rest" not in phone.answer(DISTURBING)
    assert "hard to look at" in phone.answer(DISTURBING)
    assert "Time for a rest" in phone.press("next")
    assert "Picture 3 of 6" in phone.press("on")
    assert "Picture 4 of 6" in phone.answer(DISTURBING)


@pytest.mark.parametrize(
    ("first", "second", "rest"),
    [
        (GOOD, DISTURBING, False),
        (DISTURBING, GOOD, False),
        ("skip", DISTURBING, False),
        ("report", DISTURBING, True),
        ("skip upsetting", "report", True),
        ("skip unknown", "report", False),
        ("report broken", DISTURBING, False),
    ],
)
def test_what_counts_as_distressing(first: object, second: object, rest: bool) -> None:
    phone = phone_in()
    for step in (first, second):
        if isinstance(step, str):
            button, _, why = step.partition(" ")
            phone.press(button)
            if why:
                phone.say_why(why)
        else:
            phone.answer(step)
    assert ("Time for a rest" in phone.page) is rest


def test_twenty_images_bring_a_rest() -> None:
    campaign = make_campaign(images=IMAGES + 1, repeat_percent=0)
    phone = joined(make_invitation(campaign))
    reviewer = Reviewer.objects.get()
    for _ in range(IMAGES - 1):
        given = reserve_image(reviewer)
        assert given
        save_review(reviewer, given.image, GOOD)
    assert "Time for a rest" not in phone.press("next")
    page = phone.answer()
    assert "You have seen many pictures." in page
    assert "20 of 21 pictures are done" in page


def test_milder_is_offered_where_something_is_tagged_and_leaves_tagged_images_out() -> None:
    campaign = make_campaign(images=6)
    phone = joined(make_invitation(campaign))
    handled = Assignment.objects.get().image
    others = list(campaign.images.exclude(pk=handled.pk))
    for image in others:
        ContentTag.objects.create(image=image, kind="insects")
    phone.press("report")
    phone.press("report")
    assert "Only milder pictures" in phone.page
    phone.press("milder")
    assert Assignment.objects.filter(state="reserved").count() == 0
    assert "You have seen every picture" in phone.page


def test_rest_offers_the_contact_of_the_country_and_nobody_must_call() -> None:
    campaign = make_campaign()
    for country, phone_number in (("Nigeria", "+234 1 23"), ("Kenya", "+254 9 87")):
        SupportContact.objects.create(campaign=campaign, country=country, name="Somebody", phone=phone_number)
    page = joined(make_invitation(campaign)).press("stop")
    assert 'href="tel:+234123"' in page
    assert "+254" not in page


def test_skip_is_one_tap_and_its_reason_comes_afterwards_and_belongs_to_it() -> None:
    phone = phone_in()
    phone.press("skip")
    left = Assignment.objects.get(state="skipped")
    assert left.reason == ""
    assert "Your reason is kept." in phone.say_why("unknown")
    left.refresh_from_db()
    assert (left.reason, Assignment.objects.exclude(reason="").count()) == ("unknown", 1)


def test_telling_why_keeps_what_was_typed_for_the_next_image() -> None:
    phone = phone_in()
    phone.press("skip")
    page = phone.say_why("unknown", **{"q-quality": "2"})
    assert page.count(" checked") == 1


@pytest.mark.parametrize("left", ["", "forged", "somebody else's"])
def test_reason_for_an_image_of_somebody_else_is_refused(left: str) -> None:
    phone, other = phone_in(), phone_in()
    for one in (phone, other):
        one.press("skip")
    token = LEFT.findall(other.page)[0] if left.startswith("somebody") else left
    phone.send(f"{phone.address}pictures/", proof=phone.proof("why"), left=token, why="unknown")
    assert (phone.status, Assignment.objects.exclude(reason="").count()) == (403, 0)


def test_unknown_reason_is_refused() -> None:
    phone = phone_in()
    phone.press("skip")
    phone.say_why("<b>")
    assert (phone.status, Assignment.objects.exclude(reason="").count()) == (400, 0)


def test_last_answer_can_be_taken_up_again_and_its_history_is_kept() -> None:
    phone = phone_in()
    phone.answer({**GOOD, "explanation": "Too red"})
    page = phone.press("undo")
    assert "Too red" in page
    assert "The picture is covered." in page
    fields: dict[str, Any] = {f"q-{code}": value for code, value in {**GOOD, "match": "added"}.items()}
    page = phone.press("answer", page="2", changing="1", **fields)
    assert "Your answers are changed." in page
    review = Review.objects.get()
    assert (review.match, review.changes.get().before["explanation"]) == ("added", "Too red")


@pytest.mark.parametrize("button", ["skip", "report"])
def test_skip_or_report_can_be_taken_back(button: str) -> None:
    phone = phone_in()
    first = Assignment.objects.get()
    phone.press(button)
    assert "It is taken back." in phone.press("undo")
    first.refresh_from_db()
    assert first.state == "reserved"


def test_taking_back_is_refused_where_others_took_the_place() -> None:
    campaign = make_campaign(images=1, wanted=1)
    phone = joined(make_invitation(campaign))
    phone.press("skip")
    assert reserve_image(make_reviewer(campaign)) is not None
    assert "Others judge that picture now." in phone.press("undo")
    assert Assignment.objects.filter(state="skipped").count() == 1


def test_nothing_to_take_back_is_said() -> None:
    assert "There is nothing to take back." in phone_in().press("undo")


def test_content_that_somebody_never_wants_to_see_is_never_given_to_them() -> None:
    campaign = make_campaign(images=3)
    tagged = campaign.images.first()
    assert tagged
    ContentTag.objects.create(image=tagged, kind="pork")
    reviewer = make_reviewer(campaign)
    reviewer.avoids = ["pork", "alcohol"]
    reviewer.save()
    given = []
    while one := reserve_image(reviewer):
        given.append(one.image_id)
        skip_assignment(one)
    assert len(given) == 2
    assert tagged.pk not in given
    assert reserve_image(make_reviewer(campaign)) is not None


def test_two_reports_hide_an_image_in_every_campaign_and_one_only_in_its_own() -> None:
    image = make_image()
    campaigns = [make_campaign(images=0) for _ in range(3)]
    for campaign in campaigns:
        prepare_campaign_images(campaign, [image])
    for number, campaign in enumerate(campaigns[:2]):
        assert reserve_image(make_reviewer(campaigns[2])) is not None, number
        Assignment.objects.filter(reviewer__campaign=campaigns[2]).delete()
        held = reserve_image(make_reviewer(campaign))
        assert held
        report_assignment(held)
        assert reserve_image(make_reviewer(campaign)) is None
    assert reserve_image(make_reviewer(campaigns[2])) is None


def test_larger_image_comes_on_request_and_is_larger() -> None:
    phone = phone_in()
    page = phone.press("larger")
    address = re.search(r"/review/picture/[^\"]+", page)
    assert address
    content = Client().get(unquote(address[0])).content
    assert Image.open(BytesIO(content)).size == (1024, 1024)
    assert "/review/picture/" not in phone.press("hide")
