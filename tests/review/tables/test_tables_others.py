"""The tables beside `review.quality`: other denominators, reviewers, match, boxes, words, skips, controls."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import pytest
from django.utils import timezone

from evaluation.models import Role
from evaluation.tables import compute, read
from review import assignment
from review.models import Assignment, Review, Reviewer
from review.tables.answers import CHECKS, MATCHES
from review.tables.quality import answered_only, knows_the_dish
from review.tables.words import ANY
from tests.review.make_tables import (
    estimates,
    make_answered,
    make_campaign,
    make_cell,
    make_exclusion,
    make_maker,
    make_opinion,
    make_people,
    make_review,
    make_shown,
    make_skip,
    table,
    values,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
OF_REVIEWS = (
    "review.quality",
    "review.quality_answered",
    "review.quality_own",
    "review.reviewers",
    "review.match",
    "review.checks",
    "review.words",
    "review.skips",
    "review.controls",
    "review.agreement",
)
OWN = {"associates": True, "familiarity": Review.Familiarity.SOMEWHAT}


def two_by_two(**said: dict[str, Any]) -> list[Review]:
    """Two dishes, two reviewers; `said` by the names d0r0, d0r1, d1r0, d1r1."""
    return make_cell(make_campaign(), says=lambda dish, reviewer: said.get(f"d{dish}r{reviewer}", {}))


# What holds for all of them.


@pytest.mark.parametrize("name", OF_REVIEWS)
def test_without_reviews_a_table_is_empty_and_says_so(name: str) -> None:
    made = table(name)
    assert made.rows == ()
    assert any("no reviews yet" in note for note in made.notes)


@pytest.mark.parametrize("name", OF_REVIEWS)
def test_people_left_out_by_a_steward_count_only_when_asked_for_and_are_told(name: str) -> None:
    reviews = two_by_two(d0r0={"food": True, **OWN}, d0r1={"food": True, **OWN})
    make_answered(reviews)
    before = table(name)
    make_exclusion(reviews[0].reviewer)
    without, with_them = table(name), table(name, excluded="with")
    assert with_them.rows == before.rows
    if name != "review.controls":
        assert without.rows != before.rows
    said = "2 reviews by 1 people whom a steward decided to leave out"
    assert any(note.startswith(f"Left out: {said}") for note in without.notes)
    assert any(note.startswith(f"Counted here: {said}") for note in with_them.notes)


@pytest.mark.parametrize("name", [name for name in OF_REVIEWS if name != "review.controls"])
def test_answers_of_somebody_who_withdrew_them_leave_every_table(name: str) -> None:
    reviews = two_by_two(d0r0={"food": True, **OWN}, d0r1={"food": True, **OWN})
    before = table(name)
    Reviewer.objects.filter(pk=reviews[0].reviewer_id).update(withdrawn_at=timezone.now())
    assert table(name).rows != before.rows
    Reviewer.objects.filter(pk=reviews[0].reviewer_id).update(keep_answers=True)
    assert table(name).rows == before.rows


@pytest.mark.parametrize("name", [name for name in OF_REVIEWS if name not in ("review.controls", "review.skips")])
def test_second_answers_of_a_person_about_an_image_count_nowhere_else(name: str) -> None:
    reviews = two_by_two(d0r0={"food": True, **OWN})
    before = table(name)
    make_review(reviews[0].image, reviews[0].reviewer, repeat=True, food=False, **OWN)
    assert table(name).rows == before.rows


# Other denominators.


def test_answered_only_divides_by_those_who_answered_each_question() -> None:
    # Food: 2 yes of 3 answers. The dish: 1 of 2. Rating: 1 of 1. Boxes shown to 2, 1 disturbing. Own words: 1 of 1.
    two_by_two(
        d0r0={"food": True, "correct_dish": True, "quality": 3, "disturbing": True},
        d0r1={"food": True, "correct_dish": False, "disturbing": False},
        d1r0={"food": False, "answers": {"seen": "gross"}},
    )
    found = estimates(table("review.quality_answered"))
    assert {metric: (one.value, one.n) for metric, one in found.items()} == {
        "food": (pytest.approx(2 / 3), 3),
        "correct_dish": (0.5, 2),
        "good_quality": (1.0, 1),
        "disturbing": (0.5, 2),
        "unappetising": (1.0, 1),
    }
    assert found["correct_dish"].clusters == 1


def test_nobody_answered_is_not_measured_rather_than_zero() -> None:
    two_by_two(d0r0={"food": True})
    rating = estimates(table("review.quality_answered"))["good_quality"]
    assert (rating.value, rating.n) == (None, 0)
    assert rating.reason == "nobody was asked, or nobody answered"


def test_a_released_flag_that_says_yes_counts_without_its_column() -> None:
    flags = {"disturbing": True, "unappetising": True}
    assert answered_only(make_opinion(flags=flags), ())[3:] == (True, True)
    assert answered_only(make_opinion(flags=dict.fromkeys(flags, False)), ())[3:] == (None, None)


@pytest.mark.parametrize(
    ("associates", "familiarity", "own"),
    [
        (True, "very", True),
        (True, "somewhat", True),
        (True, "not", False),
        (True, "", False),
        (False, "very", False),
        (None, "very", False),
    ],
)
def test_a_dish_is_ones_own_if_associated_and_somewhat_familiar(
    associates: bool | None, familiarity: str, own: bool
) -> None:
    assert knows_the_dish(make_opinion(associates=associates, familiarity=familiarity)) is own


def test_only_reviews_of_ones_own_dishes_count() -> None:
    two_by_two(d0r0={"food": True, **OWN}, d0r1={"food": False}, d1r0={**OWN, "food": None})
    food = estimates(table("review.quality_own"))["food"]
    assert (food.value, food.n, food.clusters) == (0.5, 2, 2)


# Reviewers.


def test_reviewers_and_images_each_by_hand() -> None:
    # Dalle2: one person judged 3 images, another 1: mean 2, population deviation √((1 + 1) ÷ 2) = 1. A third
    # judged 2 of Dalle3 only. Over all three, Dalle2: (3 + 1 + 0) ÷ 3, deviation √((25 + 1 + 16) ÷ 27) = √(14 ÷ 9).
    campaign = make_campaign()
    first, second, third = make_people(campaign, 3)
    shown = [make_shown(campaign, model=make_maker("Dalle2")) for _ in range(3)]
    for image in shown:
        make_review(image, first)
    make_review(shown[0], second)
    for _ in range(2):
        make_review(make_shown(campaign, model=make_maker("Dalle3")), third)
    made = table("review.reviewers")
    assert values(made) == {
        "reviewers": 2,
        "images_per_reviewer": 2.0,
        "deviation": 1.0,
        "images": 3,
        "images_per_reviewer_of_country": pytest.approx(4 / 3),
        "deviation_of_country": pytest.approx(sqrt(14 / 9)),
    }
    # All models: 3, 1, 2 images.
    everything = values(made, model="all")
    assert (everything["reviewers"], everything["images"]) == (3, 5)
    assert everything["images_per_reviewer"] == 2.0
    assert everything["deviation"] == pytest.approx(sqrt(2 / 3))


def test_an_interval_of_images_per_person_needs_ten_people() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 10)
    shown = [make_shown(campaign, model=make_maker("Dalle2")) for _ in range(6)]
    for number, person in enumerate(people[:9]):
        for image in shown[: 5 + number % 2]:
            make_review(image, person)
    few = estimates(table("review.reviewers"))["images_per_reviewer"]
    assert (few.low, few.reason) == (None, "fewer than 10 reviewers: no interval is claimed")
    for image in shown:
        make_review(image, people[9])
    found = estimates(table("review.reviewers"))
    enough = found["images_per_reviewer"]
    assert enough.value == 5.5
    assert enough.low is not None
    assert enough.low < 5.5
    assert (found["deviation"].low, found["deviation"].reason[:12]) == (None, "it describes")


def test_an_interval_of_images_per_person_needs_five_each() -> None:
    campaign = make_campaign()
    shown = [make_shown(campaign, model=make_maker("Dalle2")) for _ in range(2)]
    for number, person in enumerate(make_people(campaign, 12)):
        for image in shown[: 1 + number % 2]:
            make_review(image, person)
    few = estimates(table("review.reviewers"))["images_per_reviewer"]
    assert (few.value, few.low) == (1.5, None)


# Match and boxes.


def test_each_match_is_a_share_of_all_reviews_and_together_they_are_one() -> None:
    two_by_two(d0r0={"match": "exact"}, d0r1={"match": "exact"}, d1r0={"match": "missing"})
    found = values(table("review.match"))
    assert (found["exact"], found["missing"], found["unanswered"], found["none"]) == (0.5, 0.25, 0.25, 0)
    assert sum(value for value in found.values() if value is not None) == 1


def test_answers_that_a_version_of_the_form_does_not_have_are_not_measured() -> None:
    two_by_two()
    assert {metric for metric, value in values(table("review.match")).items() if value is None} == {
        "unexpected",
        "unknown",
    }
    make_cell(make_campaign("release-2024"), dishes=3)
    released = values(table("review.match"))
    assert {metric for metric, value in released.items() if value is None} == {"added", "missing"}


def test_every_answer_and_box_of_both_forms_has_its_metric() -> None:
    for version in ("1", "release-2024"):
        definition = make_campaign(version).questionnaire.definition
        assert set(definition["constructs"]["match"]["values"].values()) <= set(MATCHES)
        boxes = {
            option["code"]
            for question in definition["questions"]
            if question["kind"] == "several"
            for option in question["options"]
        }
        assert boxes == set(CHECKS)


@pytest.mark.parametrize(("version", "question"), [("1", "checks"), ("release-2024", "background")])
def test_boxes_are_found_whichever_question_of_the_form_holds_them(version: str, question: str) -> None:
    said = {0: {question: ["people", "indoors"]}, 1: {question: ["indoors"]}}
    make_cell(make_campaign(version), says=lambda dish, reviewer: {"answers": said[dish]})
    found = values(table("review.checks"))
    assert (found["people"], found["indoors"], found["outdoors"]) == (0.5, 1.0, 0)


# Words.


def test_each_word_by_both_rules() -> None:
    two_by_two(
        d0r0={"answers": {"explanation": "It looks burnt"}},
        d0r1={"answers": {"explanation": "This is not burnt"}},
        d1r0={"answers": {"explanation": "Le riz est burnt, très sec"}},
    )
    made = table("review.words")
    burnt = estimates(made, word="burnt")
    # As published: 3 of 4 reviews hold it. Better: 1 of the 2 in English affirms it.
    assert (burnt["as_published"].value, burnt["as_published"].n) == (0.75, 4)
    assert (burnt["better"].value, burnt["better"].n) == (0.5, 2)
    assert values(made, word="dung") == {"as_published": 0, "better": 0}
    assert values(made, word=ANY) == {"as_published": 0.75, "better": 0.5}
    assert any("Own words: 3 of 4 reviews, of which 2 read as English" in note for note in made.notes)


def test_where_nobody_wrote_in_english_the_better_rule_measures_nothing() -> None:
    two_by_two(d0r0={"answers": {"explanation": "Le riz est trop sec"}})
    assert values(table("review.words"), word="burnt") == {"as_published": 0, "better": None}


def test_released_flags_of_words_win() -> None:
    flags = {"unappetising": True, "words": {"gross": True, "burnt": False}}
    two_by_two(d0r0={"published_flags": flags, "answers": {"explanation": "It is burnt"}})
    made = table("review.words")
    assert values(made, word="gross") == {"as_published": 0.25, "better": 0}
    assert values(made, word="burnt") == {"as_published": 0, "better": 1}
    assert values(made, word=ANY)["as_published"] == 0.25


def test_one_word_can_be_chosen() -> None:
    two_by_two(d0r0={"answers": {"explanation": "It is burnt"}})
    assert {row.groups["word"] for row in table("review.words", word="burnt").rows} == {"burnt"}


# Skips.


def test_skips_move_the_shares_no_further_than_their_bounds() -> None:
    # 4 answers (3 food, 1 the dish), 1 skipped, 1 reported without an answer, 1 reported after it: 2 of 6 left out.
    reviews = two_by_two(
        d0r0={"food": True, "correct_dish": True}, d0r1={"food": True}, d1r0={"food": True}, d1r1={"food": False}
    )
    make_answered(reviews[:3])
    make_skip(reviews[3].image, reviews[3].reviewer, Assignment.State.REPORTED)
    (other,) = make_people(reviews[0].reviewer.campaign, 1)
    make_skip(reviews[0].image, other)
    make_skip(reviews[2].image, other, Assignment.State.REPORTED)
    made = table("review.skips")
    found = values(made)
    assert found == {
        "skipped": pytest.approx(2 / 6),
        "food_low": pytest.approx(3 / 6),
        "food_high": pytest.approx(5 / 6),
        "correct_dish_low": pytest.approx(1 / 6),
        "correct_dish_high": pytest.approx(3 / 6),
    }
    assert estimates(made)["skipped"].n == 6
    assert "Reviewers: Kenya, Dalle2: 3." in made.notes


@pytest.mark.parametrize("state", [Assignment.State.RESERVED, Assignment.State.EXPIRED])
def test_what_is_in_hand_or_ran_out_is_no_skip(state: Assignment.State) -> None:
    reviews = two_by_two()
    make_answered(reviews)
    (other,) = make_people(reviews[0].reviewer.campaign, 1)
    make_skip(reviews[0].image, other, state)
    assert values(table("review.skips"))["skipped"] == 0


@pytest.mark.parametrize("leave_out", [assignment.skip_assignment, assignment.report_assignment])
def test_a_skip_or_report_and_its_taking_back_make_the_stored_table_stale(
    leave_out: Callable[[Assignment], None],
) -> None:
    reviews = two_by_two(d0r0={"food": True})
    given = make_skip(reviews[0].image, make_people(reviews[0].reviewer.campaign, 1)[0], Assignment.State.RESERVED)
    for change in (leave_out, assignment.take_back):
        compute.compute_and_store("review.skips", {})
        change(Assignment.objects.get(pk=given.pk))
        assert read.read_stored_table("review.skips", {}).state == "stale"


def test_where_skips_were_not_recorded_nothing_is_measured() -> None:
    two_by_two(d0r0={"food": True})
    found = estimates(table("review.skips"))
    assert {one.value for one in found.values()} == {None}
    assert found["skipped"].reason == "it was not recorded which images were skipped"
    assert found["skipped"].n == 4


# Controls.


def test_false_no_on_real_photographs_by_hand() -> None:
    # Three answers about photographs: food and the dish; food, not the dish; no food. No food: 1 of 3. Not the dish: 2.
    campaign = make_campaign()
    camera = make_maker("Photographs", role=Role.CAMERA)
    said: tuple[dict[str, Any], ...] = (
        {"food": True, "correct_dish": True},
        {"food": True, "correct_dish": False},
        {"food": False},
    )
    for one, person in zip(said, make_people(campaign, 3), strict=True):
        make_review(make_shown(campaign, model=camera), person, **one)
    make_cell(campaign, says=lambda dish, reviewer: {"food": False})
    for country in ("Kenya", "all"):
        found = estimates(table("review.controls"), country=country)
        assert (found["real_no_food"].value, found["real_no_food"].n) == (pytest.approx(1 / 3), 3)
        assert found["real_not_the_dish"].value == pytest.approx(2 / 3)
        assert found["same_food"].value is None


def test_agreement_with_oneself_on_repeats_by_hand() -> None:
    # Two repeats. Food: same twice. The dish: yes then no; no food both times, which is the same. Match: one pair is
    # complete, unequal. Rating: 4 and 4, 2 and none: one pair, equal.
    reviews = two_by_two(
        d0r0={"food": True, "correct_dish": True, "match": "exact", "quality": 4}, d0r1={"food": False, "quality": 2}
    )
    again: tuple[dict[str, Any], ...] = (
        {"food": True, "correct_dish": False, "match": "none", "quality": 4},
        {"food": False},
    )
    for review, said in zip(reviews, again, strict=False):
        make_review(review.image, review.reviewer, repeat=True, **said)
    found = estimates(table("review.controls"), country="Kenya")
    counted = {metric: (one.value, one.n) for metric, one in found.items() if metric.startswith("same")}
    assert counted == {"same_food": (1, 2), "same_dish": (0.5, 2), "same_match": (0, 1), "same_rating": (1, 1)}


def test_without_controls_the_table_says_that_there_are_none() -> None:
    two_by_two(d0r0={"food": True})
    made = table("review.controls")
    assert made.rows == ()
    assert any("No real photographs and no repeats" in note for note in made.notes)
