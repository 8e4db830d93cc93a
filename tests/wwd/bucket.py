"""A small server that speaks as much of Google Cloud Storage's JSON API as storing files needs.

Like a bucket with uniform access, it refuses requests that name an access list.
"""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import google_crc32c

BUCKET = "dishes"


class Bucket(ThreadingHTTPServer):
    """Holds its objects in `objects`: name → (content, media type); `requests` lists what was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.requests: list[str] = []
        # So many requests are answered with 503 first.
        self.failures = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Bucket
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        self.server.requests.append(format % args)

    def answer(self, status: int, body: bytes = b"", media_type: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status: int, text: str) -> None:
        self.answer(status, json.dumps({"error": {"code": status, "message": text}}).encode())

    def describe(self, name: str) -> dict[str, str]:
        content, media_type = self.server.objects[name]
        checksum = google_crc32c.Checksum(content).digest()
        return {
            "kind": "storage#object",
            "name": name,
            "bucket": BUCKET,
            "size": str(len(content)),
            "contentType": media_type,
            "crc32c": base64.b64encode(checksum).decode(),
            "generation": "1",
        }

    def object_name(self) -> str:
        """The object that the address names; empty for the bucket's list."""
        path = urlsplit(self.path).path
        return unquote(path.partition(f"/b/{BUCKET}/o")[2].lstrip("/"))

    def do_GET(self) -> None:
        if self.server.failures:
            self.server.failures -= 1
            return self.refuse(503, "busy")
        parts = urlsplit(self.path)
        if f"/b/{BUCKET}/o" not in parts.path:
            return self.refuse(404, "no such bucket")
        name = self.object_name()
        if not name:
            items = [self.describe(each) for each in sorted(self.server.objects)]
            return self.answer(200, json.dumps({"items": items}).encode())
        if name not in self.server.objects:
            return self.refuse(404, "no such object")
        if parse_qs(parts.query).get("alt") == ["media"]:
            return self.answer(200, *self.server.objects[name])
        return self.answer(200, json.dumps(self.describe(name)).encode())

    def do_POST(self) -> None:
        """An upload in one request: JSON about the object, then its content."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = parse_qs(urlsplit(self.path).query)
        if "predefinedAcl" in query:
            return self.refuse(400, "Cannot use ACL API when uniform bucket-level access is enabled.")
        boundary = self.headers["Content-Type"].split("boundary=")[1].strip("\"'").encode()
        about, content = (part.partition(b"\r\n\r\n") for part in body.split(b"--" + boundary)[1:3])
        name = json.loads(about[2])["name"]
        media_type = content[0].strip().partition(b": ")[2].decode()
        self.server.objects[name] = (content[2].removesuffix(b"\r\n"), media_type)
        return self.answer(200, json.dumps(self.describe(name)).encode())

    def do_DELETE(self) -> None:
        if self.server.objects.pop(self.object_name(), None) is None:
            return self.refuse(404, "no such object")
        return self.answer(204)


@contextmanager
def bucket() -> Iterator[Bucket]:
    server = Bucket()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
