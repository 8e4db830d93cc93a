"""`manage.py tables association.scores` on the released embeddings, against values computed independently.

Three intervals by hand (normalised score). The pictures of a continent prompt have no dish, so each is a cluster of
its own and the bootstrap's standard error of a mean is the population deviation ÷ √n: the `sem_ddof0` of the
independent computation.

  presentation, Africa, dalle2:  −0.3884 ± 1.96 · 0.0401 = −0.467 to −0.310.
  style, Europe, dalle3:          0.0581 ± 1.96 · 0.0580 = −0.056 to 0.172.
  presentation, Oceania, sd21:    0.2738 ± 1.96 · 0.0477 = 0.180 to 0.367.

A mean of 50 is nearly normal: percentiles of 2,000 draws lie within 0.01 of these limits.
"""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from evaluation.metrics import association as metrics
from evaluation.metrics.sem import population_sem
from evaluation.models import GeneratedImage, Run
from evaluation.runner import outcomes
from evaluation.studies.association import gather
from evaluation.studies.base import OutcomeData
from wwd.published.source import Report

BY_HAND = {
    ("presentation", "Africa", "dalle2"): (-0.467, -0.310),
    ("style", "Europe", "dalle3"): (-0.056, 0.172),
    ("presentation", "Oceania", "sd21"): (0.180, 0.367),
}
MODELS = ("dalle2", "dalle3", "sd21")
CONTINENTS = ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]
Table = dict[tuple[str, str, str, str], dict[str, str]]


def printed() -> Table:
    """(group, continent, model, metric) → row of the printed CSV."""
    out = io.StringIO()
    call_command("tables", "association.scores", "--format", "csv", stdout=out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    return {(row["group"], row["continent"], row["model"], row["metric"]): row for row in rows}


@pytest.fixture(scope="module")
def table(imported: Report, django_db_blocker: DjangoDbBlocker) -> Table:
    with django_db_blocker.unblock():
        return printed()


@pytest.fixture(scope="module")
def found(imported: Report, django_db_blocker: DjangoDbBlocker) -> list[OutcomeData]:
    with django_db_blocker.unblock():
        return list(outcomes(Run.objects.get(study="association")))


@pytest.fixture(scope="module")
def expected(published: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((published / "expected" / "association.json").read_text(encoding="utf-8"))
    return values


def test_columns_are_the_promised_ones_and_every_cell_is_there(table: Table, expected: dict[str, Any]) -> None:
    assert list(next(iter(table.values()))) == [
        *("group", "continent", "model", "metric", "value", "n", "clusters", "low", "high")
    ]
    wanted = {
        (group, continent, model, metric)
        for group in expected["group_sizes"]
        for continent in CONTINENTS
        for model in MODELS
        for metric in ("normalised_score", "net")
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
def test_unscaled_scores(table: Table, expected: dict[str, Any], group: str, model: str) -> None:
    for continent, cell in expected["raw_means"][group][model].items():
        row = table[group, continent, model, "net"]
        assert float(row["value"]) == pytest.approx(cell["net"], abs=1e-6), continent
        assert int(row["n"]) == 50


def test_group_sizes_stand_in_the_notes(expected: dict[str, Any]) -> None:
    out = io.StringIO()
    call_command("tables", "association.scores", "--format", "json", stdout=out)
    notes = json.loads(out.getvalue())["notes"]
    for group, sizes in expected["group_sizes"].items():
        words = f"{group} {sizes['positive']} positive and {sizes['negative']} negative"
        assert any(words in note for note in notes), words


@pytest.mark.parametrize("cell", BY_HAND)
def test_interval_is_as_worked_out_by_hand(table: Table, cell: tuple[str, str, str]) -> None:
    row = table[(*cell, "normalised_score")]
    low, high = BY_HAND[cell]
    assert (float(row["low"]), float(row["high"])) == (pytest.approx(low, abs=0.01), pytest.approx(high, abs=0.01))


@pytest.mark.parametrize(
    ("named", "raw", "scope"),
    [
        ("net_code_permodel", metrics.net, "within"),
        ("net_code_global", metrics.net, "all"),
        ("net_printed_permodel", metrics.as_printed, "within"),
        ("net_printed_global", metrics.as_printed, "all"),
    ],
)
@pytest.mark.parametrize("group", ["presentation", "style"])
def test_each_variant_under_its_own_name(
    found: list[OutcomeData], expected: dict[str, Any], group: str, named: str, raw: Any, scope: str
) -> None:
    words, scored, missing = gather(found)
    assert not missing
    positive, negative = (
        metrics.cosine(scored.vectors, np.array(words[group][sign])) for sign in ("positive", "negative")
    )
    plain = raw(positive, negative)
    scaled = (
        metrics.normalised_within(plain, scored.models) if scope == "within" else metrics.normalised_over_all(plain)
    )
    for model in MODELS:
        for continent, cell in expected["results"][named][group][model].items():
            values = scaled[scored.cell(continent, model)]
            assert values.mean() == pytest.approx(cell["mean"], abs=1e-6)
            assert population_sem(values) == pytest.approx(cell["sem_ddof0"], abs=1e-6)


def test_the_lowest_and_highest_pictures_are_those_of_the_independent_computation(
    found: list[OutcomeData], expected: dict[str, Any]
) -> None:
    words, _scored, _missing = gather(found)
    pictures = [outcome for outcome in found if outcome.image_model == "dalle2"]
    vectors = np.array([outcome.vector for outcome in pictures])
    signs = words["presentation"]
    score = metrics.net(*(metrics.cosine(vectors, np.array(signs[sign])) for sign in ("positive", "negative")))
    keys = dict(GeneratedImage.objects.values_list("pk", "source_key"))
    names = [keys[pictures[at].image_id or 0].rpartition("/")[2] for at in np.argsort(score)]
    assert names[:5] == expected["presentation_dalle2_bottom5"]
    assert sorted(names[-5:]) == sorted(expected["presentation_dalle2_top5"])
