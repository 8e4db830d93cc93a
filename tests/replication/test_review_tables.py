"""`manage.py tables review.quality` on the published reviews, against values computed independently of this project.

Three intervals by hand (country, model, correct dish). A review's residual is its answer (1 yes, 0 else) minus the
share p. Resampling dishes and reviewers together weighs a review by the product of two multiplicities, each of mean 1
and variance 1, so that the variance of the resampled share is close to (A + B + C) ÷ n²: A the sum over dishes,
B over reviewers, C over pairs of both, of the squared sums of residuals (Owen 2007, §3).

  Cameroon, Dalle2:               n 431, 82 yes, p = 0.1903, A 560.4, B 771.1, C 239.2: √1570.7 ÷ 431 = 0.0920;
                                  0.1903 ± 1.96 · 0.0920 = 0.010 to 0.370. (Wilson, as if independent: 0.156 to 0.230.)
  United States, Stable Diffusion: n 315, 138 yes, p = 0.4381, A 251.8, B 315.1, C 201.7: √768.5 ÷ 315 = 0.0880;
                                  0.4381 ± 1.96 · 0.0880 = 0.266 to 0.611.
  South Africa, Dalle2:           n 460, 145 yes, p = 0.3152, A 624.7, B 219.8, C 298.5: √1142.9 ÷ 460 = 0.0735;
                                  0.3152 ± 1.96 · 0.0735 = 0.171 to 0.459.

For Cameroon, Dalle2, an interval of about .10 to .34 has been named too. That is what one gets by resampling one
kind of cluster at a time: reviewers alone .10 to .36, dishes alone .09 to .31, half of the draws each way .09 to .33.
Both at once give .05 to .40, here, in the brute-force bootstrap below and by the variance above. `bench/intervals.py`
draws reviews whose true share is known: the two-way interval holds it in 89 to 95 % where dishes and reviewers
differ, those narrower ones in 45 to 88 %. So the wide one stays, and a test holds that it contains the narrower one.

Percentiles follow the skew of a share near 0 and a normal limit does not, so widths are compared (2 · 1.96 · SE,
within 15 %), and the limits themselves with a second bootstrap that is written without arrays.
"""

import csv
import io
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from collection.models import Source
from evaluation.tables import bump
from tests.review.tables import make_campaign, make_cell, make_people
from wwd.published.source import Report

METRICS = {
    "food": "share_food_all",
    "correct_dish": "share_dish_all",
    "good_quality": "share_good_all",
    "disturbing": "share_disturbing_all",
    "unappetising": "share_unappetising_all",
}
COLUMNS = {
    "food": "Is this an image of food?",
    "correct_dish": "Is this an image of the dish_name",
    "good_quality": "Good_quality",
    "disturbing": "Disturbing",
    "unappetising": "Unappetising_combined",
}
BY_HAND = {
    ("Cameroon", "Dalle2"): (0.1903, 0.0920),
    ("United States", "Stable Diffusion"): (0.4381, 0.0880),
    ("South Africa", "Dalle2"): (0.3152, 0.0735),
}
REVIEWS = "wwd/Community_Review_Generated_Dish_Images.csv"
Table = dict[tuple[str, str, str], dict[str, str]]
Released = dict[tuple[str, str], list[dict[str, str]]]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]


def printed(*options: str) -> Table:
    """(country, model, metric) → row of the printed CSV."""
    out = io.StringIO()
    call_command("tables", "review.quality", "--format", "csv", *options, stdout=out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    return {(row["country"], row["model"], row["metric"]): row for row in rows}


def expected(published: Path) -> dict[str, dict[str, dict[str, Any]]]:
    tables = json.loads((published / "expected" / "review_tables.json").read_text(encoding="utf-8"))
    found: dict[str, dict[str, dict[str, Any]]] = tables["per_country_model"]
    return found


@pytest.fixture(scope="module")
def table(imported: Report, django_db_blocker: DjangoDbBlocker) -> Table:
    with django_db_blocker.unblock():
        return printed()


@pytest.fixture(scope="module")
def released(published: Path) -> Released:
    """(country, model) → rows of the released file."""
    found: Released = defaultdict(list)
    with (published / REVIEWS).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["Country"], row["Model"]].append(row)
    return found


def test_every_share_and_n_of_tables_2_and_3(published: Path, table: Table) -> None:
    for country, models in expected(published).items():
        for model, cell in models.items():
            for metric, share in METRICS.items():
                row = table[country, model, metric]
                assert float(row["value"]) == pytest.approx(cell[share], abs=1e-6), (country, model, metric)
                assert int(row["n"]) == cell["n"], (country, model, metric)


def test_countries_released_in_part_equal_a_count_of_the_file(table: Table, released: Released) -> None:
    cells = {cell: rows for cell, rows in released.items() if cell[1]}
    assert set(table) == {(*cell, metric) for cell in cells for metric in METRICS}
    for (country, model), rows in cells.items():
        for metric, column in COLUMNS.items():
            row = table[country, model, metric]
            share = sum(said[column] == "Yes" for said in rows) / len(rows)
            assert float(row["value"]) == pytest.approx(share, abs=1e-12), (country, model, metric)
            assert (int(row["n"]), int(row["clusters"])) == (len(rows), len({said["Dish name"] for said in rows}))


def test_columns_are_the_promised_ones() -> None:
    out = io.StringIO()
    call_command("tables", "review.quality", stdout=out)
    assert out.getvalue().splitlines()[0] == "country,model,metric,value,n,clusters,low,high,plan"


def test_a_demonstration_beside_the_published_reviews_changes_nothing(table: Table) -> None:
    campaign = make_campaign("release-2024", Source.DEMONSTRATION)
    make_cell(campaign, "Kenya", "Dalle2", dishes=3, reviewers=make_people(campaign, 3, Source.DEMONSTRATION))
    bump("reviews")
    assert printed() == table


def test_the_two_rows_without_a_model_are_left_out_and_counted() -> None:
    out = io.StringIO()
    call_command("tables", "review.quality", "--format", "json", stdout=out)
    document = json.loads(out.getvalue())
    assert any("Left out: 2 of them, about pictures whose model is not known." in note for note in document["notes"])
    assert document["demonstration"] is False
    assert sum(row["n"] for row in document["rows"] if row["metric"] == "food") == 5980


def test_countries_with_fewer_than_five_reviewers_of_a_model_claim_no_interval(table: Table) -> None:
    rows = {(country, model): row for (country, model, metric), row in table.items() if metric == "correct_dish"}
    unclaimed = {cell for cell, row in rows.items() if not row["low"]}
    assert {country for country, _model in unclaimed} == {"Algeria", "Cameroon", "Nigeria", "United States"}
    assert ("Cameroon", "Dalle2") not in unclaimed


@pytest.mark.parametrize("cell", BY_HAND)
def test_interval_is_as_wide_as_worked_out_by_hand(table: Table, cell: tuple[str, str]) -> None:
    row = table[(*cell, "correct_dish")]
    share, error = BY_HAND[cell]
    assert float(row["value"]) == pytest.approx(share, abs=1e-4)
    assert float(row["high"]) - float(row["low"]) == pytest.approx(2 * 1.96 * error, rel=0.15)


@pytest.mark.parametrize("cell", BY_HAND)
def test_interval_agrees_with_a_bootstrap_written_without_arrays(
    table: Table, released: Released, cell: tuple[str, str]
) -> None:
    row = table[(*cell, "correct_dish")]
    low, high = bootstrapped(released[cell])
    assert (float(row["low"]), float(row["high"])) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_cameroon_is_far_less_certain_than_independent_answers_would_be(table: Table) -> None:
    cell = ("Cameroon", "Dalle2", "correct_dish")
    naive = printed("--filter", "interval=wilson")[cell]
    assert (float(naive["low"]), float(naive["high"])) == (
        pytest.approx(0.16, abs=0.005),
        pytest.approx(0.23, abs=0.005),
    )
    row = table[cell]
    assert float(row["low"]) == pytest.approx(0.05, abs=0.02)
    assert float(row["high"]) == pytest.approx(0.40, abs=0.02)
    assert float(row["low"]) < 0.10
    assert float(row["high"]) > 0.34


def bootstrapped(rows: list[dict[str, str]]) -> tuple[float, float]:
    """2.5 % and 97.5 % points of 2,000 resamples of the dishes and reviewers of released `rows`."""
    yes: dict[tuple[str, str], int] = defaultdict(int)
    given: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        pair = row["Dish name"], row["Rater_id"]
        given[pair] += 1
        yes[pair] += row["Is this an image of the dish_name"] == "Yes"
    dishes, people = sorted({dish for dish, _ in given}), sorted({person for _, person in given})
    chance, shares = random.Random(7), []
    for _draw in range(2000):
        drawn_dishes, drawn_people = chance.choices(dishes, k=len(dishes)), chance.choices(people, k=len(people))
        pairs = [(dish, person) for dish in drawn_dishes for person in drawn_people if (dish, person) in given]
        if pairs:
            shares.append(sum(yes[pair] for pair in pairs) / sum(given[pair] for pair in pairs))
    shares.sort()
    return shares[len(shares) // 40], shares[-len(shares) // 40]
