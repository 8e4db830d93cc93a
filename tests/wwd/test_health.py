"""Health pages: a hanging process, a broken database, a broken storage, a missing broker."""

import errno
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.template_database import copy_database
from tests.wwd.processes import environment, free_port, gunicorn, python, snippet
from wwd import health

pytestmark = pytest.mark.own_processes

ASK = """
from django.test import Client
response = Client(headers={"host": "localhost"}).get("/readyz")
print(response.status_code, response.content.decode())
"""
WELL = {"database": True, "storage": True, "disk": True}


def readyz(folder: Path, **changes: str) -> tuple[int, dict[str, Any]]:
    """What a process configured so answers."""
    code, _, body = snippet(environment(folder, **changes), ASK).splitlines()[-1].partition(" ")
    return int(code), json.loads(body)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never says anything."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield listener.getsockname()[1]


def test_healthz_answers_without_asking_the_database(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_pages_take_no_forms(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405


def test_a_process_behind_tls_answers_plain_health_checks(tmp_path: Path) -> None:
    code = ASK.replace("readyz", "healthz")
    assert snippet(environment(tmp_path, WWD_BEHIND_TLS_PROXY="yes"), code).startswith("200 ")


def test_readyz_is_well_on_the_embedded_default(tmp_path: Path) -> None:
    assert readyz(tmp_path) == (200, {"status": "ok", **WELL, "broker": True})


def test_readyz_fails_where_the_database_cannot_be_opened(tmp_path: Path) -> None:
    code, answer = readyz(tmp_path, DATABASE_URL="sqlite:////nowhere/at/all.sqlite3")
    assert (code, answer["status"], answer["database"], answer["storage"]) == (503, "failed", False, True)


def test_readyz_fails_where_no_database_server_answers(tmp_path: Path) -> None:
    code, answer = readyz(
        tmp_path, DATABASE_URL=f"postgres://u:p@127.0.0.1:{free_port()}/n", SECRET_KEY="0123456789abcdef" * 3
    )
    assert (code, answer["database"]) == (503, False)


def test_readyz_fails_where_files_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("a file where a folder should be")
    code, answer = readyz(tmp_path)
    assert (code, answer["status"], answer["database"], answer["storage"]) == (503, "failed", True, False)


def test_readyz_fails_where_a_disk_is_nearly_full(tmp_path: Path) -> None:
    code, answer = readyz(tmp_path, WWD_LEAST_FREE_MEGABYTES=str(10**9))
    assert (code, answer["status"], answer["disk"], answer["storage"]) == (503, "failed", False, True)


def test_a_broker_that_is_down_only_degrades(tmp_path: Path) -> None:
    code, answer = readyz(tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0", SECRET_KEY="0123456789abcdef" * 3)
    assert (code, answer) == (200, {"status": "degraded", **WELL, "broker": False})


def test_a_broker_that_never_speaks_only_degrades(tmp_path: Path, silent_port: int) -> None:
    code, answer = readyz(tmp_path, REDIS_URL=f"redis://127.0.0.1:{silent_port}/0", SECRET_KEY="0123456789abcdef" * 3)
    assert (code, answer["status"]) == (200, "degraded")


def test_a_bucket_that_does_not_answer_fails(tmp_path: Path) -> None:
    code, answer = readyz(
        tmp_path,
        GS_BUCKET_NAME="dishes",
        STORAGE_EMULATOR_HOST=f"http://127.0.0.1:{free_port()}",
        SECRET_KEY="0123456789abcdef" * 3,
    )
    assert (code, answer["storage"]) == (503, False)


def test_pages_that_need_no_broker_answer_while_it_is_down(tmp_path: Path) -> None:
    environ = environment(tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0", SECRET_KEY="0123456789abcdef" * 3)
    copy_database(tmp_path)
    code = ASK.replace("/readyz", "/admin/login/").replace(", response.content.decode()", "")
    assert snippet(environ, code).splitlines()[-1] == "200"


def test_the_probe_of_a_container_asks_under_a_name_that_the_site_answers_to(tmp_path: Path) -> None:
    environ = environment(tmp_path, WWD_ALLOWED_HOSTS=".dishes.example, localhost, 127.0.0.1", WWD_WEB_PROCESSES="1")
    with gunicorn(environ, tmp_path / "log") as site:
        port = site.rpartition(":")[2]
        assert python(["deploy/probe.py", port], environ).returncode == 0
        assert python(["deploy/probe.py", port], {**environ, "WWD_ALLOWED_HOSTS": "other.example"}).returncode == 1
    assert python(["deploy/probe.py", str(free_port())], environ).returncode == 1


def test_a_disk_that_cannot_be_asked_has_no_room_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert health.room_left()

    def torn(folder: Path) -> Any:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(shutil, "disk_usage", torn)
    assert not health.room_left()
