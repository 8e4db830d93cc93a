"""Stored tables: computed by a worker or the command line, read by pages and the command line alike.

A table is stale once one of its input counters moved on since it was computed. A page never computes: it shows
what is stored with its time and asks for a fresh one; a worker, or the sweep, computes what was asked for.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.utils.module_loading import import_string

from evaluation import derived
from evaluation.about import about, with_narrowing
from evaluation.claims import within_claims
from evaluation.filter_values import canonical, wrong
from evaluation.masking import NO_MASK, Mask, UnknownMaskedName, mask_for
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.models import InputCounter, Plan, StoredTable
from evaluation.names import unknown
from evaluation.ordering import in_order
from evaluation.plan_marks import Standing
from evaluation.plan_standing import frozen_plans, marked
from evaluation.table_scrubbing import without_withdrawn
from evaluation.table_spec import Filters, TableSpec
from evaluation.table_text import from_content, to_content
from wwd.planner_statistics import is_statement_timeout
from wwd.tables import TABLES

__all__ = ["Filters", "TableSpec", "TableView", "UnknownFilter", "UnknownTable", "bump", "spec"]

# A wanted table is announced at most this often; the sweep finds it anyway.
DEBOUNCE = timedelta(seconds=10)
# `wanted_at` lies this far ahead while a worker computes; if the worker dies, the table is wanted again after it.
CLAIM = timedelta(minutes=10)
LONGEST_FILTER = 120

logger = logging.getLogger(__name__)

State = Literal["fresh", "stale", "computing", "failed"]


class UnknownTable(KeyError):
    """No table has this name; the text lists the near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownFilter(ValueError):
    """The table has no such filter; the text lists those it has."""


@dataclass(frozen=True)
class TableView:
    """A table as stored: `table` None while it is first being computed.

    `filters` as the reader wrote them and `stored` as the table is kept by differ while a plan masks names. `standing`
    says what of it was planned before the data.
    """

    spec: TableSpec
    filters: Filters
    state: State
    table: TidyTable | None
    fingerprint: str
    computed_at: datetime | None
    stored: Filters
    standing: Standing | None = None
    mask: Mask = NO_MASK

    @property
    def seen(self) -> str:
        """What decides how it is drawn besides its numbers: plans and mask."""
        notes = self.standing.sentence if self.standing else ""
        return f"{notes} {self.mask.plan.pk if self.mask.plan else ''} {self.mask.places}"


def spec(name: str) -> TableSpec:
    """The table named `name`. Raises UnknownTable."""
    if name not in TABLES:
        if found := derived.derived(name, spec):
            return found
        raise UnknownTable(unknown("table", name, names()))
    found = import_string(TABLES[name].replace(":", "."))
    assert isinstance(found, TableSpec)
    return with_narrowing(found)


def names() -> list[str]:
    """All names of tables, those derived from a table after it."""
    return [name for base in sorted(TABLES) for name in (base, *derived.names_of(base, spec))]


def checked_filters(table: TableSpec, filters: Filters) -> dict[str, str]:
    """`filters` in one order and spelling, empty ones dropped. Raises UnknownFilter."""
    for name, value in filters.items():
        if name not in table.filters:
            raise UnknownFilter(unknown("filter", name, table.filters))
        if value and name in table.choices and value not in table.choices[name]:
            raise UnknownFilter(unknown(f"value of the filter {name} named", value, table.choices[name]))
        if len(value) > LONGEST_FILTER or "\x00" in value:
            raise UnknownFilter(f"The value of the filter {name} is too long or holds signs that no value has.")
    return canonical(table, {name: value for name, value in sorted(filters.items()) if value})


def bump(*names: str) -> None:
    """Counts a change of the inputs `names` ("reviews", "runs.association"), inside the change's own transaction.

    The counter moves if and only if the change is kept, so no table can look fresh that is not. Names are locked
    in one order: two transactions that bump the same ones cannot wait for each other.
    """
    for name in sorted(set(names)):
        counter = InputCounter.objects.filter(name=name)
        if not counter.update(value=F("value") + 1):
            InputCounter.objects.bulk_create([InputCounter(name=name)], ignore_conflicts=True)
            counter.update(value=F("value") + 1)


def fingerprint(table: TableSpec, counted: Mapping[str, int] | None = None) -> str:
    """Hash (64 hex digits) of the table's version and the present counts of its inputs, read unless `counted`."""
    counts = counted
    if counts is None:
        counts = dict(InputCounter.objects.filter(name__in=table.inputs).values_list("name", "value"))
    return _hash([table.name, table.version, [[name, counts.get(name, 0)] for name in sorted(table.inputs)]])


def read(name: str, filters: Filters, *, unmasked: bool = False, frozen: Sequence[Plan] | None = None) -> TableView:
    """The table as stored, never computed here, masked where a plan wishes it and marked as planned or exploratory.

    `unmasked` only where that was decided and recorded; `frozen`: the frozen plans, where they are read already.
    Raises UnknownTable, UnknownFilter.
    """
    table = spec(name)
    shown = checked_filters(table, filters)
    plans = frozen_plans() if frozen is None else frozen
    mask = NO_MASK if unmasked else mask_for(name, shown, plans)
    try:
        real = mask.filters(table, shown)
    except UnknownMaskedName as error:
        raise UnknownFilter(str(error)) from error
    view = _view(table, real, _row(table, real).first(), fingerprint(table))
    if view.table is None:
        view = replace(view, filters=shown, mask=mask)
    else:
        content, standing = marked(table, real, view.table, plans)
        view = replace(view, filters=shown, table=mask.table(content), standing=standing, mask=mask)
    if sentence := wrong_value(view):
        raise UnknownFilter(sentence)
    return view


def wrong_value(view: TableView) -> str:
    """The sentence about a value of a filter that nothing has, where that is known; or an empty text."""
    chosen = {name: value for name, value in view.filters.items() if not view.mask.hides(name)}
    if not chosen:
        return ""
    whole = _view(view.spec, {}, _row(view.spec, {}).first(), view.fingerprint)
    known = whole.table if whole.state == "fresh" else None
    return wrong(view.spec, chosen, view.table, known, view.mask)


def read_whole(names: Sequence[str]) -> dict[str, TableView]:
    """Several tables without filters, as stored, in two queries. For those that no plan masks or marks."""
    specs = {name: spec(name) for name in names}
    inputs = {counter for table in specs.values() for counter in table.inputs}
    counts = dict(InputCounter.objects.filter(name__in=inputs).values_list("name", "value"))
    found = {
        (row.name, row.version): row
        for row in StoredTable.objects.filter(name__in=specs, filters_hash=filters_hash({}))
    }
    return {
        name: _view(table, {}, found.get((name, table.version)), fingerprint(table, counts))
        for name, table in specs.items()
    }


def rows_of(keys: Iterable[tuple[TableSpec, Filters]]) -> dict[tuple[str, str], StoredTable]:
    """The rows of several tables without their content, by name and `filters_hash`, in one query."""
    wanted = Q(pk=None)
    for table, filters in keys:
        wanted |= Q(**_key(table, filters))
    empty = Case(When(content=None, then=Value(True)), When(content__rows=[], then=Value(True)), default=Value(False))
    found = StoredTable.objects.filter(wanted).annotate(empty=empty).defer("content")
    return {(row.name, row.filters_hash): row for row in found}


def ask(view: TableView) -> bool:
    """Notes that somebody waits for a fresh table. True where a worker should be told: not told a moment ago."""
    rows = _row(view.spec, view.stored)
    if rows.filter(Q(wanted_at=None) | Q(wanted_at__lte=Now() - DEBOUNCE)).update(wanted_at=Now()):
        return True
    if rows.exists():
        return False
    try:
        with transaction.atomic():
            StoredTable.objects.create(**_key(view.spec, view.stored), filters=dict(view.stored), wanted_at=Now())
    except IntegrityError:
        return False
    return True


def ask_whole(views: Iterable[TableView]) -> bool:
    """`ask` for several tables without filters, in two queries however many they are."""
    lacking = [view for view in views if view.state != "fresh"]
    new = [StoredTable(**_key(view.spec, {}), filters={}) for view in lacking if view.state == "computing"]
    StoredTable.objects.bulk_create(new, ignore_conflicts=True)
    quiet = Q(wanted_at=None) | Q(wanted_at__lte=Now() - DEBOUNCE)
    rows = StoredTable.objects.filter(quiet, name__in=[view.spec.name for view in lacking])
    return bool(lacking and rows.filter(filters_hash=filters_hash({})).update(wanted_at=Now()))


def announce() -> None:
    """Tells a worker that a table is wanted. Without a broker nothing is lost: the sweep finds it a little later."""
    from evaluation.tasks import recompute_tables

    try:
        recompute_tables.apply_async(retry=False)
    except Exception:  # Brokers fail in many ways, and none of them may reach whoever reads a page.
        logger.warning("Wanted tables could not be announced; the sweep will compute them.", exc_info=True)


def compute_and_store(name: str, filters: Filters) -> TableView:
    """Computes the table now and stores it; what is returned is neither masked nor marked.

    Raises UnknownTable, UnknownFilter, and whatever the computation does.
    """
    table = spec(name)
    chosen = checked_filters(table, filters)
    # Read before the data: a change in between makes the stored table stale, never falsely fresh.
    present = fingerprint(table)
    content = to_content(kept_of_whole(table, chosen, present) or compute(table, chosen))
    row, _ = StoredTable.objects.update_or_create(
        **_key(table, chosen),
        defaults={
            "filters": chosen,
            "fingerprint": present,
            "content": content,
            "error": "",
            "wanted_at": None,
            "computed_at": Now(),
        },
    )
    row.refresh_from_db()
    return _view(table, chosen, row, present)


def fresh(name: str, filters: Filters, *, unmasked: bool = False) -> TableView:
    """The stored table where it is fresh, else computed now and read: for the command line. See `read`."""
    view = read(name, filters, unmasked=unmasked)
    if view.state == "fresh":
        return view
    compute_and_store(name, view.stored)
    return read(name, filters, unmasked=unmasked)


def recompute_wanted() -> int:
    """Computes every table that was asked for; returns how many. Called by the task and by the sweep.

    Each table is claimed by one conditional update, so two workers never compute the same one. A table that cannot
    be computed keeps its last content and says so; the others go on.
    """
    done = 0
    for row in StoredTable.objects.filter(wanted_at__lte=Now()).order_by("wanted_at"):
        claimed = StoredTable.objects.filter(pk=row.pk, wanted_at__lte=Now()).update(wanted_at=Now() + CLAIM)
        if claimed and _recompute(row):
            done += 1
    return done


def compute(table: TableSpec, filters: Filters) -> TidyTable:
    """The table of `filters` from the data as it is now, in the one order of rows. Nothing is stored."""
    from evaluation.study_tables import study_table

    made = table.compute(filters) if table.compute else study_table(table, filters)
    rows = rows_with(
        within_claims(table, made.rows), {name: value for name, value in filters.items() if name in table.columns}
    )
    kept = about(table, filters, made)
    return replace(made, rows=in_order(rows, table.columns, table.metrics), about=kept)


def kept_of_whole(table: TableSpec, filters: Filters, present: str) -> TidyTable | None:
    """What filters that only keep rows leave of the table without them, where that is stored and fresh; else None.

    `present`: the fingerprint of the inputs now. Millions of rows need not be read again for one country.
    """
    columns = {name: value for name, value in filters.items() if table.keeps_rows(name)}
    if not columns:
        return None
    rest = {name: value for name, value in filters.items() if name not in columns}
    whole = _view(table, rest, _row(table, rest).first(), present)
    if whole.state != "fresh" or whole.table is None:
        return None
    return replace(whole.table, rows=rows_with(whole.table.rows, columns))


def rows_with(rows: Iterable[TidyRow], columns: Filters) -> tuple[TidyRow, ...]:
    return tuple(row for row in rows if all(row.groups[name] == value for name, value in columns.items()))


def _recompute(row: StoredTable) -> bool:
    """Computes a claimed row; whatever goes wrong is logged and noted, so that one table cannot stop the others."""
    try:
        table = spec(row.name)
        if row.version == table.version:
            compute_and_store(row.name, row.filters)
            return True
        error = ""
    except Exception as failure:
        logger.exception("table %s could not be computed", row.name)
        error = "StatementTimeout" if is_statement_timeout(failure) else type(failure).__name__
    StoredTable.objects.filter(pk=row.pk).update(wanted_at=None, error=error)
    return False


def _view(table: TableSpec, filters: Filters, row: StoredTable | None, present: str) -> TableView:
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


def _row(table: TableSpec, filters: Filters) -> QuerySet[StoredTable]:
    return StoredTable.objects.filter(**_key(table, filters))


def _key(table: TableSpec, filters: Filters) -> dict[str, Any]:
    return {"name": table.name, "version": table.version, "filters_hash": filters_hash(filters)}


def filters_hash(filters: Filters) -> str:
    """What a stored table is found by beside its name and version."""
    return _hash(sorted(filters.items()))


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False).encode()).hexdigest()
