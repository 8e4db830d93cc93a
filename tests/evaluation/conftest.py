"""A broker in memory, where tests can read what was announced, and a provider that listens on this machine."""

import csv
from collections.abc import Callable, Iterator

import pytest
from kombu import Connection
from kombu.transport.memory import Channel
from pytest_django import Settings

from evaluation.backends import provider as calls
from tests.evaluation.provider import Provider, serving
from wwd.celery import app


def set_broker(url: str, options: dict[str, object]) -> None:
    app.conf.update(broker_url=url, broker_transport_options=options)
    vars(app.amqp)["_producer_pool"] = None


@pytest.fixture(autouse=True)
def broker_in_memory() -> Iterator[None]:
    before = app.conf.broker_url, app.conf.broker_transport_options
    set_broker("memory://", {})
    Channel.queues.clear()
    yield
    set_broker(*before)


@pytest.fixture
def broker_down(transactional_db: None) -> None:
    """A broker that refuses every connection."""
    set_broker("redis://127.0.0.1:1/0", {"max_retries": 1, "interval_start": 0, "socket_connect_timeout": 1})


@pytest.fixture
def announced(transactional_db: None) -> Callable[[], list[tuple[int, int]]]:
    """Takes the announcements that wait in the broker: (run, number). Really commits: nothing is sent before."""

    def take() -> list[tuple[int, int]]:
        found = []
        with Connection("memory://") as connection:
            for name in ("cpu", "gpu", "api"):
                queue = connection.SimpleQueue(name)
                while len(queue):
                    message = queue.get_nowait()
                    message.ack()
                    found.append(tuple(message.payload[0]))
        return found

    return take


@pytest.fixture
def short_cells() -> Iterator[int]:
    """No cell of a CSV file may be longer than 1,000 letters, instead of two billion."""
    before = csv.field_size_limit(1000)
    yield 1000
    csv.field_size_limit(before)


@pytest.fixture
def at_home(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider on this machine may be asked, with a key, and again without a long wait."""
    settings.LOCAL_PROVIDERS = True
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setattr(calls, "compute_backoff", lambda *_: 0.01)


@pytest.fixture
def server() -> Iterator[Provider]:
    with serving() as found:
        yield found
