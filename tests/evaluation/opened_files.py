"""Which files of a folder are opened, by whatever code: the kernel tells (inotify), so compiled readers count too."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

IN_OPEN = 0x20
HEAD = struct.Struct("iIII")


@contextmanager
def watched(folder: Path) -> Iterator[set[str]]:
    """Names of the files, below `folder`, that were opened meanwhile; filled when the block ends."""
    library = ctypes.CDLL(None, use_errno=True)
    queue = library.inotify_init1(os.O_NONBLOCK)
    assert queue >= 0, os.strerror(ctypes.get_errno())
    places = {}
    for place in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        places[library.inotify_add_watch(queue, os.fsencode(place), IN_OPEN)] = place
    opened: set[str] = set()
    try:
        yield opened
    finally:
        opened.update(read(queue, places))
        os.close(queue)


def read(queue: int, places: dict[int, Path]) -> Iterator[str]:
    while True:
        try:
            content = os.read(queue, 1 << 20)
        except BlockingIOError:
            return
        while content:
            watch, _, _, length = HEAD.unpack_from(content)
            name = os.fsdecode(content[HEAD.size : HEAD.size + length].rstrip(b"\0"))
            if name:
                yield (places[watch] / name).name
            content = content[HEAD.size + length :]
