"""Copies of files by their SHA-256 on a worker's own disk, so that no file comes twice over the network to one host.

One folder, shared by all processes of a host, never larger than its bound: what was read last stays. Losing a copy
costs one more read, so nothing waits for the disk; a copy that was torn by a crash is found by its hash and removed.
"""

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from wwd.base.decode_memory import hold_file_lock

# A removed image is asked for by no unit: its copies on workers are gone after a day.
UNUSED_SECONDS = 24 * 60 * 60
# A process that is killed while it writes leaves its part.
PART_SECONDS = 60 * 60
# Making room once for many files: so much of the bound stays filled.
FILLED = 0.9
DIGITS = 20
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class HeldFile:
    """A file of the cache: its bytes, and when it was last read, in seconds of this host's clock."""

    path: Path
    size: int
    used: float


class FileCache:
    """The copies in one folder, `most_bytes` of them at most, those that are being written included."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self.most_bytes = folder, most_bytes

    def path_of(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256

    def read_file(self, sha256: str) -> bytes | None:
        """The content; None where it is not held. A copy that is not what its name says is removed."""
        path = self.path_of(sha256)
        try:
            content = path.read_bytes()
            if hashlib.sha256(content).hexdigest() != sha256:
                logger.warning("The copy of %s in the file cache was damaged and is removed.", sha256)
                path.unlink(missing_ok=True)
                return None
            os.utime(path)
        except FileNotFoundError:
            return None
        except OSError:
            logger.warning("The file cache in %s cannot be read.", self.folder, exc_info=True)
            return None
        return content

    def add_file(self, content: bytes, sha256: str) -> bool:
        """Keeps a copy; False where that is not possible, which is no error. Other bytes than named are not kept."""
        if not 0 < len(content) <= self.most_bytes:
            return False
        target = self.path_of(sha256)
        try:
            if target.exists():
                return True
            if hashlib.sha256(content).hexdigest() != sha256:
                return False
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if (part := self.reserve_part(len(content))) is None:
                return False
            try:
                part.write_bytes(content)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
        except OSError:
            logger.warning("The file cache in %s cannot be written.", self.folder, exc_info=True)
            return False
        return True

    def read_through(self, sha256: str, fetch: Callable[[str], bytes]) -> bytes:
        """The content, from here or else by `fetch`, and then kept. Raises what `fetch` raises."""
        found = self.read_file(sha256)
        if found is None:
            found = fetch(sha256)
            self.add_file(found, sha256)
        return found

    def remove_files(self, hashes: Iterable[str]) -> None:
        """Removes copies, such as those of erased images. The next count finds their room."""
        for sha256 in hashes:
            with suppress(OSError):
                self.path_of(sha256).unlink(missing_ok=True)

    def remove_unused(self, seconds: float = UNUSED_SECONDS) -> int:
        """Removes what was not read for so long; returns the number of files."""
        if not self.folder.is_dir():
            return 0
        before = time.time() - seconds
        with hold_file_lock(self.folder / "lock", wait=True):
            files = list(self.iterate_files())
            old = [file for file in files if file.used < before]
            for file in old:
                file.path.unlink(missing_ok=True)
            self.note_held(sum(file.size for file in files) - sum(file.size for file in old))
        return len(old)

    def reserve_part(self, size: int) -> Path | None:
        """An empty file for `size` bytes, for which there is room from now on; None where others write it full.

        The name says the size: others count it as if it were written.
        """
        with hold_file_lock(self.folder / "lock", wait=True):
            held = self.read_held()
            if held is None or held + size > self.most_bytes:
                held = self.make_room(size)
            if held + size > self.most_bytes:
                return None
            self.note_held(held + size)
            part = self.folder / f"part-{size}-{uuid4().hex}"
            part.touch(mode=0o600)
        return part

    def make_room(self, size: int) -> int:
        """Counts anew and removes what was not read for longest; returns the bytes that are held then."""
        files = sorted(self.iterate_files(), key=lambda file: file.used)
        held = sum(file.size for file in files)
        if held + size <= self.most_bytes:
            return held
        goal = max(0, int(self.most_bytes * FILLED) - size)
        for file in files:
            if held <= goal:
                break
            if not is_part(file.path) or file.used < time.time() - PART_SECONDS:
                file.path.unlink(missing_ok=True)
                held -= file.size
        return held

    def iterate_files(self) -> Iterator[HeldFile]:
        """All copies, and the parts that are being written with the size that they will have."""
        for folder in [self.folder, *(path for path in self.folder.iterdir() if path.is_dir())]:
            for entry in os.scandir(folder):
                with suppress(FileNotFoundError):
                    found = entry.stat()
                    if folder != self.folder:
                        yield HeldFile(Path(entry.path), found.st_size, found.st_mtime)
                    elif is_part(Path(entry.path)):
                        yield HeldFile(Path(entry.path), int(entry.name.split("-")[1]), found.st_mtime)

    def read_held(self) -> int | None:
        """The bytes that are held at most, as noted last; None where nothing usable was noted."""
        try:
            text = (self.folder / "held").read_text()
        except (OSError, UnicodeDecodeError):
            return None
        return int(text) if len(text) == DIGITS and text.isdecimal() else None

    def note_held(self, held: int) -> None:
        (self.folder / "held").write_text(f"{held:0{DIGITS}}")


def is_part(path: Path) -> bool:
    return path.name.startswith("part-")


def get_file_cache() -> FileCache:
    """The cache of this host, as `WWD_FILE_CACHE` and `WWD_FILE_CACHE_MEGABYTES` say."""
    return FileCache(Path(settings.FILE_CACHE), settings.FILE_CACHE_MEGABYTES * 1024 * 1024)
