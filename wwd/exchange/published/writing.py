"""Writing many rows at once. A row that is here already is compared and left alone: it may have been corrected."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from django.db.models import Model, QuerySet
from tqdm import tqdm

from wwd.exchange.published.source import Counts

CHUNK = 500
M = TypeVar("M", bound=Model)


def insert_in_chunks(wanted: Sequence[M], kind: str) -> None:
    """Inserts `wanted`, all of one model, in chunks; with a progress bar on a terminal."""
    starts = range(0, len(wanted), CHUNK)
    for start in tqdm(starts, desc=f"writing {kind}", unit=" chunks", disable=None, leave=False):
        chunk = wanted[start : start + CHUNK]
        type(chunk[0])._default_manager.bulk_create(chunk)


def by_key(rows: "QuerySet[M]", key: str, keys: Iterable[object]) -> dict[object, M]:
    """Those of `rows` whose field `key` is one of `keys`, by that key."""
    wanted = list(keys)
    found: dict[object, M] = {}
    for start in range(0, len(wanted), CHUNK):
        part = rows.filter(**{f"{key}__in": wanted[start : start + CHUNK]})
        found.update((getattr(row, key), row) for row in part)
    return found


def insert_new(
    rows: "QuerySet[M]", wanted: Sequence[M], key: str, fields: Sequence[str], counts: Counts, kind: str
) -> dict[object, M]:
    """Inserts those of `wanted` whose `key` is not among `rows`; all of them by key, as they are in the database.

    `fields` are what is compared: rows that differ from the file are counted, never overwritten.
    """
    stored = by_key(rows, key, (getattr(row, key) for row in wanted))
    new = [row for row in wanted if getattr(row, key) not in stored]
    for row in wanted:
        old = stored.setdefault(getattr(row, key), row)
        if old is not row:
            counts.found(same=all(getattr(old, field) == getattr(row, field) for field in fields))
    insert_in_chunks(new, kind)
    counts.created += len(new)
    return stored
