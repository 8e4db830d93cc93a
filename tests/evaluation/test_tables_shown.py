"""How a tidy table becomes a page, a file, a figure: pure functions, without a database."""

import csv
import io
import json
from itertools import pairwise

import pytest

from evaluation import figures, table_page
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.ordering import in_order, model_key, ordered
from evaluation.table_text import from_content, to_content, to_csv
from tests.evaluation.tables import make_row, make_table

REASON = "fewer than 5 reviewers: no interval is claimed"


# Order.


def test_continents_and_models_have_one_order_and_the_rest_the_alphabet() -> None:
    assert ordered(["Oceania", "Africa", "Atlantis", "Asia", "Africa"], "continent") == [
        "Africa",
        "Asia",
        "Oceania",
        "Atlantis",
    ]
    assert ordered(["zebra", "real", "Stable Diffusion", "Dalle3", "alpha"], "model") == [
        "Dalle3",
        "Stable Diffusion",
        "real",
        "alpha",
        "zebra",
    ]
    assert ordered(["kenya", "Ghana", "Angola"], "country") == ["Angola", "Ghana", "kenya"]


@pytest.mark.parametrize("name", ["Dalle2", "dalle2", "DALL·E 2", "DALL-E 2 (published)"])
def test_spellings_of_a_model_are_one_model(name: str) -> None:
    assert model_key(name) == "dalle2"


def test_rows_come_by_group_and_then_by_metric_as_defined() -> None:
    rows = [make_row("Kenya", "Dalle2", "b"), make_row("Algeria", "Dalle3", "a"), make_row("Kenya", "Dalle2", "a")]
    listed = in_order(rows, ("country", "model"), ("b", "a"))
    assert [(row.groups["country"], row.metric) for row in listed] == [("Algeria", "a"), ("Kenya", "b"), ("Kenya", "a")]


# Page.


def test_a_cell_has_value_interval_n_and_clusters() -> None:
    (line,) = table_page.lines(make_table([make_row("Kenya", "Dalle2")]), ["food"])
    cell = line.cells[0]
    assert line.groups == ("Kenya", "Dalle2")
    assert cell is not None
    assert (cell.value, cell.exact, cell.interval, cell.n, cell.clusters) == ("0.500", "0.5", "0.400, 0.600", 40, 12)
    assert cell.small is False


def test_a_group_without_a_metric_leaves_its_cell_empty() -> None:
    table = make_table([make_row("Kenya", "Dalle2", "food"), make_row("Ghana", "Dalle2", "good")])
    lines = table_page.lines(table, ["food", "good"])
    assert [[cell is None for cell in line.cells] for line in lines] == [[False, True], [True, False]]


def test_small_numbers_get_a_fourth_digit_in_the_whole_column() -> None:
    small = [Estimate(0.0029, 50, 50), Estimate(-0.05, 50, 50), Estimate(None, 0, 0)]
    assert table_page.decimals(small) == 4
    assert table_page.decimals([*small, Estimate(0.4, 50, 50)]) == 3
    assert table_page.decimals([Estimate(None, 0, 0)]) == 3


@pytest.mark.parametrize(
    ("value", "shown"), [(-0.25, "−0.250"), (-0.0001, "0.000"), (0.0, "0.000"), (1.0, "1.000"), (0.12349, "0.123")]
)
def test_numbers_are_rounded_with_a_true_minus_and_none_before_zero(value: float, shown: str) -> None:
    assert table_page.number(value, 3) == shown


def test_counts_are_shown_as_counts() -> None:
    assert (table_page.number(12, 3), table_page.number(-3, 3)) == ("12", "−3")


def test_only_methods_of_claimed_intervals_are_explained() -> None:
    rows = [make_row("Kenya", "Dalle2"), make_row("Ghana", "Dalle2", low=None, high=None, method="count")]
    assert table_page.methods(make_table(rows)) == ["bootstrap"]


def test_reasons_name_the_groups_and_metrics_they_concern() -> None:
    rows = [make_row("Kenya", "Dalle2", metric, reason=REASON) for metric in ("food", "correct_dish")]
    assert table_page.reasons(make_table([*rows, make_row("Ghana", "Dalle2")])) == {
        REASON: ["Kenya, Dalle2 (food, correct dish)"]
    }


def test_the_command_line_is_safe_to_paste() -> None:
    shown = table_page.command("review.quality", {"model": "Stable Diffusion", "country": "Côte d'Ivoire"})
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


# Figures.


def test_a_model_has_the_same_colour_in_every_figure() -> None:
    alone = figures.colours(["dalle2"])["dalle2"]
    assert figures.colours(["Stable Diffusion", "Dalle3", "Dalle2"])["Dalle2"] == alone
    assert figures.colours(["painter"]) == figures.colours(["painter"])


def test_models_in_one_figure_have_colours_of_their_own() -> None:
    models = ["dalle2", "dalle3", "sd21", "real", "one", "two", "three", "four"]
    assert len(set(figures.colours(models).values())) == len(models)


def lightness(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.2), 0 to 1."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))


def test_the_published_models_can_be_told_apart_in_grey() -> None:
    light = sorted(lightness(figures.COLOURS[model]) for model in ("dalle2", "sd21", "dalle3"))
    assert min(later / earlier for earlier, later in pairwise(light)) > 1.5


def test_each_metric_has_its_panel_and_places_lie_along_the_axis() -> None:
    rows = [make_row(country, "Dalle2", metric) for country in ("Kenya", "Ghana") for metric in ("food", "good")]
    plan = figures.layout(make_table(rows), ["food", "good"])
    assert plan is not None
    assert (plan.along, plan.places, plan.models) == ("country", ("Ghana", "Kenya"), ("Dalle2",))
    assert [metric for _groups, metric in plan.panels] == ["food", "good"]


def test_panels_are_drawn_only_for_what_occurs() -> None:
    groups = [("setting", "Market"), ("light", "Low"), ("light", "Mixed")]
    rows = [
        TidyRow({"question": question, "option": option, "continent": "Asia"}, "share", Estimate(0.5, 40, 20))
        for question, option in groups
    ]
    plan = figures.layout(TidyTable("t", "1", ("question", "option", "continent"), tuple(rows)), ["share"])
    assert plan is not None
    assert [tuple(chosen.values()) for chosen, _metric in plan.panels] == sorted(groups)


def test_values_of_a_column_lead_to_their_rows_and_keep_what_is_chosen() -> None:
    table = make_table([make_row(country, "Dalle2") for country in ("Kenya", "Côte d'Ivoire")])
    assert table_page.choices(table, ("country", "run"), {"run": "first"}) == {
        "country": {"Côte d'Ivoire": "?run=first&country=C%C3%B4te+d%27Ivoire", "Kenya": "?run=first&country=Kenya"}
    }
    assert table_page.choices(table, ("model",), {}) == {}


def test_a_figure_marks_small_groups_and_only_them_with_hatching() -> None:
    large = figures.svg(make_table([make_row("Kenya", "Dalle2")]), ["food"])
    small = figures.svg(make_table([make_row("Kenya", "Dalle2", n=12)]), ["food"])
    assert large is not None
    assert small is not None
    assert b"<pattern" not in large
    assert b"<pattern" in small


def test_a_figure_of_a_demonstration_differs_from_that_of_a_measurement() -> None:
    row = make_row("Kenya", "Dalle2")
    assert figures.svg(make_table([row]), ["food"]) != figures.svg(make_table([row], demonstration=True), ["food"])


def test_the_same_table_gives_the_same_figure_byte_for_byte() -> None:
    table = make_table([make_row("Kenya", "Dalle2"), make_row("Ghana", "Dalle2", value=None, low=None, high=None)])
    assert figures.svg(table, ["food"]) == figures.svg(table, ["food"])


def test_bars_start_at_zero_so_that_their_lengths_can_be_compared() -> None:
    plan_table = make_table([make_row("Kenya", "Dalle2", value=0.9, low=0.85, high=0.95)])
    plan = figures.layout(plan_table, ["food"])
    assert plan is not None
    low, high = figures._figure(plan_table, plan).axes[0].get_ylim()
    assert low <= 0 < 0.95 <= high


def test_bars_that_are_all_zero_stand_on_a_scale_without_negative_numbers() -> None:
    table = make_table([make_row("Kenya", "Dalle2", value=0.0, low=None, high=None)])
    plan = figures.layout(table, ["food"])
    assert plan is not None
    assert figures._figure(table, plan).axes[0].get_ylim() == (0, 1)


def test_fifty_countries_get_the_width_that_their_names_need() -> None:
    few = figures.layout(make_table([make_row("Kenya", "Dalle2", metric) for metric in ("a", "b")]), ["a", "b"])
    rows = [make_row(f"Country {number}", "Dalle2", metric) for number in range(50) for metric in ("a", "b")]
    many = figures.layout(make_table(rows), ["a", "b"])
    assert few is not None
    assert many is not None
    assert (few.wide, many.wide) == (2, 1)
    assert many.size[0] / 50 >= figures.PLACE_WIDTH


def test_nothing_to_draw_gives_no_figure() -> None:
    assert figures.svg(make_table(), ["food"]) is None


def test_a_table_without_models_is_drawn_in_one_colour() -> None:
    row = TidyRow({"country": "Kenya"}, "food", Estimate(0.5, 40, 12))
    assert figures.svg(make_table([row], columns=("country",)), ["food"])
