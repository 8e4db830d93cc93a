"""The web server without a proxy: anyone who sends slowly holds no thread; bodies in chunks are read."""

import http.client
import json
import resource
import select
import selectors
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from gunicorn.config import Config
from gunicorn.workers.gthread import TConn

from tests.wwd.processes import environment, gunicorn, snippet, status
from wwd.base.web_server import web_worker
from wwd.base.web_server.web_worker import PatientWorker, get_client_host

FORM = """
import json
from collection.models import Dish
from tests.collection.make import dish_form, make_contributor, open_collection
open_collection()
print(json.dumps(dish_form(make_contributor())))
"""
DISHES = "from collection.models import Dish; print(list(Dish.objects.values_list('local_name', flat=True)))"
SLOW = b"POST /dish/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nproof="
THREADS = "2"


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("web")
    return environment(folder / "var", WWD_WEB_PROCESSES="1", WWD_WEB_THREADS=THREADS)


@pytest.fixture(scope="module")
def site(environ: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gunicorn(environ, tmp_path_factory.mktemp("log") / "log") as address:
        yield address


def line(site: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(site.rpartition(":")[2])), timeout=20)


def test_more_slow_senders_than_threads_keep_nobody_out(site: str) -> None:
    with ExitStack() as held:
        lines = [held.enter_context(line(site)) for _ in range(40)]
        for number, each in enumerate(lines):
            # Half of them stop within the head, half within the body.
            each.sendall(SLOW[: 30 if number % 2 else len(SLOW)])
        for _ in range(10):
            assert status(f"{site}/healthz", 20) == 200
            for each in lines:
                each.sendall(b"x")
        assert status(f"{site}/", 20) == 200


def test_whoever_keeps_the_line_open_after_the_answer_keeps_nobody_out(site: str) -> None:
    with ExitStack() as held:
        for _ in range(40):
            each = held.enter_context(line(site))
            each.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert status(f"{site}/healthz", 20) == 200


def read_answer(each: socket.socket) -> bytes:
    answer = http.client.HTTPResponse(each)
    answer.begin()
    return answer.read()


def test_one_line_carries_several_requests_also_sent_at_once(site: str) -> None:
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with line(site) as each:
        each.sendall(ask)
        assert b"ok" in read_answer(each)
        each.sendall(ask + ask + b"GET /hea")
        text = b""
        while text.count(b'"ok"') < 2:
            text += each.recv(4096)
        each.sendall(b"lthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"ok" in read_answer(each)


def test_who_waits_to_be_told_to_go_on_is_told(site: str) -> None:
    with line(site) as each:
        each.sendall(b"POST /dish/ HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert each.recv(100).startswith(b"HTTP/1.1 100 ")
        each.sendall(b"a=b")
        text = b""
        while b"</html>" not in text:
            text += each.recv(4096)
        assert b"HTTP/1.1 200" in text


@pytest.mark.parametrize("pieces", [1, 7, 100_000])
def test_a_dish_sent_in_chunks_is_saved(site: str, environ: dict[str, str], pieces: int) -> None:
    typed = json.loads(snippet(environ, FORM).splitlines()[-1])
    name = f"In {pieces} pieces"
    body = urlencode({**typed, "local_name": name}).encode()
    connection = http.client.HTTPConnection("127.0.0.1", int(site.rpartition(":")[2]), timeout=20)
    headers = {"Host": "localhost", "Transfer-Encoding": "chunked", "Content-Type": "application/x-www-form-urlencoded"}
    parts = (body[at : at + pieces] for at in range(0, len(body), pieces))
    connection.request("POST", "/dish/", parts, headers, encode_chunked=True)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 200
    assert "could not tell where this form came from" not in text
    assert name in snippet(environ, DISHES)


def test_too_large_a_body_in_chunks_is_refused_with_a_page(site: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", int(site.rpartition(":")[2]), timeout=60)
    parts = (b"x" * 1024 * 1024 for _ in range(62))
    headers = {"Host": "localhost", "Transfer-Encoding": "chunked"}
    connection.request("POST", "/photo/", parts, headers, encode_chunked=True)
    assert connection.getresponse().status == 413


def test_a_body_in_chunks_that_breaks_off_is_no_error_of_ours(site: str) -> None:
    with line(site) as each:
        each.sendall(b"POST /dish/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
        assert each.recv(100).startswith(b"HTTP/1.1 400")
    assert status(f"{site}/healthz") == 200


# One worker without a process around it, on real sockets.


class Worker(PatientWorker):
    """Holds the requests that it would give to threads."""

    def enqueue_req(self, conn: TConn) -> None:
        self.whole = getattr(self, "whole", [])
        self.whole.append(conn)


@pytest.fixture
def worker() -> Iterator[Worker]:
    config = Config()
    config.set("worker_connections", 8)
    made = Worker(0, 0, [], None, 30, config, None)
    made.poller = selectors.DefaultSelector()
    yield made
    for conn in [*made.waiting, *made.leaving]:
        conn.close()
    made.poller.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=32) as found:
        yield found


def connect(worker: Worker, listener: socket.socket, sent: bytes = b"") -> tuple[socket.socket, TConn]:
    """The far end of a connection that the worker took, and the worker's end."""
    far = socket.create_connection(listener.getsockname(), timeout=20)
    far.sendall(sent)
    select.select([listener], [], [], 20)
    before = set(worker.waiting)
    worker.accept(listener)
    [conn] = set(worker.waiting) - before
    return far, conn


def heard(conn: TConn) -> None:
    """Waits until the worker's end has something to read."""
    assert select.select([conn.sock.opened], [], [], 20)[0]


def test_the_oldest_of_whoever_holds_most_goes_before_nobody_gets_in(worker: Worker, listener: socket.socket) -> None:
    with ExitStack() as held:
        ends = [connect(worker, listener) for _ in range(5)]
        for far, _conn in ends:
            held.enter_context(far)
        assert ends[0][1] in worker.leaving and [conn for _far, conn in ends[1:]] == list(worker.waiting)
        assert ends[0][0].recv(100).startswith(b"HTTP/1.1 503 ")
        assert get_client_host(ends[1][1]) == "127.0.0.1"


@pytest.mark.parametrize(("sent", "answer"), [(b"GET / HT", b"HTTP/1.1 408 "), (b"", b"")])
def test_who_takes_too_long_is_told_where_they_had_begun(
    worker: Worker, listener: socket.socket, monkeypatch: pytest.MonkeyPatch, sent: bytes, answer: bytes
) -> None:
    far, conn = connect(worker, listener)
    with far:
        if sent:
            far.sendall(sent)
            heard(conn)
            worker.read_more(conn, conn.sock)
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 3600)
        worker.murder_pending()
        assert not worker.waiting and far.recv(100).startswith(answer)
        now += 3600
        worker.murder_pending()
        assert not worker.leaving and worker.nr_conns == 0


def test_a_line_that_is_torn_is_forgotten(worker: Worker, listener: socket.socket) -> None:
    far, conn = connect(worker, listener)
    # Closing with this option resets the connection.
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    far.close()
    heard(conn)
    worker.read_more(conn, conn.sock)
    assert (worker.waiting, worker.nr_conns) == ({}, 0)


def test_what_does_not_fit_on_the_disk_is_sent_away(worker: Worker, listener: socket.socket) -> None:
    far, conn = connect(worker, listener)
    with far:
        full = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115, PTH123  (closed with the connection)
        worker.waiting[conn].content = full  # type: ignore[assignment]
        far.sendall(SLOW)
        heard(conn)
        worker.read_more(conn, conn.sock)
        assert far.recv(100).startswith(b"HTTP/1.1 503 ") and full.closed


def test_more_than_a_process_keeps_is_sent_away(
    worker: Worker, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_worker, "MOST_HELD", 3)
    far, conn = connect(worker, listener)
    with far:
        far.sendall(SLOW)
        heard(conn)
        worker.read_more(conn, conn.sock)
        assert far.recv(100).startswith(b"HTTP/1.1 503 ") and worker.held == 0


@pytest.mark.parametrize("raised", [True, False])
def test_after_an_answer_the_line_goes_on_and_after_an_error_it_ends(
    worker: Worker, listener: socket.socket, raised: bool
) -> None:
    far, conn = connect(worker, listener)
    with far:
        far.sendall(b"GET / HTTP/1.1\r\n\r\nGET /next")
        heard(conn)
        worker.read_more(conn, conn.sock)
        assert worker.whole == [conn] and not worker.waiting
        done: Future[Any] = Future()
        if raised:
            done.set_exception(ValueError("of the application"))
        else:
            done.set_result(True)
        worker.finish_request(conn, done)
        assert (conn in worker.waiting, conn in worker.leaving) == (not raised, raised)
        if raised:
            worker.read_away(conn, conn.sock)
            assert conn in worker.leaving
            # The same line once more, as after a request that never came.
            assert worker.rest_of(conn) == b""
        else:
            assert bytes(worker.waiting[conn].head) == b"GET /next"


@pytest.mark.parametrize("hard", [True, False])
def test_a_process_opens_as_many_files_as_the_system_lets_it(tmp_path: Path, hard: bool) -> None:
    """Three for each connection; where the system allows fewer, as many as it allows."""
    most = 500 if hard else resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    code = f"""
import resource
from gunicorn.config import Config
from gunicorn.workers.gthread import ThreadWorker
from wwd.base.web_server.web_worker import PatientWorker
resource.setrlimit(resource.RLIMIT_NOFILE, (200, {most}))
config = Config()
config.set("worker_connections", 1000)
ThreadWorker.init_process = lambda worker: None
PatientWorker(0, 0, [], None, 30, config, None).init_process()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""
    assert int(snippet(environment(tmp_path), code)) == (500 if hard else min(3000, most))
