"""How a tidy table becomes a page, a file, a figure: pure functions, without a database."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from evaluation.contracts.table import TableSpec
from evaluation.metrics.ordering import in_order, model_key, sort_group_values
from evaluation.metrics.tidy import Estimate
from evaluation.plans.mask import NO_MASK
from evaluation.presentation import methods_text, table_filters
from evaluation.presentation import table as presentation_table
from evaluation.tables import format
from evaluation.tables.filter_values import describe_wrong_value
from evaluation.tables.serialise import from_content, to_content, to_csv
from tests.evaluation.make_tables import make_row, make_table

SPEC = TableSpec(
    name="review.quality",
    title="A title",
    source="A paper",
    version="1",
    columns=("country", "model"),
    metrics={"food": "Share of food."},
    inputs=("reviews",),
    filters=("country",),
)
REASON = "fewer than 5 reviewers: no interval is claimed"


# Order.


def test_continents_and_models_have_one_order_and_the_rest_the_alphabet() -> None:
    assert sort_group_values(["Oceania", "Africa", "Atlantis", "Asia", "Africa"], "continent") == [
        "Africa",
        "Asia",
        "Oceania",
        "Atlantis",
    ]
    assert sort_group_values(["zebra", "real", "Stable Diffusion", "Dalle3", "alpha"], "model") == [
        "Dalle3",
        "Stable Diffusion",
        "real",
        "alpha",
        "zebra",
    ]
    assert sort_group_values(["kenya", "Ghana", "Angola"], "country") == ["Angola", "Ghana", "kenya"]


@pytest.mark.parametrize("name", ["Dalle2", "dalle2", "DALL·E 2", "DALL-E 2 (published)"])
def test_spellings_of_a_model_are_one_model(name: str) -> None:
    assert model_key(name) == "dalle2"


def test_rows_come_by_group_and_then_by_metric_as_defined() -> None:
    rows = [make_row("Kenya", "Dalle2", "b"), make_row("Algeria", "Dalle3", "a"), make_row("Kenya", "Dalle2", "a")]
    listed = in_order(rows, ("country", "model"), ("b", "a"))
    assert [(row.groups["country"], row.metric) for row in listed] == [("Algeria", "a"), ("Kenya", "b"), ("Kenya", "a")]


# Page.


def test_a_cell_has_value_interval_n_and_clusters() -> None:
    (line,) = presentation_table.build_table_lines(make_table([make_row("Kenya", "Dalle2")]), ["food"])
    cell = line.cells[0]
    assert line.groups == ("Kenya", "Dalle2")
    assert cell is not None
    assert (cell.value, cell.exact, cell.interval, cell.n, cell.clusters) == ("0.500", "0.5", "0.400, 0.600", 40, 12)
    assert cell.small is False


def test_a_group_without_a_metric_leaves_its_cell_empty() -> None:
    table = make_table([make_row("Kenya", "Dalle2", "food"), make_row("Ghana", "Dalle2", "good")])
    lines = presentation_table.build_table_lines(table, ["food", "good"])
    assert [[cell is None for cell in line.cells] for line in lines] == [[False, True], [True, False]]


def test_small_numbers_get_a_fourth_digit_in_the_whole_column() -> None:
    small = [Estimate(0.0029, 50, 50), Estimate(-0.05, 50, 50), Estimate(None, 0, 0)]
    assert presentation_table.choose_decimals(small) == 4
    assert presentation_table.choose_decimals([*small, Estimate(0.4, 50, 50)]) == 3
    assert presentation_table.choose_decimals([Estimate(None, 0, 0)]) == 3


def test_a_small_p_does_not_read_as_nothing() -> None:
    assert presentation_table.choose_decimals([Estimate(1 / 2001, 50, 50), Estimate(0.4, 50, 50)]) == 4
    assert presentation_table.choose_decimals([Estimate(0.0, 50, 50), Estimate(0.4, 50, 50)]) == 3


@pytest.mark.parametrize(
    ("value", "shown"), [(-0.25, "−0.250"), (-0.0001, "0.000"), (0.0, "0.000"), (1.0, "1.000"), (0.12349, "0.123")]
)
def test_numbers_are_rounded_with_a_true_minus_and_none_before_zero(value: float, shown: str) -> None:
    assert format.format_number(value, 3) == shown


def test_counts_are_shown_as_counts() -> None:
    assert (format.format_number(12, 3), format.format_number(-3, 3)) == ("12", "−3")


def test_only_methods_of_claimed_intervals_are_explained() -> None:
    rows = [make_row("Kenya", "Dalle2"), make_row("Ghana", "Dalle2", low=None, high=None, method="count")]
    assert presentation_table.list_interval_methods(make_table(rows)) == ["bootstrap"]


def test_reasons_name_the_groups_and_metrics_they_concern() -> None:
    rows = [make_row("Kenya", "Dalle2", metric, reason=REASON) for metric in ("food", "correct_dish")]
    assert presentation_table.group_missing_reasons(make_table([*rows, make_row("Ghana", "Dalle2")])) == {
        REASON: ["Kenya, Dalle2 (food, correct dish)"]
    }


def test_the_command_line_is_safe_to_paste() -> None:
    shown = presentation_table.build_table_command(
        "review.quality", {"model": "Stable Diffusion", "country": "Côte d'Ivoire"}
    )
    quoted = "'country=Côte d'\"'\"'Ivoire' 'model=Stable Diffusion'"
    assert shown == f"manage.py tables review.quality --format csv --filter {quoted}"


# Files.


def test_a_table_survives_being_stored_as_json() -> None:
    rows = [
        make_row("Kenya", "Dalle2", value=1 / 3, low=0.1 + 0.2),
        make_row("Ghana", "Dalle2", value=None, reason="none"),
    ]
    table = make_table(rows, notes=("A note.",), demonstration=True, extra={"lowest": -1e-17})
    assert from_content(table.name, table.version, json.loads(json.dumps(to_content(table)))) == table


def test_csv_quotes_names_and_ends_lines_with_a_line_feed() -> None:
    text = to_csv(make_table([make_row('Bonaire, "Saba"', "Dalle2", value=None, low=None, high=None)]))
    assert "\r" not in text
    assert next(csv.DictReader(io.StringIO(text))) == {
        "country": 'Bonaire, "Saba"',
        "model": "Dalle2",
        "metric": "food",
        "value": "",
        "n": "40",
        "clusters": "12",
        "low": "",
        "high": "",
        "plan": "exploratory",
    }


# Filters.


def test_selects_come_in_one_order_with_what_is_chosen_and_only_where_there_is_a_choice() -> None:
    table = replace(SPEC, filters=("interval", "country", "run"), choices={"interval": ("bootstrap", "wilson")})
    found = table_filters.build_filter_fields(
        table, {"country": "Kenya"}, {"country": ["Ghana", "Kenya"], "run": ["first"]}
    )
    assert [(field.name, field.label, field.value) for field in found] == [
        ("country", "Country", "Kenya"),
        ("interval", "Interval", ""),
    ]
    assert found[0].options == ("Ghana", "Kenya")


def test_a_chosen_value_that_no_row_has_any_more_stays_in_its_select() -> None:
    [field] = table_filters.build_filter_fields(replace(SPEC, filters=("run",)), {"run": "gone"}, {"run": []})
    assert (field.value, field.options) == ("gone", ("gone",))


def test_chips_lead_to_the_page_without_them() -> None:
    found = table_filters.build_filter_chips({"country": "Côte d'Ivoire", "run": "first", "word": "bad"})
    assert [(chip.label, chip.without) for chip in found] == [
        ("Run", "?country=C%C3%B4te+d%27Ivoire&word=bad"),
        ("Country", "?run=first&word=bad"),
        ("Word", "?country=C%C3%B4te+d%27Ivoire&run=first"),
    ]
    assert table_filters.build_filter_chips({"run": "first"})[0].without == "?"


def test_a_value_that_no_row_has_is_answered_with_the_near_ones() -> None:
    whole = make_table(about={"options": {"country": ["Ghana", "Kenya"]}})
    assert "Did you mean Kenya" in describe_wrong_value(SPEC, {"country": "kenia"}, None, whole, NO_MASK)
    assert describe_wrong_value(SPEC, {"country": "Kenya", "model": "any"}, None, whole, NO_MASK) == ""
    assert describe_wrong_value(SPEC, {"country": "Kenia"}, None, None, NO_MASK) == "", "nothing is known yet"


# Methods.


def test_the_methods_say_all_that_is_needed_to_cite_a_table() -> None:
    rows = [make_row("Kenya", "Dalle2"), make_row("Ghana", "Dalle2", n=12, clusters=5)]
    lacking = make_row("Mali", "Dalle2", value=None, n=0, clusters=0, low=None, high=None, reason="nobody answered")
    about = {
        "run": {"slug": "first", "study": "colours", "version": "2", "finished": "2026-01-02"},
        "counted": {"outcomes": 52, "failed": 0, "clusters": 17},
        "circumstances": {"card": {"processor": 52}, "torch": {"2.12": 40, "2.13": 12}},
    }
    table = make_table([*rows, lacking], notes=("Shares of all reviews.", "x" * 900), about=about)
    said = methods_text.write_methods_paragraph(
        SPEC, table, {"country": "Kenya"}, datetime(2026, 1, 3, 4, 5, tzinfo=UTC)
    )
    assert said == [
        "A title: table review.quality, version 1 of its definition (A paper).",
        "food: Share of food.",
        "Only country: Kenya.",
        "The run first of the study colours (version 2) ended on 2026-01-02.",
        "Shares of all reviews.",
        "Counted: 52 outcomes, 17 clusters.",
        "Of 2 numbers, n is 12–40 and clusters are 5–12.",
        "1 number is of a small group (n under 30, 10 clusters or 5 reviewers).",
        "1 number was not measured.",
        "95 % intervals: bootstrap.",
        "Circumstances of the outcomes: card processor; torch 2.12 (40), 2.13 (12).",
        "Computed on 2026-01-03 04:05 UTC.",
        "The same numbers: manage.py tables review.quality --format csv --filter country=Kenya",
    ]


def test_what_defines_a_run_is_cited_however_long_it_is() -> None:
    defining = f"prompt_sha256: {'a' * 64}; words: {'b ' * 300}."
    run = {"definition": {"words": "b " * 300, "prompt_sha256": "a" * 64}}
    table = make_table(notes=(defining, "c" * 500), about={"run": run})
    said = methods_text.write_methods_paragraph(SPEC, table, {}, None)
    assert defining in said
    assert "c" * 500 not in said


def test_the_methods_of_an_empty_table_claim_nothing() -> None:
    said = methods_text.write_methods_paragraph(SPEC, make_table(), {}, None)
    assert said[2:] == ["No interval is claimed.", "The same numbers: manage.py tables review.quality --format csv"]
