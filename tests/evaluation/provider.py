"""A local server that speaks the OpenAI images and chat protocols with their errors, over real sockets."""

import base64
import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
from PIL import Image

Answer = tuple[int, dict[str, str], Any]


def png(seed: int = 0) -> bytes:
    """A small image that is neither black, flat nor blurred."""
    pixels = np.random.default_rng(seed).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def error(status: int, message: str, code: str = "", kind: str = "", **headers: str) -> Answer:
    """An error as the protocol words it; underscores in the names of headers stand for hyphens."""
    body = {"error": {"message": message, "code": code or None, "type": kind or None, "param": None}}
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, body


# Images that are said to be something else.
ODD_TYPES = {"x-png": "application/x-png", "words": "text/plain", "json": "application/json", "bytes": "binary/x"}
REFUSAL = error(400, "Your request was rejected.", "content_policy_violation", "invalid_request_error")
SLOW = error(429, "Slow down.", "rate_limit_exceeded", Retry_After="0.2")


def image_answer(n: int = 1, revised: str = "", **more: Any) -> Answer:
    row = {"b64_json": base64.b64encode(png()).decode(), **({"revised_prompt": revised} if revised else {})}
    return 200, {"x-request-id": "req_1"}, {"created": 1, "data": [row] * n, **more}


def addresses(*urls: str) -> Answer:
    return 200, {}, {"created": 1, "data": [{"url": url} for url in urls]}


def says(text: Any, *, finish: str = "stop", usage: dict[str, int] | None = None, **message: Any) -> Answer:
    """An answer of the chat protocol."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    body = {"object": "chat.completion", "model": "answerer-0613", "choices": [choice], "usage": usage}
    return 200, {"x-request-id": "req_2"}, body


class Provider:
    """`script`: answers in turn, then images, or the letter B, for ever. A prompt that holds `refuse` is refused.

    `chooses`: gives the answer to a call instead, or None for those.

    `allowed` calls within `minute` seconds; more are told to slow down and counted in `exceeded`.
    """

    def __init__(self) -> None:
        self.script: list[Answer | str] = []
        self.chooses: Callable[[dict[str, Any]], Answer | str | None] = lambda body: None
        self.calls: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.fetched: list[str] = []
        self.allowed, self.minute, self.exceeded = 0, 60.0, 0
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, body: dict[str, Any]) -> Answer | str:
        now = time.monotonic()
        with self.lock:
            self.calls.append(body)
            recent = [at for at in self.times if at > now - self.minute]
            if self.allowed and len(recent) >= self.allowed:
                self.exceeded += 1
                return error(429, "Slow down.", "rate_limit_exceeded", Retry_After="1")
            self.times.append(now)
            if self.script:
                return self.script.pop(0)
            if chosen := self.chooses(body):
                return chosen
        if "messages" in body:
            return says("B")
        if "refuse" in body["prompt"]:
            return error(400, "Your request was rejected.", "content_policy_violation", "invalid_request_error")
        return image_answer(int(body.get("n", 1)))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Heads and bodies are written one after the other: the second would wait for the first to be acknowledged.
    disable_nagle_algorithm = True
    provider: Provider

    def log_message(self, *_: Any) -> None:
        """Nothing: what the server was asked is in `calls`."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = self.provider.answer({**body, "authorization": self.headers["Authorization"], "path": self.path})
        if isinstance(answer, str):
            self.misbehave(answer)
            return
        status, headers, content = answer
        sent = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.reply(status, sent, {"Content-Type": "application/json", **headers})

    def do_GET(self) -> None:
        """`/pictures/<what>`: an image, or what else an address may turn out to be."""
        what = self.path.rpartition("/")[2]
        self.provider.fetched.append(what)
        image = {"Content-Type": "image/png"}
        if what == "expired":
            self.reply(403, b"<Error>AuthenticationFailed</Error>", {"Content-Type": "application/xml"})
        elif what == "page":
            self.reply(200, b"<html>", {"Content-Type": "text/html"})
        elif what in ODD_TYPES:
            self.reply(200, png(), {"Content-Type": ODD_TYPES[what]})
        elif what == "moved":
            self.reply(302, b"", {"Location": "/pictures/good"})
        elif what == "inside":
            self.reply(302, b"", {"Location": "http://169.254.169.254/latest/meta-data/"})
        elif what == "circle":
            self.reply(302, b"", {"Location": "/pictures/circle"})
        elif what == "busy" and self.provider.fetched.count("busy") == 1:
            self.reply(503, b"", {})
        elif what == "cut":
            self.misbehave("cut")
        elif what == "drip":
            self.misbehave("drip")
        else:
            self.reply(200, png(), image)

    def reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def misbehave(self, how: str) -> None:
        """`cut`: half an answer; `drip`: one that never ends, of the status after it; `noise`: 200 and no JSON."""
        self.close_connection = True
        if how == "noise":
            self.reply(200, b"<html>a proxy</html>", {"Content-Type": "text/html"})
            return
        how, _, status = how.partition(" ")
        self.send_response(int(status or 200))
        self.send_header("Content-Type", "image/png" if self.command == "GET" else "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self.wfile.write(b'{"created": 1, ')
        end = time.monotonic() + 20
        while how == "drip" and time.monotonic() < end:
            try:
                self.wfile.write(b" ")
                self.wfile.flush()
            except OSError:
                return
            time.sleep(0.05)


@contextmanager
def serving() -> Iterator[Provider]:
    """A provider that listens, until the block ends."""
    provider = Provider()
    handler = type("Bound", (Handler,), {"provider": provider})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
