"""A plan is frozen, data comes, somebody looks at more than was planned: it says so, and hides names until it ran."""

import re
from string import ascii_uppercase

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation import counters
from evaluation.drilldown.cells import cell_query
from evaluation.models import Model, Plan
from evaluation.tables import compute as tables_compute
from evaluation.tables import read
from tests.evaluation.make_plans import form_of, listed, make_plan, make_planner
from tests.review.make_tables import make_campaign, make_cell

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CAMPAIGN = "kenya-2026"
MODELS = ("Dalle2", "Dalle3", "StableDiffusion21")
NAMES = re.compile("dalle|stablediffusion", re.IGNORECASE)
PLANNED, EXTRA = "review.quality", "review.match"
HERE = {"campaign": CAMPAIGN}


def page(client: Client, table: str, ending: str = "table") -> str:
    address = reverse(f"evaluation:{ending}", args=[table])
    return client.get(address, HERE).text


def plan_and_freeze(client: Client) -> Plan:
    wanted = form_of(make_plan(tables=[listed(PLANNED, "food", "correct_dish", **HERE)]), title="Kenya", masked="on")
    address = client.post("/admin/evaluation/plans/new/", {**wanted, "stop_reviews": "36"}).headers["Location"]
    client.post(f"{address}freeze/")
    return Plan.objects.get(title="Kenya")


def add_data(models: tuple[str, ...] = MODELS) -> None:
    """Two people judge six dishes by each model; real photographs are no model."""
    campaign = make_campaign(slug=CAMPAIGN)
    for model in models:
        make_cell(campaign, model=model, dishes=6, says=lambda dish, person: {"food": dish > person})
    counters.bump_input_counters("reviews")


def compute() -> None:
    for name in (PLANNED, EXTRA):
        tables_compute.compute_and_store(name, HERE)


def test_what_was_planned_what_was_not_and_names_only_after_the_analyses() -> None:
    client = Client()
    client.force_login(make_planner())
    plan = plan_and_freeze(client)
    assert plan.before_data
    add_data()
    assert client.post(reverse("evaluation:plan-unmask", args=[plan.slug]), {"complete": "1"}).status_code == 422
    compute()

    assert "In part exploratory: 6 of 15 numbers were planned before the data" in page(client, PLANNED)
    assert "Exploratory: outside what was planned before the data (Kenya)" in page(client, EXTRA)
    for table in (PLANNED, EXTRA):
        for ending in ("table", "csv", "json"):
            assert NAMES.findall(page(client, table, ending)) == [], (table, ending)
    lines = page(client, PLANNED, "csv").splitlines()
    # Pages of staff hide every model there is, so that a table may show any three of their letters.
    shown = {line.split(",")[1] for line in lines[1:]}
    assert len(shown) == len(MODELS) and shown < set(ascii_uppercase)
    assert {line.rpartition(",")[2] for line in lines if ",food," in line} == {"planned"}
    assert {line.rpartition(",")[2] for line in lines if ",disturbing," in line} == {"exploratory"}
    assert {line.rpartition(",")[2] for line in page(client, EXTRA, "csv").splitlines()[1:]} == {"exploratory"}

    client.post(reverse("evaluation:plan-unmask", args=[plan.slug]), {"complete": "1"})
    assert set(NAMES.findall(page(client, PLANNED))) == {"Dalle", "StableDiffusion"}
    assert "Exploratory: outside what was planned before the data (Kenya)" in page(client, EXTRA)


def test_the_command_prints_the_masked_file_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    client = Client()
    client.force_login(make_planner())
    plan_and_freeze(client)
    add_data(MODELS[:1])
    compute()
    call_command("tables", PLANNED, "--filter", f"campaign={CAMPAIGN}")
    assert capsys.readouterr().out == page(client, PLANNED, "csv")


def test_images_behind_a_masked_number_name_no_model() -> None:
    client = Client()
    user = make_planner()
    client.force_login(user)
    plan_and_freeze(client)
    add_data()
    compute()
    letters = {row.groups["model"] for row in getattr(read.read_stored_table(PLANNED, HERE).table, "rows", ())}
    assert len(letters) == 3
    for letter in letters:
        query = cell_query(HERE, {"country": "Kenya", "model": letter}, "food")
        found = client.get(f"/admin/evaluation/tables/{PLANNED}/drilldown/{query}")
        assert found.status_code == 200
        assert "Dish " in found.text
        assert NAMES.findall(found.text) == []
    assert Model.objects.filter(title__in=MODELS).count() == 3
