"""What counts as planned: the table, its filters and metric, as a plan listed them before the data."""

from typing import Any

import pytest

from evaluation.metrics.tidy import TidyTable
from evaluation.plans.marks import NO_PLAN, Listed, PlanStatus, in_short, mark_planned_rows
from evaluation.tables.serialise import to_csv
from tests.evaluation.make_tables import make_row, make_table


def make_listed(*metrics: str, before: bool = True, version: str = "1", slug: str = "p", **filters: str) -> Listed:
    return Listed("First", slug, "2026-01-02 03:04 UTC", "ab" * 32, before, version, filters, metrics or ("food",))


def table() -> TidyTable:
    return make_table(
        make_row(country, "Dalle2", metric) for country in ("Ghana", "Kenya") for metric in ("food", "good")
    )


def planned(listed: Listed, **filters: str) -> set[tuple[str, str]]:
    """(country, metric) of the rows that count as planned."""
    marked, _standing = mark_planned_rows(table(), filters, [listed])
    return {(row.groups["country"], row.metric) for row in marked.rows if row.planned}


def test_listed_metrics_are_planned_and_others_are_not() -> None:
    assert planned(make_listed("food")) == {("Ghana", "food"), ("Kenya", "food")}


def test_a_filter_that_is_a_column_plans_its_rows_wherever_they_are_shown() -> None:
    assert planned(make_listed(country="Kenya")) == {("Kenya", "food")}


def test_rows_of_a_planned_table_stay_planned_where_a_filter_shows_only_some() -> None:
    assert planned(make_listed(), country="Kenya") == {("Ghana", "food"), ("Kenya", "food")}


@pytest.mark.parametrize(
    ("listed", "filters"),
    [
        (make_listed(campaign="a"), {}),
        (make_listed(), {"campaign": "a"}),
        (make_listed(campaign="a"), {"campaign": "b"}),
        (make_listed(), {"interval": "wilson"}),
        (make_listed(version="2"), {}),
        (make_listed(before=False), {}),
    ],
)
def test_another_choice_of_data_another_definition_or_a_late_plan_is_exploratory(
    listed: Listed, filters: dict[str, str]
) -> None:
    assert planned(listed, **filters) == set()


def test_the_same_choice_of_data_is_planned() -> None:
    assert len(planned(make_listed(campaign="a"), campaign="a")) == 2


@pytest.mark.parametrize(
    ("listed", "others", "kind", "says"),
    [
        ([], (), "none", NO_PLAN),
        ([], ("Other",), "outside", "Exploratory: outside the plan “Other”."),
        ([make_listed(before=False)], (), "late", "was not frozen before the data"),
        ([make_listed("food")], (), "part", "2 of 4 numbers planned before the data: “First” (frozen 2026-01-02"),
        ([make_listed("food", "good")], (), "planned", "SHA-256 abababababab"),
        ([make_listed("food"), make_listed("good", slug="q")], (), "planned", "“First”"),
    ],
)
def test_a_note_says_how_the_table_stands(listed: list[Listed], others: Any, kind: str, says: str) -> None:
    marked, status = mark_planned_rows(table(), {}, listed, others)
    assert status.kind == kind
    assert says in marked.notes[0]


def test_a_table_without_rows_says_nothing_about_plans() -> None:
    marked, status = mark_planned_rows(make_table(), {}, [])
    assert (marked.notes, status) == ((), PlanStatus(0, 0))


def test_each_row_of_the_csv_says_whether_it_was_planned() -> None:
    marked, _standing = mark_planned_rows(table(), {}, [make_listed("food", country="Kenya")])
    lines = to_csv(marked).splitlines()
    assert lines[0].endswith(",plan")
    assert [line.rpartition(",")[2] for line in lines[1:]] == ["exploratory", "exploratory", "planned", "exploratory"]


def test_figures_say_it_in_short() -> None:
    marked, _standing = mark_planned_rows(table(), {}, [make_listed("food")])
    assert in_short(marked.rows) == "In part exploratory: 2 of 4 numbers were planned."
    assert in_short(marked.rows[1:2]) == "Exploratory."
    assert in_short(marked.rows[:1]) == "Planned before the data."
