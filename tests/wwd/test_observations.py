"""Every number that is said to be a mean is the mean of its observations, in the demonstration with all its tables."""

import math

import pytest
from django.test import Client

from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute, observe
from tests.evaluation.make_tables import make_staff
from tests.evaluation.table_observations import check, declares, observed
from tests.wwd.demonstration import demonstration as demonstration

pytestmark = pytest.mark.django_db
KNOWN = {
    "association.scores",
    "colours.diversity",
    "generation.counts",
    "review.checks",
    "review.controls",
    "review.match",
    "review.quality",
    "review.quality_answered",
    "review.quality_own",
    "review.skips",
    "stereotypes.answers",
    "stereotypes.answers_country",
    "stereotypes.flattening",
    "stereotypes.flattening_country",
    "stereotypes.readings",
}
OBSERVED = [name for name in TABLES if declares(lookup.find_table_spec(name))]


@pytest.mark.parametrize("name", OBSERVED)
def test_every_number_is_the_mean_of_its_observations(name: str, demonstration: None) -> None:
    """Nobody skipped anything there, and there are no photographs: see tests/review/tables/test_observations.py."""
    compared = check(name)
    assert compared or name not in KNOWN or name in ("review.controls", "review.skips"), name


def test_the_tables_whose_numbers_are_means_say_so() -> None:
    assert set(OBSERVED) >= KNOWN
    assert observe.observe_table(lookup.find_table_spec("association.top"), {}) is None


def test_a_filter_keeps_the_observations_of_its_rows(demonstration: None) -> None:
    assert check("review.quality", country="Fiji")
    assert check("association.scores", continent="Africa", group="taste")
    assert observed("association.scores", continent="Africa").labels("continent").values == ("Africa",)


def test_rescaled_scores_are_no_observations(demonstration: None) -> None:
    assert set(observed("association.scores").values) == {"net", "as_printed"}


@pytest.mark.parametrize(
    "base", ["association.scores", "generation.counts", "review.quality", "stereotypes.flattening"]
)
@pytest.mark.parametrize("kind", ["disparity", "compare"])
def test_derived_tables_of_the_demonstration_hold_numbers_or_reasons(
    kind: str, base: str, demonstration: None, client: Client
) -> None:
    """No NaN, nothing without a reason, demonstration said; and the page shows it."""
    name = f"{kind}.{base}"
    view = compute.compute_and_store(name, {})
    assert view.table is not None
    assert view.table.demonstration or not view.table.rows
    for row in view.table.rows:
        found = row.estimate
        assert found.value is None or math.isfinite(found.value), row
        assert found.value is not None or found.reason, row
        assert set(row.groups) == set(view.spec.columns)
    client.force_login(make_staff())
    assert client.get(f"/admin/evaluation/tables/{name}/").status_code == 200
