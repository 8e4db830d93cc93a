"""A storage that fails, hangs and gives halves, and workers killed in each stage: every unit ends once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as configured
from pytest_django import Settings

from evaluation.models import Batch, DescriptorSet, Outcome, Run, Unit
from evaluation.runner import create_run, process_run, resume_run
from evaluation.runner.stages import file_calls
from evaluation.runner.transport import Transport
from tests.evaluation.make import make_demonstration_dishes
from tests.faults.installation import Site
from tests.faults.transports import TRANSPORTS

DISHES, EACH = 4, 5
SUBJECTS = {"kind": "dish", "demonstration": True}
WORDS = {"taste": {"positive": ["fine"], "negative": ["poor"]}}


@pytest.fixture(params=TRANSPORTS)
def way(request: pytest.FixtureRequest) -> Iterator[Transport]:
    with TRANSPORTS[request.param]() as transport:
        yield transport


def break_storage(settings: Settings, fault: str, seconds: float = 60.0) -> None:
    options = {"fault": fault, "seconds": seconds}
    broken = {"BACKEND": "tests.faults.faulty_storage.FaultyStorage", "OPTIONS": options}
    settings.STORAGES = {**configured.STORAGES, "default": broken}


def plan_images() -> Run:
    make_demonstration_dishes(DISHES)
    DescriptorSet.objects.create(slug="words", version="1", groups=WORDS, prompt="A photo of {descriptor} food")
    config = {"model": "sketch", "subjects": SUBJECTS, "images_per_subject": EACH}
    return create_run("generation", config, slug="images")


def plan_scores() -> Run:
    return create_run("association", {"images": "images", "encoder": "standin-encoder", "descriptors": "words"})


def work_off(run: Run, way: Transport) -> list[str]:
    """The states of the run's units in the end, each once."""
    process_run(run.pk, "tests", transport=way)
    assert Outcome.objects.filter(unit__run=run).count() == run.units.exclude(state="pending").count()
    assert not Unit.objects.filter(state="leased").exists()
    assert not Batch.objects.filter(finished_at=None).exists()
    return sorted(set(run.units.values_list("state", flat=True)))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_storage_that_fails_every_third_call_costs_no_unit(settings: Settings, way: Transport) -> None:
    break_storage(settings, "every third call fails")
    assert work_off(plan_images(), way) == ["done"]
    assert work_off(plan_scores(), way) == ["done"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_storage_that_hangs_is_asked_again_on_another_thread(settings: Settings, way: Transport) -> None:
    """Slow: a second without an answer is really waited for."""
    assert work_off(plan_images(), way) == ["done"]
    break_storage(settings, "hangs", seconds=30)
    settings.STORAGE_SECONDS = 1
    assert work_off(plan_scores(), way) == ["done"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_half_a_file_is_told_by_its_hash_and_read_again(settings: Settings, way: Transport) -> None:
    assert work_off(plan_images(), way) == ["done"]
    break_storage(settings, "half at times")
    assert work_off(plan_scores(), way) == ["done"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_file_of_which_half_is_there_fails_its_unit_and_says_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, way: Transport
) -> None:
    monkeypatch.setattr(file_calls, "PAUSE", 0.001)
    assert work_off(plan_images(), way) == ["done"]
    break_storage(settings, "half always")
    run = plan_scores()
    assert work_off(run, way) == ["done", "failed"]
    reasons = set(Outcome.objects.filter(unit__run=run, unit__state="failed").values_list("reason", flat=True))
    assert reasons == {"The file of the image is damaged in the storage."}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_storage_that_never_answers_pauses_the_run_and_loses_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, way: Transport
) -> None:
    """Slow: a second without an answer is really waited for, twice."""
    monkeypatch.setattr(file_calls, "WAITS", 2)
    assert work_off(plan_images(), way) == ["done"]
    whole = settings.STORAGES
    break_storage(settings, "hangs", seconds=10)
    settings.STORAGE_SECONDS = 1
    monkeypatch.setattr("tests.faults.faulty_storage.HANGING", 10**6)
    run = plan_scores()
    assert "pending" in work_off(run, way)
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert run.problem.startswith("The images could not be read: ")
    settings.STORAGES = whole
    resume_run(run)
    assert work_off(run, way) == ["done"]


PLAN_SCORES = f"""
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from evaluation.models import DescriptorSet
from evaluation.runner import announce_run, create_run, process_run
from tests.evaluation.make import make_demonstration_dishes
make_demonstration_dishes({DISHES})
DescriptorSet.objects.create(
    slug="words", version="1", groups={WORDS}, prompt="A photo of {{descriptor}} food"
)
config = {{"model": "sketch", "subjects": {SUBJECTS}, "images_per_subject": {EACH}}}
images = create_run("generation", config, slug="images")
process_run(images.pk, "planning", seconds=1000)
announce_run(create_run("association", {{"images": "images", "encoder": "standin-encoder", "descriptors": "words"}}))
"""
OPEN_RUNS = "SELECT COUNT(*) FROM evaluation_run WHERE state <> 'done'"
OUTCOMES = "SELECT COUNT(*) FROM evaluation_outcome"
UNITS = "SELECT COUNT(*) FROM evaluation_unit"
MOST_DELIVERIES = "SELECT MAX(deliveries) FROM evaluation_unit"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    yield made
    made.kill_workers()


def work_with_a_kill(site: Site, **fault: str) -> None:
    """Workers, one of whose processes is killed once, until every run is done: each unit has ended once."""
    site.start_worker("-Q", "cpu", "-c", "1", **fault)
    site.wait_until(lambda: not site.value(OPEN_RUNS))
    assert (site.folder / "var" / "killed").exists()
    assert site.value(MOST_DELIVERIES) == 2
    assert site.done() == site.value(UNITS) == site.value(OUTCOMES)


@pytest.mark.embedded
def test_a_worker_killed_while_it_fetches_costs_no_unit(site: Site) -> None:
    """Slow: a real process is killed, and its lease runs out."""
    site.run(PLAN_SCORES)
    work_with_a_kill(site, FAULT_STORAGE="killed reading")


@pytest.mark.embedded
def test_a_worker_killed_while_it_stores_costs_no_unit(site: Site) -> None:
    """Slow: a real process is killed, and its lease runs out. Files that were written are named by rows later."""
    site.plan(DISHES * EACH)
    work_with_a_kill(site, FAULT_STORAGE="killed writing")
    site.check()


@pytest.mark.embedded
def test_a_worker_killed_while_it_computes_costs_no_unit(site: Site) -> None:
    """Slow: a real process is killed, and its lease runs out."""
    site.plan(DISHES * EACH, "deadly")
    work_with_a_kill(site, FAULT_KILLED_ONCE=str(site.folder / "var" / "killed"))
    site.check()
