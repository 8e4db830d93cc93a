"""CSV files as people make them, and as spreadsheets open them without running what a cell says."""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
SEPARATORS = (",", ";", "\t", "|")
# What Excel writes in front of the header to name the separator.
NAMED_SEPARATOR = re.compile(r'\A"?sep=(.)"?\r?\n\Z', re.IGNORECASE)
# Signs with which a spreadsheet begins a formula, in all their widths (OWASP, "CSV Injection").
FORMULA = re.compile(r"[\s\0]*[=+\-@＝＋－＠]|[\t\r\n]")
SPREADSHEET = ".spreadsheet.csv"
READ_EXACT = "pandas.read_csv(name, keep_default_na=False)"
LONGEST_SHOWN = 200


@dataclass
class CsvReader:
    """An open CSV file behind its header. Iterating gives the cells of each record; blank lines give none."""

    reader: Any
    header: list[str]
    separator: str
    skipped: int

    @property
    def line(self) -> int:
        """The last physical line that was read, counted from 1."""
        return int(self.reader.line_num) + self.skipped

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        """The next record. Raises csv.Error for one that cannot be read; the next call goes on behind it."""
        cells: list[str] = next(self.reader)
        return cells

    def missing(self, columns: Sequence[str]) -> str:
        """A sentence about those of `columns` that the header lacks, with what it holds instead; empty if none."""
        lost = [column for column in columns if column not in self.header]
        if not lost:
            return ""
        shown = " | ".join(self.header)[:LONGEST_SHOWN]
        return f"lacks the columns: {', '.join(lost)}. Its first line holds: {shown or 'nothing'}"


def open_reader(opened: TextIO, columns: Sequence[str]) -> CsvReader:
    """A reader of `opened`, a text file opened with `newline=""`, whose header is hoped to hold `columns`.

    The separator is that of a first line `sep=;`, else the first of comma, semicolon, tab and bar with which the
    header holds all columns, else the comma. Rows end where CSV says: U+0085 and U+2028 are letters of a cell.
    """
    first = opened.readline()
    named = NAMED_SEPARATOR.match(first.removeprefix("\ufeff"))
    start, skipped = (opened.tell(), 1) if named else (0, 0)
    found: CsvReader | None = None
    for separator in (named[1],) if named else SEPARATORS:
        opened.seek(start)
        reader = csv.reader(opened, delimiter=separator)
        header = [name.removeprefix("\ufeff") for name in next(reader, [])]
        found = CsvReader(reader, header, separator, skipped)
        if not found.missing(columns):
            return found
    return found if named and found else _with_comma(opened, start, skipped)


def _with_comma(opened: TextIO, start: int, skipped: int) -> CsvReader:
    opened.seek(start)
    reader = csv.reader(opened)
    return CsvReader(reader, [name.removeprefix("\ufeff") for name in next(reader, [])], ",", skipped)


def for_spreadsheet(cell: object) -> str:
    """The cell with an apostrophe in front where a spreadsheet would read a formula. Numbers stay numbers."""
    text = "" if cell is None else str(cell)
    return f"'{text}" if FORMULA.match(text) and not is_number(text) else text


def is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and text == text.strip()
    except ValueError:
        return False


def write_csv(
    target: Any, columns: Sequence[str], rows: Iterable[Sequence[object]], *, spreadsheet: bool = False
) -> None:
    """Writes a header and rows: exactly, or with a byte-order mark and without formulas for a spreadsheet."""
    if spreadsheet:
        target.write("\ufeff")
        rows = ([for_spreadsheet(cell) for cell in row] for row in rows)
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]], *, spreadsheet: bool = False) -> str:
    """The same as a text."""
    text = io.StringIO()
    write_csv(text, columns, rows, spreadsheet=spreadsheet)
    return text.getvalue()


def exact_to_spreadsheet(text: str) -> str:
    """An exact CSV text as one for a spreadsheet."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return csv_text(header, rows, spreadsheet=True)


def json_lines(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """One JSON object a line: unlike in CSV, nothing is not the same as an empty text."""
    for row in rows:
        document: Mapping[str, object] = dict(zip(columns, row, strict=True))
        yield json.dumps(document, ensure_ascii=False) + "\n"


CSV_NOTE = (
    "CSV files are exact: UTF-8, commas, every cell as it was given. Dishes are called nan, null, NA or None too, so "
    f"read them as text: `{READ_EXACT}`, or in R `read.csv(name, na.strings = character())`. Files whose names end "
    "in `.spreadsheet.csv` are for Excel and LibreOffice: a cell that begins like a formula has an apostrophe in "
    "front. Files that end in `.jsonl` hold the same rows, one JSON object a line, where null is not an empty text."
)
