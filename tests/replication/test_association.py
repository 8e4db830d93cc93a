"""`manage.py tables association.scores` on the released embeddings, against values computed independently.

Three intervals by hand (normalised score). The images of a continent prompt have no dish, so each is a cluster of
its own and the error of a mean is the population deviation ÷ √n: the `sem_ddof0` of the independent computation.

  presentation, Africa, dalle2:  −0.3884 ± 1.96 · 0.0401 = −0.467 to −0.310.
  style, Europe, dalle3:          0.0581 ± 1.96 · 0.0580 = −0.056 to 0.172.
  presentation, Oceania, sd21:    0.2738 ± 1.96 · 0.0477 = 0.180 to 0.367.

Our intervals divide by √(n − 1) and by the share left out, and take Student's t with 49 degrees of freedom: up to 0.01
wider.
"""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from evaluation.contracts.study import OutcomeData
from evaluation.metrics import association as metrics
from evaluation.metrics.inference.sem import population_sem
from evaluation.models import GeneratedImage, Run
from evaluation.studies.association.study import TABLES
from evaluation.studies.association.tables import SCORES, Gathered, compute_sign_cosines, gather_association_data
from evaluation.tables.outcomes import iterate_outcomes
from wwd.exchange.published.source import Report

BY_HAND = {
    ("presentation", "Africa", "dalle2"): (-0.467, -0.310),
    ("style", "Europe", "dalle3"): (-0.056, 0.172),
    ("presentation", "Oceania", "sd21"): (0.180, 0.367),
}
MODELS = ("dalle2", "dalle3", "sd21")
CONTINENTS = ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported"), pytest.mark.embedded]
Table = dict[tuple[str, str, str, str], dict[str, str]]


def printed(name: str) -> list[dict[str, str]]:
    """The rows of the printed CSV."""
    out = io.StringIO()
    call_command("tables", name, "--format", "csv", stdout=out)
    return list(csv.DictReader(io.StringIO(out.getvalue())))


@pytest.fixture(scope="module")
def table(imported: Report, django_db_blocker: DjangoDbBlocker) -> Table:
    """(group, continent, model, metric) → row of the printed CSV."""
    with django_db_blocker.unblock():
        rows = printed("association.scores")
    return {(row["group"], row["continent"], row["model"], row["metric"]): row for row in rows}


@pytest.fixture(scope="module")
def found(imported: Report, django_db_blocker: DjangoDbBlocker) -> list[OutcomeData]:
    with django_db_blocker.unblock():
        return list(iterate_outcomes(Run.objects.get(study="association")))


@pytest.fixture(scope="module")
def expected(published: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((published / "expected" / "association.json").read_text(encoding="utf-8"))
    return values


def test_columns_are_the_promised_ones_and_every_cell_is_there(table: Table, expected: dict[str, Any]) -> None:
    assert list(next(iter(table.values()))) == [
        *("group", "continent", "model", "metric", "value", "n", "clusters", "low", "high", "plan")
    ]
    wanted = {
        (group, continent, model, metric)
        for group in expected["group_sizes"]
        for continent in CONTINENTS
        for model in MODELS
        for metric in SCORES.metrics
    }
    assert set(table) == wanted


@pytest.mark.parametrize("group", ["presentation", "style"])
@pytest.mark.parametrize("model", MODELS)
def test_normalised_scores_and_n(table: Table, expected: dict[str, Any], group: str, model: str) -> None:
    cells = expected["results"]["net_code_permodel"][group][model]
    assert set(cells) == set(CONTINENTS)
    for continent, cell in cells.items():
        row = table[group, continent, model, "normalised_score"]
        assert float(row["value"]) == pytest.approx(cell["mean"], abs=1e-6), continent
        assert (int(row["n"]), int(row["clusters"])) == (cell["n"], 50)


@pytest.mark.parametrize("group", ["presentation", "style"])
@pytest.mark.parametrize("model", MODELS)
def test_scores_rescaled_over_all_models(table: Table, expected: dict[str, Any], group: str, model: str) -> None:
    for continent, cell in expected["results"]["net_code_global"][group][model].items():
        row = table[group, continent, model, "normalised_over_all"]
        assert float(row["value"]) == pytest.approx(cell["mean"], abs=1e-6), continent


@pytest.mark.parametrize("group", ["presentation", "style"])
@pytest.mark.parametrize("model", MODELS)
def test_unscaled_scores(table: Table, expected: dict[str, Any], group: str, model: str) -> None:
    for continent, cell in expected["raw_means"][group][model].items():
        row, typed = (table[group, continent, model, metric] for metric in ("net", "as_printed"))
        assert float(row["value"]) == pytest.approx(cell["net"], abs=1e-6), continent
        assert float(typed["value"]) == pytest.approx(cell["pos"] + cell["neg"], abs=1e-6), continent
        assert int(row["n"]) == 50


def test_group_sizes_and_the_range_of_the_rescaling_stand_with_the_table(expected: dict[str, Any]) -> None:
    out = io.StringIO()
    call_command("tables", "association.scores", "--format", "json", stdout=out)
    told = json.loads(out.getvalue())
    for group, sizes in expected["group_sizes"].items():
        words = f"{group} {sizes['positive']} positive and {sizes['negative']} negative"
        assert any(words in note for note in told["notes"]), words
    for group, models in expected["results"]["net_code_raw_minmax"].items():
        for model, (low, high) in models.items():
            name = "all models" if model == "all" else model
            assert told["extra"][f"{group}/{name} lowest"] == pytest.approx(low, abs=1e-6)
            assert told["extra"][f"{group}/{name} highest"] == pytest.approx(high, abs=1e-6)
            assert any(f"{group}/{name} lowest {low:.6f}" in note for note in told["notes"])


@pytest.mark.parametrize("cell", BY_HAND)
def test_interval_is_as_worked_out_by_hand(table: Table, cell: tuple[str, str, str]) -> None:
    row = table[(*cell, "normalised_score")]
    low, high = BY_HAND[cell]
    assert (float(row["low"]), float(row["high"])) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


@pytest.mark.parametrize(
    ("named", "raw", "scope"),
    [
        ("net_code_permodel", metrics.net_association, "within"),
        ("net_code_global", metrics.net_association, "all"),
        ("net_printed_permodel", metrics.as_printed, "within"),
        ("net_printed_global", metrics.as_printed, "all"),
    ],
)
@pytest.mark.parametrize("group", ["presentation", "style"])
def test_each_variant_under_its_own_name(
    found: list[OutcomeData], expected: dict[str, Any], group: str, named: str, raw: Any, scope: str
) -> None:
    gathered = gather_association_data(found)
    assert not gathered.missing
    scored = gathered.scored
    plain = raw(*compute_sign_cosines(scored, gathered.words[group]))
    scaled = (
        metrics.normalised_within(plain, scored.models) if scope == "within" else metrics.normalised_over_all(plain)
    )
    for model in MODELS:
        for continent, cell in expected["results"][named][group][model].items():
            values = scaled[scored.cell(continent, model)]
            assert values.mean() == pytest.approx(cell["mean"], abs=1e-6)
            assert population_sem(values) == pytest.approx(cell["sem_ddof0"], abs=1e-6)


def test_the_lowest_and_highest_images_are_those_of_the_independent_computation(expected: dict[str, Any]) -> None:
    keys = dict(GeneratedImage.objects.values_list("pk", "source_key"))
    rows = [row for row in printed("association.top") if (row["group"], row["model"]) == ("presentation", "dalle2")]
    ends: dict[str, list[str]] = {"top": [], "bottom": []}
    for row in sorted(rows, key=lambda row: int(row["place"])):
        ends[row["end"]].append(keys[int(row["picture"])].rpartition("/")[2])
    assert ends["bottom"] == expected["presentation_dalle2_bottom5"]
    assert sorted(ends["top"]) == sorted(expected["presentation_dalle2_top5"])


def test_shares_among_the_nearest_are_those_of_the_release_in_every_row(published: Path) -> None:
    shares = {
        (row["descriptor"], row["model"], row["continent"]): float(row["value"])
        for row in printed("association.descriptors")
        if row["descriptor"].startswith("a photo of")
    }
    with (published / "wwd" / "clip" / "comparison_results.csv").open(encoding="utf-8", newline="") as file:
        released = {
            (row["Descriptor"], row["Model"], row["Name"]): float(row["Percentage"]) / 100
            for row in csv.DictReader(file)
        }
    assert len(released) == 280
    assert {key: share for key, share in shares.items() if share} == pytest.approx(released, abs=1e-9)
    # 16 descriptors, 3 models, 6 continents: the release leaves zero shares out.
    assert len(shares) == 16 * 3 * 6


def values(outcomes: Sequence[OutcomeData], metric: str) -> dict[tuple[str, str, str], float]:
    table = TABLES["scores"](outcomes)
    return {
        (row.groups["group"], row.groups["continent"], row.groups["model"]): row.estimate.value
        for row in table.rows
        if row.metric == metric and row.estimate.value is not None and row.groups["continent"] in CONTINENTS
    }


def extreme(found: Gathered, group: str, model: str) -> OutcomeData:
    """An image elsewhere that points along the positive and against the negative words: beyond every real one."""
    positive, negative = (np.array(found.words[group][sign]).mean(axis=0) for sign in ("positive", "negative"))
    return OutcomeData(
        key="extreme",
        state="done",
        model="encoder",
        subject="",
        cluster="extreme",
        labels={"continent": ("Antarctica",)},
        payload={"image": 0},
        image_model=model,
        vector=(positive - negative).astype(np.float32),
    )


@pytest.mark.parametrize("model", MODELS)
def test_one_extreme_image_moves_every_normalised_score_and_no_net(found: list[OutcomeData], model: str) -> None:
    group = "presentation"
    more = [*found, extreme(gather_association_data(found), group, model)]
    cells = [(group, continent, model) for continent in CONTINENTS]
    for metric, of_model_only in (("normalised_score", True), ("normalised_over_all", False)):
        before, after = values(found, metric), values(more, metric)
        for cell in cells if of_model_only else [(group, place, name) for place in CONTINENTS for name in MODELS]:
            assert after[cell] < before[cell] - 0.1, (metric, cell)
    assert values(more, "net") == values(found, "net")
    assert values(more, "as_printed") == values(found, "as_printed")
