"""A network between phone and server that behaves as networks do: a login page, a cut, an answer that is lost."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

LOGIN = b"<!doctype html><title>Welcome</title><h1>Log in to our network</h1>"
HEAD = "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
ANSWERS = {
    "page": ("200 OK", "text/html", LOGIN),
    "json": ("200 OK", "application/json", b'{"receipt": "123 456 789", "form": ""}'),
    "login": ("511 Network Authentication Required", "text/html", LOGIN),
    "broken": ("502 Bad Gateway", "text/html", LOGIN),
}
REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: %s/login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def whole_answer(status: str, kind: str, body: bytes) -> bytes:
    return HEAD.format(status=status, kind=kind, length=len(body)).encode() + body


class Network:
    """Stands between a browser and the server at `url`; `state` says how it behaves, for requests under way too.

    *through*; *page*, *json*, *redirect*, *login*: a portal that answers itself; *broken*: a proxy whose server is
    down; *cut*: no connection; *lost*: the server gets the request, and its answer never arrives; *hanging*: the same,
    and the phone goes on waiting. `scripts` holds what is answered at an address instead of the server's script. `sent`
    counts the bytes that arrived at the phone.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream)
        self.state = "through"
        self.scripts: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.sent = 0
        self.released = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                phone, _address = self.listener.accept()
                threading.Thread(target=self.handle, args=(phone,), daemon=True).start()

    def handle(self, phone: socket.socket) -> None:
        with phone, suppress(OSError):
            phone.settimeout(30)
            request = whole_request(phone)
            if not request:
                return
            method, path = request.split(b" ", 2)[:2]
            self.asked.append(f"{method.decode()} {path.decode()}")
            answer = self.answer(request, path.decode())
            phone.sendall(answer)
            self.sent += len(answer)

    def answer(self, request: bytes, path: str) -> bytes:
        """What arrives at the phone; nothing means that the connection ends."""
        state = self.state
        if state in ANSWERS:
            return whole_answer(*ANSWERS[state])
        if state == "redirect":
            return REDIRECT % self.url.encode()
        if state == "through" and path in self.scripts:
            return whole_answer("200 OK", "text/javascript", self.scripts[path])
        answer = b"" if state == "cut" else self.answer_of_server(request)
        if state == "hanging":
            self.released.wait(30)
        return answer if state == "through" else b""

    def answer_of_server(self, request: bytes) -> bytes:
        head, _gap, body = request.partition(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        with socket.create_connection((self.upstream.hostname or "", self.upstream.port or 80), 30) as server:
            server.sendall(b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body)
            return b"".join(iter(lambda: server.recv(65_536), b""))


def whole_request(phone: socket.socket) -> bytes:
    """Head and body of one request; browsers state the length of what they send."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := phone.recv(65_536)):
            return b""
        data += more
    head, _gap, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    missing = int(lengths[0]) - len(body) if lengths else 0
    while missing > 0 and (more := phone.recv(65_536)):
        data, missing = data + more, missing - len(more)
    return data


@contextmanager
def network_before(upstream: str) -> Iterator[Network]:
    network = Network(upstream)
    threading.Thread(target=network.serve, daemon=True).start()
    try:
        yield network
    finally:
        network.listener.close()
