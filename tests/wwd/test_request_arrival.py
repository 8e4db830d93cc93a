"""Where a request ends, however it is cut into pieces, and how long its sender may take."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wwd.base.web_server.request_arrival import GRACE, HEAD_SECONDS, MOST_HEAD, SILENCE, Arriving

MOST = 10_000
COUNTED = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello\r\n\r\nyo"
CHUNKED = b"POST /a HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"
CHUNKED += b"5;a=b\r\nhello\r\nA\r\n\r\n0\r\n\r\n123\r\n0\r\nTrailer: x\r\n\r\n"
PLAIN = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def arrived(pieces: list[bytes], most: int = MOST) -> Arriving:
    found = Arriving(most, 0.0)
    for piece in pieces:
        assert not found.complete
        found.feed(piece, 1.0)
    return found


def content(found: Arriving) -> bytes:
    found.content.seek(0)
    return found.content.read()


@pytest.mark.parametrize("request_", [COUNTED, CHUNKED, PLAIN])
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_request_ends_where_it_ends_however_it_is_cut(request_: bytes, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(request_) - 1), max_size=12)))
    edges = [0, *cuts, len(request_)]
    pieces = [request_[a:b] for a, b in pairwise(edges)]
    pieces[-1] += b"GET /next"
    found = arrived(pieces)
    assert found.complete
    assert content(found) == request_
    assert found.rest == b"GET /next"


@pytest.mark.parametrize(
    "request_",
    [
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 9000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /" + b"a" * (MOST_HEAD + 1),
        b"nonsense\r\n\r\n",
    ],
)
def test_what_cannot_be_understood_is_handed_on_to_be_refused(request_: bytes) -> None:
    assert arrived([request_]).complete


def test_a_body_longer_than_is_taken_is_handed_on_cut_off() -> None:
    found = arrived([b"POST / HTTP/1.1\r\nContent-Length: 999999999999999999999\r\n\r\n", b"x" * MOST])
    assert found.complete
    assert found.size == MOST


def test_a_sender_may_take_long_and_not_for_ever() -> None:
    nothing = Arriving(MOST, 0.0)
    assert not nothing.is_late(29, idle=30)
    assert nothing.is_late(31, idle=30)
    head = Arriving(MOST, 0.0)
    for second in range(40):
        head.feed(b"a", float(second))
    assert head.is_late(HEAD_SECONDS + 1, idle=30)
    phone = Arriving(10**9, 0.0)
    phone.feed(b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 0.0)
    for second in range(3600):
        phone.feed(b"x" * 600, float(second))
        assert not phone.is_late(second + 0.5, idle=30)
    assert phone.is_late(3600 + SILENCE, idle=30)
    drip = Arriving(10**9, 0.0)
    drip.feed(b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 0.0)
    for second in range(int(GRACE * 2)):
        drip.feed(b"x" * 200, float(second))
    assert drip.is_late(GRACE * 2, idle=30)


def test_empty_lines_before_a_request_mean_nothing() -> None:
    assert content(arrived([b"\r\n", b"\r\n" + PLAIN])) == PLAIN
