"""Calls of the server by a worker over HTTPS: through proxies, with an authority of one's own, again where it broke.

`HTTPS_PROXY` and `NO_PROXY` count. Only answers with the header `WWD-Worker` are the server's; every other page comes
from something between, says nothing about a unit, and is asked for again.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

from evaluation.remote import versions
from evaluation.remote.wire import PROTOCOL
from evaluation.runner.transport import TransportLostError

SECONDS = 60.0
PATIENCE = 60.0
PAUSE = 0.5
LONGEST_PAUSE = 10.0
LOCAL = ("localhost", "127.0.0.1", "::1")
# What the server answers where this worker can do nothing more: another token, another version.
ENDING = (401, 403, 409)
logger = logging.getLogger(__name__)
Ask = Callable[[requests.Session], requests.Response]


class WorkerRefusedError(TransportLostError):
    """The server refuses this worker, whatever it asks next; the text is the server's sentence."""


class TooLargeError(Exception):
    """Something between here and the server takes no such large body at once (413)."""


class CallRefusedError(Exception):
    """The server refused one call; `status` and its sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class WorkerClient:
    """One server and one token. May be used by several threads: each has connections of its own."""

    def __init__(self, server: str, token: str, authority: str = "", patience: float = PATIENCE) -> None:
        self.server = check_server(server)
        self.token, self.authority, self.patience = token, authority, patience
        self.threads = threading.local()
        self.skew: float | None = None

    def session(self) -> requests.Session:
        """This thread's connections."""
        if not hasattr(self.threads, "session"):
            opened = requests.Session()
            opened.headers["User-Agent"] = f"world-wide-dishes-worker/{versions.read_project_version()}"
            # Set for each request, so that no ~/.netrc replaces it.
            opened.auth = self.sign
            if self.authority:
                opened.verify = self.authority
            self.threads.session = opened
        found: requests.Session = self.threads.session
        return found

    def sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.token}"
        return request

    def ask(self, method: str, path: str, *, patience: float | None = None, **given: Any) -> requests.Response:
        """The server's answer to a call that does no harm twice, asked for again while the way is lost.

        Raises TransportLostError, WorkerRefusedError, CallRefusedError or TooLargeError.
        """
        end, pause = time.monotonic() + (self.patience if patience is None else patience), PAUSE
        verify = self.authority or None
        while True:
            try:
                response = self.session().request(
                    method,
                    f"{self.server}/worker/v1/{path}",
                    timeout=SECONDS,
                    allow_redirects=False,
                    verify=verify,
                    **given,
                )
                return self.judge(response)
            except requests.exceptions.SSLError as error:
                raise TransportLostError(
                    f"The certificate of {self.server} is not accepted: name its authority with --authority. "
                    f"({type(error).__name__})"
                ) from error
            except (requests.RequestException, TransportLostError) as error:
                if isinstance(error, WorkerRefusedError):
                    raise
                if time.monotonic() + pause > end:
                    raise TransportLostError(describe_loss(self.server, error)) from error
                logger.warning("%s Trying again.", describe_loss(self.server, error))
                time.sleep(pause * (0.5 + random.random()))
                pause = min(2 * pause, LONGEST_PAUSE)

    def judge(self, response: requests.Response) -> requests.Response:
        """The answer, where it is the server's and a good one."""
        status = response.status_code
        if status == 413:
            raise TooLargeError
        if "WWD-Worker" not in response.headers:
            kind = response.headers.get("Content-Type", "no type").partition(";")[0]
            raise TransportLostError(f"Something on the way to {self.server} answered itself ({status}, {kind[:60]}).")
        if status < 300:
            return response
        sentence = read_problem(response)
        if status in ENDING:
            raise WorkerRefusedError(sentence)
        if status >= 500:
            raise TransportLostError(sentence)
        raise CallRefusedError(status, sentence)

    def post(self, path: str, *, patience: float | None = None, **content: Any) -> dict[str, Any]:
        """Sends an object of JSON and returns the one that comes back."""
        return read_object(self.ask("POST", path, json=content, patience=patience))

    def get(self, path: str) -> dict[str, Any]:
        return read_object(self.ask("GET", path))

    def greet(self) -> dict[str, Any]:
        """Whether the server accepts this worker. Notes by how many seconds the clocks differ."""
        before = time.time()
        found = self.post("hello", **describe_worker())
        self.skew = (before + time.time()) / 2 - float(found.get("time", before))
        return found


def describe_worker() -> dict[str, Any]:
    """What the server must know before it gives work."""
    found = {**versions.list_installed_versions(), "project": versions.read_project_version()}
    return {"protocol": PROTOCOL, "versions": found}


def check_server(server: str) -> str:
    """The address of the server without its end. Raises ValueError where a token must not be sent there."""
    parts = urlsplit(server)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"--server is {server!r}. Accepted: an address such as https://dishes.example.")
    if parts.scheme == "http" and parts.hostname not in LOCAL:
        raise ValueError("A token is sent over https only: begin the address of --server with https://.")
    return server.rstrip("/")


def read_token(path: Path) -> str:
    """The token in a file. Raises ValueError with what to do."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise ValueError(f"The file of the token {path} cannot be read.") from error
    if not token or not token.isascii() or any(letter.isspace() for letter in token):
        raise ValueError(f"{path} holds no token: write the one line into it that the admin showed.")
    return token


def read_problem(response: requests.Response) -> str:
    try:
        return str(response.json()["problem"])[:500]
    except (ValueError, KeyError, TypeError):
        return f"The server answered {response.status_code}."


def read_object(response: requests.Response) -> dict[str, Any]:
    try:
        found = response.json()
    except ValueError as error:
        raise TransportLostError("The server's answer was cut or changed on its way.") from error
    if not isinstance(found, dict):
        raise TransportLostError("The server's answer is no object of JSON.")
    return found


def describe_loss(server: str, error: Exception) -> str:
    if isinstance(error, TransportLostError):
        return str(error)
    return f"The server {server} cannot be reached ({type(error).__name__})."
