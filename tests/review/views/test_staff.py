"""What staff see of one reviewer, leaving somebody out, images that nobody is left to judge, words to be read."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from evaluation import cached_counts
from evaluation.models import InputCounter, Model
from review.admin import cached_progress
from review.admin.progress import without_reviewer, work_of
from review.assignment import reserve_image, skip_assignment
from review.campaigns.service import save_review
from review.models import (
    Assignment,
    CampaignImage,
    CampaignText,
    Exclusion,
    FirstLook,
    Note,
    Preparation,
    Review,
    SupportContact,
)
from tests.review.make import GOOD, NOT_FOOD, first_image, make_campaign, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss", password="a long password"))
    return client


def test_work_of_a_reviewer_is_counted_timed_and_compared() -> None:
    campaign = make_campaign(images=2)
    reviewer, others = make_reviewer(campaign), [make_reviewer(campaign) for _ in range(2)]
    first, second = campaign.images.all()
    save_review(reviewer, first, GOOD)
    save_review(reviewer, first, {**GOOD, "correct_dish": "no"}, repeat=True)
    for other in others:
        save_review(other, first, NOT_FOOD)
    skip_assignment(Assignment.objects.create(reviewer=reviewer, image=second, until=timezone.now()))
    shown = timezone.now() - timedelta(seconds=50)
    Assignment.objects.filter(reviewer=reviewer, image=first, repeat=False).update(
        shown_at=shown, handled_at=shown + timedelta(seconds=42)
    )
    work = work_of(reviewer)
    assert (work.answers, work.skipped, work.seconds) == (1, 1, 42.0)
    assert (work.shared, work.alike, work.repeats, work.repeats_alike) == (1, 0, 1, 0)
    assert work_of(others[0]).shared == 0


def test_report_page_of_a_reviewer_opens(staff: Client) -> None:
    campaign = make_campaign()
    reviewer = make_reviewer(campaign)
    save_review(reviewer, first_image(campaign), GOOD)
    page = staff.get(f"/admin/review/reviewer/{reviewer.pk}/report/").content.decode()
    assert "Leave this reviewer out" in page
    assert "not measured: fewer than 30 images with two opinions" in page
    assert Client().get(f"/admin/review/reviewer/{reviewer.pk}/report/").status_code == 302


def test_leaving_a_reviewer_out_needs_a_reason_and_makes_tables_stale(staff: Client) -> None:
    campaign = make_campaign()
    reviewer = make_reviewer(campaign)
    save_review(reviewer, first_image(campaign), GOOD)
    before = InputCounter.objects.get(name="reviews").value
    staff.post("/admin/review/exclusion/add/", {"reviewer": str(reviewer.pk), "reason": ""})
    assert not Exclusion.objects.exists()
    staff.post("/admin/review/exclusion/add/", {"reviewer": str(reviewer.pk), "reason": "Answers in two seconds"})
    assert Exclusion.objects.get().by.get_username() == "boss"
    assert InputCounter.objects.get(name="reviews").value == before + 1
    assert Review.objects.counted().count() == 0
    assert Review.objects.counted(include_excluded=True).count() == 1
    staff.post("/admin/review/exclusion/", {"action": "count_again", "_selected_action": str(reviewer.pk)})
    assert Review.objects.counted().count() == 1
    assert InputCounter.objects.get(name="reviews").value == before + 2


def test_images_that_nobody_is_left_to_judge_are_listed() -> None:
    campaign = make_campaign(images=2, wanted=2)
    assert len(without_reviewer(campaign)) == 2
    reviewer = make_reviewer(campaign)
    assert without_reviewer(campaign) == []
    held = reserve_image(reviewer)
    assert held
    skip_assignment(held)
    assert without_reviewer(campaign) == [held.image]


def test_answer_of_the_team_is_signed_with_who_and_when(staff: Client) -> None:
    note = Note.objects.create(reviewer=make_reviewer(), text="What is this for?")
    staff.post(f"/admin/review/note/{note.pk}/change/", {"answer": "To show where models fail."})
    note.refresh_from_db()
    assert (note.answer, note.text) == ("To show where models fail.", "What is this for?")
    assert note.answered_by is not None
    assert note.answered_at is not None


def test_reading_words_is_recorded_and_a_correction_has_to_be_read_anew(staff: Client) -> None:
    campaign = make_campaign()
    reviewer = make_reviewer(campaign)
    review = save_review(reviewer, first_image(campaign), NOT_FOOD).review
    staff.post("/admin/review/review/", {"action": "words_read", "_selected_action": review.pk})
    review.refresh_from_db()
    assert review.words_read_at is not None
    save_review(reviewer, first_image(campaign), {**NOT_FOOD, "seen": "Ada's wall"}, correction=True)
    review.refresh_from_db()
    assert (review.words_read_at, review.words_read_by) == (None, None)


def test_a_campaign_s_page_takes_few_queries(
    staff: Client, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    """With everything that a campaign may have, several of each."""
    models = ("painter", "drawer", "sketcher")
    campaign = make_campaign(images=6, wanted=1, models=models)
    boss = User.objects.get(username="boss")
    for model in Model.objects.filter(slug__in=models[:2]):
        FirstLook.objects.create(campaign=campaign, model=model, by=boss)
    for number in range(3):
        save_review(make_reviewer(campaign), first_image(campaign), GOOD)
        SupportContact.objects.create(campaign=campaign, country="Nigeria", name="Ada", phone=f"+234 {number}")
        Preparation.objects.create(campaign=campaign, model=Model.objects.get(slug="painter"))
        CampaignText.objects.create(campaign=campaign, language=f"l{number}", title="Title", introduction="Words")
    address = f"/admin/review/campaign/{campaign.pk}/change/"
    # What a process looks up once and holds.
    staff.get(address)
    with django_assert_max_num_queries(15):
        page = staff.get(address)
    looks = re.findall(r"(\w+): boss looked at the first ones on .*?; (\d) of (\d) images", page.text)
    assert sorted(looks) == [("drawer", "0", "2"), ("painter", "0", "2")]
    assert [model.slug for model in page.context["to_look_at"]] == ["sketcher"]
    for rows in page.context["progress"].values():
        assert (sum(row.images for row in rows), sum(row.surplus for row in rows)) == (6, 2)


def test_a_large_campaign_is_counted_by_a_worker(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make_campaign(images=3, wanted=1)
    save_review(make_reviewer(campaign), first_image(campaign), GOOD)
    address = f"/admin/review/campaign/{campaign.pk}/change/"
    small = staff.get(address).context
    monkeypatch.setattr(cached_counts, "LARGE", 2)
    page = staff.get(address)
    assert "being counted" in page.text
    assert "Progress by" not in page.text
    cached_counts.recount_wanted()
    large = staff.get(address)
    assert "Counted 20" in large.text
    assert [large.context[name] for name in ("progress", "reviewers")] == [
        small[name] for name in ("progress", "reviewers")
    ]
    assert [image.pk for image in large.context["stuck"]] == [image.pk for image in small["stuck"]]


def test_of_very_many_dishes_those_that_lack_most_are_shown(staff: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make_campaign(images=3, wanted=1)
    for number, image in enumerate(campaign.images.all()):
        CampaignImage.objects.filter(pk=image.pk).update(dish_name=f"Dish {number}")
    judged = CampaignImage.objects.get(dish_name="Dish 1")
    save_review(make_reviewer(campaign), judged, GOOD)
    monkeypatch.setattr(cached_progress, "MOST_ROWS", 2)
    page = staff.get(f"/admin/review/campaign/{campaign.pk}/change/")
    assert [row.name for row in page.context["progress"]["dish"]] == ["Dish 0", "Dish 2"]
    assert "1 more dish is not shown" in page.text
