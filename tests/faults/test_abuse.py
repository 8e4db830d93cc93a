"""Somebody means harm, from one host: memory stays bounded, nothing is hidden beyond the brake, others are answered.

Counts, states and peak memory; `python -m bench.abuse` measures what others feel.
"""

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from bench.abuse import MOST_MEGABYTES, Others, Site, attacked, bomb, drip, meanwhile, send_photos, snapshot
from bench.abuse import reports as report_all
from collection.access import attempt_limits, return_codes
from tests.collection.make import make_contributor, make_dish, open_collection
from tests.faults.event_loops import run
from tests.wwd.processes import free_port
from tests.wwd.test_server import Server

pytestmark = pytest.mark.embedded

PUBLIC = 60
# What may become of a photo: kept, asked for again, or refused by a quota. None is lost without a word.
FATES = {"taken", "asked again", "answered 200", "answered 429", "answered 503"}
BRAKED = find_spec("collection.dishes.report_limits") is not None
SLOWED = hasattr(attempt_limits, "wait_after")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with attacked(tmp_path_factory.mktemp("abuse"), free_port(), PUBLIC) as running:
        yield running


def all_answered(others: Others) -> None:
    assert set(others.statuses) == {200}, others.statuses


def test_eight_pixel_bombs_take_little_memory_and_keep_nobody_out(site: Site) -> None:
    """Slow: the memory of a real process is what a bomb takes."""
    found: Counter[str] = Counter()
    _, others = meanwhile(site, lambda there: str(found.update(send_photos(there, there.photos[:8], bomb()))), least=4)
    assert found.total() == 8
    assert set(found) <= FATES, found
    assert site.megabytes() <= MOST_MEGABYTES
    all_answered(others)


def test_sixty_photos_at_once_take_little_memory_and_keep_nobody_out(site: Site) -> None:
    found: Counter[str] = Counter()
    _, others = meanwhile(site, lambda there: str(found.update(send_photos(there, there.photos, snapshot()))), least=4)
    assert found.total() == PUBLIC
    assert set(found) <= FATES, found
    assert found["taken"]
    assert site.megabytes() <= MOST_MEGABYTES
    all_answered(others)


def test_five_hundred_slow_senders_keep_nobody_out(tmp_path: Path) -> None:
    """Against script/server as it is started by hand, without a proxy. Slow: only a real server has threads to take."""
    server = Server(tmp_path, free_port()).ready()
    try:
        there, seen = Site(server.port, server.process.pid, {}), threading.Event()

        def look() -> None:
            for path in ("/", "/dishes/", "/leaderboard/", "/describe/", "/healthz"):
                answers.append(there.ask("GET", path)[0])
            seen.set()

        answers: list[int] = []
        looking = threading.Timer(2, look)
        looking.start()
        kept = run(drip(server.port, 500, 90, until=seen))
        looking.join()
        assert answers == [200] * 5
        assert kept == 500
    finally:
        assert server.stop(signal.SIGTERM) == 0


@pytest.mark.skipif(not BRAKED, reason="the brake on hiding is a part of its own")
def test_reports_on_all_public_dishes_hide_few(site: Site) -> None:
    hiding = import_module("collection.dishes.report_limits")
    before = site.public()
    assert before == PUBLIC
    report_all(site)
    assert before - site.public() <= hiding.FEW


@pytest.mark.django_db
@pytest.mark.skipif(not SLOWED, reason="codes that always pass are a part of their own")
def test_after_an_hour_of_made_up_codes_a_right_one_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is moved on by six seconds with each try."""
    from collection.check_digits import check_digit

    open_collection()
    person = make_contributor()
    make_dish("Kenkey", contributor=person)
    right, start = return_codes.issue_return_code(person.pk, "contributor"), timezone.now()
    passed = [0]

    def moved() -> datetime:
        return start + timedelta(seconds=passed[0])

    monkeypatch.setattr(timezone, "now", moved)
    client = Client()
    for number in range(600):
        passed[0] = 6 * number
        digits = f"{number:015d}"
        assert client.post("/return/", {"code": digits + check_digit(digits)}).status_code < 500
    assert "Kenkey" in client.post("/return/", {"code": right}).content.decode()
