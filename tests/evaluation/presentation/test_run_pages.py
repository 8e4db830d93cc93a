"""Pages of runs: start a chain, watch it, stop it, have it go on, see what was refused, rewritten and failed."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Literal

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.db.models.functions import Now
from django.test import Client

from collection.withdrawal.withdraw import withdraw_dish
from evaluation import runner, studies
from evaluation.contracts.config_check import check_fields
from evaluation.contracts.study import StudyConfig
from evaluation.models import Batch, GeneratedImage, Model, Run, Unit
from evaluation.presentation.run_form import field_for
from evaluation.runner import leases
from tests.evaluation.failing_study import Fragile
from tests.evaluation.make import make_country, make_demonstration_dishes, make_dish, make_model

Announced = Callable[[], list[tuple[int, int]]]
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
START = "/admin/evaluation/runs/start/"
CHAIN = {
    "generation-use": "on",
    "generation-model": "sketch",
    "generation-subjects": '{"kind": "dish", "demonstration": true}',
    "generation-images_per_subject": "2",
    "association-use": "on",
    "association-images": "@generation",
    "association-encoder": "standin-encoder",
}


def client_with(*permissions: str) -> Client:
    user = User.objects.create_user("researcher", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def researcher() -> Client:
    return client_with("view_run", "add_run", "change_run", "view_unit", "view_outcome")


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def address(run: Run) -> str:
    return f"/admin/evaluation/runs/{run.slug}/"


def test_units_of_a_withdrawn_dish_are_among_the_failed_with_their_reason(
    researcher: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, gone = make_dish("Waakye"), make_dish("Banku")
    config = {"model": make_model().slug, "subjects": {"kind": "dish"}, "images_per_subject": 1}
    run = runner.create_run("generation", config)
    withdraw_dish(gone, "asked")
    reason = "The dish was withdrawn before this was computed."
    assert f"{reason} 1" in text_of(researcher.get(address(run)))
    with pytest.raises(CommandError, match="1 of 2 units failed"):
        call_command("run_study", "generation", config=json.dumps(config), wait=True)
    assert f"1 failed: {reason}" in capsys.readouterr().err
    assert GeneratedImage.objects.get().subject.dish == kept


def press(client: Client, run: Run, act: str) -> str:
    return text_of(client.post(f"{address(run)}steer/", {"do": act}, follow=True))


def finish(run: Run) -> None:
    while runner.process_run(run.pk, "tests"):
        pass


def test_a_plan_is_shown_and_nothing_is_stored_or_sent(researcher: Client, announced: Announced) -> None:
    make_demonstration_dishes(3)
    make_model("priced", price={"currency": "USD", "date": "2026-01-01", "per_unit": 0.5})
    page = text_of(researcher.post(START, {**CHAIN, "generation-model": "priced", "do": "plan"}))
    assert "6 units" in page
    assert "Expected cost: 3.00 USD." in page
    assert "planned once the images are there" in page
    assert not Run.objects.exists()
    assert announced() == []


def test_a_chain_is_started_and_each_study_follows_the_one_before(researcher: Client, announced: Announced) -> None:
    make_demonstration_dishes(3)
    page = text_of(researcher.post(START, {**CHAIN, "do": "start"}, follow=True))
    assert "2 runs were started." in page
    images, scores = Run.objects.get(study="generation"), Run.objects.get(study="association")
    assert [number for number, _ in announced()] == [images.pk]
    assert (images.started_by and images.started_by.username, scores.state) == ("researcher", "waiting")
    assert f"Is followed by {scores.slug}" in page
    finish(images)
    runner.sweep_runs()
    finish(scores)
    scores.refresh_from_db()
    assert scores.state == Run.State.DONE
    shown = text_of(researcher.get(address(scores)))
    assert f"Comes after {images.slug} (done)" in shown
    assert "no measurement" in shown


def test_a_preset_fills_the_form_in(researcher: Client) -> None:
    page = researcher.get(f"{START}?preset=as-published-countries").content.decode()
    assert 'name="generation-images_per_subject" value="50"' in page
    assert '<option value="generation-unspecific" selected>' in page
    assert "&quot;level&quot;: &quot;country&quot;" in page
    assert re.search(r'name="generation-use"[^>]* checked', page)
    assert not re.search(r'name="association-use"[^>]* checked', page)
    assert researcher.get(f"{START}?preset=nobody").status_code == 200


def test_the_browser_asks_for_nothing_of_a_study_that_is_not_taken(researcher: Client) -> None:
    assert not re.search(r"<(?:input|select|textarea)[^>]* required", researcher.get(START).content.decode())


def test_the_same_chain_twice_is_the_same_runs(researcher: Client) -> None:
    make_demonstration_dishes(1)
    for _ in range(2):
        researcher.post(START, {**CHAIN, "do": "start"})
    assert Run.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"generation-use": "", "association-use": ""}, "Take at least one study."),
        ({"generation-use": ""}, "This chain makes no images"),
        ({"generation-subjects": "{dish"}, "Enter a valid JSON."),
        ({"generation-subjects": '{"kind": "dissh"}'}, "Did you mean dish?"),
        ({"generation-subjects": "[]"}, "an object with fields"),
        ({"generation-images_per_subject": "many"}, "Enter a whole number."),
        ({"generation-images_per_subject": "0"}, "from 1 to 1000"),
        ({"generation-model": "nobody"}, "Select a valid choice."),
        ({"generation-model": ""}, "This field is required."),
        ({"association-encoder": "sketch"}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_started_says_why_and_keeps_the_typing(
    researcher: Client, changes: dict[str, str], sentence: str
) -> None:
    make_demonstration_dishes(1)
    response = researcher.post(START, {**CHAIN, "generation-seed": "4711", **changes, "do": "start"})
    assert response.status_code == 422
    assert sentence in text_of(response)
    assert 'value="4711"' in response.content.decode()
    assert not Run.objects.exists()


def test_a_run_is_paused_goes_on_is_cancelled_and_goes_on(researcher: Client) -> None:
    make_demonstration_dishes(2)
    run = runner.create_run("generation", {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}})
    for act, state in (("pause", "paused"), ("resume", "running"), ("cancel", "cancelled"), ("resume", "running")):
        press(researcher, run, act)
        run.refresh_from_db()
        assert run.state == state
    finish(run)
    shown = text_of(researcher.get(address(run)))
    assert "10 of 10 units have ended (100 %)" in shown
    assert "Cancel" not in shown


def test_units_of_an_imported_run_cannot_be_tried_again(researcher: Client) -> None:
    run = Run.objects.create(study="generation", slug="given", imported=True, state=Run.State.DONE)
    assert "Only failed or refused units of a run that was made here" in press(researcher, run, "again-failed")


@pytest.mark.parametrize("act", ["", "explode", "again-done"])
def test_an_unknown_button_does_nothing(researcher: Client, act: str) -> None:
    make_demonstration_dishes(1)
    run = runner.create_run("generation", {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}})
    assert "Nothing was done" in press(researcher, run, act)
    run.refresh_from_db()
    assert run.state == Run.State.PLANNED


def test_what_failed_is_read_opened_and_tried_again(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    Fragile.executed.clear()
    run = runner.create_run("fragile", {"acts": ["yes", "raise", "raise", "refuse"]})
    finish(run)
    response = researcher.get(address(run))
    shown = text_of(response)
    assert "RuntimeError: the card fell out 2" in shown
    assert "Against the rules. 1" in shown
    [path] = re.findall(r"/admin/evaluation/unit/\d+/change/", response.content.decode())
    assert "the card fell out" in text_of(researcher.get(path))
    Unit.objects.filter(state="failed").update(payload={"act": "better"})
    assert "2 units are tried again." in press(researcher, run, "again-failed")
    finish(run)
    assert sorted(run.units.values_list("state", flat=True)) == ["done", "done", "done", "refused"]


def test_refused_and_rewritten_prompts_stand_by_country(researcher: Client) -> None:
    ghana, togo = make_country(), make_country("TGO", "Togo")
    for name, country in (("Waakye", ghana), ("Ayimolou", togo), ("Fufu", togo)):
        make_dish(name, country=country, source="demonstration")
    run = runner.create_run(
        "generation",
        {"model": "sketch", "images_per_subject": 1, "subjects": {"kind": "dish", "demonstration": True}},
    )
    finish(run)
    rewritten = run.units.get(subject__name="Waakye").outcome
    GeneratedImage.objects.filter(outcome=rewritten).update(prompt_revised="A plate of rice from Ghana")
    type(rewritten).objects.filter(pk=rewritten.pk).update(numbers={"name_kept": 0, "countries_kept": 1})
    refused = run.units.filter(subject__name__in=["Ayimolou", "Fufu"])
    refused.update(state="refused")
    type(rewritten).objects.filter(unit__in=refused).update(reason="content_policy", text="Not allowed <b>here</b>.")
    response = researcher.get(address(run))
    shown = text_of(response)
    assert "Togo sketch content_policy 2 Not allowed" in shown
    assert "Ghana sketch 1 0 1" in shown
    assert "<b>here</b>" not in response.content.decode()


def test_who_may_only_look_sees_no_buttons_and_cannot_press_them() -> None:
    make_demonstration_dishes(1)
    run = runner.create_run("generation", {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}})
    client = client_with("view_run")
    assert 'name="do"' not in client.get(address(run)).content.decode()
    assert client.post(f"{address(run)}steer/", {"do": "cancel"}).status_code == 403
    assert client.get(START).status_code == 403
    assert Client().get(address(run)).status_code == 302
    assert client.get("/admin/evaluation/runs/nobody/").status_code == 404
    assert client.get(f"/admin/evaluation/run/{run.pk}/change/").headers["Location"] == address(run)


def test_the_page_takes_few_queries_however_many_units(
    admin_client: Client, django_assert_max_num_queries: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while it is worked on, with prices, refusals and failures; no more than any page of staff may ask."""
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    Fragile.executed.clear()
    run = runner.create_run("fragile", {"acts": ["yes", "refuse", "raise", "yes"] * 8})
    price = {"currency": "USD", "per_million_input": 2}
    Model.objects.filter(slug="sketch").update(price=price)
    runner.process_run(run.pk, "tests", stop=lambda: bool(Fragile.executed))
    Batch.objects.update(created_at=Now() - timedelta(seconds=40), finished_at=Now() - timedelta(seconds=20))
    run.refresh_from_db()
    assert leases.lease_units(run, "other", 4)
    with django_assert_max_num_queries(15):
        page = admin_client.get(address(run))
    assert page.status_code == 200
    assert "Spent so far" in text_of(page)
    assert "At the pace of the last minutes" in text_of(page)


class Depth(StudyConfig):
    rounds: int = 1


class Asked(StudyConfig):
    """A configuration with fields of all kinds."""

    share: float
    number: int = 3
    most: int | None = None
    words: tuple[str, ...] = ("a", "b")
    numbers: tuple[int, ...] = ()
    kind: Literal["one", "other"] = "one"
    rounds: Literal[1, 2] = 1
    turn: Literal["left", "right"] | None = None
    truth: bool = False
    maybe: bool | None = None
    settings: Mapping[str, int] = {}
    depth: Depth = Depth(rounds=2)
    either: int | str = 1
    text: str = ""


@pytest.mark.parametrize(
    ("name", "typed", "read"),
    [
        ("share", "0.25", 0.25),
        ("number", "4", 4),
        ("most", "", None),
        ("most", "4", 4),
        ("words", "x, y,, z ", ["x", "y", "z"]),
        ("numbers", "[1, 2]", [1, 2]),
        ("kind", "other", "other"),
        ("rounds", "2", 2),
        ("turn", "", None),
        ("turn", "left", "left"),
        ("truth", "on", True),
        ("maybe", "", None),
        ("maybe", "False", False),
        ("settings", '{"steps": 50}', {"steps": 50}),
        ("depth", '{"rounds": 4}', {"rounds": 4}),
        ("either", '"x"', "x"),
        ("text", "x", "x"),
    ],
)
def test_what_is_typed_is_read_as_the_configuration_means_it(name: str, typed: str, read: object) -> None:
    value = field_for(name, Asked.model_fields[name], None).clean(typed)
    assert value == read and isinstance(value, type(read))
    if value is not None:
        check_fields(Asked, {"share": 0.5, name: value})


def test_the_form_of_a_configuration_starts_with_its_defaults() -> None:
    made = {name: field_for(name, field, None) for name, field in Asked.model_fields.items()}
    assert {name: field.required for name, field in made.items() if field.required} == {"share": True}
    assert made["depth"].initial == {"rounds": 2}
    assert [value for value, _ in getattr(made["turn"], "choices", [])] == ["", "left", "right"]
    assert [value for value, _ in getattr(made["kind"], "choices", [])] == ["one", "other"]
