"""gunicorn's worker with threads, where a thread is spent only on a request that has arrived whole.

gunicorn's own worker reads heads and bodies in its threads, and waits there for as long as the sender likes: a few
hundred who send slowly take all threads, and nobody else is answered. Here the one loop of the process, which waits
for all connections at once, reads them; who is too slow gets a message (408). A thread never waits for a sender.
"""

import resource
import socket
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ
from typing import Any

from django.conf import settings
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, TConn, ThreadWorker

from wwd.base.web_server.request_arrival import Arriving

CHUNK = 64 * 1024
# What one process keeps of requests that are still arriving, in bytes; most of it on disk.
MOST_HELD = 512 * 1024 * 1024
# Sizes of chunks that come with a body of the largest size; the application must see that it is too large.
FRAMES = 1024 * 1024
# A whole page or photo goes to the system at once, so that a slow reader holds no thread either.
SEND_BUFFER = 400_000
SEND_SECONDS = 60.0
LINGER_SECONDS = 2.0
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ENDING = b"Connection: close\r\nContent-Length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n" + ENDING
NO_ROOM = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\n" + ENDING


class Line:
    """A socket as gunicorn's parser sees it: reading takes from the request that arrived, writing goes out."""

    def __init__(self, opened: socket.socket) -> None:
        self.opened = opened
        self.arriving: Arriving | None = None

    def recv(self, size: int) -> bytes:
        """Bytes of the request; nothing behind its end, so that no thread ever waits here."""
        return self.arriving.content.read(size) if self.arriving else b""

    def setblocking(self, blocking: bool) -> None:
        self.opened.settimeout(SEND_SECONDS if blocking else 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.opened, name)


class PatientWorker(ThreadWorker):
    """Keeps connections in `waiting` until their request is there, and in `leaving` until their sender has gone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waiting: dict[TConn, Arriving] = {}
        self.leaving: dict[TConn, float] = {}
        self.held = 0

    def init_process(self) -> None:
        """Opens as many files as the system lets us: each connection is one, and a long request a second."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 3 * self.worker_connections
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        super().init_process()

    def accept(self, listener: Any) -> None:
        try:
            opened, address = listener.accept()
        except OSError:
            # Nobody is there any more, or another process was quicker.
            return
        with suppress(OSError):
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.nr_conns += 1
        self.make_room()
        self.await_request(TConn(self.cfg, Line(opened), address, listener.getsockname()), b"")

    def make_room(self) -> None:
        """Lets the oldest connection go of anyone who holds most, before there are so many that nobody gets in."""
        if len(self.waiting) < self.worker_connections // 2:
            return
        held = Counter(get_client_host(conn) for conn in self.waiting)
        most = held.most_common(1)[0][0]
        self.drop(next(conn for conn in self.waiting if get_client_host(conn) == most), NO_ROOM)

    def await_request(self, conn: TConn, data: bytes) -> None:
        """Waits for the next request of a connection; `data` came of it already."""
        conn.sock.setblocking(False)
        self.waiting[conn] = Arriving(settings.MAX_REQUEST_BYTES + FRAMES, time.monotonic())
        self.poller.register(conn.sock, EVENT_READ, partial(self.read_more, conn))
        if data:
            self.take(conn, data)
        else:
            self.read_more(conn, conn.sock)

    def read_more(self, conn: TConn, line: Line) -> None:
        try:
            data = line.opened.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.take(conn, data)
        else:
            self.drop(conn)

    def take(self, conn: TConn, data: bytes) -> None:
        """Adds to the request; once it is whole, a thread answers it."""
        arriving = self.waiting[conn]
        in_head, before = arriving.body is None, arriving.size
        try:
            arriving.feed(data, time.monotonic())
        except OSError:
            # The disk for what arrives is full.
            self.drop(conn, NO_ROOM)
            return
        self.held += arriving.size - before
        if arriving.complete:
            self.hand_on(conn)
        elif self.held > MOST_HELD:
            self.drop(conn, NO_ROOM)
        elif in_head and arriving.expects_continue:
            send_if_ready(conn, CONTINUE)

    def hand_on(self, conn: TConn) -> None:
        """Gives the whole request to a thread."""
        arriving = self.forget(conn)
        arriving.content.seek(0)
        conn.sock.arriving = arriving
        conn.data_ready = True
        self.enqueue_req(conn)

    def forget(self, conn: TConn) -> Arriving:
        """Waits for nothing of this connection any more."""
        arriving = self.waiting.pop(conn)
        self.held -= arriving.size
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        return arriving

    def drop(self, conn: TConn, answer: bytes = b"") -> None:
        """Ends a connection whose request did not arrive; `answer` says why, where its sender still listens."""
        self.forget(conn).content.close()
        if answer:
            send_if_ready(conn, answer)
            self.linger(conn)
        else:
            self.close(conn)

    def finish_request(self, conn: TConn, done: "Future[Any]") -> None:
        """After an answer: the next request of the connection, or its end."""
        try:
            kept = bool(done.result()) if not done.cancelled() else False
        except Exception:  # gunicorn has logged what a request raised
            kept = False
        rest = self.rest_of(conn)
        if kept and self.alive:
            self.await_request(conn, rest)
        else:
            self.linger(conn)

    def rest_of(self, conn: TConn) -> bytes:
        """What came behind the answered request; its own bytes are let go of."""
        arriving, conn.sock.arriving = conn.sock.arriving, None
        if arriving is None:
            return b""
        arriving.content.close()
        if conn.parser is not None:
            conn.parser.unreader.take_buffered()
        return arriving.rest

    def linger(self, conn: TConn) -> None:
        """Says that nothing more comes, and waits a little until the other side has read it (RFC 9112, 9.6).

        gunicorn waits in the loop itself, in which nobody else is heard meanwhile.
        """
        try:
            conn.sock.setblocking(False)
            conn.sock.opened.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, EVENT_READ, partial(self.read_away, conn))
        except (OSError, ValueError):
            self.close(conn)
        else:
            self.leaving[conn] = time.monotonic() + LINGER_SECONDS

    def read_away(self, conn: TConn, line: Line) -> None:
        try:
            gone = not line.opened.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            gone = True
        if gone:
            self.close(conn)

    def close(self, conn: TConn) -> None:
        self.leaving.pop(conn, None)
        with suppress(OSError, KeyError, ValueError):
            self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Called about once a second: ends connections whose sender takes too long."""
        now = time.monotonic()
        idle = self.cfg.keepalive if self.alive else STOP_KEEPALIVE_LINGER
        for conn, arriving in list(self.waiting.items()):
            if arriving.is_late(now, idle):
                self.drop(conn, TOO_SLOW if arriving.started else b"")
        for conn in [conn for conn, until in self.leaving.items() if until < now]:
            self.close(conn)


def get_client_host(conn: TConn) -> str:
    """The address at the other end of a connection."""
    return str(conn.client[0]) if isinstance(conn.client, tuple) else ""


def send_if_ready(conn: TConn, answer: bytes) -> None:
    """Sends a few bytes if the line takes them at once."""
    with suppress(OSError):
        conn.sock.opened.send(answer)
