"""The pace of a provider's key holds for all workers together, whatever the broker forgets."""

import threading
import time
from collections.abc import Iterator

import pytest
import redis
from django.conf import settings as django_settings
from django.db import connection
from pytest_django import Settings

from evaluation.backends import rate_limit
from evaluation.models import Model, Run, TokenBucket, Unit
from evaluation.runner import create_run, forecast_run, process_run
from tests.evaluation.make import make_dish
from tests.evaluation.provider import Provider, serving

pytestmark = pytest.mark.embedded

WORKERS = 8
# The clock is scaled: the provider's minute lasts two seconds.
MINUTE = 2.0
ALLOWED = 60
LARGE = 1000
PRICE = 0.04


@pytest.fixture
def server(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    settings.LOCAL_PROVIDERS = True
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(rate_limit, "MINUTE", MINUTE)
    with serving() as found:
        found.allowed, found.minute = ALLOWED, MINUTE
        yield found


@pytest.mark.django_db
def test_the_second_call_waits_and_another_key_does_not() -> None:
    rate_limit.wait_for_slot("a", 60)
    with pytest.raises(rate_limit.WaitTooLongError) as caught:
        rate_limit.wait_for_slot("a", 60, patience=0.1)
    # 60 s ÷ (60 × 0.9).
    assert 0.5 < caught.value.seconds <= 60 / 54
    rate_limit.wait_for_slot("b", 60, patience=0.5)


@pytest.mark.django_db
def test_a_call_for_several_images_takes_their_share() -> None:
    rate_limit.wait_for_slot("a", 60, amount=10)
    assert 10 < rate_limit.compute_wait_seconds("a") <= 600 / 54


@pytest.mark.django_db
def test_without_a_limit_only_what_the_provider_asked_for_is_waited() -> None:
    for _ in range(20):
        rate_limit.wait_for_slot("a", 0, patience=0.5)
    rate_limit.pause_calls("a", 60)
    with pytest.raises(rate_limit.WaitTooLongError):
        rate_limit.wait_for_slot("a", 0, patience=0.5)


@pytest.mark.django_db
def test_a_host_whose_clock_is_an_hour_off_goes_no_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    rate_limit.wait_for_slot("a", 6)
    ahead = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: ahead)
    with pytest.raises(rate_limit.WaitTooLongError):
        rate_limit.wait_for_slot("a", 6, patience=0.1)


def make_run(server: Provider, units: int) -> int:
    for number in range(units // 10):
        make_dish(f"Dish {number}")
    Model.objects.create(
        slug="dalle",
        title="Dall-E",
        role="image_generator",
        backend="openai",
        identifier="dall-e-3",
        parameters={"base_url": f"{server.url}/v1", "seeds": False, "per_minute": ALLOWED, "timeout": 30},
        price={"currency": "USD", "date": "2024-07-01", "per_unit": PRICE},
    )
    return create_run("generation", {"model": "dalle", "images_per_subject": 10}).pk


def worked_by_all(run: int, minutes: float) -> list[threading.Thread]:
    def one(number: int) -> None:
        try:
            process_run(run, f"worker {number}", seconds=minutes * 60)
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    return threads


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("units", [200, pytest.param(LARGE, marks=pytest.mark.long)])
def test_eight_workers_never_exceed_what_the_provider_allows(server: Provider, units: int) -> None:
    """Redis is emptied in the middle, where there is one: the pace is stored by the database alone.

    Cost and time that are shown at half-way come true; the time is looked at in the long run only.
    """
    run = Run.objects.get(pk=make_run(server, units))
    threads = worked_by_all(run.pk, minutes=10)
    while len(server.times) < units // 2 and any(thread.is_alive() for thread in threads):
        time.sleep(0.05)
    if django_settings.REDIS_URL:
        redis.Redis.from_url(django_settings.REDIS_URL).flushdb()
    run.refresh_from_db()
    shown, half = forecast_run(run), time.monotonic()
    for thread in threads:
        thread.join()
    took = time.monotonic() - half
    assert server.exceeded == 0
    assert len(server.calls) == units
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}
    assert TokenBucket.objects.count() == 1
    assert shown.spent["USD"] + shown.to_come["USD"] == pytest.approx(PRICE * units)
    if units == LARGE:
        assert shown.seconds == pytest.approx(took, rel=0.1)
