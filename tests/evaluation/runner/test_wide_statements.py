"""Leases and results in one statement each, while other workers do the same: each unit is had by one, once."""

from collections import Counter
from datetime import timedelta
from threading import Event, Thread

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now

from evaluation import studies
from evaluation.contracts.study import Result
from evaluation.models import Batch, Outcome, Run, Unit
from evaluation.runner import create_run, leases
from tests.evaluation.make import make_model
from tests.threads import together

# Committed rows: other connections must see them.
pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.embedded]


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    make_model("sketch", demonstration=True)


def make_run(units: int, together: int = 1) -> Run:
    return create_run("fragile", {"acts": ["answer"] * units, "together": together})


def take(run: Run, size: int) -> tuple[Batch, list[Unit]]:
    taken = leases.take_units(run, "a", size)
    assert taken is not None
    return taken


def answers(units: list[Unit]) -> list[tuple[Unit, Result]]:
    return [(unit, Result(unit.key, text=f"answer to {unit.key}")) for unit in units]


def test_many_workers_lease_and_finish_every_unit_once_and_share_no_affinity() -> None:
    """A worker that finds nothing has really nothing left: what others hold or take back meanwhile hides no unit."""
    run = make_run(300, together=3)

    def work() -> list[str]:
        done, after = list[str](), ""
        while taken := leases.take_units(run, "one of four", 6, after):
            batch, units = taken
            after = units[-1].affinity
            assert leases.finish_units(batch, answers(units)) == len(units)
            done += [f"{batch.pk} {unit.affinity}" for unit in units]
        return done

    counted = Counter(entry for done in together(4, work) for entry in done)
    assert set(counted.values()) == {3}
    assert len(counted) == 100
    assert set(run.units.values_list("state", "deliveries")) == {("done", 1)}
    assert Outcome.objects.count() == 300


def test_what_another_worker_has_locked_is_passed_over() -> None:
    run = make_run(8, together=2)
    locked, over = Event(), Event()

    def hold() -> None:
        with transaction.atomic():
            list(Unit.objects.filter(run=run, key__in=["0000", "0004"]).select_for_update())
            locked.set()
            over.wait(30)
        connection.close()

    other = Thread(target=hold)
    other.start()
    try:
        assert locked.wait(30)
        assert [unit.key for unit in take(run, 2)[1]] == ["0002", "0003"], "though the first two rows are taken"
        assert [unit.key for unit in take(run, 2)[1]] == ["0006", "0007"]
    finally:
        over.set()
        other.join()
    assert [unit.key for unit in take(run, 9)[1]] == ["0000", "0001", "0004", "0005"]


def test_results_that_come_while_the_lease_is_taken_back_are_discarded() -> None:
    run = make_run(3)
    batch, units = take(run, 3)
    Batch.objects.update(until=Now() - timedelta(seconds=1))
    given = list[int]()

    def finish() -> None:
        given.append(leases.finish_units(batch, answers(units)))
        connection.close()

    late = Thread(target=finish)
    with transaction.atomic():
        assert leases.release_expired() == 1
        late.start()
        late.join(0.3)
        assert late.is_alive(), "it waits for the row of the lease"
    late.join()
    assert given == [0]
    assert not Outcome.objects.exists()
    assert set(run.units.values_list("state", "deliveries")) == {("pending", 1)}


def test_the_same_results_delivered_twice_at_once_are_stored_once() -> None:
    run = make_run(4)
    batch, units = take(run, 4)
    assert sorted(together(2, lambda: leases.finish_units(batch, answers(units)))) == [0, 4]
    assert Outcome.objects.count() == 4


def test_results_that_come_in_parts_end_their_units_and_the_rest_waits_again() -> None:
    run = make_run(4)
    batch, units = take(run, 4)
    assert leases.finish_units(batch, answers(units[:1]), last=False) == 1
    assert leases.finish_units(batch, answers(units[:2])) == 1
    assert [(unit.state, unit.deliveries, unit.batch_id) for unit in run.units.order_by("pk")] == [
        ("done", 1, batch.pk),
        ("done", 1, batch.pk),
        ("pending", 0, None),
        ("pending", 0, None),
    ]


def test_a_result_that_no_row_can_hold_takes_no_other_with_it() -> None:
    run = make_run(4)
    batch, units = take(run, 4)
    given = answers(units)
    given[1] = (units[1], Result(units[1].key, text="half of \ud800"))
    given[2] = (units[2], Result(units[2].key, "refused", reason="no", numbers={"a\x00": 1.0}))
    assert leases.finish_units(batch, given) == 4
    rows = Outcome.objects.order_by("unit").values_list("unit__state", "text", "reason")
    assert [(state, text) for state, text, _ in rows] == [
        ("done", "answer to 0000"),
        ("failed", ""),
        ("failed", ""),
        ("done", "answer to 0003"),
    ]
    assert all(reason.startswith("The result could not be stored: ") for state, _, reason in rows if state == "failed")
    batch.refresh_from_db()
    assert batch.finished_at is not None


def test_leased_units_come_as_they_are_stored() -> None:
    run = make_run(3)
    batch, units = take(run, 2)
    stored = list(Unit.objects.filter(batch=batch).order_by("pk"))
    fields = [field.attname for field in Unit._meta.concrete_fields]
    assert [[getattr(unit, name) for name in fields] for unit in units] == [
        [getattr(unit, name) for name in fields] for unit in stored
    ]
    batch.refresh_from_db()
    assert (batch.run_id, batch.worker, batch.finished_at) == (run.pk, "a", None)
