"""A storage as far away as one wants: `SECONDS` a look or a read, and three times as long for a whole write."""

import time
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage

# What a look, or the read of a file, takes; 0: a disk of this host. Set between measurements.
SECONDS = [0.0]


class FarStorage(Storage):
    """Files on this disk that take their time, as over a network. Writing a new one (a look, then it) takes 3 looks."""

    def __init__(self) -> None:
        self.near = FileSystemStorage(location=settings.MEDIA_ROOT)

    def path(self, name: str) -> str:
        if SECONDS[0]:
            raise NotImplementedError("This storage is elsewhere.")
        return self.near.path(name)

    def _open(self, name: str, mode: str = "rb") -> File:
        time.sleep(SECONDS[0])
        return self.near.open(name, mode)

    def _save(self, name: str, content: Any) -> str:
        time.sleep(2 * SECONDS[0])
        return self.near.save(name, content)

    def exists(self, name: str) -> bool:
        time.sleep(SECONDS[0])
        return self.near.exists(name)

    def size(self, name: str) -> int:
        time.sleep(SECONDS[0])
        return self.near.size(name)

    def delete(self, name: str) -> None:
        time.sleep(SECONDS[0])
        self.near.delete(name)

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        return name
