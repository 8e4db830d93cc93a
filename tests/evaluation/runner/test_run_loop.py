"""Working through runs: announcements, retries, pauses, the sweep."""

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.db.models.functions import Now

from evaluation import studies, tasks
from evaluation.contracts.study import Result
from evaluation.models import Batch, InputCounter, Outcome, Run, Unit
from evaluation.runner import (
    accept_announcement,
    announce_run,
    count_units_by_state,
    create_run,
    leases,
    process_run,
    resume_run,
    send_announcement,
    sweep_runs,
)
from evaluation.tables.outcomes import iterate_outcomes
from tests.evaluation.failing_study import Fragile, WorkerKilled

Announced = Callable[[], list[tuple[int, int]]]
pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    Fragile.executed.clear()


def make_run(*acts: str, together: int = 1) -> Run:
    return create_run("fragile", {"acts": list(acts), "together": together})


def states(run: Run) -> list[str]:
    return list(run.units.order_by("key").values_list("state", flat=True))


def let_leases_expire() -> None:
    Batch.objects.filter(finished_at=None).update(until=Now() - timedelta(seconds=1))


def crash(run: Run) -> None:
    """A worker takes a batch and ends in the middle; later its lease runs out."""
    with pytest.raises(WorkerKilled):
        process_run(run.pk, "killed")
    let_leases_expire()


def test_a_run_is_done_when_nothing_is_open() -> None:
    run = make_run(*["yes"] * 9)
    assert process_run(run.pk, "a") == 9
    run.refresh_from_db()
    assert (run.state, run.finished_at is not None) == (Run.State.DONE, True)
    assert [row.text for row in iterate_outcomes(run)] == ["yes"] * 9


def test_a_finished_run_makes_tables_stale_once() -> None:
    run = make_run("yes", "yes")
    process_run(run.pk, "a")
    process_run(run.pk, "a")
    assert InputCounter.objects.get(name="runs.fragile").value == 1


def test_refused_units_keep_the_providers_words_and_are_not_asked_again() -> None:
    run = make_run("yes", "refuse")
    process_run(run.pk, "a")
    assert [(row.state, row.reason) for row in iterate_outcomes(run)] == [
        ("done", ""),
        ("refused", "Against the rules."),
    ]
    assert Fragile.executed == ["0000", "0001"]


def test_only_the_unit_that_raises_fails_and_says_why() -> None:
    run = make_run("yes", "raise", "yes", "yes")
    process_run(run.pk, "a")
    assert states(run) == ["done", "failed", "done", "done"]
    assert Outcome.objects.get(unit__key="0001").reason == "RuntimeError: the card fell out"


def test_a_unit_without_any_result_fails() -> None:
    run = make_run("silent", "yes")
    process_run(run.pk, "a")
    assert [(row.state, row.reason) for row in iterate_outcomes(run)] == [
        ("failed", "The study gave no result for it."),
        ("done", ""),
    ]


def test_units_of_a_killed_worker_are_done_by_the_next_each_once() -> None:
    run = make_run("yes", "yes", "yes", "kill")
    with pytest.raises(WorkerKilled):
        process_run(run.pk, "killed")
    assert states(run) == ["leased"] * 4
    Unit.objects.filter(key="0003").update(payload={"act": "yes"})
    let_leases_expire()
    sweep_runs()
    assert process_run(run.pk, "next") == 4
    assert Outcome.objects.count() == 4


def test_the_unit_that_kills_its_worker_fails_alone_after_three_deliveries() -> None:
    run = make_run("yes", "kill", "yes", "yes")
    for _ in range(3):
        crash(run)
        sweep_runs()
    process_run(run.pk, "last")
    assert states(run) == ["done", "failed", "done", "done"]
    assert Fragile.executed.count("0001") == 3
    assert Outcome.objects.get(unit__key="0001").reason == leases.KILLED
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def test_an_announcement_that_comes_twice_starts_work_once(announced: Announced) -> None:
    run = make_run("yes")
    announce_run(run)
    [message] = announced()
    assert [accept_announcement(*message), accept_announcement(*message)] == [True, False]


def test_announcements_sent_before_work_began_are_spent_and_later_ones_are_not(announced: Announced) -> None:
    run = make_run("yes")
    for _ in range(3):
        announce_run(run)
    first, second, third = announced()
    assert accept_announcement(*first)
    assert not accept_announcement(*second)
    assert not accept_announcement(*third)
    announce_run(run)
    assert accept_announcement(*announced()[0])


def test_the_task_works_through_the_run_and_a_second_delivery_does_nothing(announced: Announced) -> None:
    run = make_run("yes", "yes")
    announce_run(run)
    [message] = announced()
    for _ in range(2):
        tasks.work_on_run(*message)
    assert Fragile.executed == ["0000", "0001"]


def test_a_worker_calls_the_next_when_more_waits_than_its_first_batch(announced: Announced) -> None:
    run = make_run(*["yes"] * 6)
    process_run(run.pk, "a")
    assert len(announced()) == 1
    process_run(make_run(*["yes"] * 4).pk, "a")
    assert announced() == []


def test_a_slice_of_time_ends_and_the_rest_waits() -> None:
    run = make_run(*["yes"] * 9)
    assert process_run(run.pk, "a", seconds=0) == 0
    assert states(run) == ["pending"] * 9


def test_a_worker_that_is_told_to_stop_ends_what_is_in_hand_and_leaves_the_rest() -> None:
    run = make_run(*["yes"] * 9)
    told: list[bool] = []
    assert process_run(run.pk, "a", report=lambda: told.append(True), stop=lambda: bool(told)) == 4
    assert states(run) == ["done"] * 4 + ["pending"] * 5


def test_a_broker_that_is_down_stops_nobody(broker_down: None) -> None:
    run = make_run("yes")
    announce_run(run)
    [due] = sweep_runs()
    send_announcement(due)
    assert process_run(run.pk, "a") == 1


def test_the_sweep_announces_what_waits_and_nobody_works_on() -> None:
    waiting, worked_on = make_run("yes", "kill"), make_run(*["yes"] * 9)
    done, paused = make_run("yes", "no"), make_run("yes", "yes", "yes")
    process_run(done.pk, "a")
    Run.objects.filter(pk=paused.pk).update(state=Run.State.PAUSED)
    leases.lease_units(worked_on, "a", 2)
    assert [due.run for due in sweep_runs()] == [waiting.pk]


def test_the_sweep_announces_again_when_the_lease_ran_out() -> None:
    run = make_run(*["yes"] * 9)
    leases.lease_units(run, "a", 2)
    assert sweep_runs() == []
    let_leases_expire()
    assert [due.run for due in sweep_runs()] == [run.pk]


def test_the_sweep_ends_a_run_whose_worker_died_after_the_last_unit() -> None:
    run = make_run("yes")
    batch = leases.lease_units(run, "a", 1)
    assert batch is not None
    let_leases_expire()
    Unit.objects.filter(run=run).update(state="done")
    sweep_runs()
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def test_a_backend_that_cannot_work_pauses_the_run_and_gives_its_units_back(announced: Announced) -> None:
    run = make_run("unusable", "yes")
    assert process_run(run.pk, "a") == 0
    run.refresh_from_db()
    assert (run.state, run.problem) == (Run.State.PAUSED, "This machine has no card.")
    assert list(run.units.values_list("state", "deliveries")) == [("pending", 0)] * 2
    Unit.objects.update(payload={"act": "yes"})
    resume_run(run)
    assert len(announced()) == 1
    assert process_run(run.pk, "a") == 2


def test_a_paused_run_is_not_worked_on() -> None:
    run = make_run("yes")
    Run.objects.filter(pk=run.pk).update(state=Run.State.PAUSED)
    assert process_run(run.pk, "a") == 0
    assert states(run) == ["pending"]


def test_progress_names_every_state() -> None:
    run = make_run("yes", "refuse", "raise")
    assert count_units_by_state(run)["pending"] == 3
    process_run(run.pk, "a")
    counted = {"pending": 0, "leased": 0, "done": 1, "refused": 1, "filtered": 0, "empty": 0, "failed": 1}
    assert count_units_by_state(run) == counted


def together(tasks: Sequence[Callable[[], object]]) -> None:
    """Runs the tasks in threads, each with a connection of its own."""

    def closing(task: Callable[[], object]) -> None:
        try:
            task()
        finally:
            connection.close()

    threads = [threading.Thread(target=closing, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_workers_at_the_same_moment_never_share_a_unit() -> None:
    run = make_run(*["yes"] * 300, together=3)
    together([partial(process_run, run.pk, f"worker {number}") for number in range(6)])
    assert sorted(Fragile.executed) == [f"{n:04}" for n in range(300)]
    assert Outcome.objects.count() == 300
    workers = {tuple(row) for row in Unit.objects.values_list("affinity", "batch__worker")}
    assert len(workers) == 100
    sweep_runs()
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def finish_into(ends: list[int], batch: Batch, given: list[tuple[Unit, Result]]) -> None:
    ends.append(leases.finish_units(batch, given))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_taking_back_and_finishing_at_the_same_moment_agree() -> None:
    run = make_run(*["yes"] * 60)
    ends: list[int] = []
    for _ in range(15):
        batch = leases.lease_units(run, "late", 4)
        assert batch is not None
        let_leases_expire()
        given = [(unit, Result(unit.key, text="yes")) for unit in batch.units.order_by("pk")]
        together([partial(finish_into, ends, batch, given), leases.release_expired])
    assert Outcome.objects.count() == sum(ends)
    assert Unit.objects.filter(state="done").count() == sum(ends)
    assert Unit.objects.filter(state="leased").count() == 0
