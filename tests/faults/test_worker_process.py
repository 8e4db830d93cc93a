"""What a worker process holds and how long it lives: no model before the fork, a new process when it is due."""

from pathlib import Path

import pytest
from pytest_django import Settings

from evaluation import backends, studies
from evaluation.backends.standin.images import Sketch
from evaluation.contracts.study import ModelData
from evaluation.runner import create_run, execution, process_run
from tests.evaluation.make import make_demonstration_dishes
from tests.faults.installation import Site
from tests.template_database import copy_database
from tests.wwd.processes import environment, snippet
from wwd.celery import app, broker_options

pytestmark = pytest.mark.embedded

RUNS = 4
SMALL_RUNS = f"""
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from evaluation.runner import announce_run, create_run
from tests.evaluation.make import make_demonstration_dishes
make_demonstration_dishes(1)
for seed in range({RUNS}):
    config = {{"model": "sketch", "subjects": {{"kind": "dish", "demonstration": True}}, "images_per_subject": 1}}
    announce_run(create_run("generation", {{**config, "seed": seed}}))
"""
WORKERS = "SELECT COUNT(DISTINCT worker) FROM evaluation_batch"
MAIN_PROCESS = """
import sys
from wwd import sweeper
from wwd.celery import app
app.loader.import_default_modules()
for job in sweeper.list_sweep_jobs():
    sweeper.perform_job(job)
print(sorted({name.split(".")[0] for name in sys.modules} & {"torch", "transformers", "diffusers", "accelerate"}))
"""


def test_a_task_is_killed_before_its_message_comes_again(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    visible = broker_options()["visibility_timeout"]
    app.loader.import_default_modules()
    ours = [task for name, task in app.tasks.items() if not name.startswith("celery.")]
    assert len(ours) >= 3
    assert isinstance(visible, int)
    assert {task.name: task.time_limit for task in ours if not 0 < (task.time_limit or 0) < visible} == {}


def test_messages_are_spent_only_when_their_work_is_over_and_none_is_hoarded() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1


def test_the_process_that_forks_has_imported_no_model(tmp_path: Path) -> None:
    """A card that was touched before a fork cannot be used after it."""
    environ = environment(tmp_path)
    copy_database(tmp_path)
    assert snippet(environ, MAIN_PROCESS) == "[]"


@pytest.mark.django_db
def test_a_model_is_loaded_once_per_process(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def load(model: ModelData) -> Sketch:
        made.append(model.slug)
        return Sketch(model)

    monkeypatch.setattr(backends, "load_backend", load)
    monkeypatch.setattr(execution, "loaded", {})
    make_demonstration_dishes(3)
    size = studies.load_study("generation").batch_size
    config = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}, "images_per_subject": size}
    for seed in range(2):
        assert process_run(create_run("generation", {**config, "seed": seed}).pk, "a") == 3 * size
    assert made == ["sketch"]


@pytest.mark.parametrize(
    ("setting", "value", "processes"),
    [
        ("WWD_WORKER_SLICES", "500", 1),
        ("WWD_WORKER_SLICES", "1", RUNS),
        # A process of ours never fits into one megabyte.
        ("WWD_WORKER_MEGABYTES", "1", RUNS),
    ],
)
def test_a_process_is_replaced_after_its_slices_or_once_it_has_grown(
    tmp_path: Path, setting: str, value: str, processes: int
) -> None:
    """Slow: real processes are started and end, which is what keeps a worker's memory in bounds."""
    site = Site(tmp_path)
    site.environ[setting] = value
    try:
        site.run(SMALL_RUNS)
        site.start_worker("-Q", "cpu", "-c", "1")
        site.wait_until(lambda: site.done() == RUNS)
        assert site.value(WORKERS) == processes
    finally:
        site.kill_workers()
