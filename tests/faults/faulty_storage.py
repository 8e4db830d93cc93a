"""A storage far away that fails in one way: no path on this disk, and a fault that the tests choose."""

import threading
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage

from tests.faults.killing_study import kill_once

# Every third call about a file raises; the first reads hang; every third read, or each, gives half; the process is
# killed once, in the middle of a read or after a write.
FAULTS = ("", "every third call fails", "hangs", "half at times", "half always", "killed reading", "killed writing")


# So many reads hang.
HANGING = 3


class FaultyStorage(Storage):
    """`fault`: one of `FAULTS`. `seconds`: how long it hangs. `latency`: seconds of each call."""

    def __init__(self, fault: str = "", seconds: float = 60.0, latency: float = 0.0, location: str = "") -> None:
        assert fault in FAULTS
        self.fault, self.seconds, self.latency = fault, seconds, latency
        self.files = FileSystemStorage(location=location or settings.MEDIA_ROOT)
        self.lock = threading.Lock()
        self.calls = Counter[str]()
        self.reads = 0

    def call(self, name: str) -> None:
        """One call about a file. Counted by file: by chance none of them fails again and again."""
        time.sleep(self.latency)
        with self.lock:
            self.calls[name] += 1
            wrong = self.calls[name] % 3 == 0
        if wrong and self.fault == "every third call fails":
            raise OSError("The storage failed.")

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        self.call(name)
        with self.lock:
            self.reads += 1
            number = self.reads
        if self.fault == "hangs" and number <= HANGING:
            time.sleep(self.seconds)
        if self.fault == "killed reading" and number > 3:
            self.kill_once()
        with self.files.open(name, mode) as file:
            content = bytes(file.read())
        half = self.fault == "half always" or (self.fault == "half at times" and number % 3 == 0)
        return ContentFile(content[: len(content) // 2] if half else content)

    def _save(self, name: str, content: Any) -> str:
        self.call(name)
        saved = self.files.save(name, content)
        if self.fault == "killed writing":
            self.kill_once()
        return saved

    def kill_once(self) -> None:
        kill_once(Path(self.files.location).parent / "killed")

    def exists(self, name: str) -> bool:
        self.call(name)
        return self.files.exists(name)

    def size(self, name: str) -> int:
        self.call(name)
        return self.files.size(name)

    def delete(self, name: str) -> None:
        self.files.delete(name)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        return self.files.listdir(path)

    def get_modified_time(self, name: str) -> datetime:
        return self.files.get_modified_time(name)
