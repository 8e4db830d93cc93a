"""Every named table where there is little or nothing: pages, files and figures answer, and say why they say nothing."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from html import escape
from itertools import pairwise
from math import isfinite
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from evaluation import runner
from evaluation.contracts.study import Result, UnitPlan
from evaluation.figures import layout
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Embedding, Outcome, Unit
from evaluation.registry import derived, lookup
from evaluation.registry.names import TABLES
from evaluation.runner.catalogue import subject_data as data_of
from evaluation.tables import compute
from review.models import Review
from tests.evaluation.make import make_model
from tests.evaluation.make_tables import make_staff
from wwd.exchange.demo import loading

pytestmark = pytest.mark.django_db
LIST = "/admin/evaluation/tables/"
LIKE_ALL = {"associates": "yes", "familiarity": "very", "quality": "4", "food": "yes", "correct_dish": "yes"}
NOT_ANSWERED = {"associates": None, "familiarity": "", "quality": None, "food": None, "correct_dish": None, "match": ""}
Patch = pytest.MonkeyPatch


def load(patch: Patch, dishes: list[dict[str, Any]], reviewers: int = 2) -> None:
    """The demonstration with a few dishes, with colours measured and a language model's answers."""
    runs = {slug: (study, dict(config)) for slug, (study, config) in loading.RUNS.items()}
    runs[loading.GENERATION][1]["images_per_subject"] = 1
    for name, value in {"read_demo_dishes": lambda: dishes, "RUNS": runs, "REVIEWERS": reviewers}.items():
        patch.setattr(loading, name, value)
    patch.setattr(loading, "REVIEWED", tuple(sorted({country for dish in dishes for country in dish["countries"]})))
    loading.load_demo()
    run = runner.create_run("colours", {"images": loading.GENERATION}, slug="colours")
    while runner.process_run(run.pk, "test"):
        pass
    runner.import_run("knowledge", "knowledge", {}, answers_of_a_language_model())


def answers_of_a_language_model() -> Iterator[tuple[UnitPlan, Result]]:
    model = make_model("talker", role="chat", backend="standin")
    for image in loading.select_demo_images().select_related("subject"):
        subject = data_of(image.subject)
        for question, text in {"country": "India", "ingredients": "['rice']"}.items():
            key = f"{subject.id}/{question}"
            payload = {"question": question, "sample": 0, "truth": "India" if question == "country" else "rice"}
            yield UnitPlan(key, model, subject, payload, key), Result(key, text=text)


def some() -> list[dict[str, Any]]:
    return loading.read_demo_dishes()[:3]


def nothing(patch: Patch) -> None:
    """An installation in which nobody did anything yet."""


def one_dish(patch: Patch) -> None:
    load(patch, some()[:1])


def one_country_one_reviewer(patch: Patch) -> None:
    load(patch, [{**dish, "countries": ["India"]} for dish in some()], reviewers=1)


def nobody_answered(patch: Patch) -> None:
    """Groups with members of which none could be measured."""
    load(patch, some())
    Review.objects.update(**NOT_ANSWERED, disturbing=None, answers={})
    Unit.objects.update(state=Unit.State.FAILED)
    Outcome.objects.update(text="", numbers={}, embedding=None, reason="It broke.")


def all_alike(patch: Patch) -> None:
    patch.setattr(
        loading, "made_up", lambda _seed: {**LIKE_ALL, "match": "exact", "explanation": "", "checks": ["indoors"]}
    )
    load(patch, some())
    for image in (True, False):
        alike = Embedding.objects.filter(image__isnull=not image)
        alike.update(vector=alike.values_list("vector", flat=True)[0])
    first = Outcome.objects.filter(unit__run__slug="colours")[:1].values_list("numbers", flat=True)[0]
    Outcome.objects.filter(unit__run__slug="colours").update(numbers=first)


SCENES: Mapping[str, Callable[[Patch], None]] = {
    "nothing": nothing,
    "one dish": one_dish,
    "one country, one reviewer": one_country_one_reviewer,
    "nobody answered": nobody_answered,
    "all alike": all_alike,
}


@pytest.fixture(scope="module", params=SCENES)
def scene(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[str, Client]]:
    """A scene's name, and a researcher who looks at it."""
    with django_db_blocker.unblock(), transaction.atomic():
        with pytest.MonkeyPatch.context() as patch:
            SCENES[request.param](patch)
        client = Client()
        client.force_login(make_staff())
        yield request.param, client
        transaction.set_rollback(True)


def numbers_are_honest(table: TidyTable) -> None:
    """No NaN, no value of nothing, and never nothing without a reason."""
    for row in table.rows:
        named = (dict(row.groups), row.metric, row.estimate)
        estimate = row.estimate
        if estimate.value is None:
            assert estimate.reason, named
            assert estimate.low is None, named
            assert estimate.high is None, named
            continue
        # A count of nothing is known; anything else of nothing is not.
        assert estimate.n > 0 or (estimate.value == 0 and estimate.reason.startswith("a count")), named
        assert all(isfinite(x) for x in (estimate.value, estimate.low, estimate.high) if x is not None), named
        assert (estimate.low is None) == (estimate.high is None), named
    assert table.rows or table.notes


def page_says_why(client: Client, table: TidyTable) -> None:
    response = client.get(f"{LIST}{table.name}/")
    assert response.status_code == 200, table.name
    shown = response.content.decode()
    if not table.rows:
        assert "Not measured: there is nothing to count for this choice" in shown
    for reason in {row.estimate.reason for row in table.rows if row.estimate.value is None}:
        assert escape(reason) in shown, reason


def file_holds_no_nan(client: Client, table: TidyTable) -> None:
    response = client.get(f"{LIST}{table.name}/table.csv")
    assert response.status_code == 200, table.name
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert len(rows) == len(table.rows)
    given = [row[column] for row in rows for column in ("value", "low", "high") if row[column]]
    assert all(isfinite(float(number)) for number in given)


def figure_is_drawn_or_nothing_to_draw(client: Client, table: TidyTable, draw: bool) -> None:
    spec = lookup.find_table_spec(table.name)
    plan = layout.lay_out_figure(spec.to_draw(table), spec.drawn) if spec.figure else None
    if plan:
        assert all(isfinite(low) and isfinite(high) and low < high for low, high in (p.scale for p in plan.panels))
    if draw or plan is None:
        response = client.get(f"{LIST}{table.name}/figure.svg?width=8")
        assert response.status_code == (200 if plan else 302), table.name


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_little_or_nothing_answers_and_says_why(name: str, scene: tuple[str, Client]) -> None:
    """Slow, for it computes every table in every scene: a table that fails on little is found by the first pilot."""
    title, client = scene
    for each in (name, *derived.names_of(name, lookup.find_table_spec)):
        made = compute.compute_and_store(each, {}).table
        assert made is not None
        numbers_are_honest(made)
        page_says_why(client, made)
        file_holds_no_nan(client, made)
        figure_is_drawn_or_nothing_to_draw(client, made, draw=title == "nobody answered" and each == name)


def test_the_list_of_tables_is_shown_whatever_there_is(scene: tuple[str, Client]) -> None:
    shown = scene[1].get(LIST).content.decode()
    places = [shown.index(f'href="{LIST}{name}/"') for name in TABLES if name.startswith("review.")]
    assert all(earlier < later for earlier, later in pairwise(places))
