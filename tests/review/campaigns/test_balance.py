"""Order of images: balance between models of unequal size, real photographs and repeats strewn in, one query."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evaluation.ingest.photographs import get_camera_model
from evaluation.models import Role
from review.assignment import (
    REPEAT_GAP,
    count_reviewer_progress,
    open_images,
    reserve_image,
    share_due,
    skip_assignment,
)
from review.campaigns.service import prepare_campaign_images, save_review
from review.models import Assignment, Campaign, Review, Reviewer
from tests.review.make import GOOD, make_campaign, make_image, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def unequal(**more: Any) -> Campaign:
    """Six images by ada, three by bob, one by cid."""
    campaign = make_campaign(images=0, **more)
    prepare_campaign_images(campaign, [make_image(model) for model in ("ada",) * 6 + ("bob",) * 3 + ("cid",)])
    return campaign


def judge(reviewer: Reviewer) -> Assignment | None:
    given = reserve_image(reviewer)
    if given:
        save_review(reviewer, given.image, GOOD, repeat=given.repeat)
    return given


def test_counts_stay_within_one_among_models_that_still_have_an_open_image() -> None:
    campaign = unequal(wanted=2)
    reviewers = [make_reviewer(campaign) for _ in range(4)]
    given: dict[object, Counter[str]] = {reviewer.pk: Counter() for reviewer in reviewers}
    busy = list(reviewers)
    while busy:
        for reviewer in list(busy):
            still = set(open_images(reviewer, campaign).values_list("image__model__slug", flat=True))
            one = judge(reviewer)
            if one is None:
                busy.remove(reviewer)
                continue
            counts = given[reviewer.pk]
            assert one.image.image.model
            slug = one.image.image.model.slug
            assert counts[slug] == min(counts[name] for name in still)
            counts[slug] += 1
    assert {image.reviews.filter(surplus=False).count() for image in campaign.images.all()} == {2}


def test_opinions_on_the_row_follow_answers_surplus_and_removal() -> None:
    campaign = make_campaign(images=1, wanted=1)
    image = campaign.images.get()
    for _ in range(2):
        save_review(make_reviewer(campaign), image, GOOD)
    image.refresh_from_db()
    assert image.opinions == 1
    Reviewer.objects.get(reviews__surplus=False).delete()
    image.refresh_from_db()
    assert (image.opinions, Review.objects.count()) == (0, 1)


def test_repeat_comes_after_a_gap_once_and_is_never_counted() -> None:
    campaign = make_campaign(images=30, repeat_percent=10, wanted=9)
    reviewer = make_reviewer(campaign)
    order = []
    while given := judge(reviewer):
        order.append((given.image_id, given.repeat))
    repeats = [place for place, (_, repeat) in enumerate(order) if repeat]
    assert len(repeats) in (2, 3, 4)
    for place in repeats:
        first = order.index((order[place][0], False))
        assert place - first > REPEAT_GAP
    assert len({order[place][0] for place in repeats}) == len(repeats)
    assert Review.objects.filter(repeat=True).count() == len(repeats)
    assert Review.objects.counted().count() == 30
    assert set(campaign.images.values_list("opinions", flat=True)) == {1}


def test_no_repeats_where_none_are_wanted() -> None:
    campaign = make_campaign(images=15, repeat_percent=0, wanted=9)
    reviewer = make_reviewer(campaign)
    while judge(reviewer):
        pass
    assert not Assignment.objects.filter(repeat=True).exists()


def test_real_photographs_are_strewn_in_by_their_share() -> None:
    campaign = make_campaign(images=16, real_percent=20)
    photos = [make_image() for _ in range(4)]
    for photo in photos:
        photo.model = get_camera_model()
        photo.save()
    prepare_campaign_images(campaign, photos)
    reviewer = make_reviewer(campaign)
    real = []
    while given := reserve_image(reviewer):
        model = given.image.image.model
        assert model
        real.append(model.role == Role.CAMERA)
        skip_assignment(given)
    assert sum(real) == 4
    places = [place for place, is_real in enumerate(real) if is_real]
    assert max(later - sooner for sooner, later in pairwise(places)) <= 6


@pytest.mark.parametrize(("percent", "expected"), [(0, 0), (5, 5), (50, 50)])
def test_share_is_reached_over_a_hundred_images_whatever_the_phase(percent: int, expected: int) -> None:
    for reviewer in (Reviewer() for _ in range(5)):
        had = 0
        for total in range(100):
            had += share_due(reviewer, total, had, percent)
        assert abs(had - expected) <= 1


def test_number_of_queries_does_not_grow_with_images_or_people() -> None:
    numbers = []
    for images, people in ((2, 1), (24, 6)):
        campaign = make_campaign(images=images, wanted=9)
        reviewers = [make_reviewer(campaign) for _ in range(people)]
        for reviewer in reviewers:
            judge(reviewer)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            reserve_image(reviewers[0])
            count_reviewer_progress(reviewers[0])
        numbers.append(len(queries))
    assert numbers[0] == numbers[1] <= 20
