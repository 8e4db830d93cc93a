"""Rows as lines of JSON: out of the platform without anything that is not for others, and into an empty database."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from itertools import count
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from django.apps import apps
from django.db import connection, transaction
from django.db.models import BinaryField, DateTimeField, Field, Model
from django.db.models.fields import NOT_PROVIDED

from collection.models import Dish, Occasion, Photo, PhotoLink
from evaluation import models as evaluation
from review import models as review
from review.redacted_words import redact_text
from review.unappetising import text_codes
from wwd.base.planner_statistics import refresh_statistics
from wwd.exchange.bundles.pseudonyms import pseudonymise_reviewers
from wwd.exchange.bundles.row_columns import SHAPES, Shape
from wwd.exchange.bundles.row_selection import Needed

Row = dict[str, Any]
Change = Callable[[Row], Row]
# How a provider is reached, and with which key, is of the platform and not of the result.
REACHED_BY = ("base_url", "key", "url", "token")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INSERT_AT_ONCE = 500
# Of what people told about a dish only its names leave; of the rest, whether they told anything.
FREE_TEXT_FIELDS = [
    "regions",
    "cultures",
    "time_of_day",
    "kinds",
    "utensils",
    "drink",
    "ingredients",
    "recipe",
    "more_details",
]
FREE_TEXT_MARK = "x"


def write_table_rows(shape: Shape, needed: Needed, change: Change, target: IO[str]) -> None:
    """The rows of one table, one line each, in the order of their keys, each as `change` gives it away."""
    names = [column.attname for column in shape.columns]
    key = names.index(shape.key)
    for part in needed.chunks(shape.model):
        for values in sorted(part.values_list(*names), key=lambda found: found[key]):
            row = needed.shown(change(dict(zip(names, values, strict=True))))
            target.write(json.dumps(row, ensure_ascii=False, default=serialise_value) + "\n")


def serialise_value(value: Any) -> str:
    """What JSON has no form for, as text that `Field.to_python` reads again."""
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else str(value)


def build_row_changes(needed: Needed) -> dict[type[Model], Change]:
    """How rows are changed before they leave: people become numbers, unread words are hidden, addresses go."""
    people = pseudonymise_reviewers(row for part in needed.chunks(review.Reviewer) for row in part)
    given, photos = count(1), count(1)
    words = Words(needed)

    def theirs(row: Row) -> Row:
        return {**row, "reviewer_id": people[row["reviewer_id"]][0]}

    def reviewer(row: Row) -> Row:
        identity, label = people[row["id"]]
        return {**row, "id": identity, "source_key": label}

    return {
        Dish: of_dish,
        PhotoLink: lambda row: {**row, "url": FREE_TEXT_MARK if row["url"] else ""},
        Photo: lambda row: {**row, "id": UUID(int=next(photos))},
        evaluation.Model: lambda row: {**row, "parameters": without_address(row["parameters"])},
        review.Reviewer: reviewer,
        review.Exclusion: theirs,
        review.Assignment: lambda row: {**theirs(row), "id": UUID(int=next(given))},
        review.Review: lambda row: {**theirs(row), "answers": words.of(row)},
    }


def of_dish(row: Row) -> Row:
    told = {
        name: [FREE_TEXT_MARK] if isinstance(row[name], list) else FREE_TEXT_MARK
        for name in FREE_TEXT_FIELDS
        if row[name]
    }
    occasions = {"occasions": Occasion.BOTH.value} if row["occasions"] else {}
    return {**row, **told, **occasions}


def without_address(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in parameters.items() if name not in REACHED_BY}


class Words:
    """Answers as they may leave: those in own words as they are where somebody of the staff read them, else hidden."""

    def __init__(self, needed: Needed) -> None:
        self.read: set[int] = set()
        self.definitions: dict[UUID, Mapping[str, Any]] = {}
        for part in needed.chunks(review.Review):
            self.read.update(part.exclude(words_read_at=None).values_list("pk", flat=True))
        for people in needed.chunks(review.Reviewer):
            self.definitions.update(people.values_list("pk", "campaign__questionnaire__definition"))

    def of(self, row: Row) -> Row:
        definition = self.definitions[row["reviewer_id"]]
        asked = {question["code"] for question in definition["questions"]}
        answers = {code: value for code, value in row["answers"].items() if code in asked}
        own = [code for code in text_codes(definition) if answers.get(code)] if row["id"] not in self.read else []
        return {**answers, **{code: redact_text(str(answers[code])) for code in own}}


def load_bundle_rows(folder: Path) -> None:
    """Makes the tables of an empty database and fills those of a bundle from the files in `folder`."""
    with connection.schema_editor() as editor:
        for model in apps.get_models():
            editor.create_model(model)
    # What the rows name beside each other is left out on purpose: people, staff, files.
    with connection.constraint_checks_disabled(), transaction.atomic():
        for shape in SHAPES:
            path = folder / f"{shape.name}.jsonl"
            if path.exists():
                with path.open(encoding="utf-8") as lines:
                    insert_rows(shape, (json.loads(line) for line in lines))
        refresh_statistics()


def insert_rows(shape: Shape, rows: Iterator[Row]) -> None:
    """Rows as they are, past everything that happens when a row is saved: no time of today, no signal."""
    columns = [column for column in shape.model._meta.concrete_fields if is_column_inserted(shape, column)]
    quote = connection.ops.quote_name
    names = ", ".join(quote(column.column) for column in columns)
    places = ", ".join(["%s"] * len(columns))
    statement = f"INSERT INTO {quote(shape.model._meta.db_table)} ({names}) VALUES ({places})"  # noqa: S608
    with connection.cursor() as cursor:
        batch: list[list[Any]] = []
        for row in rows:
            batch.append([prepare_column_value(column, row) for column in columns])
            if len(batch) == INSERT_AT_ONCE:
                cursor.executemany(statement, batch)
                batch = []
        if batch:
            cursor.executemany(statement, batch)


def is_column_inserted(shape: Shape, column: "Field[Any, Any]") -> bool:
    """Whether a value is inserted: the database itself fills what is left out and has a default there."""
    return column in shape.columns or column.db_default is NOT_PROVIDED


def prepare_column_value(column: "Field[Any, Any]", row: Row) -> Any:
    """The value of a column for the database; what was left out gets its default, or something that is not empty."""
    if column.attname not in row:
        found = column.get_default()
        if found is None and not column.null:
            found = EPOCH if isinstance(column, DateTimeField) else 0
    elif isinstance(column, BinaryField):
        found = base64.b64decode(row[column.attname])
    else:
        found = row[column.attname] if column.is_relation else column.to_python(row[column.attname])
    return column.get_db_prep_save(found, connection)
