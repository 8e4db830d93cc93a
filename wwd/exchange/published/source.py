"""Reading published files: rows with their physical line; a bad row is noted with file, line and reason."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model
from tqdm import tqdm

from wwd.base.csv_files import open_reader

T = TypeVar("T")
M = TypeVar("M", bound=Model)


class SourceError(Exception):
    """This folder cannot be used; the text says why."""


class InvalidFileError(Exception):
    """This file cannot be used, the others can."""

    def __init__(self, file: str, line: int, reason: str) -> None:
        super().__init__(reason)
        self.file, self.line, self.reason = file, line, reason


class InvalidRowError(ValueError):
    """This row cannot be loaded; the text says why. The rest of the file can."""


@dataclass(frozen=True)
class Problem:
    """A row that was left out. `line` is where it begins in the file, counted from 1."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.reason}"


@dataclass
class Counts:
    """Rows of one kind: written now, found as they are in the file, found different and left alone."""

    created: int = 0
    unchanged: int = 0
    differing: int = 0

    def found(self, *, same: bool) -> None:
        """Counts a row that is here already, with the content of the file or with other content."""
        if same:
            self.unchanged += 1
        else:
            self.differing += 1


@dataclass
class Report:
    """What an import did, by kind of row, and which rows of the files it left out."""

    counts: dict[str, Counts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def count(self, kind: str) -> Counts:
        return self.counts.setdefault(kind, Counts())

    def problem(self, file: str, line: int, reason: str) -> None:
        self.problems.append(Problem(file, line, reason))

    def created(self, *kinds: str) -> int:
        """How many rows of these kinds were written."""
        return sum(self.count(kind).created for kind in kinds)


@dataclass(frozen=True)
class Row:
    """A row of a CSV file by column name."""

    file: str
    line: int
    cells: Mapping[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]


def read_records(path: Path, file: str, columns: Sequence[str], report: Report) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of the header and of every record. Blank lines are passed over.

    What cannot be read as UTF-8 CSV is noted. Raises InvalidFileError where one of `columns` is missing.
    """
    try:
        opened = path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    except OSError as error:
        raise InvalidFileError(file, 1, f"cannot be read: {error.strerror}") from error
    with opened:
        reader = open_reader(opened, columns)
        if missing := reader.missing(columns):
            raise InvalidFileError(file, 1, missing)
        yield reader.line, reader.header
        while True:
            line = reader.line + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                report.problem(file, line, f"not readable as CSV: {error}")
                continue
            if cells:
                yield line, cells


def check_cells(cells: Sequence[str], header: Sequence[str]) -> None:
    if len(cells) != len(header):
        raise InvalidRowError(f"has {len(cells)} cells, the header has {len(header)}")
    for name, cell in zip(header, cells, strict=True):
        if "\0" in cell:
            raise InvalidRowError(f"{name} holds a NUL character")
        try:
            cell.encode()
        except UnicodeEncodeError:
            raise InvalidRowError(f"{name} is not UTF-8") from None


def read_wellformed_rows(folder: Path, file: str, columns: Sequence[str], report: Report) -> Iterator[Row]:
    """The well-formed rows of `folder`/`file`. Raises InvalidFileError where one of `columns` is missing."""
    found = read_records(folder / file, file, columns, report)
    _line, header = next(found)
    for line, cells in found:
        try:
            check_cells(cells, header)
        except InvalidRowError as error:
            report.problem(file, line, str(error))
        else:
            yield Row(file, line, dict(zip(header, cells, strict=True)))


def parse_rows(found: Iterator[Row], parse: Callable[[Row], T], report: Report, kind: str) -> Iterator[T]:
    """What `parse` makes of each row, with a progress bar on a terminal; rows it refuses are noted."""
    for row in tqdm(found, desc=kind, unit=" rows", disable=None):
        try:
            yield parse(row)
        except InvalidRowError as error:
            report.problem(row.file, row.line, str(error))


def check_instance(instance: M, *skip: str) -> M:
    """`instance` if its own fields are valid. Foreign keys are not looked up, nor the fields in `skip`."""
    keys = [field.name for field in instance._meta.concrete_fields if field.is_relation]
    try:
        instance.clean_fields(exclude=[*keys, *skip])
    except ValidationError as error:
        reasons = [f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items()]
        raise InvalidRowError(" ".join(reasons)) from error
    return instance
