"""Who judges which image next."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from review.assignment import HANDLED, count_reviewer_progress, report_assignment, reserve_image, skip_assignment
from review.campaigns.service import save_review
from review.models import Assignment, Campaign, Review, Reviewer
from tests.review.make import GOOD, NOT_FOOD, first_image, make_campaign, make_image, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def judge(reviewer: Reviewer) -> Assignment | None:
    given = reserve_image(reviewer)
    if given:
        save_review(reviewer, given.image, GOOD)
    return given


def hold(reviewer: Reviewer) -> Assignment:
    given = reserve_image(reviewer)
    assert given is not None
    return given


def expire(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(until=timezone.now() - timedelta(days=1))


def test_asking_again_gives_the_image_in_hand() -> None:
    reviewer = make_reviewer()
    first, second = reserve_image(reviewer), reserve_image(reviewer)
    assert first == second
    assert Assignment.objects.count() == 1


def test_image_with_fewest_opinions_and_reservations_comes_first() -> None:
    campaign = make_campaign(images=3)
    images = list(campaign.images.all())
    for image in images[:1] * 2 + images[1:2]:
        save_review(make_reviewer(campaign), image, GOOD)
    given = reserve_image(make_reviewer(campaign))
    assert given is not None and given.image == images[2]
    save_review(make_reviewer(campaign), images[2], GOOD)
    other = reserve_image(make_reviewer(campaign))
    assert other is not None and other.image == images[1]


def test_model_seen_least_comes_first_among_equals() -> None:
    campaign = make_campaign(images=9, models=("ada", "bob", "cid"))
    reviewer = make_reviewer(campaign)
    for judged in range(1, 10):
        judge(reviewer)
        counts = Counter(reviewer.reviews.values_list("image__image__model__slug", flat=True))
        seen = [counts[slug] for slug in ("ada", "bob", "cid")]
        assert sum(seen) == judged
        assert max(seen) - min(seen) <= 1


def test_order_differs_between_people_and_stays_for_each() -> None:
    campaign = make_campaign(images=12, wanted=20)
    reviewers = [make_reviewer(campaign) for _ in range(6)]
    firsts = []
    for reviewer in reviewers:
        firsts.append(hold(reviewer).image_id)
        Assignment.objects.all().delete()
        assert hold(reviewer).image_id == firsts[-1]
        Assignment.objects.all().delete()
    assert len(set(firsts)) > 1


def test_person_gets_an_image_once() -> None:
    campaign = make_campaign(images=4)
    reviewer = make_reviewer(campaign)
    skipped = hold(reviewer)
    skip_assignment(skipped)
    first = judge(reviewer)
    reported = hold(reviewer)
    report_assignment(reported)
    last = judge(reviewer)
    assert reserve_image(reviewer) is None
    assert len({one.image_id for one in (skipped, first, reported, last) if one}) == 4


def test_image_of_another_country_or_campaign_or_without_a_copy_is_never_given() -> None:
    from review.campaigns.service import prepare_campaign_images

    campaign = make_campaign(images=1)
    prepare_campaign_images(campaign, [make_image(country="Kenya")])
    make_campaign(images=1)
    bare = make_campaign(images=1)
    bare.images.update(copy_sha256="")
    reviewer = make_reviewer(campaign)
    given = judge(reviewer)
    assert given is not None and given.image.country == "Nigeria"
    assert reserve_image(reviewer) is None
    assert reserve_image(make_reviewer(bare)) is None


def test_wanted_number_counts_opinions_and_live_reservations() -> None:
    campaign = make_campaign(images=1, wanted=2)
    judge(make_reviewer(campaign))
    held = hold(make_reviewer(campaign))
    late = make_reviewer(campaign)
    assert reserve_image(late) is None
    expire(held)
    assert reserve_image(late) is not None


def test_skipping_frees_the_place() -> None:
    campaign = make_campaign(images=1, wanted=1)
    held = hold(make_reviewer(campaign))
    skip_assignment(held)
    assert reserve_image(make_reviewer(campaign)) is not None


def test_expired_reservation_may_come_back_to_the_same_person_once() -> None:
    campaign = make_campaign(images=1)
    reviewer = make_reviewer(campaign)
    held = hold(reviewer)
    Assignment.objects.filter(pk=held.pk).update(shown_at=timezone.now())
    expire(held)
    again = hold(reviewer)
    assert (again.pk, again.shown_at, Assignment.objects.count()) == (held.pk, None, 1)


def test_late_answer_is_kept_as_surplus_only_where_the_place_was_taken() -> None:
    campaign = make_campaign(images=1, wanted=1)
    slow, quick = make_reviewer(campaign), make_reviewer(campaign)
    held = hold(slow)
    expire(held)
    judge(quick)
    save_review(slow, held.image, NOT_FOOD)
    assert dict(Review.objects.values_list("reviewer", "surplus")) == {slow.pk: True, quick.pk: False}


def test_late_answer_counts_where_nobody_took_the_place() -> None:
    campaign = make_campaign(images=1, wanted=1)
    slow = make_reviewer(campaign)
    held = hold(slow)
    expire(held)
    save_review(slow, held.image, GOOD)
    assert not Review.objects.get().surplus
    assert reserve_image(make_reviewer(campaign)) is None


def test_place_that_somebody_holds_is_not_taken_by_a_late_answer() -> None:
    campaign = make_campaign(images=1, wanted=1)
    slow, quick = make_reviewer(campaign), make_reviewer(campaign)
    held = hold(slow)
    expire(held)
    holding = hold(quick)
    save_review(slow, held.image, GOOD)
    save_review(quick, holding.image, GOOD)
    assert dict(Review.objects.values_list("reviewer", "surplus")) == {slow.pk: True, quick.pk: False}


def test_skip_after_an_answer_leaves_the_answer_and_report_keeps_it_too() -> None:
    campaign = make_campaign(images=1)
    reviewer = make_reviewer(campaign)
    given = judge(reviewer)
    assert given is not None
    skip_assignment(given)
    assert Assignment.objects.get().state == "answered"
    report_assignment(given)
    assert Assignment.objects.get().state == "reported"
    assert Review.objects.count() == 1


def test_answer_after_a_report_keeps_the_image_hidden() -> None:
    campaign = make_campaign(images=1)
    reviewer = make_reviewer(campaign)
    given = hold(reviewer)
    report_assignment(given)
    save_review(reviewer, given.image, GOOD)
    assert Assignment.objects.get().state == "reported"
    assert reserve_image(make_reviewer(campaign)) is None


def test_progress_counts_what_is_behind_and_what_is_left_for_this_person() -> None:
    campaign = make_campaign(images=4, wanted=1)
    reviewer = make_reviewer(campaign)
    assert (count_reviewer_progress(reviewer).number, count_reviewer_progress(reviewer).total) == (1, 4)
    judge(reviewer)
    reserve_image(reviewer)
    assert (count_reviewer_progress(reviewer).number, count_reviewer_progress(reviewer).total) == (2, 4)
    judge(make_reviewer(campaign))
    assert (count_reviewer_progress(reviewer).number, count_reviewer_progress(reviewer).total) == (2, 3)


def test_every_wanted_opinion_is_reached_and_none_is_too_many() -> None:
    campaign = make_campaign(images=5, wanted=2, models=("ada", "bob"))
    reviewers = [make_reviewer(campaign) for _ in range(4)]
    while [judge(reviewer) for reviewer in reviewers] != [None] * 4:
        pass
    assert {image.reviews.count() for image in campaign.images.all()} == {2}
    assert not Review.objects.filter(surplus=True).exists()
    assert {given.state in HANDLED for given in Assignment.objects.all()} == {True}


def test_answer_saved_without_a_reservation_is_an_assignment_too() -> None:
    campaign = make_campaign(images=1)
    reviewer = make_reviewer(campaign)
    save_review(reviewer, first_image(campaign), GOOD)
    assert reserve_image(reviewer) is None
    assert Campaign.objects.get().pk == campaign.pk
