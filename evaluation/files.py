"""Files by their SHA-256: written before the row that names them, shared by equal contents."""

import hashlib

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage


def path_of(sha256: str) -> str:
    """Where the content with this hash lies in the storage."""
    return f"images/{sha256[:2]}/{sha256[2:4]}/{sha256}"


def keep(content: bytes) -> str:
    """Stores `content` and returns its SHA-256 (64 hex digits). Storing it twice does nothing the second time."""
    sha256 = hashlib.sha256(content).hexdigest()
    path = path_of(sha256)
    if not default_storage.exists(path):
        default_storage.save(path, ContentFile(content))
    return sha256


def read(sha256: str) -> bytes:
    """The content. Raises FileNotFoundError where it is not held."""
    with default_storage.open(path_of(sha256)) as file:
        return bytes(file.read())
