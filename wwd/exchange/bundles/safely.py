"""Files that are whole or not there, and rows of one moment."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection, transaction

from wwd.exchange.bundles.chosen import ChosenError

WORKSHOP = "wwd-export-"
DAY = 24 * 60 * 60


@contextmanager
def write_atomically(target: Path) -> Iterator[Path]:
    """A file beside `target` that takes its place once it is whole, and else is gone. Raises ChosenError."""
    if target.exists():
        raise ChosenError(f"{target} exists already. Choose another name, or remove it first.")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".part-", suffix=target.suffix)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        part.replace(target)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


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
