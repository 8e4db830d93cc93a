"""Tar files of work and of results: written whole, read without trusting a name, a link or a size in them."""

import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from wwd.base.atomic_files import write_atomically

# The last member: where it is missing, the file ends in its middle.
END = "end.json"
FORMAT = 1
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_JSON = 2 * 1024**3
MOST_FILE = 50 * 1024 * 1024
CUT = "{path} is damaged or ends in its middle: copy it again. Nothing of it was used."


class WorkFileError(Exception):
    """A file of work or of results that cannot be used; the text says why and what to do."""


class WorkFileWriter:
    """Adds members to a tar file."""

    def __init__(self, opened: tarfile.TarFile) -> None:
        self.opened = opened
        self.number = 0

    def add_bytes(self, name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(content), 0o644
        self.opened.addfile(info, io.BytesIO(content))
        self.number += 1

    def add_json(self, name: str, content: Any) -> None:
        self.add_bytes(name, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))

    def add_file(self, name: str, path: Path) -> None:
        self.add_bytes(name, path.read_bytes())


@contextmanager
def write_work_file(target: Path) -> Iterator[WorkFileWriter]:
    """A tar file that takes its name once it is whole. Raises OSError."""
    with write_atomically(target) as part, tarfile.open(part, "w", format=tarfile.PAX_FORMAT) as opened:
        writer = WorkFileWriter(opened)
        yield writer
        writer.add_json(END, {"format": FORMAT, "members": writer.number})


class WorkFile:
    """A tar file that was looked through: plain files with accepted names, each once, and whole to its end."""

    def __init__(self, path: Path, opened: tarfile.TarFile, names: Iterable[str], folders: Iterable[str]) -> None:
        self.path, self.opened = path, opened
        self.members: dict[str, tarfile.TarInfo] = {}
        accepted, below = set(names) | {END}, tuple(folders)
        try:
            for member in opened:
                self.check_member(member, accepted, below)
                self.members[member.name] = member
        except (tarfile.TarError, EOFError, OSError, ValueError) as error:
            raise WorkFileError(CUT.format(path=path.name)) from error
        if END not in self.members:
            raise WorkFileError(CUT.format(path=path.name))
        end = self.read_json(END)
        if end != {"format": FORMAT, "members": len(self.members) - 1}:
            raise WorkFileError(f"{path.name} is of another version of the project, or was changed.")

    def check_member(self, member: tarfile.TarInfo, accepted: set[str], below: tuple[str, ...]) -> None:
        name = member.name
        folder, _, last = name.rpartition("/")
        known = name in accepted or (folder in below and SHA256.fullmatch(last) is not None)
        if not member.isreg() or not known or name in self.members:
            raise WorkFileError(f"{self.path.name} holds {name[:80]!r}, which no such file holds. It was not used.")
        if member.size > (MOST_FILE if folder in below else MOST_JSON):
            raise WorkFileError(f"{self.path.name} holds {name[:80]!r} with {member.size} bytes, which is too large.")

    def read_bytes(self, name: str) -> bytes:
        """Raises FileNotFoundError where there is no such member, WorkFileError where it is cut."""
        if name not in self.members:
            raise FileNotFoundError(name)
        source = self.opened.extractfile(self.members[name])
        content = source.read() if source else b""
        if len(content) != self.members[name].size:
            raise WorkFileError(CUT.format(path=self.path.name))
        return content

    def read_json(self, name: str) -> Any:
        try:
            return json.loads(self.read_bytes(name))
        except FileNotFoundError:
            raise WorkFileError(f"{self.path.name} holds no {name}: it is another kind of file.") from None
        except (ValueError, RecursionError) as error:
            raise WorkFileError(f"{name} in {self.path.name} is no JSON.") from error

    def read_lines(self, name: str) -> Iterator[Any]:
        """Each line of a member, as JSON."""
        for line in io.BytesIO(self.read_bytes(name)):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise WorkFileError(f"A line of {name} in {self.path.name} is no JSON.") from error

    def read_content(self, folder: str, sha256: str) -> bytes:
        """The file with this hash. Raises WorkFileError where another lies under its name, FileNotFoundError."""
        content = self.read_bytes(f"{folder}/{sha256}")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise WorkFileError(f"The file {sha256} in {self.path.name} is another than its name says.")
        return content


@contextmanager
def open_work_file(path: Path, names: Iterable[str], folders: Iterable[str]) -> Iterator[WorkFile]:
    """A tar file after it was looked through. Raises WorkFileError."""
    with ExitStack() as ending:
        try:
            opened = ending.enter_context(tarfile.open(path, "r:"))
        except OSError as error:
            raise WorkFileError(f"The file {path} cannot be read: {error.strerror or error}.") from error
        except tarfile.TarError as error:
            raise WorkFileError(CUT.format(path=path.name)) from error
        yield WorkFile(path, opened, names, folders)
