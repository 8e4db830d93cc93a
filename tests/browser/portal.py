"""A network between the phone and the server that behaves as networks do: a login page, a cut, an answer that is lost."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

LOGIN = b"<!doctype html><title>Welcome</title><h1>Log in to our network</h1>"
ANSWERS = {
    "page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
    "login": b"HTTP/1.1 511 Network Authentication Required\r\nContent-Type: text/html\r\nContent-Length: %d\r\n"
    b"Connection: close\r\n\r\n%s",
}
REDIRECT = b"HTTP/1.1 302 Found\r\nLocation: %s/login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Network:
    """Stands between a browser and the server at `url`; `state` says how it behaves, for requests under way too.

    *through*; *page*, *redirect*, *login*: a portal that answers itself; *cut*: no connection; *lost*: the server gets
    the request, and its answer never arrives. Only addresses that begin with `only` are concerned.
    """

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream)
        self.state = "through"
        self.only = "/"
        self.asked: list[str] = []
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
            state = self.state if path.decode().startswith(self.only) else "through"
            if state in ANSWERS:
                phone.sendall(ANSWERS[state] % (len(LOGIN), LOGIN))
            elif state == "redirect":
                phone.sendall(REDIRECT % self.url.encode())
            elif state in ("through", "lost"):
                answer = self.answer_of_server(request)
                if state == "through":
                    phone.sendall(answer)

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
