"""Novelty on the real data: the paper's rule, the stronger one, and internet use."""

from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from evaluation.metrics.tidy import TidyTable
from evaluation.registry import lookup
from evaluation.tables import compute
from wwd.exchange.published.references import import_references
from wwd.exchange.published.source import Report

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def listed(imported: Report, published: Path, django_db_blocker: DjangoDbBlocker) -> None:
    """The reference lists, beside the published dishes."""
    with django_db_blocker.unblock():
        report = Report()
        import_references(published / "wwd", report)
    assert report.count("reference dishes").created == 2414 + 2240


def table(name: str, **filters: str) -> TidyTable:
    found = compute.compute_table(lookup.find_table_spec(name), filters)
    assert not found.demonstration
    return found


def values(found: TidyTable, metric: str, column: str) -> dict[str, float | None]:
    return {row.groups[column]: row.estimate.value for row in found.rows if row.metric == metric}


def test_dishes_that_the_list_lacks_by_each_rule(listed: None) -> None:
    """Counted once more by a loop outside the project: 177 and 408 by the paper's rule, neither 462 nor 415."""
    new = {
        (reference, rule): values(table("novelty.summary", reference=reference, rule=rule), "new", "continent")["all"]
        for reference in ("worldcuisines", "worldcuisines-questions")
        for rule in ("substring", "same_name")
    }
    assert new == {
        ("worldcuisines", "substring"): 177,
        ("worldcuisines", "same_name"): 588,
        ("worldcuisines-questions", "substring"): 408,
        ("worldcuisines-questions", "same_name"): 598,
    }


def test_the_list_lacks_what_contributors_tell(listed: None) -> None:
    found = table("novelty.fields", reference="worldcuisines")
    there = values(found, "reference", "field")
    assert {field for field, value in there.items() if value is None} == {
        "language",
        "time_of_day",
        "utensils",
        "drink",
        "occasions",
        "ingredients",
        "recipe",
        "uploaded_image",
    }
    assert values(found, "ours", "field")["ingredients"] == 1.0


def test_every_pair_names_an_entry_and_why(listed: None) -> None:
    found = table("novelty.pairs", reference="worldcuisines")
    assert len(found.rows) > 150
    assert all(
        row.groups["how"].split(",")[0] in ("same name", "same words", "spelled otherwise") for row in found.rows
    )
    named = {(row.groups["dish"].rpartition(" (")[0], row.groups["entry"]) for row in found.rows}
    assert ("Edikang Ikong", "Edikang ikong") in named
    assert ("كشري", "Koshary") in named


def test_internet_use_beside_dishes(listed: None) -> None:
    rho = {row.groups["scope"]: row.estimate for row in table("novelty.access").rows}
    assert rho["all countries with figures"].n == 206
    assert rho["represented countries"].n == 95
    assert all(one.low is not None and one.low <= (one.value or 0) <= (one.high or 0) for one in rho.values())
    use = values(table("novelty.countries"), "internet_use", "iso3")
    assert use["AFG"] == 18.4
