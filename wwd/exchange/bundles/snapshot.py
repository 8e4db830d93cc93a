"""Files that are whole or not there, and rows of one moment."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction

from wwd.base.atomic_files import write_atomically
from wwd.exchange.bundles.table_views import ChosenError

WORKSHOP = "wwd-export-"
DAY = 24 * 60 * 60


@contextmanager
def write_new_file(target: Path) -> Iterator[Path]:
    """A file beside `target` that gets its name once it is whole, and else is gone. Raises ChosenError, OSError."""
    if target.exists():
        raise ChosenError(f"{target} exists already. Choose another name, or remove it first.")
    with write_atomically(target, mode=0o644, overwrite=False) as part:
        yield part


@contextmanager
def open_temporary_folder() -> Iterator[Path]:
    """A folder for what is being made. That of a process that was killed is found by `clear_workshops`."""
    with tempfile.TemporaryDirectory(prefix=WORKSHOP) as folder:
        yield Path(folder)


def clear_workshops() -> int:
    """Removes folders on this host that nobody can still be working in; returns how many."""
    old = [
        path
        for path in Path(tempfile.gettempdir()).glob(f"{WORKSHOP}*")
        if path.is_dir() and time.time() - path.stat().st_mtime > DAY
    ]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return len(old)


@contextmanager
def hold_database_snapshot() -> Iterator[None]:
    """On PostgreSQL one moment of the database; elsewhere `make` notices what changed."""
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield
