"""Bundles and reports as jobs: made once, begun again after a killed worker, told when they fail, removed in time."""

import errno
import os
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import pytest
from django.core.files.storage import default_storage
from django.db import connections
from django.db.models import F
from django.db.models.functions import Now
from pytest_django import Settings

from collection.models import Dish
from collection.signals import dish_withdrawn
from evaluation import content_store
from evaluation.models import ExportJob
from tests.evaluation.make import make_dish
from tests.wwd.bundles.make import make_world
from wwd.exchange.bundles import build, jobs, snapshot, table_views, verification
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.jobs import announce_export_job
from wwd.exchange.bundles.verification import Verdict
from wwd.exchange.tasks import export
from wwd.sweeper import remove_exports, sweep_exports

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
State = ExportJob.State
REQUEST = ("test", ("generation.counts",))


@pytest.fixture(autouse=True)
def unannounced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What was announced, instead of a broker."""
    told: list[int] = []
    monkeypatch.setattr(jobs, "announce_export_job", told.append)
    return told


def test_a_job_is_announced_by_the_name_of_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[object, ...]] = []
    monkeypatch.setattr(jobs, "send_task", lambda *words: sent.append(words))
    announce_export_job(7)
    assert sent == [(export.name, 7)]


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles are not recomputed here: test_bundles does that."""
    monkeypatch.setattr(
        jobs, "verify_bundle", lambda path, beat: Verdict(True, ("equal      tables/generation.counts.csv",))
    )


def make_job(kind: str = "bundle", name: str = "test", **values: Any) -> ExportJob:
    job = jobs.start_export_job(kind, Request(name, table_views.parse_views(REQUEST[1])), None)
    ExportJob.objects.filter(pk=job.pk).update(**values)
    job.refresh_from_db()
    return job


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: Any) -> Any:
        raise error

    return fail


def test_a_bundle_is_made_tried_and_kept_by_its_hash(tried: None) -> None:
    make_world()
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.equal, job.error, job.progress) == (State.DONE, True, "", "")
    content = content_store.read_content(job.sha256)
    assert (len(content), content[:2]) == (job.size, b"PK")
    assert content_store.named_by_rows([job.sha256]) == {job.sha256}


def test_a_bundle_that_gives_other_tables_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict(False, ("DIFFERENT  tables/generation.counts.csv",), "it broke")
    monkeypatch.setattr(jobs, "verify_bundle", lambda path, beat: verdict)
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.equal) == (State.DONE, False)
    assert job.said == ["DIFFERENT  tables/generation.counts.csv", "it broke"]


def test_two_requests_for_the_same_are_one_job() -> None:
    assert make_job() == make_job()
    assert make_job(name="other") != make_job()
    assert make_job(kind="report") != make_job()


def test_what_was_made_can_be_asked_for_again() -> None:
    first = make_job(state=State.DONE)
    assert make_job() != first


def test_a_job_is_announced_and_found_by_the_sweep(
    unannounced: list[int], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = make_job()
    assert unannounced == [job.pk]
    for send in sweep_exports():
        send()
    assert unannounced == [job.pk, job.pk]


def test_a_job_in_work_is_taken_by_nobody_else(tried: None, unannounced: list[int]) -> None:
    job = make_job(state=State.WORKING, leased_until=Now() + timedelta(minutes=1))
    assert jobs.list_waiting_exports() == []
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.deliveries) == (State.WORKING, 0)


def test_the_job_of_a_killed_worker_is_begun_again(tried: None) -> None:
    job = make_job(state=State.WORKING, leased_until=Now() - timedelta(seconds=1), deliveries=1)
    assert jobs.list_waiting_exports() == [job.pk]
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.deliveries) == (State.DONE, 2)


def test_a_job_that_kills_its_worker_three_times_fails_and_says_so() -> None:
    job = make_job(state=State.WORKING, leased_until=Now() - timedelta(seconds=1), deliveries=3)
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert "begun three times" in job.error
    assert jobs.list_waiting_exports() == []


def test_a_worker_whose_job_was_taken_over_leaves_nothing(tried: None, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job()
    real = build.write_bundle

    def slow(*arguments: Any) -> int:
        ExportJob.objects.filter(pk=job.pk).update(token=None)
        return real(*arguments)

    monkeypatch.setattr(build, "write_bundle", slow)
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.sha256) == (State.WORKING, "")
    assert not Path(default_storage.path(content_store.ROOT)).exists()


def test_each_step_renews_the_lease(tried: None, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    real = jobs._step

    def watched(job: ExportJob, text: str) -> None:
        ExportJob.objects.filter(pk=job.pk).update(leased_until=Now() - timedelta(hours=1))
        real(job, text)
        left.append(ExportJob.objects.filter(pk=job.pk, leased_until__gt=Now() + timedelta(minutes=9)).exists())

    monkeypatch.setattr(jobs, "_step", watched)
    jobs.run_export_job(make_job().pk)
    assert len(left) > 5 and all(left)


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/secret/path"), "no space left where the file"),
        (OSError(errno.EACCES, "Permission denied", "/secret/path"), "could not be written (Permission denied)"),
        (build.DataChangedError("The data changed."), "The data changed."),
        (ValueError("words of somebody"), "It failed (ValueError)"),
    ],
)
def test_what_goes_wrong_is_told_without_paths_and_words(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "write_bundle", failing(error))
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert says in job.error
    assert "secret" not in job.error and "words of somebody" not in job.error


def test_a_table_that_cannot_be_computed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.tables_compute, "compute_table", failing(ZeroDivisionError()))
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert job.error == "generation.counts could not be computed (ZeroDivisionError). The log says where."


def test_a_disk_that_is_full_while_the_file_is_stored_leaves_nothing(
    tried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(source: IO[bytes], target: IO[bytes]) -> None:
        target.write(source.read(10))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(content_store.shutil, "copyfileobj", write_half)
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.FAILED
    assert [path for path in Path(default_storage.path(".")).rglob("*") if path.is_file()] == []


def test_files_go_after_their_days_and_the_row_says_so(tried: None, settings: Settings) -> None:
    settings.EXPORT_DAYS = 14
    job = make_job()
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    remove_exports()
    assert content_store.read_content(job.sha256)
    ExportJob.objects.update(finished_at=F("finished_at") - timedelta(days=15))
    remove_exports()
    with pytest.raises(FileNotFoundError):
        content_store.read_content(job.sha256)
    job.refresh_from_db()
    assert (job.state, job.sha256) == (State.REMOVED, "")


def test_files_made_before_a_dish_was_withdrawn_go_with_it(
    tried: None, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    job, working = make_job(), make_job(name="working")
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    ExportJob.objects.filter(pk=working.pk).update(state=State.WORKING, leased_until=Now() + timedelta(hours=1))
    with django_capture_on_commit_callbacks(execute=True):
        dish_withdrawn.send(sender=Dish, dishes=[make_dish().pk])
    with pytest.raises(FileNotFoundError):
        content_store.read_content(job.sha256)
    job.refresh_from_db()
    assert job.state == State.REMOVED
    assert working.pk in jobs.list_waiting_exports()


def test_what_a_killed_worker_left_goes_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot.tempfile, "tempdir", str(tmp_path))
    old, other = tmp_path / f"{snapshot.WORKSHOP}old", tmp_path / "of somebody else"
    for folder in (old, other):
        (folder / "half").mkdir(parents=True)
        os.utime(folder, (0, 0))
    with snapshot.open_temporary_folder() as new:
        jobs.remove_old()
        assert new.exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["of somebody else"]


def test_a_script_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "SECONDS", 1)
    monkeypatch.setattr(verification, "BEAT", 1)
    command = [verification.sys.executable, "-c", "import time; time.sleep(60)"]
    running = verification.subprocess.Popen(command, stdout=-1, stderr=-1, text=True)
    verdict = verification.verdict_of(running, lambda: None)
    assert "longer than" in verdict.trouble
    assert running.poll() is not None


def test_a_report_is_made_by_its_task_and_says_how_many_images_it_holds(settings: Settings, tmp_path: Path) -> None:
    printing = tmp_path / "chromium"
    printing.write_text("""#!/bin/sh
for word in "$@"; do case "$word" in --print-to-pdf=*) printf '%%PDF-1.7' > "${word#--print-to-pdf=}";; esac; done
""")
    printing.chmod(0o755)
    settings.CHROMIUM = str(printing)
    job = make_job(kind="report")
    export(job.pk)
    job.refresh_from_db()
    assert (job.state, job.picture_count, content_store.read_content(job.sha256)) == (State.DONE, 0, b"%PDF-1.7")


def test_a_file_that_was_stored_after_somebody_else_took_the_job_over_goes_again(
    tried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job()
    store = content_store.store_file

    def meanwhile(path: Path) -> str:
        """Another worker is given the job."""
        ExportJob.objects.filter(pk=job.pk).update(token=None)
        return store(path)

    monkeypatch.setattr(content_store, "store_file", meanwhile)
    jobs.run_export_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.sha256) == (State.WORKING, "")
    assert [path for path in Path(default_storage.path(content_store.ROOT)).rglob("*") if path.is_file()] == []


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_bundle_is_made_of_one_moment_of_the_database() -> None:
    with snapshot.hold_database_snapshot():
        before = ExportJob.objects.count()

        def add() -> None:
            make_job()
            connections.close_all()

        thread = threading.Thread(target=add)
        thread.start()
        thread.join(30)
        assert ExportJob.objects.count() == before
    assert ExportJob.objects.count() == before + 1
