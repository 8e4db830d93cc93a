"""Fifty phones on 2G lines send at once: all arrive, and the site stays open for everybody else."""

import asyncio
from pathlib import Path

import pytest

from bench.slow_clients import PHOTO_PATH, Halfway, measure, open_page, send_slowly, server
from tests.faults.event_loops import run
from tests.wwd.processes import free_port

CLIENTS = 50
# A proof that is none: the site says so in a page, which means that the whole form was read.
ORDINARY = {200, 403, 422}


async def open_the_site_while_all_are_sending(port: int) -> list[int]:
    """Every upload stops in its middle until the start page has answered: none can free a thread for it."""
    halfway = Halfway()
    sending = [asyncio.create_task(send_slowly(port, PHOTO_PATH, 60_000, 12_000, halfway)) for _ in range(CLIENTS)]
    while halfway.arrived < CLIENTS:
        assert not any(task.done() for task in sending), "an upload was dropped"
        await asyncio.sleep(0.05)
    await open_page(port, "/", 30)
    halfway.go.set()
    return list(await asyncio.gather(*sending))


def test_fifty_slow_phones_all_arrive_and_the_start_page_answers_meanwhile(tmp_path: Path) -> None:
    """On one process: with two, chance may send them all to one and the visitor to the other.

    Slow because phones are: a server that waits for one of them keeps everybody out, which no unit test shows.
    """
    port = free_port()
    with server(tmp_path, port, WWD_WEB_PROCESSES="1"):
        statuses = run(open_the_site_while_all_are_sending(port))
    assert len(statuses) == CLIENTS
    assert set(statuses) <= ORDINARY


@pytest.mark.long
def test_fifty_photos_of_300_kilobytes_at_6_kilobytes_a_second_all_arrive(tmp_path: Path) -> None:
    port = free_port()
    with server(tmp_path, port):
        found = run(measure(port, CLIENTS, size=300_000, rate=6_000))
    assert len(found.statuses) == CLIENTS
    assert set(found.statuses) <= ORDINARY
    assert len(found.probes) >= 20


def test_a_phone_that_loses_its_line_leaves_no_error_behind(tmp_path: Path) -> None:
    """Slow: only the log of a real server shows what a torn connection leaves."""
    port = free_port()

    async def lose_the_line() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /photo/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\n"
        )
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    with server(tmp_path, port):
        run(lose_the_line())
        assert run(send_slowly(port, "/photo/", 2_000, 10_000)) in ORDINARY
        run(open_page(port, "/", 30))
    log = (tmp_path / "log").read_text()
    assert " 500 " not in log
    assert "ERROR" not in log
