"""The web server without a proxy: whoever sends slowly holds no thread; bodies in chunks are read."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

from tests.wwd.processes import environment, gunicorn, snippet, status

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
