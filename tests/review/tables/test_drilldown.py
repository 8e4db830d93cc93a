"""What is behind tables of reviews where the demonstration has nothing: skips, controls, people left out."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from collection.models import Source
from evaluation.drilldown import cells
from evaluation.metrics.tidy import Estimate, TidyRow
from evaluation.models import Role
from evaluation.registry import lookup
from evaluation.tables import compute
from review.drilldown.opinions import opinions_of
from review.models import Reviewer
from tests.evaluation.drilldown import cell_of, check, everything
from tests.review.make_tables import (
    make_answered,
    make_campaign,
    make_cell,
    make_exclusion,
    make_maker,
    make_people,
    make_review,
    make_shown,
    make_skip,
)

pytestmark = pytest.mark.django_db
NAMES = ("review.quality", "review.quality_answered", "review.quality_own", "review.match", "review.checks")


def says(dish: int, reviewer: int) -> dict[str, object]:
    """Answers that differ, some missing."""
    return {
        "food": (True, False, None)[(dish + reviewer) % 3],
        "correct_dish": (True, None)[dish % 2],
        "quality": (dish + reviewer) % 6 or None,
        "associates": reviewer % 2 == 0,
        "familiarity": "very",
        "answers": {"explanation": "It looks burnt and it is not the dish."} if reviewer else {},
    }


@pytest.mark.parametrize("name", [*NAMES, "review.words", "review.agreement", "review.reviewers"])
def test_reviews_that_count_are_listed_and_those_that_do_not_are_not(name: str) -> None:
    campaign = make_campaign()
    reviews = make_cell(campaign, dishes=4, reviewers=3, says=says)
    make_cell(campaign, country="Ghana", dishes=2, says=says)
    make_cell(make_campaign(version="release-2024"), dishes=1, reviewers=2, says=says)
    make_exclusion(reviews[0].reviewer)
    for field in ("surplus", "repeat"):
        [person] = make_people(campaign, 1)
        make_review(reviews[3].image, person, food=True, **{field: True})
    [gone] = make_people(campaign, 1)
    make_review(reviews[3].image, gone, food=True)
    Reviewer.objects.filter(pk=gone.pk).update(withdrawn_at=timezone.now())
    assert check(compute.compute_and_store(name, {}))
    if "interval" in lookup.find_table_spec(name).filters:
        assert check(compute.compute_and_store(name, {"excluded": "with"}), excluded="with")


def test_a_demonstration_is_not_listed_beside_what_people_said() -> None:
    reviews = make_cell(make_campaign(), dishes=2)
    shown = make_campaign(source=Source.DEMONSTRATION)
    for person in make_people(shown, 2, source=Source.DEMONSTRATION):
        make_review(reviews[0].image, person, food=True)
    assert check(compute.compute_and_store("review.quality", {}))


def test_images_left_out_stand_beside_those_answered() -> None:
    campaign = make_campaign()
    reviews = make_cell(campaign, dishes=3, reviewers=2)
    make_answered(reviews)
    alone = make_shown(campaign, model=make_maker())
    make_skip(alone, reviews[0].reviewer)
    assert check(compute.compute_and_store("review.skips", {})) == 5


def test_where_no_skips_were_recorded_each_row_says_so() -> None:
    make_cell(make_campaign(), dishes=2)
    view = compute.compute_and_store("review.skips", {})
    assert view.table
    found = everything(cells.load_drilldown(cell_of("review.skips", view.table.rows[0])))
    assert {each.why for each in found} == {"it was not recorded which images were skipped"}


def test_real_photographs_and_second_answers_stand_behind_controls() -> None:
    campaign = make_campaign()
    people = make_people(campaign, 2)
    photo = make_shown(campaign, model=make_maker("Real", role=Role.CAMERA))
    painted = make_shown(campaign, model=make_maker())
    for number, person in enumerate(people):
        make_review(photo, person, food=bool(number), correct_dish=True if number else None)
        make_review(painted, person, food=True, quality=3)
        make_review(painted, person, food=bool(number), quality=3, repeat=True)
    assert check(compute.compute_and_store("review.controls", {})) >= 8


def test_only_one_opinion_is_no_agreement_and_says_so() -> None:
    make_cell(make_campaign(), dishes=2, reviewers=1)
    view = compute.compute_and_store("review.agreement", {})
    assert view.table
    row = next(row for row in view.table.rows if row.groups["question"] == "food")
    found = everything(cells.load_drilldown(cell_of("review.agreement", row)))
    assert [each.why for each in found] == ["only one person answered"] * 2


def test_opinion_says_why_no_table_counts_it() -> None:
    campaign = make_campaign()
    shown = make_shown(campaign, model=make_maker())
    counted, late, left_out = make_people(campaign, 3)
    make_review(shown, counted, food=True)
    make_review(shown, counted, food=True, repeat=True)
    make_review(shown, late, food=True, surplus=True)
    make_review(shown, left_out, food=True)
    make_exclusion(left_out)
    staff = User.objects.create_superuser("boss")
    said = [opinion.left_out for opinion in opinions_of([shown.image_id], staff)[shown.image_id]]
    assert said == [
        "",
        "asked once more: only the controls count it",
        "came after the wanted number of opinions",
        "its reviewer is left out of the tables by a recorded decision",
    ]


@pytest.mark.parametrize("name", ["review.quality", "agreement.scores"])
def test_cell_of_a_table_that_is_not_stored_lists_what_belongs_to_its_group(name: str) -> None:
    make_cell(make_campaign(), dishes=2)
    spec = lookup.find_table_spec(name)
    groups = {column: {"country": "Kenya", "model": "Dalle2"}.get(column, "any") for column in spec.columns}
    found = cells.load_drilldown(cell_of(name, TidyRow(groups, next(iter(spec.metrics)), Estimate(None, 0, 0))))
    assert everything(found) == [] and "no mean over single images" in found.note
