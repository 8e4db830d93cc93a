"""Real worker processes, killed while services come and go: every unit ends done, once, or failed with its reason.

The processes have a database and a folder of their own, and the Redis database that the tests were given; where a
service is stopped, it is one of the test's own.
"""

import os
import random
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg2
import pytest
import redis
from django.conf import settings

from evaluation.runner.leases import KILLED
from tests.faults.installation import IMAGES_PER_DISH, TOO_LONG, Site, own_postgres, own_redis

pytestmark = pytest.mark.embedded

UNITS = 200
MANY = 400
KILLS = 20
DUPLICATES = """
import django; django.setup()
import tests.faults.application
from evaluation.models import Run
from evaluation.tasks import work_on_run
run = Run.objects.get()
for number in range(200):
    work_on_run.apply_async(args=[run.pk, run.announced], queue="cpu")
"""


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
    """Slow: a worker is really killed. Nothing done twice and nothing lost is what a run costs money for."""
    embedded.plan(UNITS)
    embedded.kill_in_the_middle()
    embedded.start_worker()
    embedded.wait_until(embedded.ended)
    assert embedded.check()["deliveries"] > 1


def test_a_worker_that_is_told_to_stop_leaves_nothing_leased(embedded: Site) -> None:
    embedded.plan(UNITS)
    embedded.start_worker()
    embedded.wait_until(lambda: embedded.done() >= UNITS // 10)
    embedded.workers[-1].terminate()
    assert embedded.workers[-1].wait(timeout=TOO_LONG) == 0
    assert embedded.leased() == 0
    assert embedded.done() < UNITS


@pytest.mark.postgres
@pytest.mark.redis
def test_three_kills_and_an_emptied_broker_cost_no_unit(served: Site) -> None:
    served.plan(MANY)
    served.kill_in_the_middle()
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    served.kill_in_the_middle()
    served.kill_in_the_middle()
    served.start_worker()
    served.wait_until(lambda: served.done() >= MANY * 4 // 5)
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    served.wait_until(served.ended)
    assert served.check()["deliveries"] > 1


def reached(site: Site, goal: int) -> bool:
    return site.done() + site.failed() > goal or site.ended()


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_twenty_random_kills(served: Site) -> None:
    """Whole workers, main processes, single children; a unit may by chance be killed three times, and then says so."""
    served.environ["FAULT_PAUSE"] = "0.1"
    served.plan(1000, "deadly")
    choice = random.Random(7)
    for _ in range(KILLS):
        while len(served.running()) < 2:
            served.start_worker()
        goal = served.done() + served.failed() + 5
        served.wait_until(partial(reached, served, goal))
        assert not served.ended(), "the run ended before all kills"
        time.sleep(choice.random())
        served.kill_something(choice)
    while len(served.running()) < 2:
        served.start_worker()
    served.wait_until(served.ended, 300)
    failed = served.failed()
    assert failed <= 3
    served.check(failed, (KILLED,) if failed else ())


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_a_unit_that_always_kills_its_worker_fails_alone(served: Site) -> None:
    served.plan(UNITS, "deadly")
    for _ in range(2):
        served.start_worker(FAULT_DEADLY="1")
    end = time.monotonic() + 300
    while not served.ended() and time.monotonic() < end:
        # A main process may survive its children; one that does not is replaced, as a service manager does.
        while len(served.running()) < 2:
            served.start_worker(FAULT_DEADLY="1")
        time.sleep(0.5)
    served.wait_until(served.ended, 1)
    assert served.check(IMAGES_PER_DISH, (KILLED,))["deliveries"] == 3


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_a_message_that_comes_two_hundred_times_does_the_work_once(served: Site) -> None:
    served.plan(UNITS)
    served.run(DUPLICATES)
    for _ in range(2):
        served.start_worker()
    served.wait_until(served.ended)
    assert served.check()["deliveries"] == 1


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.redis
def test_a_host_whose_clock_is_an_hour_off_takes_nothing_from_the_others(served: Site) -> None:
    served.environ["FAULT_PAUSE"] = "0.05"
    served.plan(MANY, "deadly")
    for hours in ("0", "1", "-1"):
        served.start_worker(FAULT_HOURS=hours)
    served.wait_until(served.ended, 180)
    assert served.check()["deliveries"] == 1


@pytest.mark.long
@pytest.mark.postgres
def test_redis_may_be_away_for_a_minute(served: Site, tmp_path: Path) -> None:
    with own_redis(tmp_path) as broker:
        served.redis_url = served.environ["REDIS_URL"] = broker.url
        served.environ["FAULT_PAUSE"] = "0.2"
        served.plan(1000, "deadly")
        served.start_worker()
        served.wait_until(lambda: served.done() >= 50)
        broker.stop()
        time.sleep(60)
        broker.start()
        served.start_worker()
        served.wait_until(served.ended, 300)
        served.check()
        served.kill_workers()


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_postgresql_may_be_restarted(tmp_path: Path, how: str) -> None:
    """`immediate` is a power failure: what was committed is there, what was not is computed again."""
    with own_redis(tmp_path) as broker, own_postgres() as database:
        site = Site(tmp_path, database.url, broker.url)
        site.environ["FAULT_PAUSE"] = "0.1"
        try:
            site.plan(MANY, "deadly")
            site.start_worker()
            site.wait_until(lambda: site.done() >= 50)
            database.stop(how)
            time.sleep(5)
            database.start()
            while len(site.running()) < 2:
                site.start_worker()
            site.wait_until(site.ended, 180)
            site.check()
        finally:
            site.kill_workers()
