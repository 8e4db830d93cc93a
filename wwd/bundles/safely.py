"""Files that are whole or not there, and rows of one moment."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connection, transaction
from django.utils.translation import gettext as _

from wwd.bundles.chosen import ChosenError


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A file beside `target` that takes its place once it is whole, and else is gone. Raises ChosenError."""
    if target.exists():
        raise ChosenError(_("%(file)s exists already. Choose another name, or remove it first.") % {"file": target})
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
def snapshot() -> Iterator[None]:
    """On PostgreSQL one moment of the database; elsewhere `make` notices what changed."""
    if connection.vendor != "postgresql" or connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        yield
