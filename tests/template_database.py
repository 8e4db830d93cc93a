"""One migrated database a run, copied for each process of tests and for each site that tests start.

The process that starts the run makes a folder and names it in the environment; whoever needs a template first makes it.
"""

import fcntl
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg2
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg2 import sql

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "TEST_TEMPLATES"
FILE = "wwd.sqlite3"


def open_folder(database: dict[str, Any]) -> Path | None:
    """Makes the run's folder; None in a process that was started with one. `database`: Django's settings of it."""
    if FOLDER in os.environ:
        return None
    folder = Path(tempfile.mkdtemp(prefix="wwd-templates-"))
    (folder / "name").write_text(f"template_{database['NAME']}")
    os.environ[FOLDER] = str(folder)
    return folder


def close_folder(folder: Path, database: dict[str, Any]) -> None:
    """Removes the run's folder and its template on the server of `database`."""
    if (folder / "made").exists():
        with administering(database) as server:
            drop_database(server, (folder / "name").read_text())
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop(FOLDER, None)


@contextmanager
def locked_folder() -> Iterator[Path]:
    """The run's folder, while no other process makes something in it."""
    folder = Path(os.environ[FOLDER])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def migrate(**changes: str) -> None:
    """Migrates the database that the environment names, in a process of its own. Raises AssertionError."""
    environ = {**os.environ, "REDIS_URL": "", **changes}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def migrated_file() -> Path:
    """The SQLite file of a site that was just migrated, in WAL mode as the site leaves it."""
    with locked_folder() as folder:
        made = folder / "site" / FILE
        if not made.exists():
            migrate(DATABASE_URL="", WWD_VAR_DIR=str(folder / "new"))
            (folder / "new").rename(made.parent)
    return made


def copy_database(var: Path) -> None:
    """Gives the site that keeps its data in `var` a migrated SQLite database, unless it has one."""
    if not (var / FILE).exists():
        var.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(migrated_file(), var / FILE)


@contextmanager
def administering(database: dict[str, Any]) -> Iterator[Any]:
    """A cursor on the server of `database` that is in no transaction."""
    words = {"user": database["USER"], "password": database["PASSWORD"], "host": database["HOST"]}
    with closing(psycopg2.connect(dbname="postgres", port=database["PORT"] or 5432, **words)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor


def drop_database(server: Any, name: str) -> None:
    server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def address_of(database: dict[str, Any], name: str) -> str:
    """The DATABASE_URL of the database `name` beside `database`."""
    place = f"{database['USER']}:{database['PASSWORD']}@{database['HOST']}:{database['PORT'] or 5432}"
    return f"postgres://{place}/{name}"


def migrated_template(database: dict[str, Any]) -> str:
    """The name of a migrated PostgreSQL database on the server of `database`, which nobody is connected to."""
    with locked_folder() as folder:
        name = (folder / "name").read_text()
        if not (folder / "made").exists():
            with administering(database) as server:
                drop_database(server, name)
                server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            migrate(DATABASE_URL=address_of(database, name), WWD_VAR_DIR=str(folder / "var"))
            (folder / "made").touch()
    return name


@contextmanager
def own_database(database: dict[str, Any]) -> Iterator[str]:
    """The DATABASE_URL of a migrated PostgreSQL database of one's own, beside `database`."""
    template, name = migrated_template(database), f"wwd_server_{secrets.token_hex(4)}"
    with administering(database) as server:
        words = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        server.execute(words.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield address_of(database, name)
        finally:
            drop_database(server, name)


def use_template(connection: BaseDatabaseWrapper) -> None:
    """Lets the test database of this process begin as a copy. Called before it is made."""
    if connection.vendor == "postgresql":
        connection.settings_dict["TEST"]["TEMPLATE"] = migrated_template(connection.settings_dict)
        return
    creation: Any = connection.creation
    create = creation._create_test_db

    def create_filled(*words: Any, **options: Any) -> str:
        name = str(create(*words, **options))
        filled = sqlite3.connect(name, uri=True, check_same_thread=False)
        with closing(sqlite3.connect(migrated_file())) as source:
            source.backup(filled)
        # A database in memory lasts as long as a connection to it.
        creation.filled = filled
        return name

    creation._create_test_db = create_filled


def flush_by_deleting(connection: BaseDatabaseWrapper) -> None:
    """Empties tables row by row after a test that commits: TRUNCATE makes new files for all of them."""
    truncate = connection.ops.sql_flush

    def delete(
        style: Any, tables: Sequence[str], *, reset_sequences: bool = False, allow_cascade: bool = False
    ) -> list[str]:
        if reset_sequences or allow_cascade:
            return truncate(style, tables, reset_sequences=reset_sequences, allow_cascade=allow_cascade)
        return [f"DELETE FROM {connection.ops.quote_name(table)};" for table in tables]

    connection.ops.sql_flush = delete  # type: ignore[method-assign]
