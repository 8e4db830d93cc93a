"""`manage.py tables review.quality` on the published reviews, against values computed independently of this project.

Intervals are worked out a second time from the rows of the file, one dish and one person after the other, without
arrays (`leaving_out`). By hand, of Cameroon, Dalle2 (n 431, 82 yes, p = .1903): a review's residual is its answer
(1 yes, 0 else) minus p. The squared sums of residuals are A = 560.4 over dishes, B = 771.1 over reviewers, C = 239.2
over pairs of both, so that the plain two-way variance is (A + B − C) ÷ n² = .00588, the error .0767, and on the logit
scale .0767 ÷ (.1903 · .8097) = .498. Leaving reviewers out one by one gives more, since one of them gave 134 of the 431
answers; and seven people who differ so much count as 2.8 degrees of freedom. Wilson, as if independent: .156 to .230.
`bench/intervals.py` sets other intervals beside ours on reviews whose true share is known.
"""

import csv
import io
import json
from collections import defaultdict
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker
from scipy.stats import t

from collection.models import Source
from evaluation.counters import bump_input_counters
from evaluation.metrics.inference.intervals import CAUTION, MOST_MOVED
from tests.review.make_tables import make_campaign, make_cell, make_people
from wwd.exchange.published.source import Report

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
AGAIN = (("Cameroon", "Dalle2"), ("Kenya", "Stable Diffusion"), ("South Africa", "Dalle2"))
REVIEWS = "wwd/Community_Review_Generated_Dish_Images.csv"
Table = dict[tuple[str, str, str], dict[str, str]]
Released = dict[tuple[str, str], list[dict[str, str]]]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported"), pytest.mark.embedded]


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
    bump_input_counters("reviews")
    assert printed() == table


def test_the_two_rows_without_a_model_are_left_out_and_counted() -> None:
    out = io.StringIO()
    call_command("tables", "review.quality", "--format", "json", stdout=out)
    document = json.loads(out.getvalue())
    assert any("Left out: 2 of them, about images whose model is not known." in note for note in document["notes"])
    assert document["demonstration"] is False
    assert sum(row["n"] for row in document["rows"] if row["metric"] == "food") == 5980


def test_countries_with_few_reviewers_or_one_who_outweighs_the_others_claim_no_interval(table: Table) -> None:
    rows = {(country, model): row for (country, model, metric), row in table.items() if metric == "correct_dish"}
    unclaimed = {cell for cell, row in rows.items() if not row["low"]}
    assert {country for country, _model in unclaimed} == {"Algeria", "Cameroon", "Nigeria", "United States"}
    assert ("Cameroon", "Dalle2") not in unclaimed
    # One of eight people gave 150 of the 315 answers.
    assert ("United States", "Stable Diffusion") in unclaimed


def test_no_interval_has_the_width_zero(table: Table) -> None:
    assert all(float(row["low"]) < float(row["high"]) for row in table.values() if row["low"])


@pytest.mark.parametrize("cell", AGAIN)
def test_interval_agrees_with_leaving_out_one_after_the_other(
    table: Table, released: Released, cell: tuple[str, str]
) -> None:
    row = table[(*cell, "correct_dish")]
    low, high = leaving_out(released[cell])
    assert (float(row["low"]), float(row["high"])) == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))


def test_cameroon_is_far_less_certain_than_independent_answers_would_be(table: Table) -> None:
    cell = ("Cameroon", "Dalle2", "correct_dish")
    naive = printed("--filter", "interval=wilson")[cell]
    assert (float(naive["low"]), float(naive["high"])) == (
        pytest.approx(0.16, abs=0.005),
        pytest.approx(0.23, abs=0.005),
    )
    row = table[cell]
    assert float(row["low"]) < 0.10
    assert float(row["high"]) > 0.34


def leaving_out(rows: list[dict[str, str]]) -> tuple[float, float]:
    """The two-way interval of released `rows` by the formulas in `evaluation/metrics/inference/intervals.py`."""
    said = [
        (row["Dish name"], row["Rater_id"], float(row["Is this an image of the dish_name"] == "Yes")) for row in rows
    ]
    n = len(said)
    share = sum(yes for *_, yes in said) / n

    def kind(side: int) -> tuple[float, float]:
        names = sorted({one[side] for one in said})
        off = 0.5 / len(names)

        def link(value: float) -> float:
            return log((value + off) / (1 - value + off))

        parts = [sum(one[side] == name for one in said) / n for name in names]
        without = [[yes for *who, yes in said if who[side] != name] for name in names]
        means = [sum(left) / len(left) for left in without]
        variance = max(
            sum((link(mean) - link(share)) ** 2 for mean in means),
            sum(((mean - share) / share / (1 - share)) ** 2 for mean in means),
        )
        # tr(B)² ÷ tr(B²) of B = C′WC, C = I − 1h′, W = diag(h² ÷ (1 − h)).
        weights = [part**2 / (1 - part) for part in parts]
        total, square = sum(weights), sum(part**2 for part in parts)
        form = [
            [
                (weights[i] if i == j else 0.0)
                - weights[i] * parts[j]
                - parts[i] * weights[j]
                + total * parts[i] * parts[j]
                for j in range(len(parts))
            ]
            for i in range(len(parts))
        ]
        assert square < 1
        return variance, sum(form[i][i] for i in range(len(parts))) ** 2 / sum(x * x for line in form for x in line)

    cells: dict[tuple[str, str], float] = defaultdict(float)
    for dish, person, yes in said:
        cells[dish, person] += yes - share
    pairs = sum(each**2 for each in cells.values()) / n**2 * len(cells) / (len(cells) - 1) / (share * (1 - share)) ** 2
    (other, many), (scarce, few) = kind(0), kind(1)
    assert few <= many
    variance = max(scarce + other - pairs, scarce, other, pairs)
    part = CAUTION * max(scarce - pairs, 0)
    weight = part / (part + other)
    freedom = max(few, 1 / (weight**2 / few + (1 - weight) ** 2 / many))
    centre = log(share / (1 - share)) + (1 - 2 * share) * min(variance, MOST_MOVED)
    half = t.ppf(0.975, freedom) * sqrt(variance)
    return 1 / (1 + exp(half - centre)), 1 / (1 + exp(-half - centre))
