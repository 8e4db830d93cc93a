"""Builders for tests of workers without the database: tokens, clients, servers between, and what both ways gave."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import numpy as np
import requests

from evaluation.models import Run, Unit, WorkerToken
from evaluation.models.worker_tokens import hash_secret, make_worker_secret
from evaluation.remote.client import WorkerClient
from evaluation.remote.https_transport import HttpsTransport
from evaluation.tables.outcomes import vector_of

numbers = count(1)
# (status, headers, body) in place of the server's answer; None lets the call through.
Answer = tuple[int, dict[str, str], bytes] | None


def make_token(
    queues: tuple[str, ...] = ("cpu",), runs: tuple[Run, ...] = (), **values: Any
) -> tuple[WorkerToken, str]:
    """A token's row and its secret."""
    secret = make_worker_secret()
    name = values.pop("name", f"cluster {next(numbers)}")
    row = WorkerToken.objects.create(name=name, secret_hash=hash_secret(secret), queues=list(queues), **values)
    row.runs.set(runs)
    return row, secret


def make_transport(url: str, secret: str, patience: float = 2.0) -> HttpsTransport:
    return HttpsTransport(WorkerClient(url, secret, patience=patience))


def describe_outcomes(run: Run) -> dict[str, dict[str, Any]]:
    """Unit key → what must be equal whichever way a run was executed, and its numbers beside it."""
    units = Unit.objects.filter(run=run).select_related("outcome__image", "outcome__embedding")
    return {unit.key: describe_outcome(unit) for unit in units}


def describe_outcome(unit: Unit) -> dict[str, Any]:
    found = unit.outcome
    image, vector = found.image, found.embedding
    return {
        "state": unit.state,
        "text": found.text,
        "reason": found.reason,
        "seed": image.seed if image else None,
        "image": (image.sha256, image.media_type, image.width, image.height, image.prompt_sent) if image else None,
        "numbers": dict(found.numbers),
        "vector": vector_of(vector) if vector else None,
    }


def assert_equal_outcomes(one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]) -> None:
    """Keys, seeds, states, texts and images are equal, numbers to 1e-6."""
    assert one.keys() == other.keys()
    for key, left in one.items():
        right = other[key]
        for name in ("state", "text", "reason", "seed", "image"):
            assert left[name] == right[name], (key, name)
        assert left["numbers"].keys() == right["numbers"].keys()
        for name, value in left["numbers"].items():
            np.testing.assert_allclose(value, right["numbers"][name], atol=1e-6)
        if left["vector"] is not None:
            np.testing.assert_allclose(left["vector"], right["vector"], atol=1e-6)


@contextmanager
def standing_between(server: str, answer: Callable[[str, str, bytes], Answer]) -> Iterator[str]:
    """A proxy before the server that answers itself where `answer(method, path, body)` says so."""

    class Handler(BaseHTTPRequestHandler):
        def serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found = answer(self.command, self.path, body)
            if found is None:
                own = ("host", "connection")
                sent = {name: value for name, value in self.headers.items() if name.lower() not in own}
                got = requests.request(self.command, server + self.path, headers=sent, data=body, timeout=30)
                dropped = ("content-encoding", "transfer-encoding", "connection", "content-length")
                headers = {name: value for name, value in got.headers.items() if name.lower() not in dropped}
                found = got.status_code, headers, got.content
            status, headers, content = found
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = serve

        def log_message(self, *_: object) -> None:
            return

    between = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=between.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{between.server_port}"
    finally:
        between.shutdown()
        between.server_close()
