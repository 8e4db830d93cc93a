"""Reviews as observations: what skips, controls and denominators do to them."""

import pytest

from tests.evaluation.table_observations import check, observed
from tests.review.make_tables import (
    make_answered,
    make_campaign,
    make_cell,
    make_maker,
    make_people,
    make_shown,
    make_skip,
)

pytestmark = pytest.mark.django_db


def test_skipped_images_are_observations_without_a_review() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 2)
    make_answered(made := make_cell(campaign, reviewers=people, says=lambda dish, who: {"food": dish == who}))
    skipped = make_skip(make_shown(campaign, model=make_maker()), people[0])
    assert check("review.skips") == 5
    found = observed("review.skips")
    assert found.values["skipped"].tolist() == [0, 0, 0, 0, 1]
    assert sorted(found.reviews.tolist()) == [0, *sorted(review.pk for review in made)]
    assert found.images[-1] == skipped.image.image_id


def test_where_nobody_recorded_what_was_given_nothing_is_observed() -> None:
    make_cell(make_campaign())
    assert check("review.skips") == 0


def test_controls_stand_in_their_country_and_in_all() -> None:
    campaign = make_campaign()
    camera = make_maker("Photographs", role="camera")
    [person] = make_people(campaign, 1)
    for country, food in (("Kenya", True), ("Ghana", False)):
        shown = make_shown(campaign, country, camera)
        shown.reviews.create(reviewer=person, food=food, correct_dish=food)
        shown.reviews.create(reviewer=person, food=True, repeat=True)
    assert check("review.controls") == 3 * 3
    assert set(observed("review.controls").groups["country"]) == {("Ghana", "all"), ("Kenya", "all")}


@pytest.mark.parametrize("name", ["review.quality", "review.quality_answered", "review.quality_own", "review.match"])
def test_unanswered_questions_count_as_the_table_counts_them(name: str) -> None:
    said = [
        {"food": True, "correct_dish": True, "quality": 4, "associates": True, "familiarity": "very", "match": "exact"},
        {"food": False, "associates": True, "familiarity": "not"},
        {},
    ]
    make_cell(make_campaign(), dishes=3, says=lambda dish, who: said[dish])
    make_cell(make_campaign(), country="Ghana", model="Dalle3", dishes=1)
    assert check(name)
    assert check(name, country="Kenya")
    assert observed(name, model="nobody").values.keys() == observed(name).values.keys()


def test_reviews_of_an_unknown_model_are_left_out() -> None:
    campaign = make_campaign()
    [person] = make_people(campaign, 1)
    make_shown(campaign).reviews.create(reviewer=person, food=True)
    kept = make_shown(campaign, model=make_maker()).reviews.create(reviewer=person, food=True)
    assert observed("review.quality").reviews.tolist() == [kept.pk]
