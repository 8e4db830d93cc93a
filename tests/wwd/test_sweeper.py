"""The sweep inside a worker: what it does, and that nothing stops it."""

from collections.abc import Callable
from functools import partial

import pytest
from django.db import OperationalError, connections

from wwd import sweeper
from wwd.celery import app

pytestmark = pytest.mark.embedded


def test_the_sweep_is_a_step_of_every_worker_and_starts_after_its_processes() -> None:
    assert sweeper.SweepStep in app.steps["worker"]
    assert "celery.worker.components:Pool" in (sweeper.SweepStep.requires or ())


def test_runs_and_tables_are_looked_at_at_once_and_files_later() -> None:
    first = {job.name: job.first for job in sweeper.list_sweep_jobs()}
    assert (first["runs"], first["tables"]) == (0, 0)
    assert first["files"] > 0


def test_a_job_that_fails_does_not_end_the_sweep(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> list[Callable[[], None]]:
        raise OperationalError("the database restarts")

    sweeper.perform_job(sweeper.Job("runs", 1, 0, broken))
    assert "The sweep of runs went wrong" in caplog.text
    assert not sweeper.FORKING.locked()


def test_what_is_due_is_sent_after_the_database_was_let_go() -> None:
    seen: list[bool] = []

    def find() -> list[Callable[[], None]]:
        seen.append(sweeper.FORKING.locked())
        return [lambda: seen.append(sweeper.FORKING.locked())]

    sweeper.perform_job(sweeper.Job("runs", 1, 0, find))
    assert seen == [True, False]


@pytest.mark.django_db(transaction=True)
def test_the_jobs_work_and_leave_no_connection_open(caplog: pytest.LogCaptureFixture) -> None:
    for job in sweeper.list_sweep_jobs():
        sweeper.perform_job(job)
    held = [wrapper.alias for wrapper in connections.all() if wrapper.vendor != "sqlite" and wrapper.connection]
    assert held == []
    assert "went wrong" not in caplog.text


def test_the_thread_does_every_job_and_stops() -> None:
    done: list[str] = []

    def note(name: str) -> list[Callable[[], None]]:
        done.append(name)
        if len(done) >= 4:
            thread.stopping.set()
        return []

    thread = sweeper.Sweeper([sweeper.Job(name, 0.01, 0, partial(note, name)) for name in ("one", "two")])
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert {"one", "two"} == set(done)
