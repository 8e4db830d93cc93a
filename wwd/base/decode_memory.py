"""Memory for decoding images: one budget for all processes of a host, so that no number of senders can take more.

The budget is a row of files that are locked, one for each part of it. The system itself unlocks them when a process
dies. Who finds no room waits a little and is then told to try again.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.conf import settings

# Bytes of one part.
PART = 16 * 1024 * 1024
WAIT_SECONDS = 5.0
PAUSE = 0.05


class DecodeMemoryFullError(Exception):
    """All memory for decoding is taken; another try will help."""


def get_decode_budget() -> int:
    """Bytes that all decoders of this host together may take."""
    return settings.DECODE_MEGABYTES * 1024 * 1024 // PART * PART


@contextmanager
def room_for(size: int, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Holds room for `size` bytes of decoded images. Raises DecodeMemoryFullError where it is not there within
    `seconds`.

    More than the budget is taken as the whole of it: callers refuse such images before.
    """
    wanted = min(max(1, -(-size // PART)), get_decode_budget() // PART)
    until = time.monotonic() + seconds
    with ExitStack() as held:
        while not lock_memory_parts(wanted, held):
            if time.monotonic() > until:
                raise DecodeMemoryFullError
            time.sleep(PAUSE)
        yield


def lock_memory_parts(wanted: int, held: ExitStack) -> bool:
    """Locks so many parts, or none. One asks at a time, so that two who want much do not hold half of it each."""
    folder = settings.VAR_DIR / "decoding"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as found:
        found.enter_context(hold_file_lock(folder / "asking", wait=True))
        mine = found.enter_context(ExitStack())
        got = 0
        for number in range(get_decode_budget() // PART):
            try:
                mine.enter_context(hold_file_lock(folder / str(number), wait=False))
            except BlockingIOError:
                continue
            got += 1
            if got == wanted:
                held.push(mine.pop_all())
                return True
    return False


@contextmanager
def hold_file_lock(path: Path, *, wait: bool) -> Iterator[None]:
    """Holds a file's lock, which knows threads apart too. Raises BlockingIOError where somebody has it."""
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(opened)
