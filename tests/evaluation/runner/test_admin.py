"""Runs and units in the admin: how far they are, pausing, and nobody changes results by hand."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client

from evaluation import studies
from evaluation.models import (
    Embedding,
    InputCounter,
    KeptReport,
    PromptTemplate,
    Run,
    RunLabel,
    StoredTable,
    TokenBucket,
    Unit,
)
from evaluation.models.exports import ExportJob
from evaluation.models.plans import MaskedName, PlanAct
from evaluation.models.reference_lists import ReferenceDish, ReferenceList
from evaluation.runner import create_run, process_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")


def make_run() -> Run:
    run = create_run("fragile", {"acts": ["yes", "raise", "yes"]}, slug="mine")
    process_run(run.pk, "a")
    return run


def client_with(*permissions: str) -> Client:
    user = User.objects.create_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


def test_the_list_shows_how_far_a_run_is_and_what_failed() -> None:
    make_run()
    page = client_with("view_run").get("/admin/evaluation/run/").content.decode()
    assert "3 of 3" in page
    assert '<td class="field-failed">1</td>' in page


def test_the_list_takes_few_queries_however_many_runs(django_assert_max_num_queries: Callable[[int], object]) -> None:
    for number in range(12):
        create_run("fragile", {"acts": ["yes"]}, slug=f"run-{number}")
    client = client_with("view_run")
    with django_assert_max_num_queries(12):  # type: ignore[attr-defined]
        assert client.get("/admin/evaluation/run/").status_code == 200


def test_a_unit_shows_its_raw_answer_and_the_reason_of_a_failure() -> None:
    make_run()
    client = client_with("view_unit", "view_outcome")
    unit = Unit.objects.get(state="failed")
    assert "RuntimeError: the card fell out" in client.get(f"/admin/evaluation/unit/{unit.pk}/change/").content.decode()


@pytest.mark.parametrize("name", ["run", "unit", "subject"])
def test_results_cannot_be_added_or_deleted_by_hand(name: str) -> None:
    client = client_with(*(f"{verb}_{name}" for verb in ("view", "add", "change", "delete")))
    assert client.get(f"/admin/evaluation/{name}/").status_code == 200
    assert client.get(f"/admin/evaluation/{name}/add/").status_code == 403


def test_a_prompt_that_exists_is_not_changed() -> None:
    prompt = PromptTemplate.objects.earliest("pk")
    client = client_with("view_prompttemplate", "add_prompttemplate", "change_prompttemplate")
    path = f"/admin/evaluation/prompttemplate/{prompt.pk}/change/"
    client.post(path, {"slug": prompt.slug, "version": prompt.version, "text": "Another", "source": ""})
    assert PromptTemplate.objects.get(pk=prompt.pk).text == prompt.text


def test_somebody_without_permission_sees_no_runs() -> None:
    assert client_with().get("/admin/evaluation/run/").status_code == 403
    assert Client().get("/admin/evaluation/run/").status_code == 302


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (Embedding(text="a photo of food"), "a photo of food"),
        (Embedding(image_id=7), "7"),
        (ExportJob(kind="bundle", name="all"), "bundle all"),
        (InputCounter(name="reviews", value=3), "reviews 3"),
        (KeptReport(name="run:1"), "run:1"),
        (MaskedName(shown="Model A"), "Model A"),
        (PlanAct(kind=PlanAct.Kind.LOOKED, name="researcher"), f"{PlanAct.Kind.LOOKED.label}: researcher"),
        (ReferenceDish(name="Waakye"), "Waakye"),
        (ReferenceList(slug="wikidata"), "wikidata"),
        (RunLabel(dimension="country", value="Ghana"), "country: Ghana"),
        (StoredTable(name="review.quality"), "review.quality"),
        (TokenBucket(name="provider"), "provider"),
    ],
)
def test_a_row_is_shown_by_its_name(row: Model, name: str) -> None:
    assert str(row) == name


def test_the_list_of_references_counts_their_dishes() -> None:
    held = ReferenceList.objects.create(slug="known", title="Known dishes")
    ReferenceDish.objects.bulk_create(ReferenceDish(reference=held, position=n, name=f"Dish {n}") for n in range(3))
    page = client_with("view_referencelist").get("/admin/evaluation/referencelist/").content.decode()
    assert '<td class="field-dishes">3</td>' in page
