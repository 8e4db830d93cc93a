"""One installation with worker processes that can be killed, and services of its own that can be stopped."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg2
import pytest
import redis

from tests.template_database import copy_database
from tests.wwd.processes import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
IMAGES_PER_DISH = 5
TOO_LONG = 90.0

PLAN = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
import tests.faults.application
from evaluation.runner import announce_run, create_run
from tests.evaluation.make import make_demonstration_dishes
make_demonstration_dishes({dishes})
config = {{
    "model": "sketch",
    "subjects": {{"kind": "dish", "demonstration": True}},
    "images_per_subject": {images},
}}
run = create_run("{study}", config, slug="killed")
announce_run(run)
print(run.pk)
"""
COUNT = """
import json, django; django.setup()
from collections import Counter
from datetime import timedelta
from django.conf import settings
from django.db.models import Max
from evaluation import content_store
from evaluation.models import GeneratedImage, Outcome, Unit
content_store.remove_orphans(timedelta(0))
hashes = set(GeneratedImage.objects.values_list("sha256", flat=True))
held = {path.name for path in (settings.MEDIA_ROOT / "images").rglob("*") if path.is_file()}
print(json.dumps({
    "states": dict(Counter(Unit.objects.values_list("state", flat=True))),
    "units": Unit.objects.count(),
    "outcomes": Outcome.objects.count(),
    "images": GeneratedImage.objects.count(),
    "files": len(held),
    "every file is named and every name is a file": held == hashes,
    "deliveries": Unit.objects.aggregate(most=Max("deliveries"))["most"],
    "reasons": sorted(set(Outcome.objects.exclude(reason="").values_list("reason", flat=True))),
}))
"""


class Site:
    """One installation: its environment and its workers."""

    def __init__(self, folder: Path, database_url: str = "", redis_url: str = "") -> None:
        self.folder = folder
        self.database_url = database_url
        self.redis_url = redis_url
        self.units = 0
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
        if not database_url:
            copy_database(folder / "var")

    def run(self, code: str) -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, env=self.environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def plan(self, units: int, study: str = "generation") -> int:
        """Plans and announces a run of so many images; returns its id."""
        self.units = units
        dishes = units // IMAGES_PER_DISH
        printed = self.run(PLAN.format(dishes=dishes, images=IMAGES_PER_DISH, study=study))
        return int(printed.splitlines()[-1])

    def count(self) -> dict[str, Any]:
        """What is there in the end, files that no row names removed before."""
        found = json.loads(self.run(COUNT).splitlines()[-1])
        assert isinstance(found, dict)
        return found

    def check(self, failed: int = 0, reasons: tuple[str, ...] = ()) -> dict[str, Any]:
        """Every unit is done once, or is among the `failed` and says why; returns what was counted."""
        found = self.count()
        done = self.units - failed
        assert found["states"] == {"done": done, **({"failed": failed} if failed else {})}, found
        assert (found["units"], found["outcomes"], found["images"]) == (self.units, self.units, done), found
        assert (found["files"], found["every file is named and every name is a file"]) == (done, True), found
        assert found["reasons"] == list(reasons), found
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

    def failed(self) -> int:
        return int(self.value("SELECT COUNT(*) FROM evaluation_unit WHERE state = 'failed'"))

    def ended(self) -> bool:
        return bool(self.value("SELECT state FROM evaluation_run") == "done")

    def start_worker(self, *words: str, **changes: str) -> subprocess.Popen[bytes]:
        name = f"worker{len(self.workers)}"
        command = [sys.executable, "-m", "celery", "-A", "tests.faults.application", "worker", "-n", f"{name}@%h"]
        with (self.folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [*command, *(words or ("-Q", "cpu", "-c", "2"))],
                cwd=ROOT,
                env={**self.environ, **changes},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.workers.append(started)
        return started

    def running(self) -> list[subprocess.Popen[bytes]]:
        return [worker for worker in self.workers if worker.poll() is None]

    def kill_workers(self) -> None:
        """Ends the workers with all their processes at once, as a lost machine would."""
        for worker in self.workers:
            kill_group(worker)

    def wait_until(self, reached: Callable[[], bool], seconds: float = TOO_LONG) -> None:
        end = time.monotonic() + seconds
        while not reached():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text()[-4000:] for path in sorted(self.folder.glob("*.log")))
                raise AssertionError(f"{self.done()} of {self.units} units are done after {seconds} s.\n{logs}")
            time.sleep(0.02)

    def kill_in_the_middle(self) -> None:
        """Kills a worker that holds units: it is stopped first, looked at, and let go on if it holds none."""
        before = self.done()
        self.start_worker()
        self.wait_until(lambda: self.done() >= before + self.units // 10)
        os.killpg(self.workers[-1].pid, signal.SIGSTOP)
        while not self.leased():
            os.killpg(self.workers[-1].pid, signal.SIGCONT)
            time.sleep(0.01)
            os.killpg(self.workers[-1].pid, signal.SIGSTOP)
        self.kill_workers()
        assert 0 < self.done() < self.units, "the worker was too quick to be killed in the middle"

    def kill_something(self, choice: random.Random) -> str:
        """`kill -9` for a whole worker, its main process alone, or one of its children; says which."""
        worker = choice.choice(self.running())
        what = choice.choice(("all", "main", "child"))
        below = children(worker.pid)
        if what == "child" and below:
            kill(choice.choice(below))
        elif what == "main":
            worker.kill()
            worker.wait()
        else:
            kill_group(worker)
        return what


def kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def kill_group(worker: subprocess.Popen[bytes]) -> None:
    """The processes that a worker started are in its group, also those that outlive it."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


def children(process: int) -> list[int]:
    listed = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in listed.split()]


class OwnRedis:
    """A Redis server of the test's own, which keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        given = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with (self.folder / "redis.txt").open("ab") as log:
            self.process = subprocess.Popen(["redis-server", *given], cwd=self.folder, stdout=log, stderr=log)
        end = time.monotonic() + 10
        while not self.answers():
            assert time.monotonic() < end, "Redis did not start"
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            return bool(redis.Redis.from_url(self.url).ping())
        except redis.ConnectionError:
            return False

    def empty(self) -> None:
        redis.Redis.from_url(self.url).flushall()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def own_redis(folder: Path) -> Iterator[OwnRedis]:
    """A Redis server until the block ends; skips the test where the program is missing."""
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server on the path")
    server = OwnRedis(folder)
    try:
        yield server
    finally:
        server.stop()


class OwnPostgres:
    """A PostgreSQL cluster of the test's own."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs, self.port = folder, programs, free_port()
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        self.call("initdb", "--auth", "trust", "--username", "postgres", "--encoding", "UTF8", "--no-sync")
        self.start()

    def call(self, program: str, *words: str) -> None:
        """Runs a program on the cluster, as the system's user postgres where we are root, which it refuses to be."""
        command = [str(self.programs / program), "--pgdata", str(self.folder / "data"), *words]
        prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        subprocess.run([*prefix, *command], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
        self.call("pg_ctl", "start", "--wait", "--silent", "--log", str(self.folder / "log"), "--options", options)

    def stop(self, how: str = "fast") -> None:
        """`fast`: connections are ended; `immediate`: as if the power failed."""
        self.call("pg_ctl", "stop", "--wait", "--silent", "--mode", how)


@contextmanager
def own_postgres() -> Iterator[OwnPostgres]:
    """A cluster until the block ends; skips the test where the programs are missing."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        pytest.skip("no programs of a PostgreSQL server in /usr/lib/postgresql")
    # Not in pytest's own folder, which other users may not enter.
    with tempfile.TemporaryDirectory(prefix="wwd-postgres-") as folder:
        server = OwnPostgres(Path(folder), found[-1].parent)
        try:
            yield server
        finally:
            server.stop("immediate")
