"""Reads stored tables: masked where a plan wishes it, and marked as planned or exploratory."""

from collections.abc import Sequence
from dataclasses import replace

from evaluation.contracts.table import Filters
from evaluation.models import InputCounter, Plan, StoredTable
from evaluation.plans.mask import NO_MASK, MaskedNameNotFound, mask_for
from evaluation.plans.plan_status import frozen_plans, mark_registered_rows
from evaluation.registry.lookup import FilterNotFound, checked_filters, find_table_spec
from evaluation.tables.compute import compute_and_store
from evaluation.tables.filter_values import describe_wrong_value
from evaluation.tables.store import TableView, compute_table_fingerprint, filters_hash, stored_rows, view_table


def read_stored_table(
    name: str, filters: Filters, *, unmasked: bool = False, frozen: Sequence[Plan] | None = None
) -> TableView:
    """The table as stored, never computed here, masked where a plan wishes it and marked as planned or exploratory.

    `unmasked` only where that was decided and recorded; `frozen`: the frozen plans, where they are read already.
    Raises TableNotFound, FilterNotFound.
    """
    table = find_table_spec(name)
    shown = checked_filters(table, filters)
    plans = frozen_plans() if frozen is None else frozen
    mask = NO_MASK if unmasked else mask_for(name, shown, plans)
    try:
        real = mask.filters(table, shown)
    except MaskedNameNotFound as error:
        raise FilterNotFound(str(error)) from error
    view = view_table(table, real, stored_rows(table, real).first(), compute_table_fingerprint(table))
    if view.table is None:
        view = replace(view, filters=shown, mask=mask)
    else:
        content, plan_status = mark_registered_rows(table, real, view.table, plans)
        view = replace(view, filters=shown, table=mask.table(content), plan_status=plan_status, mask=mask)
    if sentence := wrong_value(view):
        raise FilterNotFound(sentence)
    return view


def wrong_value(view: TableView) -> str:
    """The sentence about a value of a filter that nothing has, where that is known; or an empty text."""
    chosen = {name: value for name, value in view.filters.items() if not view.mask.hides(name)}
    if not chosen:
        return ""
    whole = view_table(view.spec, {}, stored_rows(view.spec, {}).first(), view.fingerprint)
    known = whole.table if whole.state == "fresh" else None
    return describe_wrong_value(view.spec, chosen, view.table, known, view.mask)


def read_whole(names: Sequence[str]) -> dict[str, TableView]:
    """Several tables without filters, as stored, in two queries. For those that no plan masks or marks."""
    specs = {name: find_table_spec(name) for name in names}
    inputs = {counter for table in specs.values() for counter in table.inputs}
    counts = dict(InputCounter.objects.filter(name__in=inputs).values_list("name", "value"))
    found = {
        (row.name, row.version): row
        for row in StoredTable.objects.filter(name__in=specs, filters_hash=filters_hash({}))
    }
    return {
        name: view_table(table, {}, found.get((name, table.version)), compute_table_fingerprint(table, counts))
        for name, table in specs.items()
    }


def read_fresh_table(name: str, filters: Filters, *, unmasked: bool = False) -> TableView:
    """The stored table where it is fresh, else computed now and read: for the command line. See `read`."""
    view = read_stored_table(name, filters, unmasked=unmasked)
    if view.state == "fresh":
        return view
    compute_and_store(name, view.stored)
    return read_stored_table(name, filters, unmasked=unmasked)
