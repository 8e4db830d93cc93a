"""Real processes of the product, each with a folder of its own, for tests of what only a process shows."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.template_database import copy_database

ROOT = Path(__file__).resolve().parent.parent.parent
DROPPED = (
    "DATABASE_URL",
    "REDIS_URL",
    "GS_BUCKET_NAME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SECRET_KEY",
    # Set for tests beside Playwright; Django refuses it in deployment.
    "DJANGO_ALLOW_ASYNC_UNSAFE",
)


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """Ours without its services and WWD_… variables; what runs is stored in `folder`."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED and not name.startswith("WWD_")}
    return {**kept, "DJANGO_SETTINGS_MODULE": "wwd.settings", "WWD_VAR_DIR": str(folder), **changes}


def python(words: list[str], environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs this interpreter in the project's folder; never raises for what the program answers."""
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


def manage(environ: Mapping[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    return python(["manage.py", *words], environ)


def snippet(environ: Mapping[str, str], code: str) -> str:
    """What `code` printed, run with Django set up."""
    done = python(["-c", f"import django\ndjango.setup()\n{code}"], environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def status(url: str, seconds: float = 10) -> int:
    """The status that `url` answers; 0 where nothing answers."""
    try:
        with urllib.request.urlopen(url, timeout=seconds) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def wait_for(url: str, process: subprocess.Popen[str], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while status(url) == 0:
        assert process.poll() is None, "the server ended before it answered"
        assert time.monotonic() < limit, f"{url} did not answer"
        time.sleep(0.1)


@contextmanager
def gunicorn(environ: Mapping[str, str], output: Path) -> Iterator[str]:
    """The real web server with the product's configuration; yields its address.

    SQLite gets a migrated database; a DATABASE_URL names one that is migrated already.
    """
    if "DATABASE_URL" not in environ:
        copy_database(Path(environ["WWD_VAR_DIR"]))
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", "--bind", f"127.0.0.1:{port}"]
    with output.open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log, text=True)
        try:
            wait_for(f"http://127.0.0.1:{port}/healthz", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)
