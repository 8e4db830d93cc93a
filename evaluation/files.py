"""Files by their SHA-256: written before the row that names them, shared by equal contents."""

import hashlib
import os
import tempfile
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage


def path_of(sha256: str) -> str:
    """Where the content with this hash lies in the storage."""
    return f"images/{sha256[:2]}/{sha256[2:4]}/{sha256}"


def keep(content: bytes) -> str:
    """Stores `content` and returns its SHA-256 (64 hex digits). Storing it twice does nothing the second time."""
    sha256 = hashlib.sha256(content).hexdigest()
    path = path_of(sha256)
    if default_storage.exists(path) and default_storage.size(path) == len(content):
        return sha256
    try:
        local = Path(default_storage.path(path))
    except NotImplementedError:
        default_storage.save(path, ContentFile(content))
    else:
        write_whole(local, content)
    return sha256


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file that is whole or not there, also when the process is killed or two of them write it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part = Path(file.name)
    part.chmod(0o644)
    part.replace(path)


def read(sha256: str) -> bytes:
    """The content. Raises FileNotFoundError where it is not held."""
    with default_storage.open(path_of(sha256)) as file:
        return bytes(file.read())
