"""On the published data no p, no "worse", no rank is beside "no interval", and no p contradicts an interval."""

import pytest

from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]
RANKING = ("worse", "better", "best", "worst", "lowest", "highest", "rank")
# Rankings of all images, and answers of language models, take long; no table of theirs tests or names anybody.
LONG = ("association.descriptors", "knowledge.", "judging.")
NAMES = [
    name
    for name in lookup.list_table_names()
    if not any(part in name for part in LONG) and not name.startswith("variance.")
]


def test_every_p_and_every_name_is_declared() -> None:
    for name in lookup.list_table_names():
        spec = lookup.find_table_spec(name)
        tests = {metric for test in spec.tests for metric in (test.p, test.holm)}
        assert tests == {metric for metric in spec.metrics if metric == "p" or metric.startswith("p_")}, name
        assert {*spec.ranks} == {column for column in spec.columns if column in RANKING}, name
        assert {test.tested for test in spec.tests} | {*spec.ranks.values()} <= {*spec.metrics}, name


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_tested_or_named_without_an_interval(name: str) -> None:
    spec = lookup.find_table_spec(name)
    table = compute.compute_table(spec, {})
    numbers = numbers_of(table)
    for row in table.rows:
        key = tuple(row.groups.values())
        for test in spec.tests:
            if row.metric in (test.p, test.holm) and row.estimate.value is not None:
                assert numbers[key, test.tested].low is not None, row
        for column, metric in spec.ranks.items():
            assert not row.groups[column] or numbers[key, metric].low is not None, row


@pytest.mark.parametrize("name", [name for name in NAMES if lookup.find_table_spec(name).tests])
def test_p_is_at_most_the_level_where_the_interval_leaves_out_nothing(name: str) -> None:
    spec = lookup.find_table_spec(name)
    numbers = numbers_of(compute.compute_table(spec, {}))
    for (key, metric), estimate in numbers.items():
        for test in spec.tests:
            if metric == test.p and estimate.value is not None:
                about = numbers[key, test.tested]
                assert about.low is not None and about.high is not None
                assert (estimate.value <= 0.05) == (about.low > 0 or about.high < 0), (key, estimate, about)


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith(("review.", "agreement."))])
def test_a_place_with_under_five_reviewers_is_small(name: str) -> None:
    """Three people judged each model for Algeria, four Dalle2 for Nigeria."""
    rows = compute.compute_table(lookup.find_table_spec(name), {}).rows
    assert all(row.estimate.people is not None for row in rows)
    assert all(row.estimate.small for row in rows if (row.estimate.people or 0) < 5)
    few = {
        (row.groups["country"], row.groups["model"])
        for row in rows
        if "model" in row.groups and row.groups["model"] != "all" and (row.estimate.people or 0) < 5
    }
    if "model" in lookup.find_table_spec(name).columns:
        assert few >= {("Algeria", "Dalle2"), ("Algeria", "Dalle3"), ("Nigeria", "Dalle2")}


def numbers_of(table: TidyTable) -> dict[tuple[tuple[str, ...], str], Estimate]:
    return {(tuple(row.groups.values()), row.metric): row.estimate for row in table.rows}
