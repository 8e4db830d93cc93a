"""A zip file whose bytes follow from what is put into it: fixed times and rights, and a checksum of every file."""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# The first moment that a zip file can name.
LONG_AGO = (1980, 1, 1, 0, 0, 0)
SUMS = "SHA256SUMS"


class Archive:
    """Writes files into one folder of a zip file. `close` adds the checksums."""

    def __init__(self, path: Path, folder: str) -> None:
        self.folder = folder
        self.sums: dict[str, str] = {}
        self._file = path.open("wb")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_DEFLATED, compresslevel=6)

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[str]]:
        """A text file (UTF-8, line feeds) that is written piece by piece."""
        if name in self.sums:
            raise ValueError(f"{name} is in the archive already.")
        with self._zip.open(self._info(name), "w", force_zip64=True) as raw:
            counted = _Counted(raw)
            text = io.TextIOWrapper(io.BufferedWriter(counted), encoding="utf-8", newline="\n")
            yield text
            text.flush()
            text.detach().detach()
        self.sums[name] = counted.digest.hexdigest()

    def add(self, name: str, content: str | bytes) -> None:
        """A whole file."""
        if name in self.sums:
            raise ValueError(f"{name} is in the archive already.")
        data = content.encode() if isinstance(content, str) else content
        self._zip.writestr(self._info(name), data)
        self.sums[name] = hashlib.sha256(data).hexdigest()

    def close(self) -> None:
        """Writes the checksums, in the form that `sha256sum --check` reads, and ends the file."""
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(self.sums.items()))
        self._zip.writestr(self._info(SUMS), listed)
        self._zip.close()
        self._file.close()

    def abandon(self) -> None:
        """Lets go of a file that is not finished, whatever state it is in."""
        self._zip.fp = None  # Closing would write its directory, and a full disk has no place for it.
        with suppress(OSError):
            self._file.close()

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(f"{self.folder}/{name}", LONG_AGO)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3
        info.external_attr = 0o100644 << 16
        return info


class _Counted(io.RawIOBase):
    """Passes bytes on and hashes them."""

    def __init__(self, target: IO[bytes]) -> None:
        self.target = target
        self.digest = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self.target.write(data)
