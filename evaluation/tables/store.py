"""Stored tables: computed by a worker or the command line, read by pages and the command line alike.

A table is stale once one of its input counters moved on since it was computed. A page never computes: it shows
what is stored with its time and asks for a fresh one; a worker, or the sweep, computes what was asked for.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import Now

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import TidyTable
from evaluation.models import InputCounter, StoredTable
from evaluation.plans.marks import PlanStatus
from evaluation.plans.mask import NO_MASK, Mask
from evaluation.tables.scrubbing import without_withdrawn
from evaluation.tables.serialise import from_content
from wwd.base.leases import RequestLease

REQUESTS = RequestLease(timedelta(minutes=10))

logger = logging.getLogger(__name__)

State = Literal["fresh", "stale", "computing", "failed"]


@dataclass(frozen=True)
class TableView:
    """A table as stored: `table` None while it is first being computed.

    `filters` as the reader wrote them and `stored` as the table is kept by differ while a plan masks names. `plan_status`
    says what of it was planned before the data.
    """

    spec: TableSpec
    filters: Filters
    state: State
    table: TidyTable | None
    fingerprint: str
    computed_at: datetime | None
    stored: Filters
    plan_status: PlanStatus | None = None
    mask: Mask = NO_MASK

    @property
    def seen(self) -> str:
        """What decides how it is drawn besides its numbers: plans and mask."""
        notes = self.plan_status.sentence if self.plan_status else ""
        return f"{notes} {self.mask.plan.pk if self.mask.plan else ''} {self.mask.places}"


def compute_table_fingerprint(table: TableSpec, counted: Mapping[str, int] | None = None) -> str:
    """Hash (64 hex digits) of the table's version and the present counts of its inputs, read unless `counted`."""
    counts = counted
    if counts is None:
        counts = dict(InputCounter.objects.filter(name__in=table.inputs).values_list("name", "value"))
    return hash_json([table.name, table.version, [[name, counts.get(name, 0)] for name in sorted(table.inputs)]])


def rows_of(keys: Iterable[tuple[TableSpec, Filters]]) -> dict[tuple[str, str], StoredTable]:
    """The rows of several tables without their content, by name and `filters_hash`, in one query."""
    wanted = Q(pk=None)
    for table, filters in keys:
        wanted |= Q(**table_key(table, filters))
    empty = Case(When(content=None, then=Value(True)), When(content__rows=[], then=Value(True)), default=Value(False))
    found = StoredTable.objects.filter(wanted).annotate(empty=empty).defer("content")
    return {(row.name, row.filters_hash): row for row in found}


def request_fresh_table(view: TableView) -> bool:
    """Notes that somebody waits for a fresh table. True where a worker should be told: not told a moment ago."""
    rows = stored_rows(view.spec, view.stored)
    if REQUESTS.request_rows(rows):
        return True
    if rows.exists():
        return False
    try:
        with transaction.atomic():
            StoredTable.objects.create(**table_key(view.spec, view.stored), filters=dict(view.stored), wanted_at=Now())
    except IntegrityError:
        return False
    return True


def ask_whole(views: Iterable[TableView]) -> bool:
    """`ask` for several tables without filters, in two queries however many they are."""
    lacking = [view for view in views if view.state != "fresh"]
    new = [StoredTable(**table_key(view.spec, {}), filters={}) for view in lacking if view.state == "computing"]
    StoredTable.objects.bulk_create(new, ignore_conflicts=True)
    names = [view.spec.name for view in lacking]
    rows = StoredTable.objects.filter(name__in=names, filters_hash=filters_hash({}))
    return bool(lacking) and REQUESTS.request_rows(rows)


def list_requested_tables() -> QuerySet[StoredTable]:
    return REQUESTS.select_free_rows(StoredTable.objects.all())


def view_table(table: TableSpec, filters: Filters, row: StoredTable | None, present: str) -> TableView:
    state: State = "computing"
    stored = row.content if row else None
    if row and stored and row.fingerprint != present:
        # What counts anew without a withdrawn dish is still read as it was: without that dish's words.
        stored = without_withdrawn(stored)
    content = from_content(table.name, table.version, stored) if stored else None
    if row and row.error:
        state = "failed"
    elif row and content:
        state = "fresh" if row.fingerprint == present else "stale"
    return TableView(table, filters, state, content, present, row.computed_at if row else None, filters)


def stored_rows(table: TableSpec, filters: Filters) -> QuerySet[StoredTable]:
    return StoredTable.objects.filter(**table_key(table, filters))


def table_key(table: TableSpec, filters: Filters) -> dict[str, Any]:
    return {"name": table.name, "version": table.version, "filters_hash": filters_hash(filters)}


def filters_hash(filters: Filters) -> str:
    """What a stored table is found by beside its name and version."""
    return hash_json(sorted(filters.items()))


def hash_json(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
