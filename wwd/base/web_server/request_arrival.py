"""A request while it arrives: where it ends, and how long its sender may take. Bytes in, no socket.

What is here only finds the end of a request. Whether it is a good one is for gunicorn's parser to say: where a head
cannot be understood, the request counts as complete and the parser refuses it.
"""

import re
from tempfile import SpooledTemporaryFile
from typing import Protocol

HEAD_END = b"\r\n\r\n"
MOST_HEAD = 64 * 1024
IN_MEMORY = 64 * 1024
MOST_LINE = 8 * 1024
# Seconds for a whole head, and without any byte of a body. A phone on 2G may be silent for a minute or two.
HEAD_SECONDS = 20.0
SILENCE = 120.0
# A body may take so long, and longer the more of it came: bytes a second, far below what GPRS gives.
GRACE = 120.0
LEAST_RATE = 500.0
SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")


class Body(Protocol):
    """Takes the bytes of a body and knows when it is `done`."""

    done: bool

    def take(self, data: bytes) -> int:
        """How many of these bytes belong to the body."""


class Counted:
    """A body of a stated length."""

    def __init__(self, length: int) -> None:
        self.left = length
        self.done = not length

    def take(self, data: bytes) -> int:
        used = min(self.left, len(data))
        self.left -= used
        self.done = not self.left
        return used


class Chunked:
    """A body in chunks (RFC 9112, 7.1): lines with sizes, contents, a size of zero, trailers, an empty line."""

    def __init__(self) -> None:
        self.left = 0
        self.line = bytearray()
        self.trailers = False
        self.done = False

    def take(self, data: bytes) -> int:
        at = 0
        while at < len(data) and not self.done:
            if self.left:
                step = min(self.left, len(data) - at)
                self.left -= step
                at += step
                continue
            end = data.find(b"\n", at) + 1 or len(data)
            self.line += data[at:end]
            at = end
            if self.line.endswith(b"\n"):
                self.read_line()
            self.done = self.done or len(self.line) > MOST_LINE
        return at

    def read_line(self) -> None:
        line = bytes(self.line).strip()
        self.line.clear()
        if self.trailers:
            self.done = not line
            return
        size = SIZE.fullmatch(line.partition(b";")[0].strip())
        if size is None:
            self.done = True
        elif int(size[0], 16) == 0:
            self.trailers = True
        else:
            # The content, and the end of line behind it.
            self.left = int(size[0], 16) + 2


class Arriving:
    """The next request of a connection. `content` holds its bytes, `rest` what came behind it once it is `complete`.

    A body longer than `most` counts as complete there: the application says that it is too large.
    """

    def __init__(self, most: int, now: float) -> None:
        self.most = most
        self.began = self.first = self.last = now
        self.size = 0
        self.complete = False
        self.expects_continue = False
        self.rest = b""
        self.content = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  (closed by anyone who answers the request)
        self.head = bytearray()
        self.body: Body | None = None

    @property
    def started(self) -> bool:
        return bool(self.head)

    def feed(self, data: bytes, now: float) -> None:
        """Takes what came at `now`. Raises OSError where there is no room for it."""
        if not self.head:
            # Empty lines before a request mean nothing.
            data = data.lstrip(b"\r\n")
            self.first = now
        self.last = now
        if self.body is None:
            data = self.read_head(data)
        if self.body is not None:
            used = self.body.take(data)
            self.content.write(data[:used])
            self.rest = data[used:]
            self.size += used
            self.complete = self.body.done or self.size >= self.most

    def read_head(self, data: bytes) -> bytes:
        """Adds to the head; returns what is behind it."""
        seen = max(0, len(self.head) - len(HEAD_END))
        self.head += data
        end = self.head.find(HEAD_END, seen)
        if end >= 0:
            end += len(HEAD_END)
            self.content.write(self.head[:end])
            self.body, self.expects_continue = parse_body_framing(bytes(self.head[:end]))
            return bytes(self.head[end:])
        if len(self.head) > MOST_HEAD:
            self.content.write(self.head)
            self.complete = True
        return b""

    def is_late(self, now: float, idle: float) -> bool:
        """Whether the sender took too long; `idle` seconds may pass before a request begins."""
        if not self.started:
            return now - self.began > idle
        if self.body is None:
            return now - self.first > HEAD_SECONDS
        return now - self.last > SILENCE or now - self.first > GRACE + self.size / LEAST_RATE


def parse_body_framing(head: bytes) -> tuple[Body, bool]:
    """What follows a head, and whether its sender waits for *100 Continue* first."""
    length, chunked, waits = 0, False, False
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        said = value.strip().lower()
        match name.strip().lower():
            case b"transfer-encoding":
                chunked = said == b"chunked"
            case b"content-length":
                length = int(said[:18]) if said.isdigit() else 0
            case b"expect":
                waits = said == b"100-continue"
    return (Chunked() if chunked else Counted(length)), waits
