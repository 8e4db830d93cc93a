"""The broker without a server: a message is whole or not there."""

import threading
from pathlib import Path

import pytest
from kombu import Connection, Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

from wwd.broker import Transport
from wwd.celery import app

pytestmark = pytest.mark.embedded


@pytest.fixture(autouse=True)
def forget_other_folders() -> None:
    """A process remembers which queues it bound, whatever the folder; real processes have one folder each."""
    Transport.global_state.clear()


def connect(folder: Path) -> Connection:
    options = {"data_folder_in": str(folder), "data_folder_out": str(folder), "control_folder": str(folder / "control")}
    return Connection("filesystem://", transport_options=options)


def test_messages_arrive_in_the_order_in_which_they_were_sent(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        queue = connection.SimpleQueue("cpu")
        for number in range(20):
            queue.put({"number": number})
        assert [queue.get_nowait().payload["number"] for _ in range(20)] == list(range(20))


def test_one_queue_does_not_get_the_messages_of_another(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        connection.SimpleQueue("gpu").put("for cards")
        assert len(connection.SimpleQueue("cpu")) == 0
        assert len(connection.SimpleQueue("gpu")) == 1


def test_a_half_written_message_is_never_read(tmp_path: Path) -> None:
    (tmp_path / ".part-of-a-killed-process").write_text('{"bo')
    with connect(tmp_path) as connection:
        queue = connection.SimpleQueue("cpu")
        assert len(queue) == 0
        queue.put("whole")
        assert queue.get_nowait().payload == "whole"


def test_messages_of_many_writers_all_arrive_whole(tmp_path: Path) -> None:
    def write(name: int) -> None:
        with connect(tmp_path) as connection:
            queue = connection.SimpleQueue("cpu")
            for number in range(25):
                queue.put({"number": name * 100 + number, "padding": "x" * 20_000})

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    found: set[int] = set()
    with connect(tmp_path) as connection:
        queue = connection.SimpleQueue("cpu")
        while len(found) < 100:
            found.add(queue.get(timeout=30).payload["number"])
    for thread in threads:
        thread.join()
    assert found == {name * 100 + number for name in range(4) for number in range(25)}


def test_the_worker_application_uses_it() -> None:
    assert TRANSPORT_ALIASES["filesystem"] == "wwd.broker:Transport"
    assert app.conf.task_acks_late


def test_a_queue_with_an_exchange_of_another_name_is_bound_to_it(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        news = Exchange("news", type="direct")
        queue = Queue("cpu", exchange=news, routing_key="new", channel=connection.channel())
        queue.declare()
        connection.Producer().publish({"number": 7}, exchange=news, routing_key="new")
        found = queue.get(no_ack=True)
        assert found is not None and found.payload == {"number": 7}
