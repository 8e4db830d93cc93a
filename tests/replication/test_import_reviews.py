"""Reviews as imported against the released file, the independent counts of Tables 2, 3 and E.7, and every trap."""

import csv
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Avg, Count, Q

from collection.models import Source
from evaluation.models import GeneratedImage, Subject
from review.models import Campaign, CampaignImage, Questionnaire, Review, Reviewer
from wwd.exchange.published import release_form, reviews
from wwd.exchange.published.source import Report

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]
CELL = ("image__country", "image__image__model__title")
# counts of the independent computation → the reviews that we count for it
COUNTS: Mapping[str, Q] = {
    "n": ~Q(pk=None),
    "n_food_answered": ~Q(food=None),
    "n_isdish_answered": ~Q(correct_dish=None),
    "n_quality_answered": ~Q(quality=None),
    "food_yes": Q(food=True),
    "dish_yes": Q(correct_dish=True),
    "good_yes": Q(published_flags__good_quality=True),
    "disturbing_yes": Q(published_flags__disturbing=True),
    "unappetising_yes": Q(published_flags__unappetising=True),
    "dish_yes_but_food_not_yes": Q(correct_dish=True) & (Q(food=False) | Q(food=None)),
}


@pytest.fixture(scope="module")
def expected(published: Path) -> Mapping[str, Any]:
    return json.loads((published / "expected" / "review_tables.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def released(published: Path) -> list[dict[str, str]]:
    with (published / "wwd" / reviews.FILE).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def key_of(row: Mapping[str, str]) -> tuple[str, ...]:
    generation = row["Generation_count"].removesuffix(".0")
    return row["Country"], row["Rater_id"], row["Dish name"], row["Model"], generation


def ours() -> dict[tuple[str, ...], Review]:
    """Reviews by what identifies a row of the release."""
    found = Review.objects.select_related("reviewer", "image__image__subject", "image__image__model")
    keyed: dict[tuple[str, ...], Review] = {}
    for review in found:
        image, country = review.image.image, review.reviewer.country
        rater = str(review.reviewer.source_key).rpartition("/")[2]
        written = image.subject.source_key.removeprefix(f"{reviews.KEY}/{country}/")
        model = image.model.title if image.model else ""
        keyed[country, rater, written, model, "" if image.sample is None else str(image.sample)] = review
    return keyed


def test_every_row_becomes_one_review(released: list[dict[str, str]], imported: Report) -> None:
    assert Review.objects.count() == len(released) == 5982
    assert set(ours()) == {key_of(row) for row in released}
    assert imported.problems == []


def test_counts_per_country_and_model_equal_the_independent_ones(expected: Mapping[str, Any]) -> None:
    wanted = {
        (country, model): {name: numbers[name] for name in COUNTS}
        for country, models in expected["per_country_model"].items()
        for model, numbers in models.items()
    }
    cells = Review.objects.filter(image__country__in=expected["per_country_model"]).exclude(image__image__model=None)
    counted = cells.values(*CELL).annotate(
        **{name: Count("pk", filter=condition) for name, condition in COUNTS.items()}
    )
    assert {(row[CELL[0]], row[CELL[1]]): {name: row[name] for name in COUNTS} for row in counted} == wanted


def test_mean_quality_equals_the_independent_one(expected: Mapping[str, Any]) -> None:
    for country, models in expected["per_country_model"].items():
        for model, numbers in models.items():
            cell = Review.objects.filter(**{CELL[0]: country, CELL[1]: model})
            assert cell.aggregate(mean=Avg("quality"))["mean"] == pytest.approx(numbers["mean_quality"], abs=1e-9)


def test_every_answer_comes_back_as_written(released: list[dict[str, str]]) -> None:
    """Boxes and own words together give the released cell; a comma that the form left at its end is no answer."""
    found = ours()
    for row in released:
        answers = found[key_of(row)].answers
        for code, column in release_form.COLUMN_OF.items():
            assert written(code, answers).strip(", ") == row[column].strip(", "), (code, row)


def written(code: str, answers: Mapping[str, Any]) -> str:
    """The cell of the release that these answers stand for."""
    other = [answers[f"{code}_other"]] if f"{code}_other" in answers else []
    if code in release_form.SEVERAL:
        texts = {option: text for text, option in release_form.SEVERAL[code].items()}
        return ", ".join([texts[option] for option in answers.get(code, [])] + other)
    if code in release_form.ONE and code in answers:
        return {option: text for text, option in release_form.ONE[code].items()}[answers[code]]
    return str(answers.get(code, "")) or "".join(other)


def test_derived_columns_stand_beside_the_answers_as_released(released: list[dict[str, str]]) -> None:
    found = ours()
    for row in released:
        flags = found[key_of(row)].published_flags
        words = {word.lower(): row[word] == "Yes" for word in release_form.WORDS}
        assert flags == {
            "good_quality": row["Good_quality"] == "Yes",
            "disturbing": row["Disturbing"] == "Yes",
            "unappetising": row["Unappetising_combined"] == "Yes",
            "words": words,
        }


def test_good_quality_is_three_or_more_and_a_missing_rating_is_no(expected: Mapping[str, Any]) -> None:
    assert expected["good_quality_rule"]["mismatches"] == 0
    good = Review.objects.filter(published_flags__good_quality=True)
    assert set(good.values_list("quality", flat=True)) == {3, 4, 5}
    others = Counter(Review.objects.filter(published_flags__good_quality=False).values_list("quality", flat=True))
    assert others == {1: 504, 2: 1020, None: 44}


def test_flags_that_cannot_be_derived_again_are_kept(expected: Mapping[str, Any]) -> None:
    """21 of 134 unappetising flags come from a column that was not released: no answer holds such a word."""
    words = [word.casefold() for word in release_form.WORDS]
    flagged = Review.objects.filter(published_flags__unappetising=True)
    assert flagged.count() == expected["combined"]["flag_yes"] == 134
    heard = [review for review in flagged if any(word in own_words(review) for word in words)]
    assert flagged.count() - len(heard) == expected["combined"]["flag_yes_text_no"] == 21


def own_words(review: Review) -> str:
    texts = [text for text in review.answers.values() if isinstance(text, str)]
    boxes = [" ".join(texts) for texts in review.answers.values() if isinstance(texts, list)]
    return " ".join((*texts, *boxes)).casefold()


def test_disturbing_is_the_checkbox(expected: Mapping[str, Any]) -> None:
    ticked = Review.objects.filter(disturbing=True)
    assert ticked.count() == expected["disturbing_sources"]["n_checkbox"] == 678
    assert not ticked.exclude(published_flags__disturbing=True).exists()
    assert Review.objects.filter(published_flags__disturbing=True).count() == 703


def test_the_box_of_disturbing_is_unknown_where_the_form_could_end_before_it() -> None:
    assert set(Review.objects.filter(food=True).values_list("disturbing", flat=True)) == {True, False}
    ended = Review.objects.filter(food=False).exclude(answers__has_key="others")
    assert set(ended.values_list("disturbing", flat=True)) == {None}


def test_reviewers_are_numbered_within_their_country_only(released: list[dict[str, str]]) -> None:
    pairs = {(row["Country"], row["Rater_id"]) for row in released}
    assert Reviewer.objects.count() == len(pairs) == 47
    assert len({rater for _country, rater in pairs}) == 11
    named_two = Reviewer.objects.filter(source_key__endswith="/2")
    assert named_two.count() == named_two.values("country").distinct().count() > 1


def test_models_have_one_row_each_with_the_spelling_of_the_release() -> None:
    names = Review.objects.values_list("image__image__model__slug", "image__image__model__title").distinct()
    assert set(names) == {
        ("dalle2", "Dalle2"),
        ("dalle3", "Dalle3"),
        ("sd21", "Stable Diffusion"),
        (None, None),
    }


def test_rows_without_model_or_generation_get_an_image_of_their_own(expected: Mapping[str, Any]) -> None:
    nameless = Review.objects.filter(image__image__model=None)
    assert nameless.count() == len(expected["rows_missing_model"]) == 2
    raters = {int(row["rater"]) for row in expected["rows_missing_model"]}
    assert {int(str(review.reviewer.source_key).rpartition("/")[2]) for review in nameless} == raters
    unnumbered = Review.objects.filter(image__image__sample=None)
    assert unnumbered.count() == len(expected["rows_missing_generation_count"]) == 4
    for review in (*nameless, *unnumbered):
        assert review.image.reviews.count() == 1


def test_images_are_recorded_as_not_held() -> None:
    """2,685 images that rows name, and one for each of the 6 rows that do not."""
    shown = GeneratedImage.objects.filter(campaignimage__campaign__slug=reviews.KEY)
    assert shown.count() == CampaignImage.objects.count() == 2691
    assert set(shown.values_list("state", "sha256")) == {("not_held", "")}


def test_dish_names_lose_the_number_that_two_countries_put_before_them(expected: Mapping[str, Any]) -> None:
    numbered = Subject.objects.filter(source_key__regex=r"/\d+ *: ").values_list("labels__country", flat=True)
    assert {country for (country,) in numbered} == {"Cameroon", "South Africa"}
    assert Subject.objects.get(source_key__endswith="/95: Sphatlo").name == "Sphatlo"
    assert Subject.objects.get(source_key__contains="685  : ").name == "Nyamangoro Red Soup"
    assert not Subject.objects.filter(kind="dish", name__regex=r"^\d+ *:").exists()


def test_id_874_stands_for_two_dishes_and_links_the_one_that_bears_its_name() -> None:
    pap = Subject.objects.get(source_key__endswith="/874 : Pap")
    phuthu = Subject.objects.get(source_key__endswith="/874 : Phuthu")
    assert pap.dish is None
    assert phuthu.dish is not None
    assert phuthu.dish.number == 874


def test_a_third_of_the_reviewed_dishes_matches_no_dish_exactly() -> None:
    """121 names of 181 stand for one dish of their country; Matoke and Mukimo stand for two, which is no match."""
    reviewed = Subject.objects.filter(source_key__startswith=reviews.KEY)
    assert reviewed.count() == 181
    assert reviewed.filter(dish=None).count() == 58
    assert set(reviewed.filter(name__in=["Matoke", "Mukimo"]).values_list("dish", flat=True)) == {None}
    for subject in reviewed.exclude(dish=None).select_related("dish"):
        assert subject.dish is not None
        assert subject.name == subject.dish.local_name


def test_the_dish_question_may_be_answered_after_not_food(expected: Mapping[str, Any]) -> None:
    odd = Review.objects.filter(food=False).exclude(correct_dish=None)
    counts = Counter((review.reviewer.country, "Yes" if review.correct_dish else "No") for review in odd)
    assert {f"{country}|{answer}": count for (country, answer), count in counts.items()} == expected[
        "food_no_but_isdish_answered"
    ]
    assert odd.count() == 90


def test_the_match_is_the_category_of_the_release_with_the_own_words_beside_it() -> None:
    counts = Counter(Review.objects.values_list("match", flat=True))
    assert counts == {"none": 3083, "": 955, "resembles": 965, "exact": 667, "unexpected": 304, "unknown": 8}
    own = Review.objects.filter(answers__match_other="too animated").get()
    assert own.match == "none"
    assert "match" not in own.answers


def test_ratings_of_the_release_begin_at_one() -> None:
    assert set(Review.objects.values_list("quality", flat=True)) == {None, 1, 2, 3, 4, 5}


def test_the_campaign_is_closed_and_has_a_questionnaire_version_of_its_own() -> None:
    campaign = Campaign.objects.get(slug=reviews.KEY)
    assert (campaign.source, campaign.is_open()) == (Source.IMPORT, False)
    assert str(campaign.questionnaire) == "e2 release-2024"
    assert not campaign.invitations.exists()


def test_the_wording_as_published_stands_beside_ours() -> None:
    questionnaire = Questionnaire.objects.get(slug="e2", version="release-2024")
    questions = {question["code"]: question for question in questionnaire.definition["questions"]}
    assert questions["food"]["text"]["en-x-published"] == "Is this an image of food?"
    boxes = {option["code"]: option["text"] for option in questions["others"]["options"]}
    assert boxes["disturbing"]["en-x-published"] == "This image looks disturbing"


def test_one_opinion_per_person_dish_model_and_generation(released: list[dict[str, str]]) -> None:
    assert len({key_of(row) for row in released}) == 5982
    pairs = Review.objects.values("reviewer", "image").annotate(times=Count("pk"))
    assert max(pair["times"] for pair in pairs) == 1
