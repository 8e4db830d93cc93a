"""A real server for tests that need one: gunicorn over a database of its own, static files collected and hashed."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from django.db import connection

from tests import template_database

ROOT = Path(__file__).resolve().parent.parent.parent
IMPORTS = "from collection.models import *; from tests.collection.make import *\n"


@dataclass(frozen=True)
class Server:
    """A running server: its address, and its database by way of `ask`."""

    url: str
    environ: dict[str, str]

    def ask(self, code: str) -> str:
        """Runs Python in the server's own environment with the collection's models and builders; what it prints."""
        return run(self.environ, "shell", "--no-imports", "-c", IMPORTS + code).strip()


def run(environ: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def own_database() -> Iterator[str]:
    """The address of a migrated database of the kind that the tests use; "" is the embedded default."""
    if connection.vendor != "postgresql":
        yield ""
        return
    with template_database.own_database(connection.settings_dict) as address:
        yield address


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str) -> None:
    for _attempt in range(100):
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (URLError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"{url} does not answer")


@contextmanager
def running_server(folder: Path) -> Iterator[Server]:
    """A server that keeps everything under `folder` and is stopped afterwards."""
    with own_database() as database:
        environ = {
            **os.environ,
            "WWD_VAR_DIR": str(folder),
            "DATABASE_URL": database,
            "REDIS_URL": "",
            "PYTHONPATH": str(ROOT),
        }
        if not database:
            template_database.copy_database(folder)
        run(environ, "collectstatic", "-v0", "--noinput")
        port = free_port()
        command = [sys.executable, "-m", "gunicorn", "wwd.wsgi", "-b", f"127.0.0.1:{port}"]
        command += ["-k", "gthread", "--threads", "8", "--workers", "1", "--log-level", "error"]
        process = subprocess.Popen(command, cwd=ROOT, env=environ)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz")
            yield Server(f"http://127.0.0.1:{port}", environ)
        finally:
            process.terminate()
            process.wait(10)
