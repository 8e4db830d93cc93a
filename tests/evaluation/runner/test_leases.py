"""Leases: who holds which units, and what happens to an answer that comes late."""

import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import DjangoAssertNumQueries

from evaluation import studies
from evaluation.contracts.study import Result
from evaluation.models import Batch, Outcome, Run, Unit
from evaluation.runner import create_run, leases
from evaluation.runner.direct_transport import DirectTransport
from evaluation.runner.stages.heartbeat import Heartbeat
from tests.evaluation.leased import describe_lease

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")


def make_run(units: int = 10, together: int = 1) -> Run:
    return create_run("fragile", {"acts": ["answer"] * units, "together": together})


def leased(batch: Batch | None) -> list[str]:
    assert batch is not None
    return list(batch.units.order_by("key").values_list("key", flat=True))


def let_expire(batch: Batch | None) -> None:
    assert batch is not None
    Batch.objects.filter(pk=batch.pk).update(until=Now() - timedelta(seconds=1))


def answers(batch: Batch) -> list[tuple[Unit, Result]]:
    return [(unit, Result(unit.key, text="answer")) for unit in batch.units.order_by("pk")]


def test_a_lease_takes_units_in_order_and_nobody_gets_them_again() -> None:
    run = make_run(10)
    assert leased(leases.lease_units(run, "a", 4)) == ["0000", "0001", "0002", "0003"]
    assert leased(leases.lease_units(run, "b", 4)) == ["0004", "0005", "0006", "0007"]
    assert leased(leases.lease_units(run, "c", 4)) == ["0008", "0009"]
    assert leases.lease_units(run, "d", 4) is None
    assert Batch.objects.count() == 3


def test_a_lease_begins_where_the_last_one_ended_and_goes_back_for_what_was_left() -> None:
    run = make_run(8, together=2)
    assert leased(leases.lease_units(run, "a", 2, after="0002")) == ["0004", "0005"]
    assert leased(leases.lease_units(run, "a", 4, after="0002")) == ["0006", "0007"]
    assert leased(leases.lease_units(run, "a", 3, after="0002")) == ["0000", "0001", "0002", "0003"]


def test_units_of_one_affinity_go_to_one_worker() -> None:
    run = make_run(12, together=5)
    assert len(leased(leases.lease_units(run, "a", 2))) == 5
    assert len(leased(leases.lease_units(run, "b", 6))) == 7


def test_a_lease_of_one_run_leaves_other_runs_alone() -> None:
    first, second = make_run(2), make_run(3)
    leases.lease_units(first, "a", 10)
    assert Unit.objects.filter(run=second, state="pending").count() == 3


def test_a_lease_ends_in_the_future_by_the_databases_clock() -> None:
    batch = leases.lease_units(make_run(), "a", 2)
    assert batch is not None
    soon, late = Now() + timedelta(seconds=110), Now() + timedelta(seconds=130)
    assert Batch.objects.filter(pk=batch.pk, until__gt=soon, until__lt=late).exists()


def test_finished_units_have_their_outcome_and_the_batch_is_closed() -> None:
    batch = leases.lease_units(make_run(3), "a", 3)
    assert batch is not None
    assert leases.finish_units(batch, answers(batch)) == 3
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}
    assert Outcome.objects.filter(text="answer", batch=batch).count() == 3
    batch.refresh_from_db()
    assert batch.finished_at is not None


def test_a_lease_that_still_runs_is_not_taken_back() -> None:
    leases.lease_units(make_run(), "a", 4)
    assert leases.release_expired() == 0
    assert Unit.objects.filter(state="leased").count() == 4


def test_units_of_an_expired_lease_wait_again_and_are_then_leased_alone() -> None:
    run = make_run(3)
    let_expire(leases.lease_units(run, "a", 3))
    assert leases.release_expired() == 1
    assert [leased(leases.lease_units(run, "b", 3)) for _ in range(3)] == [["0000"], ["0001"], ["0002"]]


def test_units_that_were_never_delivered_come_before_those_that_came_back() -> None:
    run = make_run(4)
    let_expire(leases.lease_units(run, "a", 2))
    leases.release_expired()
    assert leased(leases.lease_units(run, "b", 2)) == ["0002", "0003"]
    assert leased(leases.lease_units(run, "b", 2)) == ["0000"]


def test_a_renewed_lease_does_not_expire() -> None:
    batch = leases.lease_units(make_run(), "a", 2)
    assert batch is not None
    let_expire(batch)
    assert leases.renew_lease(batch)
    assert leases.release_expired() == 0


def test_a_lease_that_was_taken_back_cannot_be_renewed() -> None:
    batch = leases.lease_units(make_run(), "a", 2)
    assert batch is not None
    let_expire(batch)
    leases.release_expired()
    assert not leases.renew_lease(batch)


def test_an_answer_after_the_lease_was_taken_back_is_discarded() -> None:
    run = make_run(2)
    late = leases.lease_units(run, "slow", 2)
    assert late is not None
    given = answers(late)
    let_expire(late)
    leases.release_expired()
    prompt = leases.lease_units(run, "quick", 2)
    assert prompt is not None
    assert leases.finish_units(late, given) == 0
    assert Outcome.objects.count() == 0
    assert leases.finish_units(prompt, answers(prompt)) == 1


def test_an_answer_after_the_time_but_before_anybody_took_the_units_counts() -> None:
    batch = leases.lease_units(make_run(2), "a", 2)
    assert batch is not None
    let_expire(batch)
    assert leases.finish_units(batch, answers(batch)) == 2


def test_finishing_twice_stores_once() -> None:
    batch = leases.lease_units(make_run(2), "a", 2)
    assert batch is not None
    given = answers(batch)
    assert [leases.finish_units(batch, given), leases.finish_units(batch, given)] == [2, 0]
    assert Outcome.objects.count() == 2


def test_a_unit_fails_with_its_reason_when_three_workers_ended_on_it() -> None:
    run = make_run(1)
    for _ in range(3):
        let_expire(leases.lease_units(run, "a", 1))
        leases.release_expired()
    unit = Unit.objects.get()
    assert (unit.state, unit.deliveries) == ("failed", 3)
    assert unit.outcome.reason == "The worker ended without an answer 3 times."
    assert leases.lease_units(run, "a", 1) is None


def test_released_units_count_as_never_delivered() -> None:
    run = make_run(3)
    batch = leases.lease_units(run, "a", 3)
    assert batch is not None
    leases.release_batch(batch)
    assert leased(leases.lease_units(run, "b", 3)) == ["0000", "0001", "0002"]
    assert set(Unit.objects.values_list("deliveries", flat=True)) == {1}


def test_a_batch_is_released_once() -> None:
    run = make_run(3)
    batch = leases.lease_units(run, "a", 3)
    assert batch is not None
    assert leases.finish_units(batch, answers(batch)) == 3
    leases.release_batch(batch)
    assert set(run.units.values_list("state", "deliveries")) == {("done", 1)}


def test_a_batch_of_which_all_that_came_was_stored_already_gives_the_rest_back() -> None:
    run = make_run(3)
    batch = leases.lease_units(run, "a", 3)
    assert batch is not None
    given = answers(batch)[:2]
    assert [leases.finish_units(batch, given, last=False), leases.finish_units(batch, given)] == [2, 0]
    assert sorted(run.units.values_list("state", "deliveries")) == [("done", 1), ("done", 1), ("pending", 0)]


def test_a_lease_is_renewed_until_it_is_no_longer_held_whatever_the_database_does_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = leases.lease_units(make_run(), "a", 2)
    assert batch is not None
    answered: Iterator[bool | DatabaseError] = iter([True, DatabaseError("It restarts."), True, False])
    renewed, over = [], threading.Event()

    def renew(held: Batch) -> bool:
        renewed.append(held.pk)
        answer = next(answered)
        if isinstance(answer, DatabaseError):
            raise answer
        if not answer:
            over.set()
        return answer

    monkeypatch.setattr(leases, "renew_lease", renew)
    lease = describe_lease(list(batch.units.all()))
    held = replace(lease, id=batch.pk)
    heartbeat = Heartbeat(DirectTransport())
    heartbeat.hold(replace(held, seconds=0.003))
    assert over.wait(10)
    heartbeat.close()
    assert renewed == [batch.pk] * 4
    assert not heartbeat.holds(held)


def test_a_unit_that_was_deleted_meanwhile_does_not_stop_its_batch() -> None:
    batch = leases.lease_units(make_run(3), "a", 3)
    assert batch is not None
    given = answers(batch)
    Unit.objects.get(key="0001").delete()
    assert leases.finish_units(batch, given) == 2
    assert Outcome.objects.count() == 2


def test_results_are_kept_while_the_batch_goes_on() -> None:
    batch = leases.lease_units(make_run(3), "a", 3)
    assert batch is not None
    given = answers(batch)
    let_expire(batch)
    assert leases.finish_units(batch, given[:2], last=False) == 2
    assert leases.release_expired() == 0, "keeping them renews the lease"
    assert sorted(Unit.objects.values_list("state", flat=True)) == ["done", "done", "leased"]
    assert leases.finish_units(batch, given[2:]) == 1
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}
    assert Outcome.objects.filter(batch=batch).count() == 3


def test_what_was_kept_stays_when_the_worker_ends_before_the_rest() -> None:
    run = make_run(3)
    batch = leases.lease_units(run, "a", 3)
    assert batch is not None
    given = answers(batch)
    leases.finish_units(batch, given[:2], last=False)
    let_expire(batch)
    leases.release_expired()
    assert leases.finish_units(batch, given[2:], last=False) == 0
    assert leased(leases.lease_units(run, "b", 3)) == ["0002"]
    assert Outcome.objects.count() == 2


@pytest.mark.postgres
def test_a_lease_of_a_large_run_looks_at_few_rows() -> None:
    """Planning a run has its rows counted: from then on nothing reads it whole, whatever was known before."""
    run = make_run(3000, together=3)
    with CaptureQueriesContext(connection) as captured:
        batch = leases.lease_units(run, "a", 30)
    assert batch is not None
    [sql] = [query["sql"] for query in captured.captured_queries if "evaluation_unit" in query["sql"]]
    assert rows_read(sql.replace(str(batch.pk), str(uuid.uuid4()))) <= 100
    assert run.units.filter(state="leased").count() == 60


def rows_read(sql: str) -> int:
    """The most rows that a step of PostgreSQL's plan went through, those included that it dropped."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        return max(steps(cursor.fetchone()[0][0]["Plan"]))


def steps(plan: dict[str, Any]) -> Iterator[int]:
    yield plan["Actual Loops"] * (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0))
    for part in plan.get("Plans", ()):
        yield from steps(part)


def test_taking_back_many_leases_costs_few_queries(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    run = make_run(40)
    for _ in range(20):
        let_expire(leases.lease_units(run, "a", 2))
    with django_assert_max_num_queries(10):
        assert leases.release_expired() == 20


def test_what_was_stored_already_is_not_stored_again() -> None:
    """A connection that ends with the commit leaves a worker in doubt: it hands in the same results once more."""
    run = make_run(3)
    batch = leases.lease_units(run, "a", 3)
    assert batch is not None
    given = answers(batch)
    assert leases.finish_units(batch, given[:2], last=False) == 2
    assert leases.finish_units(batch, given[:2], last=False) == 0
    assert leases.finish_units(batch, given) == 1
    assert leases.finish_units(batch, given) == 0
    assert list(run.units.values_list("state", flat=True)) == ["done"] * 3
    assert Outcome.objects.count() == 3
