"""Settings: safe without any variable, documented, and fit for several processes on SQLite."""

import json
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.template_database import copy_database
from tests.wwd.processes import ROOT, environment, snippet
from wwd import settings

pytestmark = pytest.mark.own_processes

WRITERS = 3
TURNS = 30
ADD_ONE = f"""
from django.contrib.auth.models import Group
from django.db import transaction
for _ in range({TURNS}):
    with transaction.atomic():
        group = Group.objects.get(name__startswith="n")
        group.name = "n" + str(int(group.name[1:]) + 1)
        group.save()
"""


def test_every_variable_is_documented_and_every_documented_one_is_read() -> None:
    rows = re.findall(r"^- `([A-Z_]+)` \(default", (ROOT / "docs/operations/settings.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(settings.env.known)


def test_without_any_variable_nothing_needs_a_server_or_is_open_to_strangers(tmp_path: Path) -> None:
    code = """
from django.conf import settings as s
import json
print(json.dumps([s.DATABASES["default"]["ENGINE"], s.CELERY_BROKER_URL, s.DEBUG, s.ALLOWED_HOSTS]))
"""
    engine, broker, debug, hosts = json.loads(snippet(environment(tmp_path), code))
    assert engine.endswith("sqlite3")
    assert broker.startswith("filesystem://")
    assert debug is False
    assert hosts == ["localhost", "127.0.0.1", "[::1]"]


def test_the_secret_key_is_made_once_and_kept_from_other_users(tmp_path: Path) -> None:
    code = "from django.conf import settings\nprint(settings.SECRET_KEY)"
    first, second = snippet(environment(tmp_path), code), snippet(environment(tmp_path), code)
    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_cookies_are_secure_behind_tls_and_usable_without(tmp_path: Path) -> None:
    code = "from django.conf import settings as s\nprint(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE)"
    assert snippet(environment(tmp_path), code) == "False False"
    assert snippet(environment(tmp_path, WWD_BEHIND_TLS_PROXY="yes"), code) == "True True"


def test_postgresql_connections_are_given_back_unless_asked_otherwise() -> None:
    url = "postgres://u:p@db.example:5433/name?sslmode=require"
    given = settings.configure_database(url)
    assert (given["HOST"], given["PORT"], given["NAME"]) == ("db.example", 5433, "name")
    bound = f"-c statement_timeout={settings.STATEMENT_SECONDS}s"
    assert given["OPTIONS"] == {**settings.POSTGRES_OPTIONS, "sslmode": "require", "options": bound}
    assert given["OPTIONS"]["connect_timeout"] == 5
    assert (given["CONN_MAX_AGE"], given["CONN_HEALTH_CHECKS"]) == (0, False)
    kept = settings.configure_database(url, keep_seconds=60)
    assert (kept["CONN_MAX_AGE"], kept["CONN_HEALTH_CHECKS"]) == (60, True)


def test_a_sqlite_address_gets_the_same_options_as_the_default(tmp_path: Path) -> None:
    given = settings.configure_database(f"sqlite:///{tmp_path}/own.sqlite3")
    assert given["NAME"] == f"{tmp_path}/own.sqlite3"
    assert given["OPTIONS"] == settings.configure_database("")["OPTIONS"]


def test_sqlite_writes_ahead_and_waits_for_a_busy_database(tmp_path: Path) -> None:
    environ = environment(tmp_path)
    code = """
from django.db import connection
with connection.cursor() as cursor:
    print(*(cursor.execute("PRAGMA " + name).fetchone()[0] for name in ("journal_mode", "busy_timeout")))
"""
    assert snippet(environ, code) == "wal 30000"
    assert (tmp_path / "wwd.sqlite3").exists()


def test_several_processes_that_read_and_then_write_lose_nothing_on_sqlite(tmp_path: Path) -> None:
    """Deferred transactions would fail here with "database is locked": both read, then both want to write."""
    environ = environment(tmp_path)
    copy_database(tmp_path)
    snippet(environ, "from django.contrib.auth.models import Group\nGroup.objects.create(name='n0')")
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{ADD_ONE}"]
    writers = [subprocess.Popen(command, cwd=ROOT, env=environ) for _ in range(WRITERS)]
    assert [writer.wait(120) for writer in writers] == [0] * WRITERS
    counted = snippet(
        environ, "from django.contrib.auth.models import Group\nprint(Group.objects.get(name__startswith='n').name)"
    )
    assert counted == f"n{WRITERS * TURNS}"
