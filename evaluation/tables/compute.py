"""Computes tables and stores them."""

from collections.abc import Iterable
from dataclasses import replace

from django.db.models.functions import Now

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.ordering import in_order
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.models import StoredTable
from evaluation.registry.lookup import checked_filters, find_table_spec
from evaluation.tables.claims import within_claims
from evaluation.tables.from_runs import study_table
from evaluation.tables.metadata import describe_table
from evaluation.tables.serialise import to_content
from evaluation.tables.store import (
    REQUESTS,
    TableView,
    compute_table_fingerprint,
    logger,
    stored_rows,
    table_key,
    view_table,
)
from wwd.base.planner_statistics import is_statement_timeout


def compute_and_store(name: str, filters: Filters) -> TableView:
    """Computes the table now and stores it; what is returned is neither masked nor marked.

    Raises TableNotFound, FilterNotFound, and whatever the computation does.
    """
    table = find_table_spec(name)
    chosen = checked_filters(table, filters)
    # Read before the data: a change in between makes the stored table stale, never falsely fresh.
    present = compute_table_fingerprint(table)
    content = to_content(filter_stored_table(table, chosen, present) or compute_table(table, chosen))
    row, _ = StoredTable.objects.update_or_create(
        **table_key(table, chosen),
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
    return view_table(table, chosen, row, present)


def recompute_wanted() -> int:
    """Computes every table that was asked for; returns how many. Called by the task and by the sweep.

    Each table is claimed by one conditional update, so two workers never compute the same one. A table that cannot
    be computed keeps its last content and says so; the others go on.
    """
    return sum(_recompute(row) for row in REQUESTS.claim_each_row(StoredTable.objects.all()))


def compute_table(table: TableSpec, filters: Filters) -> TidyTable:
    """The table of `filters` from the data as it is now, in the one order of rows. Nothing is stored."""
    made = table.compute(filters) if table.compute else study_table(table, filters)
    rows = rows_with(
        within_claims(table, made.rows), {name: value for name, value in filters.items() if name in table.columns}
    )
    kept = describe_table(table, filters, made)
    return replace(made, rows=in_order(rows, table.columns, table.metrics), about=kept)


def filter_stored_table(table: TableSpec, filters: Filters, present: str) -> TidyTable | None:
    """What filters that only keep rows leave of the table without them, where that is stored and fresh; else None.

    `present`: the fingerprint of the inputs now. Millions of rows need not be read again for one country.
    """
    columns = {name: value for name, value in filters.items() if table.only_selects_rows(name)}
    if not columns:
        return None
    rest = {name: value for name, value in filters.items() if name not in columns}
    whole = view_table(table, rest, stored_rows(table, rest).first(), present)
    if whole.state != "fresh" or whole.table is None:
        return None
    return replace(whole.table, rows=rows_with(whole.table.rows, columns))


def rows_with(rows: Iterable[TidyRow], columns: Filters) -> tuple[TidyRow, ...]:
    return tuple(row for row in rows if all(row.groups[name] == value for name, value in columns.items()))


def _recompute(row: StoredTable) -> bool:
    """Computes a claimed row; whatever goes wrong is logged and noted, so that one table cannot stop the others."""
    try:
        table = find_table_spec(row.name)
        if row.version == table.version:
            compute_and_store(row.name, row.filters)
            return True
        error = ""
    except Exception as failure:
        logger.exception("table %s could not be computed", row.name)
        error = "StatementTimeout" if is_statement_timeout(failure) else type(failure).__name__
    REQUESTS.release_rows(StoredTable.objects.filter(pk=row.pk), error=error)
    return False
