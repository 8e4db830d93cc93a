"""Files that are whole or not there: written under another name beside the target, flushed to the disk, then renamed.

A reader sees the old content or the new one. A killed process leaves `.part-*` beside the target, never a half file.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def write_atomically(target: Path, *, mode: int | None = None, overwrite: bool = True) -> Iterator[Path]:
    """Gives the path of an empty file that takes the place of `target` when the block ends.

    Where the block or the disk fails, that file is removed and `target` stays as it was. Links are followed. `mode`:
    the rights of the new file; else those of the old one, or what the process gives to new files. A target that is no
    regular file (a pipe, a device) is given itself. Raises OSError; FileExistsError without `overwrite`.
    """
    target = target.resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    if mode is None and target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    part = target.with_name(f".part-{uuid4().hex}")
    try:
        # Nobody else may read a file that is to be private, not even while it is written.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600))
        yield part
        flush_to_disk(part, mode)
        rename_part(part, target, overwrite=overwrite)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_bytes_atomically(target: Path, content: bytes, *, mode: int | None = None, overwrite: bool = True) -> None:
    """Writes `content` to `target`, whole or not at all: see `write_atomically`."""
    with write_atomically(target, mode=mode, overwrite=overwrite) as part:
        part.write_bytes(content)


def write_text_atomically(target: Path, text: str) -> None:
    """Writes `text` as UTF-8, line ends as they are, whole or not at all: see `write_atomically`."""
    write_bytes_atomically(target, text.encode())


def flush_to_disk(path: Path, mode: int | None = None) -> None:
    """Sets the rights of a file and waits until the disk holds it: a rename may reach the disk before the content."""
    opened = os.open(path, os.O_RDONLY)
    try:
        if mode is not None:
            os.fchmod(opened, mode)
        os.fsync(opened)
    finally:
        os.close(opened)


def rename_part(part: Path, target: Path, *, overwrite: bool) -> None:
    """Gives a whole file its name. Without `overwrite` the first of several writers wins: the others raise."""
    if overwrite:
        part.replace(target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:  # A file system without hard links.
        if target.exists():
            raise FileExistsError(str(target)) from None
        part.replace(target)
