"""Nothing that was paid for is lost: odd values, rows that no table takes, long texts, a database or disk that goes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import OperationalError, connection
from pytest_django import Settings

from evaluation import studies
from evaluation.backends import rate_limit
from evaluation.backends.provider import build_bucket_name
from evaluation.contracts.study import ImageResult, Result, VectorResult
from evaluation.models import Batch, DescriptorSet, Embedding, GeneratedImage, Model, Outcome, Run, TokenBucket, Unit
from evaluation.readers import text_cleaning
from evaluation.runner import create_run, leases, process_run
from evaluation.runner.storing import clean_result
from tests.evaluation.leased import load_leased
from tests.evaluation.make import make_country, make_dish, make_image, make_model, make_subject
from tests.evaluation.provider import Answer, Provider, image_answer, says
from wwd.base.db_connections import retry_on_lost_connection

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
ODD: tuple[Any, ...] = (
    None,
    True,
    float("nan"),
    float("inf"),
    10**400,
    10**5000,
    -(2**70),
    "\x00",
    "\ud800",
    "x" * 100_000,
    [[[[[[[[[["deep"]]]]]]]]]],
    {"\x00": {"\ud800": [float("nan")]}},
    [1] * 5000,
    b"bytes",
    object(),
)


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")


def leased(*acts: str) -> tuple[Batch, list[Unit]]:
    run = create_run("fragile", {"acts": list(acts)})
    batch = leases.lease_units(run, "tests", len(acts))
    assert batch is not None
    return batch, list(batch.units.order_by("key"))


def states() -> list[str]:
    return list(Unit.objects.order_by("key").values_list("state", flat=True))


@pytest.mark.parametrize("value", ODD, ids=lambda value: type(value).__name__)
def test_any_value_in_the_circumstances_is_stored_beside_the_answer(value: Any) -> None:
    batch, [unit] = leased("yes")
    result = Result(unit.key, text="B\x00\ud800", circumstances={"request": value, "nested": {"value": value}})
    assert leases.finish_units(batch, [(unit, clean_result(result))]) == 1
    kept = Outcome.objects.get()
    assert (kept.unit.state, kept.text) == ("done", "B\ufffd?")
    assert set(kept.circumstances) == {"request", "nested"}


@pytest.mark.parametrize("value", [None, "7", 10**400, float("nan"), [1]], ids=lambda value: type(value).__name__)
def test_a_number_that_is_none_fails_its_unit_and_no_worker(value: Any) -> None:
    found = clean_result(Result("u", numbers={"score": value}))
    assert (found.state, found.reason) == ("failed", "Not a finite number: score.")


def test_a_vector_that_is_not_finite_fails_its_unit() -> None:
    found = clean_result(Result("u", vector=VectorResult(np.array([1, np.inf], dtype=np.float32), image_id=1)))
    assert (found.state, found.reason, found.vector) == ("failed", "Not a finite number: the vector.", None)


def test_a_row_that_no_table_takes_fails_alone() -> None:
    """No column holds this seed: its unit fails and says so, the others are stored."""
    batch, units = leased("yes", "yes", "yes")
    subject, model = make_subject(), make_model()
    Unit.objects.update(subject_id=subject.id, model_id=model.id)
    units = list(batch.units.order_by("key"))
    given = [
        (unit, Result(unit.key, image=ImageResult(b"picture", "image/png", 1, 1, "Draw", seed=seed)))
        for unit, seed in zip(units, (1, 2**70, 3), strict=True)
    ]
    leases.finish_units(batch, given)
    assert states() == ["done", "failed", "done"]
    assert Outcome.objects.count() == 3
    assert GeneratedImage.objects.count() == 2
    assert Outcome.objects.get(unit__state="failed").reason.startswith("The result could not be stored: ")


LONG = "w" * 900


def test_a_text_of_any_length_has_one_vector_and_is_found_again() -> None:
    vector = VectorResult(np.array([1, 2], dtype=np.float32), preprocessing="p", text=LONG)
    for act in ("once", "twice"):
        batch, [unit] = leased(act)
        assert leases.finish_units(batch, [(unit, Result(unit.key, vector=vector))]) == 1
    assert states() == ["done", "done"]
    row = Embedding.objects.get()
    assert (row.text, len(row.text_hash)) == (LONG, 64)
    Unit.objects.update(payload={"text": LONG})
    works, _ = load_leased(list(Unit.objects.all()), "p")
    assert all(work.stored_vector is not None and work.stored_vector.tolist() == [1, 2] for work in works)


def test_a_run_about_long_texts_ends() -> None:
    subject = make_subject()
    made = Run.objects.create(study="generation", slug="pictures", state=Run.State.DONE)
    make_image(subject, make_model(), run=made, sha256="ab" * 32, state="held")
    DescriptorSet.objects.create(
        slug="long",
        version="1",
        groups={"taste": {"positive": ["fine " * 19], "negative": ["poor"]}},
        prompt="A photo of {descriptor} food, which is {descriptor} food and nothing but {descriptor} food.",
    )
    run = create_run("association", {"images": "pictures", "encoder": "standin-encoder", "descriptors": "long"})
    process_run(run.pk, "tests")
    texts = run.units.filter(key__startswith="text:")
    assert max(len(unit.payload["text"]) for unit in texts) > 300
    assert set(texts.values_list("state", flat=True)) == {"done"}
    assert not Unit.objects.filter(state="leased").exists()


def test_a_storage_that_takes_nothing_pauses_the_run_and_gives_the_units_back(
    settings: Settings, tmp_path: Path
) -> None:
    full = tmp_path / "full"
    full.write_text("a file where a folder should be")
    location = {"location": full / "media"}
    settings.STORAGES = {**settings.STORAGES, "default": {**settings.STORAGES["default"], "OPTIONS": location}}
    make_dish()
    run = create_run("generation", {"model": "sketch", "images_per_subject": 3})
    process_run(run.pk, "tests")
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert run.problem.startswith("The results could not be stored: ")
    assert list(run.units.values_list("state", "deliveries", "batch").distinct()) == [("pending", 0, None)]


def test_what_one_transaction_lost_is_not_tried_again_within_it() -> None:
    tried = []

    def act() -> None:
        tried.append(1)
        raise OperationalError("server closed the connection unexpectedly")

    with pytest.raises(OperationalError):
        retry_on_lost_connection(act)
    assert len(tried) == 1


def make_provided(server: Provider, role: str, dishes: int, **parameters: Any) -> Run:
    for number in range(dishes):
        make_dish(f"Dish {number}", country=make_country())
    given = {"base_url": f"{server.url}/v1", "queue": "api", "timeout": 5, **parameters}
    given |= {"seeds": False} if role == "image_generator" else {}
    Model.objects.create(slug="p", title="P", role=role, backend="openai", identifier="p", parameters=given)
    if role == "chat":
        return create_run("knowledge", {"models": ["p"], "samples": 1})
    return create_run("generation", {"model": "p", "images_per_subject": 1})


@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("value", [7, None, ["x"], {"a": 1}, "\x00\ud800", float("nan"), float("inf"), 10**400, True])
@pytest.mark.parametrize("role", ["image_generator", "chat"])
def test_odd_values_beside_a_good_answer_lose_no_batch(server: Provider, role: str, value: Any) -> None:
    good = says("rice") if role == "chat" else image_answer()
    status, _, body = good
    usage = dict.fromkeys(("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"), value)
    odd = {**body, "usage": usage, "model": value, "system_fingerprint": value, "created": value, "id": value}
    if role == "chat":
        odd["choices"] = [{**body["choices"][0], "finish_reason": value, "index": value}]
    else:
        odd["data"] = [{**body["data"][0], "revised_prompt": value, "url": value}]
    answer: Answer = (status, {"x-request-id": "r\xe9q"}, odd)
    server.chooses = lambda _: answer
    run = make_provided(server, role, 1)
    units = run.units.count()
    process_run(run.pk, "tests")
    assert list(run.units.values_list("state", flat=True)) == ["done"] * units
    assert len(server.calls) == units


def backend_pid() -> int:
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("at_home")
@pytest.mark.parametrize("when", [0, 2])
def test_an_answer_is_kept_where_the_database_was_lost_while_the_provider_answered(server: Provider, when: int) -> None:
    run = make_provided(server, "image_generator", 3)
    pid = backend_pid()

    def choose(_: dict[str, Any]) -> None:
        if len(server.calls) == when + 1:
            terminate(pid)

    server.chooses = choose
    process_run(run.pk, "tests")
    assert list(run.units.values_list("state", flat=True)) == ["done"] * 3
    assert len(server.calls) == 3
    assert Outcome.objects.count() == 3
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def terminate(pid: int) -> None:
    """Ends a session of the database from the thread of the server, on a connection of its own."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    finally:
        connection.close()


def test_the_pace_of_a_host_with_a_long_name_has_a_row() -> None:
    name = build_bucket_name(".".join(["a" * 60] * 4), "sk-test")
    rate_limit.pause_calls(name, 0)
    assert len(TokenBucket.objects.get().name) <= 120


def test_words_of_others_are_readable_and_bounded() -> None:
    assert text_cleaning.clean_foreign_text("a\x1b[31mb\tc\nd\x00") == "a [31mb c\nd\ufffd"
    assert text_cleaning.clean_foreign_text({"not": "text"}) == ""
    assert len(text_cleaning.clean_foreign_text("x" * 9000)) == 2000
