"""A local server of models, over real sockets: lists files with checksums, leads on, gives ranges, fails on order."""

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "5cae40e6a2745ae2b01ad92ae5043f95f23644d6"
NAME = "maker/model"


@dataclass
class ModelServer:
    """`files`: path → content. `cut`: path → after how many bytes its next answers break off, in turn.

    `wrong`: paths whose content is not what the list says. `asked`: path and range of each request for a file.
    """

    files: Mapping[str, bytes]
    cut: dict[str, list[int]] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    ranges: bool = True
    token: str = ""
    asked: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [{"type": "directory", "path": "onnx", "oid": "0" * 40, "size": 0}]
        for path, content in self.files.items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            row: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob}
            if path.endswith(".safetensors"):
                row["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
            found.append(row)
        return found

    def content(self, path: str) -> bytes:
        return self.files[path][::-1] if path in self.wrong else self.files[path]


@contextmanager
def serve_models(server: ModelServer) -> Iterator[ModelServer]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nothing."""

        def answer(self, status: int, content: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            server.tokens.append((path, self.headers.get("Authorization", "")))
            if path.startswith("/elsewhere/"):
                return self.file(path.removeprefix("/elsewhere/"))
            if server.token and self.headers.get("Authorization") != f"Bearer {server.token}":
                return self.answer(401)
            if path == f"/api/models/{NAME}/tree/{COMMIT}":
                return self.answer(200, json.dumps(server.rows()).encode())
            name = path.removeprefix(f"/{NAME}/resolve/{COMMIT}/")
            if name in server.files and name != path:
                if name.endswith(".safetensors"):
                    # Another name of the same host: a token must not go there.
                    other = server.url.replace("127.0.0.1", "localhost")
                    return self.answer(302, Location=f"{other}/elsewhere/{name}?signature=1")
                return self.file(name)
            return self.answer(404)

        def file(self, name: str) -> None:
            content, asked = server.content(name), self.headers.get("Range", "")
            server.asked.append((name, asked))
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and server.ranges else 0
            rest = content[start:]
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            after = server.cut.get(name)
            self.wfile.write(rest[: after.pop(0)] if after else rest)

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{made.server_port}"
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        made.shutdown()
        made.server_close()
        thread.join()
