"""Reviews out and in, in the published column order."""

import csv
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from review.campaigns.service import save_review
from review.models import Campaign, Review, Reviewer
from tests.review.make import GOOD, NOT_FOOD, make_campaign, make_reviewer
from wwd.exchange.published.release_form import COLUMN_OF
from wwd.exchange.published.review_rows import HEADER, LEAST_PEOPLE
from wwd.exchange.published.reviews import COLUMNS

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
SEEN = COLUMN_OF["seen"]
ANSWERS: list[dict[str, Any]] = [GOOD, NOT_FOOD]


def reviewed(people: int = LEAST_PEOPLE) -> Campaign:
    campaign = make_campaign(images=2, wanted=people, slug="ours")
    for number in range(people):
        reviewer = make_reviewer(campaign)
        for image, answers in zip(campaign.images.all(), ANSWERS, strict=True):
            save_review(reviewer, image, {**answers, "quality": str(number % 6)})
    return campaign


def export(path: Path) -> list[dict[str, str]]:
    call_command("reviews", "export", path, "--campaign", "ours", verbosity=0)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_columns_are_the_published_ones() -> None:
    assert set(COLUMNS) <= set(HEADER)
    assert HEADER[:5] == ("Country", "Rater_id", "Dish name", "Model", "Generation_count")
    assert HEADER[-2:] == ("Disturbing", "Unappetising_combined")


def test_header_equals_the_published_file(published: Path) -> None:
    with (published / "wwd" / "Community_Review_Generated_Dish_Images.csv").open(encoding="utf-8-sig") as file:
        assert tuple(next(csv.reader(file))) == HEADER


def test_every_counted_review_is_a_row_and_reviewers_have_other_numbers_each_time(tmp_path: Path) -> None:
    reviewed()
    first, second = export(tmp_path / "a.csv"), export(tmp_path / "b.csv")
    assert len(first) == len(second) == 2 * LEAST_PEOPLE
    numbers = [{row["Rater_id"] for row in rows} for rows in (first, second)]
    assert len(numbers[0]) == LEAST_PEOPLE
    assert numbers[0] != numbers[1]
    keys = {str(reviewer.pk) for reviewer in Reviewer.objects.all()}
    assert not keys & {cell for row in first for cell in row.values()}


def test_own_words_leave_only_after_somebody_read_them(tmp_path: Path) -> None:
    reviewed()
    assert {row[SEEN] for row in export(tmp_path / "a.csv")} == {""}
    Review.objects.filter(pk__in=Review.objects.filter(food=False)[:1].values("pk")).update(
        words_read_at=timezone.now()
    )
    assert sorted(row[SEEN] for row in export(tmp_path / "b.csv"))[-2:] == ["", "A wall"]


def test_country_with_fewer_than_five_people_is_left_out_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reviewed(LEAST_PEOPLE - 1)
    assert export(tmp_path / "a.csv") == []
    assert "Left out: Nigeria, 4 reviewers are too few." in capsys.readouterr().out


def test_export_comes_back_with_the_same_answers_once(tmp_path: Path) -> None:
    campaign = reviewed()
    Review.objects.update(words_read_at=timezone.now())
    export(tmp_path / "a.csv")
    for _ in range(2):
        call_command("reviews", "import", tmp_path / "a.csv", "--campaign", "theirs", verbosity=0)
    theirs = Campaign.objects.get(slug="theirs")
    assert (theirs.state, theirs.source) == ("closed", "import")

    def said(owner: Campaign) -> list[str]:
        rows = Review.objects.filter(image__campaign=owner)
        return sorted(str(sorted(answers.items())) for answers in rows.values_list("answers", flat=True))

    assert said(theirs) == said(campaign)
    assert theirs.reviewers.count() == LEAST_PEOPLE


@pytest.mark.parametrize(
    ("column", "cell", "reason"),
    [
        ("Model", "Unheard of", "Model is not known"),
        ("Country", "", "Country or Dish name is empty"),
        ("Is this an image of food?", "Perhaps", "food"),
        ("Please rate quality of the image", "9.0", "quality"),
    ],
)
def test_bad_row_is_reported_and_the_rest_is_loaded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, cell: str, reason: str
) -> None:
    reviewed()
    rows = export(tmp_path / "a.csv")
    rows[0][column] = cell
    with (tmp_path / "b.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(CommandError, match="1 rows could not be loaded"):
        call_command("reviews", "import", tmp_path / "b.csv", "--campaign", "theirs", verbosity=0)
    assert reason in capsys.readouterr().err
    assert Review.objects.filter(image__campaign__slug="theirs").count() == 2 * LEAST_PEOPLE - 1


def test_unknown_campaign_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no campaign 'nowhere'"):
        call_command("reviews", "export", tmp_path / "a.csv", "--campaign", "nowhere")


def test_a_file_of_reviews_without_a_needed_column_is_refused_by_name(tmp_path: Path) -> None:
    reviewed()
    path = tmp_path / "reviews.csv"
    path.write_text("Country,Rater_id\nKenya,1\n", encoding="utf-8")
    with pytest.raises(CommandError, match=r"reviews\.csv: lacks the columns"):
        call_command("reviews", "import", path, "--campaign", "ours", verbosity=0)
    with pytest.raises(CommandError, match=r"none\.csv: cannot be read: No such file"):
        call_command("reviews", "import", tmp_path / "none.csv", "--campaign", "ours", verbosity=0)
