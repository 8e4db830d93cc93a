"""`review.agreement`: which opinions meet, which questions are asked twice, what is too few."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluation.metrics.tidy import Estimate
from evaluation.models import Role
from review.models import Review
from review.tables.agreement import AGREEMENT, QUESTIONS, with_others
from tests.review.make_tables import (
    estimates,
    make_campaign,
    make_cell,
    make_exclusion,
    make_maker,
    make_opinion,
    make_people,
    make_review,
    make_shown,
    table,
)

NAME = "review.agreement"
pytestmark = pytest.mark.django_db


def agreement(question: str, country: str = "Kenya", **filters: str) -> dict[str, Estimate]:
    return estimates(table(NAME, **filters), question=question, country=country)


def read(question: str, **said: Any) -> bool | int | str | None:
    """The opinion that a review holds on a question."""
    return next(one for one in QUESTIONS if one.name == question).answer(make_opinion(**said))


def enough(says: Callable[[int, int], dict[str, Any]], country: str = "Kenya") -> list[Review]:
    """40 images, each of a dish of its own, judged by two people."""
    return make_cell(make_campaign(), country, dishes=40, reviewers=2, says=says)


def sometimes(dish: int, reviewer: int) -> dict[str, Any]:
    return {"food": dish % 4 != 0 or reviewer == 0, "quality": 1 + (dish + reviewer) % 3}


@pytest.mark.parametrize(
    ("question", "said", "opinion"),
    [
        ("correct_dish", {"food": True, "correct_dish": False}, False),
        ("correct_dish", {"food": False}, None),
        ("correct_dish, no food is no", {"food": False}, False),
        ("correct_dish, no food is no", {"food": True, "correct_dish": True}, True),
        ("correct_dish, no food is no", {"food": True}, None),
        ("match", {"match": "exact"}, "exact"),
        ("match", {"food": False}, None),
        ("match", {"match": "unknown"}, None),
        ("match, no food is no", {"food": False}, "none"),
        ("match, no food is no", {"match": "unknown"}, None),
        ("disturbing", {"food": False}, None),
        ("disturbing, no food is no", {"food": False}, False),
        ("familiarity", {"familiarity": "not"}, 0),
        ("familiarity", {"familiarity": "very"}, 2),
        ("familiarity", {}, None),
        ("rating", {"quality": 4}, 4),
    ],
)
def test_what_an_opinion_is(question: str, said: dict[str, Any], opinion: object) -> None:
    assert read(question, **said) == opinion


def test_by_hand_few_units_are_computed_but_not_reported() -> None:
    # Two people, four dishes: yes yes | yes no | no no | yes and nothing. As worked out in the test of the metric:
    # alpha 4/9, raw 2/3, AC1 0.372549, of three units.
    said = {(0, 0): True, (0, 1): True, (1, 0): True, (1, 1): False, (2, 0): False, (2, 1): False, (3, 0): True}
    make_cell(make_campaign(), dishes=4, says=lambda dish, reviewer: {"food": said.get((dish, reviewer))})
    found = agreement("food")
    assert found["alpha_computed"].value == pytest.approx(4 / 9)
    assert found["raw_agreement_computed"].value == pytest.approx(2 / 3)
    assert found["ac1_computed"].value == pytest.approx(0.372549, abs=1e-6)
    for name in ("alpha", "raw_agreement", "ac1"):
        assert (found[name].value, found[name].n, found[name].clusters) == (None, 3, 3)
        assert found[name].reason == "fewer than 30 images with two opinions"
    assert found["alpha_computed"].low is None


def test_enough_units_are_reported_with_an_interval_over_dishes() -> None:
    enough(sometimes)
    found = agreement("food")
    for name in ("alpha", "raw_agreement", "ac1"):
        estimate = found[name]
        assert estimate.value == found[f"{name}_computed"].value
        assert (estimate.n, estimate.clusters) == (40, 40)
        assert estimate.value is not None
        if name == "alpha":
            assert (estimate.low, estimate.reason) == (None, "fewer than 50 dishes: alpha claims no interval")
        else:
            assert estimate.low is not None and estimate.low < estimate.value
            assert "over dishes" in estimate.method
    # 10 of 40 images are food to one and not to the other.
    assert found["raw_agreement"].value == 0.75


def test_thirty_images_of_nine_dishes_are_too_few() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 2)
    for image in range(36):
        shown = make_shown(campaign, model=make_maker(), source_key=f"dish {image}")
        for number, person in enumerate(people):
            make_review(shown, person, food=(image + number) % 3 > 0)
    assert agreement("food")["alpha"].value is not None
    same_dish = [f"dish {image}" for image in range(9, 36)]
    reviews = Review.objects.filter(image__image__subject__source_key__in=same_dish)
    first = Review.objects.get(image__image__subject__source_key="dish 0", reviewer=people[0]).image.image.subject
    for review in reviews:
        review.image.image.subject = first
        review.image.image.save()
    found = agreement("food")["alpha"]
    assert (found.value, found.n, found.clusters) == (None, 36, 9)
    assert found.reason == "fewer than 10 dishes with such images"


def test_everybody_alike_has_agreement_but_no_alpha() -> None:
    enough(lambda dish, reviewer: {"food": True})
    found = agreement("food")
    assert found["alpha"].value is None
    assert "everybody gave the same answer" in found["alpha"].reason
    assert found["raw_agreement"].value == 1


def test_the_level_is_ordinal_for_ratings() -> None:
    # One step apart everywhere against as many answers four steps apart.
    near = {0: 1, 1: 2}
    make_cell(make_campaign(), "Kenya", dishes=12, says=lambda dish, person: {"quality": near[person] + dish % 4})
    make_cell(make_campaign(), "Mali", dishes=12, says=lambda dish, person: {"quality": (1 + 4 * person, 3)[dish % 2]})
    near_alpha = agreement("rating", "Kenya")["alpha_computed"].value
    assert near_alpha is not None
    assert near_alpha > 0
    far_alpha = agreement("rating", "Mali")["alpha_computed"].value
    assert far_alpha is not None
    assert far_alpha < near_alpha


def test_all_countries_together_hold_the_units_of_each() -> None:
    enough(sometimes, "Kenya")
    enough(sometimes, "Mali")
    assert [agreement("food", place)["alpha"].n for place in ("Kenya", "Mali", "all")] == [40, 40, 80]


def test_one_image_judged_for_two_countries_is_two_units() -> None:
    campaign = make_campaign()
    first, second = make_people(campaign, 2)
    shown = make_shown(campaign, "Kenya", make_maker())
    other = campaign.images.create(image=shown.image, country="Mali", dish_name=shown.dish_name)
    make_review(shown, first, food=True)
    make_review(other, second, food=False)
    assert agreement("food", "all")["alpha_computed"].n == 0


def test_one_image_in_two_campaigns_is_one_unit() -> None:
    campaign, again = make_campaign(), make_campaign()
    shown = make_shown(campaign, "Kenya", make_maker())
    other = again.images.create(image=shown.image, country="Kenya", dish_name=shown.dish_name)
    make_review(shown, make_people(campaign, 1)[0], food=True)
    make_review(other, make_people(again, 1)[0], food=False)
    assert agreement("food")["alpha_computed"].n == 1
    assert agreement("food", campaign=campaign.slug)["alpha_computed"].n == 0


def test_real_photographs_are_left_out_and_one_model_can_be_chosen() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 2)
    makers = (make_maker("Photographs", role=Role.CAMERA), make_maker("Dalle2"), make_maker("Dalle3"))
    for maker in makers:
        shown = make_shown(campaign, model=maker)
        for person in people:
            make_review(shown, person, food=True)
    assert agreement("food")["alpha_computed"].n == 2
    assert agreement("food", model="Dalle3")["alpha_computed"].n == 1


def test_one_question_can_be_chosen() -> None:
    enough(sometimes)
    assert {row.groups["question"] for row in table(NAME, question="rating").rows} == {"rating"}


def test_figure_shows_only_what_may_be_reported() -> None:
    assert AGREEMENT.drawn == ["alpha", "raw_agreement", "ac1"]


def test_by_hand_one_person_against_the_others() -> None:
    """40 images; the second person denies ten of them: 30 × 1 + 10 × ½ over 40. The third is nobody's other."""
    people = make_people(campaign := make_campaign(), 4)
    says = {0: lambda dish: True, 1: lambda dish: dish >= 10, 2: lambda dish: True, 3: lambda dish: False}
    make_cell(campaign, dishes=40, reviewers=people, says=lambda dish, reviewer: {"food": says[reviewer](dish)})
    make_exclusion(people[3])
    found = with_others(people[0])
    assert (found["food"].value, found["food"].n, found["food"].clusters) == (0.875, 40, 40)
    assert with_others(people[1])["food"].value == pytest.approx(0.75)
    assert with_others(people[3])["food"].value == pytest.approx(10 / 40 / 3)
    assert (found["rating"].value, found["rating"].n) == (None, 0)


def test_one_person_who_shares_few_images_is_not_measured() -> None:
    people = make_people(campaign := make_campaign(), 2)
    make_cell(campaign, dishes=29, reviewers=people)
    one = with_others(people[0])["food"]
    assert (one.value, one.n, one.reason) == (None, 29, "fewer than 30 images with two opinions")
