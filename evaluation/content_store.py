"""Files by their SHA-256: written before the row that names them, shared by equal contents."""

import hashlib
import io
import logging
import random
import shutil
import time
from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from pathlib import Path

from django.apps import apps
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone

from wwd.base.atomic_files import write_atomically
from wwd.base.file_cache import get_file_cache

ROOT = "images"
# Longer than any batch takes from writing its files to naming them in rows.
GRACE = timedelta(days=1)
CHUNK = 500
# The web server's user reads what a worker's wrote.
MODE = 0o644
logger = logging.getLogger(__name__)


def path_of(sha256: str) -> str:
    """Where the content with this hash lies in the storage."""
    return f"{ROOT}/{sha256[:2]}/{sha256[2:4]}/{sha256}"


def store_content(content: bytes) -> str:
    """Stores `content` and returns its SHA-256 (64 hex digits). Storing it twice does nothing the second time."""
    return store_stream(io.BytesIO(content), len(content))


def store_file(source: Path) -> str:
    """Stores a file that may be larger than memory; returns its SHA-256. Raises OSError, and then leaves nothing."""
    with source.open("rb") as content:
        return store_stream(content, source.stat().st_size)


def store_stream(content: io.BytesIO | io.BufferedReader, size: int) -> str:
    """Stores `size` bytes under their SHA-256, unless they are held already; returns it."""
    sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    content.seek(0)
    path = path_of(sha256)
    if default_storage.exists(path) and default_storage.size(path) == size:
        return sha256
    local = local_path_of(sha256)
    if local is None:
        default_storage.save(path, File(content))
    else:
        local.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(local, mode=MODE) as part, part.open("wb") as target:
            shutil.copyfileobj(content, target)
    return sha256


def read_content(sha256: str) -> bytes:
    """The content. Raises FileNotFoundError where it is not held."""
    with default_storage.open(path_of(sha256)) as file:
        return bytes(file.read())


def read_for_worker(sha256: str) -> bytes:
    """The content, as often as it is needed, but once from a storage elsewhere: copies stay on this host.

    Raises FileNotFoundError where it is not held.
    """
    return read_content(sha256) if local_path_of(sha256) else get_file_cache().read_through(sha256, read_content)


def copy_for_worker(content: bytes, sha256: str) -> None:
    """Keeps a copy of what was just stored elsewhere: a later run on this host asks about it."""
    if local_path_of(sha256) is None:
        get_file_cache().add_file(content, sha256)


def local_path_of(sha256: str) -> Path | None:
    """Where the content lies, or would lie, in a file system of this host; None where the storage is elsewhere."""
    try:
        return Path(default_storage.path(path_of(sha256)))
    except NotImplementedError:
        return None


def remove_orphans(grace: timedelta = GRACE, seconds: float = 60) -> int:
    """Removes files that no row names and that are older than `grace`; returns their number.

    Stops after `seconds` and begins somewhere else each time, so that every file has its turn in the end.
    """
    end, removed = time.monotonic() + seconds, 0
    files = old_files(ROOT, grace)
    while time.monotonic() < end and (chunk := list(islice(files, CHUNK))):
        named = named_by_rows([name for _, name in chunk])
        for path in [path for path, name in chunk if name not in named]:
            default_storage.delete(path)
            removed += 1
    if removed:
        logger.info("Removed %d files that no row names.", removed)
    return removed


def named_by_rows(hashes: Sequence[str]) -> set[str]:
    """Those of `hashes` that a row of any app names: every field whose own name ends in `sha256` counts."""
    fields = [(model, field.name) for model in apps.get_models() for field in model._meta.concrete_fields]
    found: set[str] = set()
    for model, name in fields:
        if name.endswith("sha256"):
            found.update(model._default_manager.filter(**{f"{name}__in": hashes}).values_list(name, flat=True))
    return found


def remove_unnamed(hashes: Collection[str]) -> None:
    """Deletes those contents that no row names any more. Never call it inside a transaction."""
    unnamed = set(hashes) - named_by_rows(sorted(hashes))
    get_file_cache().remove_files(unnamed)
    for sha256 in unnamed:
        default_storage.delete(path_of(sha256))


def old_files(folder: str, grace: timedelta) -> Iterator[tuple[str, str]]:
    """Path and name of the files below `folder` that are older than `grace`, folders in random order."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        path = f"{folder}/{name}"
        try:
            if timezone.now() - default_storage.get_modified_time(path) >= grace:
                yield path, name
        except FileNotFoundError:
            continue
    for name in random.sample(folders, len(folders)):
        yield from old_files(f"{folder}/{name}", grace)
