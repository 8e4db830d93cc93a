"""Executing batches: memory that does not suffice, a backend that stops in the middle, circumstances."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.db.models.functions import Now

from evaluation import studies
from evaluation.contracts.backend import BackendError, DeviceMemoryError
from evaluation.contracts.study import ModelData
from evaluation.models import Batch, Outcome, Run, Unit
from evaluation.runner import create_run, execution, leases, process_run
from tests.evaluation.failing_study import Fragile, WorkerKilled
from tests.evaluation.make import make_model

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    monkeypatch.setattr(execution, "loaded", {})
    Fragile.executed.clear()


def make_run(*acts: str) -> Run:
    return create_run("fragile", {"acts": list(acts)})


def circumstances(name: str) -> list[object]:
    return [row.circumstances.get(name) for row in Outcome.objects.order_by("unit__key")]


def test_a_batch_that_does_not_fit_is_halved_until_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fragile, "most", 1)
    run = make_run(*["yes"] * 4)
    assert process_run(run.pk, "a") == 4
    assert circumstances("batch") == [1] * 4
    assert circumstances("halved") == [True] * 4


def test_later_batches_begin_with_the_size_that_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fragile, "most", 2)
    process_run(make_run(*["yes"] * 8).pk, "a")
    [found] = execution.loaded.values()
    assert found.fits == 2
    assert circumstances("batch") == [2] * 8
    assert Fragile.executed == [f"{n:04}" for n in range(8)]


def test_what_came_before_the_memory_ended_is_not_computed_again() -> None:
    process_run(make_run("yes", "yes", "too much", "yes").pk, "a")
    assert Fragile.executed.count("0000") == Fragile.executed.count("0001") == 1
    assert list(Unit.objects.order_by("key").values_list("state", flat=True)) == ["done", "done", "failed", "done"]


def test_a_unit_that_does_not_fit_alone_fails_and_says_so() -> None:
    process_run(make_run("too much").pk, "a")
    assert Outcome.objects.get().reason == "Memory does not suffice even for this unit alone: The card is full."


def test_the_memory_of_the_host_is_told_like_that_of_the_card() -> None:
    assert process_run(make_run("yes", "swap", "yes", "yes").pk, "a") == 4
    assert Outcome.objects.get(unit__key="0001").reason.startswith("Memory does not suffice even for this unit alone")
    assert circumstances("halved") == [None, None, True, True]


def test_where_memory_ends_the_other_models_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The batch then fits as it is; it is not halved."""
    monkeypatch.setitem(execution.loaded, "another model", execution.Loaded(object()))
    monkeypatch.setattr(Fragile, "room", lambda: len(execution.loaded) == 1)
    assert process_run(make_run(*["yes"] * 4).pk, "a") == 4
    assert "another model" not in execution.loaded
    assert circumstances("batch") == [4] * 4
    assert circumstances("halved") == [None] * 4


def test_a_model_that_does_not_fit_beside_another_is_loaded_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: ModelData) -> str:
        if execution.loaded:
            raise BackendError("It could not be loaded.") from DeviceMemoryError("The card is full.")
        return "loaded"

    monkeypatch.setattr(execution.backends, "load_backend", load)
    monkeypatch.setitem(execution.loaded, "another model", execution.Loaded(object()))
    assert execution.backend_for(make_model()).backend == "loaded"
    assert len(execution.loaded) == 1


def test_what_comes_slowly_is_kept_before_the_batch_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed in the middle loses nothing that was paid for."""
    monkeypatch.setattr(execution, "STORE_SECONDS", 0)
    run = make_run("yes", "refuse", "kill", "yes")
    with pytest.raises(WorkerKilled):
        process_run(run.pk, "killed")
    assert list(Unit.objects.order_by("key").values_list("state", flat=True)) == ["done", "refused", "leased", "leased"]
    assert Outcome.objects.count() == 2


def test_a_batch_that_takes_too_long_gives_the_rest_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "MOST_SECONDS", 0)
    run = make_run(*["yes"] * 4)
    assert process_run(run.pk, "a", stop=lambda: bool(Fragile.executed)) == 1
    rows = [(unit.state, unit.deliveries) for unit in Unit.objects.order_by("key")]
    assert rows == [("done", 1)] + [("pending", 0)] * 3
    run.refresh_from_db()
    assert run.state == "running"


def take_leases_back() -> bool:
    Batch.objects.update(until=Now() - timedelta(seconds=1))
    return leases.release_expired() == 1


def test_a_worker_whose_lease_was_taken_back_does_not_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "STORE_SECONDS", 0)
    monkeypatch.setattr(Fragile, "room", staticmethod(take_leases_back))
    run = make_run(*["yes"] * 4)
    process_run(run.pk, "a", stop=lambda: bool(Fragile.executed))
    assert Fragile.executed == ["0000"]


def test_the_size_of_the_batch_is_recorded_with_every_outcome() -> None:
    process_run(make_run(*["yes"] * 6).pk, "a")
    assert circumstances("batch") == [4, 4, 4, 4, 2, 2]
    assert circumstances("halved") == [None] * 6


def test_what_a_backend_gave_before_it_had_to_stop_is_kept() -> None:
    run = make_run("yes", "yes", "unusable", "yes")
    assert process_run(run.pk, "a") == 2
    run.refresh_from_db()
    assert (run.state, run.problem) == ("paused", "This machine has no card.")
    rows = [(unit.state, unit.deliveries, unit.batch_id is None) for unit in Unit.objects.order_by("key")]
    assert rows == [("done", 1, False)] * 2 + [("pending", 0, True)] * 2


def test_a_model_that_cannot_be_loaded_pauses_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    make_model("provided", backend="openai", parameters={"base_url": "https://provider.invalid/v1"})
    run = create_run("fragile", {"acts": ["yes"], "model": "provided"})
    assert process_run(run.pk, "a") == 0
    run.refresh_from_db()
    assert (run.state, run.problem[:37]) == ("paused", "The key of provided is missing here: ")


def test_where_the_database_is_lost_what_came_before_is_kept_and_the_rest_waits() -> None:
    run = make_run("yes", "yes", "lost", "yes")
    assert process_run(run.pk, "a", stop=lambda: bool(Fragile.executed)) == 2
    rows = [(unit.state, unit.deliveries) for unit in Unit.objects.order_by("key")]
    assert rows == [("done", 1)] * 2 + [("pending", 0)] * 2
    run.refresh_from_db()
    assert (run.state, run.problem) == ("running", "")


def test_a_database_that_takes_no_result_ends_the_work_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> int:
        raise OperationalError("server closed the connection unexpectedly")

    run = make_run("yes")
    monkeypatch.setattr(leases, "finish_units", lost)
    with pytest.raises(OperationalError):
        process_run(run.pk, "a")
    run.refresh_from_db()
    assert (run.state, run.problem) == ("running", "")


def test_what_a_study_gives_of_no_unit_of_its_batch_is_dropped() -> None:
    process_run(make_run("foreign", "yes").pk, "a")
    assert [row.text for row in Outcome.objects.order_by("unit__key")] == ["foreign", "yes"]


def test_an_empty_answer_is_neither_done_nor_failed() -> None:
    run = make_run("empty", "yes")
    process_run(run.pk, "a")
    assert list(Unit.objects.order_by("key").values_list("state", flat=True)) == ["empty", "done"]
    run.refresh_from_db()
    assert run.state == "done"
