"""Reference lists in the database: read from a CSV file of a known form, whole or not at all."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from django.db import transaction

from collection.vocabularies.places import code_for
from evaluation.counters import bump_input_counters
from evaluation.models import ReferenceDish, ReferenceList
from evaluation.novelty.cells import names_in
from evaluation.suggestions import describe_unknown_name
from wwd.base.csv_files import open_reader
from wwd.base.planner_statistics import refresh_statistics

FORMS = Path(__file__).with_name("formats.json")
INPUT = "references"
CHUNK = 1000
LONGEST_NAME = 300
MOST_ROWS = 200_000


class ReferenceListError(ValueError):
    """The file cannot be taken as a reference list; the text says why and what to do."""


@dataclass(frozen=True)
class Form:
    """Which columns of a file hold what. `fields`: our field → columns that say the same."""

    title: str
    source: str
    name: str
    aliases: str
    countries: str
    fields: Mapping[str, list[str]]


@lru_cache(maxsize=1)
def load_reference_forms() -> Mapping[str, Form]:
    """The known forms of files by name."""
    return {name: Form(**form) for name, form in json.loads(FORMS.read_text(encoding="utf-8")).items()}


@transaction.atomic
def import_reference(
    path: Path, slug: str, form: str, *, title: str = "", source: str = "", demonstration: bool = False
) -> tuple[ReferenceList, bool]:
    """The list of this file, and whether it was added now. The same file again changes nothing.

    Raises ReferenceListError for a form that is not known, a file that cannot be read, and a slug that another file
    has.
    """
    if form not in load_reference_forms():
        raise ReferenceListError(describe_unknown_name("form of file", form, load_reference_forms()))
    known = load_reference_forms()[form]
    content = read_reference_file(path)
    digest = hashlib.sha256(content).hexdigest()
    if old := ReferenceList.objects.filter(slug=slug).first():
        if old.sha256 != digest:
            raise ReferenceListError(f"The list {slug} was made from another file. Choose another name for this one.")
        return old, False
    columns, rows = parse_reference_csv(content, known)
    if not rows:
        raise ReferenceListError(f"{path.name} holds no dish with a name in its column {known.name}.")
    held = ReferenceList.objects.create(
        slug=slug,
        title=title or known.title,
        source=source or known.source,
        sha256=digest,
        fields={field: held for field, names in known.fields.items() if (held := sorted(columns & set(names)))},
        demonstration=demonstration,
    )
    for row in rows:
        row.reference = held
    ReferenceDish.objects.bulk_create(rows, batch_size=CHUNK)
    refresh_statistics(ReferenceDish)
    bump_input_counters(INPUT)
    return held, True


def read_reference_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReferenceListError(f"{path.name} cannot be read: {error.strerror}.") from error


def parse_reference_csv(content: bytes, form: Form) -> tuple[set[str], list[ReferenceDish]]:
    """Columns and dishes of a CSV file; rows without a name are passed over. Raises ReferenceListError for any other
    file.
    """
    try:
        text = io.StringIO(content.decode("utf-8-sig").replace("\0", ""), newline="")
        reader = open_reader(text, (form.name, form.aliases, form.countries))
        if missing := reader.missing((form.name, form.aliases, form.countries)):
            raise ReferenceListError(f"The file {missing}.")
        found = (dict(zip_longest(reader.header, cells[: len(reader.header)])) for cells in reader if cells)
        return set(reader.header), list(parse_reference_rows(found, form))
    except UnicodeDecodeError as error:
        raise ReferenceListError("The file is not UTF-8. Save it as CSV in UTF-8.") from error
    except csv.Error as error:
        raise ReferenceListError(f"The file cannot be read as CSV: {error}.") from error


def parse_reference_rows(rows: Iterable[Mapping[str, Any]], form: Form) -> Iterator[ReferenceDish]:
    for position, row in enumerate(rows, 1):
        if position > MOST_ROWS:
            raise ReferenceListError(f"The file has more than {MOST_ROWS} rows.")
        if name := " ".join((row[form.name] or "").split())[:LONGEST_NAME]:
            yield build_reference_dish(position, name, row, form)


def build_reference_dish(position: int, name: str, row: Mapping[str, Any], form: Form) -> ReferenceDish:
    """One row of the file, not stored yet and without its list."""
    codes = (code_for(country) for country in names_in(row[form.countries] or ""))
    filled = [
        field for field, columns in form.fields.items() if any(is_filled_cell(row.get(column)) for column in columns)
    ]
    return ReferenceDish(
        position=position,
        name=name,
        aliases=[alias for alias in names_in(row[form.aliases] or "") if alias != name],
        countries=sorted({code for code in codes if code}),
        filled=filled,
    )


def is_filled_cell(cell: Any) -> bool:
    """Whether a cell says something: not empty, and no empty list."""
    return isinstance(cell, str) and cell.strip() not in ("", "[]", "{}", "[{}]", "nan", "None")
