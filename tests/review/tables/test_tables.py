"""The table of review quality: what counts, what is left out, and what is said about it."""

from typing import Any

import pytest

from collection.models import Dish, Source
from evaluation import counters
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.registry import lookup
from evaluation.tables import compute, read
from review.models import Review
from review.tables.quality import as_counted
from review.unappetising import PUBLISHED_WORDS, as_published, text_codes
from tests.review.make_tables import (
    make_campaign,
    make_cell,
    make_maker,
    make_opinion,
    make_people,
    make_review,
    make_shown,
)

pytestmark = pytest.mark.embedded

NAME = "review.quality"


def quality(**filters: str) -> TidyTable:
    return compute.compute_table(lookup.find_table_spec(NAME), filters)


def estimates(table: TidyTable, country: str = "Kenya", model: str = "Dalle2") -> dict[str, Estimate]:
    return {row.metric: row.estimate for row in table.rows if dict(row.groups) == {"country": country, "model": model}}


def counted(**said: Any) -> dict[str, bool]:
    """Metric → yes or no for one review that says this."""
    yes = as_counted(make_opinion(**said), codes=("explanation", "seen"))
    return dict(zip(lookup.find_table_spec(NAME).metrics, yes, strict=True))


# One review.


def test_nothing_answered_is_no_everywhere() -> None:
    assert set(counted().values()) == {False}


@pytest.mark.parametrize(("rating", "good"), [(None, False), (0, False), (2, False), (3, True), (4, True), (5, True)])
def test_ratings_of_three_and_more_are_good_and_a_missing_one_is_not(rating: int | None, good: bool) -> None:
    assert counted(quality=rating)["good_quality"] is good


def test_the_checkbox_says_disturbing_where_nothing_was_released() -> None:
    assert counted(disturbing=True)["disturbing"] is True
    assert counted(disturbing=None)["disturbing"] is False


def test_released_flags_win_over_what_the_answers_yield() -> None:
    flags = {"disturbing": True, "unappetising": False, "good_quality": True}
    said = counted(disturbing=False, flags=flags, answers={"explanation": "gross"})
    assert (said["disturbing"], said["unappetising"]) == (True, False)


def test_flags_without_an_entry_leave_it_to_the_answers() -> None:
    said = counted(disturbing=True, flags={}, answers={"explanation": "gross"})
    assert (said["disturbing"], said["unappetising"]) == (True, True)


@pytest.mark.parametrize("word", PUBLISHED_WORDS)
def test_each_published_word_is_found_in_either_case(word: str) -> None:
    assert as_published([f"It looks {word.upper()}, somehow"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The plate is dirty", True),
        ("not disgusting at all", True),
        ("unappetizing", False),
        ("looks fine", False),
        ("", False),
    ],
)
def test_the_published_rule_is_a_part_of_a_word_without_negation_or_american_spelling(text: str, found: bool) -> None:
    assert as_published([text]) is found


def test_only_own_words_are_searched_not_ticked_boxes() -> None:
    assert counted(answers={"explanation": "fine", "checks": ["gross"]})["unappetising"] is False
    assert counted(answers={"seen": "something burnt"})["unappetising"] is True


@pytest.mark.django_db
def test_the_codes_of_own_words_come_from_the_questionnaire() -> None:
    definition = make_campaign().questionnaire.definition
    assert set(text_codes(definition)) == {"seen", "explanation", "more"}


# The table.


@pytest.mark.django_db
def test_shares_are_yes_among_all_reviews_by_hand() -> None:
    # Two dishes, two reviewers: 4 reviews. Food: 3 yes, 1 unanswered → 3 ÷ 4. Correct dish: 1 yes, 1 no, 2 unanswered
    # → 1 ÷ 4. Good quality: ratings 5, 3, 2, none → 2 ÷ 4. Disturbing 1 ÷ 4. "rotten" once → 1 ÷ 4.
    said: dict[tuple[int, int], dict[str, Any]] = {
        (0, 0): {"food": True, "correct_dish": True, "quality": 5},
        (0, 1): {"food": True, "correct_dish": False, "quality": 3, "disturbing": True},
        (1, 0): {"food": True, "quality": 2, "answers": {"more": "Rotten leaves"}},
        (1, 1): {"food": None, "quality": None},
    }
    make_cell(make_campaign(), says=lambda dish, reviewer: said[dish, reviewer])
    found = estimates(quality())
    values = {metric: (estimate.value, estimate.n, estimate.clusters) for metric, estimate in found.items()}
    assert values == {
        "food": (0.75, 4, 2),
        "correct_dish": (0.25, 4, 2),
        "good_quality": (0.5, 4, 2),
        "disturbing": (0.25, 4, 2),
        "unappetising": (0.25, 4, 2),
    }


@pytest.mark.django_db
def test_each_country_and_model_has_its_own_rows_in_order() -> None:
    campaign = make_campaign()
    for country, model in (("Kenya", "Stable Diffusion"), ("Kenya", "Dalle2"), ("Algeria", "Dalle3")):
        make_cell(campaign, country, model)
    pairs = [(row.groups["country"], row.groups["model"]) for row in quality().rows if row.metric == "food"]
    assert pairs == [("Algeria", "Dalle3"), ("Kenya", "Dalle2"), ("Kenya", "Stable Diffusion")]


def checkered(dish: int, reviewer: int) -> dict[str, Any]:
    return {"food": (dish + reviewer) % 3 > 0}


def by_dish(dish: int, reviewer: int) -> dict[str, Any]:
    return {"food": dish % 2 == 0}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("dishes", "reviewers", "reason"),
    [(10, 5, ""), (9, 5, "fewer than 10 dishes"), (10, 4, "fewer than 5 reviewers")],
)
def test_an_interval_needs_ten_dishes_and_five_reviewers(dishes: int, reviewers: int, reason: str) -> None:
    make_cell(make_campaign(), dishes=dishes, reviewers=reviewers, says=checkered)
    food = estimates(quality())["food"]
    assert food.reason.startswith(reason)
    assert (food.low is None) == bool(reason)


@pytest.mark.django_db
def test_the_interval_is_named_and_holds_the_share() -> None:
    make_cell(make_campaign(), dishes=12, reviewers=6, says=checkered)
    food = estimates(quality())["food"]
    assert food.low is not None
    assert food.high is not None
    assert food.value is not None
    assert food.low < food.value < food.high
    assert "over dishes and reviewers, Student’s t" in food.method


@pytest.mark.django_db
def test_wilson_is_there_under_its_own_name_and_narrower_for_clustered_answers() -> None:
    make_cell(make_campaign(), dishes=12, reviewers=6, says=by_dish)
    default, naive = estimates(quality())["food"], estimates(quality(interval="wilson"))["food"]
    assert "Wilson" in naive.method
    assert naive.value == default.value
    assert (naive.high or 0) - (naive.low or 0) < (default.high or 0) - (default.low or 0)


@pytest.mark.django_db
def test_reviewers_of_each_row_stand_in_the_notes() -> None:
    make_cell(make_campaign(), reviewers=3)
    assert "Reviewers: Kenya, Dalle2: 3." in quality().notes


@pytest.mark.django_db
def test_images_without_a_model_are_left_out_and_counted() -> None:
    campaign = make_campaign()
    make_cell(campaign)
    make_review(make_shown(campaign), make_people(campaign, 1)[0], food=True)
    table = quality()
    assert {row.groups["model"] for row in table.rows} == {"Dalle2"}
    assert "Left out: 1 of them, about images whose model is not known." in table.notes


@pytest.mark.django_db
def test_late_answers_kept_as_surplus_do_not_count() -> None:
    reviews = make_cell(make_campaign())
    Review.objects.filter(pk=reviews[0].pk).update(surplus=True)
    assert estimates(quality())["food"].n == 3


@pytest.mark.django_db
def test_reviews_of_a_withdrawn_dish_do_not_count() -> None:
    campaign = make_campaign()
    make_cell(campaign)
    dish = Dish.objects.create(number=1, local_name="Ugali", ingredients="maize", state=Dish.State.WITHDRAWN)
    shown = make_shown(campaign, model=make_maker(), dish=dish)
    make_review(shown, make_people(campaign, 1)[0], food=True)
    assert estimates(quality())["food"].n == 4
    Dish.objects.update(state=Dish.State.ACCEPTED)
    assert estimates(quality())["food"].n == 5


# Demonstrations.


@pytest.mark.django_db
def test_demonstration_reviews_count_only_where_there_are_no_others() -> None:
    campaign = make_campaign(source=Source.DEMONSTRATION)
    make_cell(campaign, country="Ghana", reviewers=make_people(campaign, 2, Source.DEMONSTRATION))
    alone = quality()
    assert alone.demonstration is True
    assert {row.groups["country"] for row in alone.rows} == {"Ghana"}
    make_cell(make_campaign())
    together = quality()
    assert together.demonstration is False
    assert {row.groups["country"] for row in together.rows} == {"Kenya"}


@pytest.mark.django_db
@pytest.mark.parametrize("where", ["reviewer", "campaign", "model"])
def test_whatever_is_a_demonstration_makes_the_review_one(where: str) -> None:
    campaign = make_campaign(source=Source.DEMONSTRATION if where == "campaign" else Source.FORM)
    person = make_people(campaign, 1, Source.DEMONSTRATION if where == "reviewer" else Source.FORM)[0]
    model = make_maker("Sketch", demonstration=True) if where == "model" else make_maker()
    make_review(make_shown(campaign, model=model), person, food=True)
    assert quality().demonstration is True


@pytest.mark.django_db
def test_without_any_review_the_table_is_empty_and_says_so() -> None:
    table = quality()
    assert table.rows == ()
    assert table.demonstration is False
    assert any("no reviews yet" in note for note in table.notes)


# Filters and definitions.


@pytest.mark.django_db
def test_versions_of_the_questionnaire_never_mix_and_what_is_left_out_is_counted() -> None:
    make_cell(make_campaign("release-2024"), dishes=3)
    make_cell(make_campaign("1"), dishes=2)
    table = quality()
    assert estimates(table)["food"].n == 6
    assert any("Reviews with another questionnaire, left out: 4." in note for note in table.notes)
    assert estimates(quality(questionnaire="e2 1"))["food"].n == 4
    assert quality(questionnaire="e2 none").rows == ()


@pytest.mark.django_db
def test_one_campaign_can_be_chosen() -> None:
    make_cell(make_campaign(slug="first"), dishes=2)
    make_cell(make_campaign(slug="second"), dishes=3)
    assert estimates(quality())["food"].n == 10
    assert estimates(quality(campaign="second"))["food"].n == 6
    assert quality(campaign="third").rows == ()


@pytest.mark.django_db
def test_a_country_chosen_has_the_same_numbers_as_in_the_whole_table() -> None:
    campaign = make_campaign()
    for country in ("Kenya", "Ghana"):
        make_cell(campaign, country, dishes=11, reviewers=5, says=checkered)
    assert estimates(quality(country="Ghana"), "Ghana") == estimates(quality(), "Ghana")
    assert {row.groups["country"] for row in quality(country="Ghana").rows} == {"Ghana"}


@pytest.mark.django_db
def test_a_new_review_makes_the_stored_table_stale() -> None:
    make_cell(make_campaign())
    compute.compute_and_store(NAME, {})
    counters.bump_input_counters("reviews")
    assert read.read_stored_table(NAME, {}).state == "stale"


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_reviews(django_assert_max_num_queries: Any) -> None:
    campaign = make_campaign()
    for country in ("Kenya", "Ghana", "Mali"):
        make_cell(campaign, country, dishes=5, reviewers=5)
    # Seven for the numbers; the others for what the table keeps about itself.
    with django_assert_max_num_queries(18):
        quality()
