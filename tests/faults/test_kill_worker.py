"""Real worker processes, killed in the middle of a run: every unit ends done, once.

The processes have a database and a folder of their own, and the Redis database that the tests were given.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import redis
from django.conf import settings

ROOT = Path(__file__).resolve().parent.parent.parent
UNITS = 200
PICTURES_PER_DISH = 5
TOO_LONG = 90.0

PLAN = f"""
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from evaluation.models import Model
from evaluation.runner import announce, create_run
from tests.evaluation.make import make_demonstration_dishes
make_demonstration_dishes({UNITS // PICTURES_PER_DISH})
config = {{
    "model": "sketch",
    "subjects": {{"kind": "dish", "demonstration": True}},
    "images_per_subject": {PICTURES_PER_DISH},
}}
announce(create_run("generation", config, slug="killed"))
"""
COUNT = """
import json, django; django.setup()
from datetime import timedelta
from django.conf import settings
from django.db.models import Max
from evaluation import files
from evaluation.models import GeneratedImage, Outcome, Unit
files.remove_orphans(timedelta(0))
hashes = set(GeneratedImage.objects.values_list("sha256", flat=True))
held = {path.name for path in (settings.MEDIA_ROOT / "images").rglob("*") if path.is_file()}
print(json.dumps({
    "states": sorted(set(Unit.objects.values_list("state", flat=True))),
    "units": Unit.objects.count(),
    "outcomes": Outcome.objects.count(),
    "images": GeneratedImage.objects.count(),
    "files": len(held),
    "every file is named and every name is a file": held == hashes,
    "some units came twice": Unit.objects.aggregate(most=Max("deliveries"))["most"] > 1,
}))
"""
WHOLE = {
    "states": ["done"],
    "units": UNITS,
    "outcomes": UNITS,
    "images": UNITS,
    "files": UNITS,
    "every file is named and every name is a file": True,
    "some units came twice": True,
}


class Site:
    """One installation: its environment and its workers."""

    def __init__(self, folder: Path, database_url: str = "", redis_url: str = "") -> None:
        self.folder = folder
        self.database_url = database_url
        self.workers: list[subprocess.Popen[bytes]] = []
        self.environ = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "wwd.settings",
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "WWD_VAR_DIR": str(folder / "var"),
            "WWD_LEASE_SECONDS": "3",
            "WWD_SWEEP_SECONDS": "1",
        }

    def run(self, code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def count(self) -> dict[str, Any]:
        """What is there in the end, files that no row names removed before."""
        found = json.loads(self.run(COUNT).splitlines()[-1])
        assert isinstance(found, dict)
        return found

    def value(self, query: str) -> Any:
        """One value, asked of the database beside the processes."""
        if self.database_url:
            with closing(psycopg2.connect(self.database_url)) as connection, connection.cursor() as cursor:
                cursor.execute(query)
                row = cursor.fetchone()
                return row[0] if row else None
        with closing(sqlite3.connect(self.folder / "var" / "wwd.sqlite3", timeout=30)) as lite:
            return lite.execute(query).fetchone()[0]

    def done(self) -> int:
        return int(self.value("SELECT COUNT(*) FROM evaluation_unit WHERE state = 'done'"))

    def leased(self) -> int:
        return int(self.value("SELECT COUNT(*) FROM evaluation_unit WHERE state = 'leased'"))

    def ended(self) -> bool:
        return bool(self.value("SELECT state FROM evaluation_run") == "done")

    def start_worker(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "wwd", "worker", "-Q", "cpu", "-c", "2"]
        with (self.folder / f"worker{len(self.workers)}.log").open("wb") as log:
            started = subprocess.Popen(
                command, cwd=ROOT, env=self.environ, stdout=log, stderr=log, start_new_session=True
            )
        self.workers.append(started)

    def kill_workers(self) -> None:
        """Ends the workers with all their processes at once, as a lost machine would."""
        for worker in self.workers:
            if worker.poll() is None:
                os.killpg(worker.pid, signal.SIGKILL)
                worker.wait()

    def wait_until(self, reached: Callable[[], bool]) -> None:
        end = time.monotonic() + TOO_LONG
        while not reached():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text()[-4000:] for path in sorted(self.folder.glob("*.log")))
                raise AssertionError(f"{self.done()} units are done after {TOO_LONG} s.\n{logs}")
            time.sleep(0.02)

    def kill_in_the_middle(self) -> None:
        """Kills a worker that holds units: it is stopped first, looked at, and let go on if it holds none."""
        self.start_worker()
        self.wait_until(lambda: self.done() >= UNITS // 10)
        os.killpg(self.workers[-1].pid, signal.SIGSTOP)
        while not self.leased():
            os.killpg(self.workers[-1].pid, signal.SIGCONT)
            time.sleep(0.01)
            os.killpg(self.workers[-1].pid, signal.SIGSTOP)
        self.kill_workers()
        assert 0 < self.done() < UNITS, "the worker was too quick to be killed in the middle"


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.kill_workers()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Site]:
    """A fresh PostgreSQL database beside the tests' own, and an empty Redis database."""
    server, _, _ = os.environ["DATABASE_URL"].partition("?")[0].rpartition("/")
    name = f"wwd_fault_{os.getpid()}"
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    in_postgres(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    in_postgres(f'CREATE DATABASE "{name}"')
    site = Site(tmp_path, f"{server}/{name}", settings.REDIS_URL)
    yield site
    site.kill_workers()
    in_postgres(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
    redis.Redis.from_url(settings.REDIS_URL).flushdb()


def in_postgres(statement: str) -> None:
    with closing(psycopg2.connect(os.environ["DATABASE_URL"])) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)


def test_units_of_a_killed_worker_are_each_done_once_without_any_service(embedded: Site) -> None:
    embedded.run(PLAN)
    embedded.kill_in_the_middle()
    embedded.start_worker()
    embedded.wait_until(embedded.ended)
    assert embedded.count() == WHOLE


def test_a_worker_that_is_told_to_stop_leaves_nothing_leased(embedded: Site) -> None:
    embedded.run(PLAN)
    embedded.start_worker()
    embedded.wait_until(lambda: embedded.done() >= UNITS // 10)
    embedded.workers[-1].terminate()
    assert embedded.workers[-1].wait(timeout=TOO_LONG) == 0
    assert embedded.leased() == 0
    assert embedded.done() < UNITS


@pytest.mark.postgres
@pytest.mark.redis
def test_units_of_a_killed_worker_are_each_done_once(served: Site) -> None:
    served.run(PLAN)
    served.kill_in_the_middle()
    served.start_worker()
    served.wait_until(served.ended)
    assert served.count() == WHOLE


@pytest.mark.postgres
@pytest.mark.redis
def test_units_are_each_done_once_when_redis_is_emptied_too(served: Site) -> None:
    served.run(PLAN)
    served.kill_in_the_middle()
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    served.start_worker()
    served.wait_until(lambda: served.done() >= UNITS // 2)
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    served.wait_until(served.ended)
    assert served.count() == WHOLE
