"""Images that somebody made elsewhere, in a folder: which file shows what, by the pattern of its name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.contracts.study import ConfigError
from evaluation.readers.image_decode import ImageError, decode_image, read_header
from evaluation.suggestions import describe_unknown_name

FIELDS = {"subject": r"[^/]+?", "model": r"[^/]+?", "seed": r"\d{1,18}", "sample": r"\d{1,9}"}
PART = re.compile(r"\{(\w*)\}")
MOST_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True)
class FoundImage:
    """A file that is an image. `fields` holds what its name says: subject, and model, seed or sample where given."""

    path: Path
    name: str
    fields: dict[str, str]
    media_type: str
    width: int
    height: int

    def content(self) -> bytes:
        return self.path.read_bytes()


@dataclass(frozen=True)
class LeftOut:
    """A file that was not taken, and why."""

    name: str
    reason: str


def pattern_of(text: str) -> re.Pattern[str]:
    """The pattern `{model}/{subject}_{seed}.png` as an expression over paths below the folder. Raises ConfigError."""
    names = PART.findall(text)
    for name in names:
        if name not in FIELDS:
            raise ConfigError("pattern: " + describe_unknown_name("part", name, FIELDS))
    if "subject" not in names or len(set(names)) != len(names):
        raise ConfigError("pattern: {subject} is needed, and every part may occur once.")
    if "seed" in names and "sample" in names:
        raise ConfigError("pattern: an image has a seed or a sample number, not both.")
    pieces = PART.split(text)
    parts = [
        re.escape(piece) if even else f"(?P<{piece}>{FIELDS[piece]})" for piece, even in mark_outside_braces(pieces)
    ]
    return re.compile("".join(parts))


def mark_outside_braces(pieces: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Pieces with whether they stand outside the braces: every other one does."""
    return ((piece, number % 2 == 0) for number, piece in enumerate(pieces))


def scan_image_folder(folder: Path, pattern: str) -> Iterator[FoundImage | LeftOut]:
    """Every file below `folder`, in the order of names: an image with what its name says, or why it was left out."""
    expression = pattern_of(pattern)
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {str(folder)!r}.")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            continue
        match = expression.fullmatch(name)
        if match is None:
            yield LeftOut(name, "its name does not fit the pattern")
        elif not path.resolve().is_relative_to(folder.resolve()):
            yield LeftOut(name, "it is a link to a file outside the folder")
        else:
            yield examine_image_file(path, name, match.groupdict())


def examine_image_file(path: Path, name: str, fields: dict[str, str]) -> FoundImage | LeftOut:
    """The image with its kind by content, whatever its name ends in; the whole file is decoded once."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return LeftOut(name, "it is larger than 50 MB")
        content = path.read_bytes()
        header = read_header(content)
        decode_image(content)
    except OSError as error:
        return LeftOut(name, f"it cannot be read: {error.strerror}")
    except ImageError as error:
        return LeftOut(name, str(error))
    return FoundImage(path, name, fields, header.media_type, header.width, header.height)
