"""Components of a pilot as a stored table, and the planner's page that plans from it."""

import re

import pytest
from django.test import Client

from evaluation.derived.variance import METRICS, pool_components
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import StoredTable
from evaluation.registry import lookup
from evaluation.tables import compute
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff, make_table

pytestmark = pytest.mark.django_db
PAGE = "/admin/evaluation/precision/"
DESIGN = {"dishes": "30", "images": "2", "reviewers": "3", "people": "12", "tests": "1"}
TYPED = {**DESIGN, "dish": "0.04", "residual": "0.18", "reviewer": "0.02"}
PILOT = {**DESIGN, "reviewers": "0", "people": "", "pilot": "association.scores", "metric": "net"}


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(make_staff())
    return client


def make_pilot() -> None:
    """Two places with six images each, by one model."""
    places = [make_place_in("Africa"), make_place_in("Asia")]
    make_association(*(image_result(place, "painter", n, 1) for place in places for n in range(6)))


def of_cells(*cells: tuple[str, float | None, int]) -> TidyTable:
    """A table of components: for each (country, value, n) the same value in all four."""
    rows = [
        TidyRow({"measure": "food", "country": country}, metric, Estimate(value, n, n))
        for country, value, n in cells
        for metric in METRICS
    ]
    return make_table(rows, columns=("measure", "country"))


def test_components_are_a_table_with_a_row_for_each_measure_and_cell() -> None:
    make_pilot()
    made = compute.compute_table(lookup.find_table_spec("variance.association.scores"), {"measure": "net"})
    held = {(row.groups["continent"], row.metric): row.estimate for row in made.rows}
    assert {continent for continent, _metric in held} == {"Africa", "Asia"}
    # Each image is a cluster of its own here: nothing but the rest can be told.
    assert held["Africa", "residual"].value == pytest.approx(held["Asia", "residual"].value)
    assert (held["Africa", "residual"].n, held["Africa", "dish"].value) == (6, 0.0)
    assert held["Africa", "reviewer"].value is None
    assert held["Africa", "reviewer"].reason == "no people judged"


def test_tables_without_observations_have_no_components() -> None:
    with pytest.raises(lookup.TableNotFound):
        lookup.find_table_spec("variance.association.top")


def test_components_are_pooled_over_cells_by_n() -> None:
    pool = pool_components(of_cells(("Kenya", 1.0, 10), ("Ghana", 4.0, 30), ("Chad", None, 5)), "food")
    assert pool is not None
    parts, n, cells = pool
    assert (parts.dish, parts.residual, n, cells) == (3.25, 3.25, 40, 2)
    assert pool_components(of_cells(("Chad", None, 5)), "food") is None


def test_the_planner_shows_the_design_and_its_neighbours(researcher: Client) -> None:
    assert "Show the precision" in researcher.get(PAGE).text
    shown = researcher.get(PAGE, TYPED).text
    values = [float(value) for value in re.findall(r'<data value="([\d.]+)">', shown)]
    # 30 dishes × 2 images × 3 opinions by 12 people: √(2·(.04/30 + .02/12 + .18/180)) · (1.95996 + .84162)
    assert values[1] == pytest.approx(0.2506, abs=1e-4)
    assert shown.count("<tr>") == 10
    assert "Under 5 people" not in shown


def test_too_few_are_named(researcher: Client) -> None:
    shown = researcher.get(PAGE, {**TYPED, "dishes": "5", "people": "3"}).text
    assert "Under 10 dishes: no interval is claimed." in shown
    assert "Under 5 people: no interval is claimed." in shown


def test_a_pilot_is_computed_by_a_worker_and_then_planned_with(researcher: Client) -> None:
    make_pilot()
    assert "The pilot is being computed" in researcher.get(PAGE, PILOT).text
    assert StoredTable.objects.get().name == "variance.association.scores"
    compute.recompute_wanted()
    shown = researcher.get(PAGE, PILOT).text
    assert "12 observations in 2 groups" in shown
    assert "<data " in shown


def test_a_pilot_that_says_nothing_says_so(researcher: Client) -> None:
    compute.compute_and_store("variance.association.scores", {})
    assert "The pilot says nothing" in researcher.get(PAGE, PILOT).text


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"dishes": "0"}, "greater than or equal to 1"),
        ({"dishes": "many"}, "Enter a whole number"),
        ({"dishes": "9" * 30}, "less than or equal to"),
        ({"people": "2"}, "at least as many people as opinions"),
        ({"people": "100000"}, "more people than opinions"),
        ({"dish": "-1"}, "greater than or equal to 0"),
        ({"dish": "nan"}, "Enter a number"),
        ({"dish": "", "residual": "", "reviewer": ""}, "Choose a pilot, or type"),
        ({"pilot": "no.such"}, "not one of the available choices"),
        ({"pilot": "association.scores", "metric": "nett"}, "Did you mean net"),
        ({"pilot": "association.scores", "metric": "net", "filters": "contnent=x"}, "Did you mean continent"),
        ({"pilot": "association.scores", "metric": "net", "filters": "'"}, "No closing quotation"),
        ({"tests": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_planned_with_is_said_beside_its_field(
    researcher: Client, wrong: dict[str, str], sentence: str
) -> None:
    answer = researcher.get(PAGE, {**TYPED, **wrong})
    assert answer.status_code == 422
    assert sentence in answer.text
