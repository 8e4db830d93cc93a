"""How a table was made, in sentences that can be cited: for its page and for reports. Nothing is computed here."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, SMALL_PEOPLE, Estimate, TidyTable
from evaluation.presentation import table as presentation_table

COUNTED_FIRST = ("outcomes", "reviews")
COUNTED_LAST = ("reviewers", "dishes", "pictures", "clusters")
LONGEST_NOTE = 400


def write_methods_paragraph(
    spec: TableSpec, table: TidyTable, filters: Filters, computed_at: datetime | None
) -> list[str]:
    """Definition, source, denominators, versions, interval, counts, circumstances, date and command of `table`.

    `filters` as the reader wrote them. Sentences in the order in which they are read.
    """
    return [
        *_what(spec, table),
        *_chosen(filters),
        *_run(table.about.get("run", {})),
        *_notes(table),
        *_counts(table),
        *_intervals(table),
        *_circumstances(table.about.get("circumstances", {})),
        *_made(spec, table, filters, computed_at),
    ]


def list_metric_definitions(spec: TableSpec) -> dict[str, str]:
    """Metric, as it is read → its definition."""
    return {metric.replace("_", " "): _(text) for metric, text in spec.metrics.items()}


def _what(spec: TableSpec, table: TidyTable) -> Iterator[str]:
    yield _("%(title)s: table %(name)s, version %(version)s of its definition (%(source)s).") % {
        "title": _(spec.title),
        "name": spec.name,
        "version": table.version,
        "source": spec.source,
    }
    for metric, definition in list_metric_definitions(spec).items():
        yield f"{metric}: {definition}"
    if table.demonstration:
        yield _("Demonstration: these numbers come from stand-ins and are no measurement.")


def _chosen(filters: Filters) -> Iterator[str]:
    if filters:
        chosen = "; ".join(f"{name}: {value}" for name, value in sorted(filters.items()))
        yield _("Only %(chosen)s.") % {"chosen": chosen}


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    """Which run it was made from; what defines the run stands in the notes of the table."""
    if run.get("finished"):
        yield _("The run %(slug)s of the study %(study)s (version %(version)s) ended on %(date)s.") % {
            "slug": run["slug"],
            "study": run["study"],
            "version": run["version"],
            "date": run["finished"],
        }


def _notes(table: TidyTable) -> Iterator[str]:
    """The notes of the table but for long lists; what defines the run (prompt hash, revision) however long it is."""
    definition = table.about.get("run", {}).get("definition", {})
    defining = "; ".join(f"{name}: {value}" for name, value in sorted(definition.items())) + "."
    for note in table.notes:
        if len(note) <= LONGEST_NOTE or note == defining:
            yield note


def _place(name: str) -> tuple[int, str]:
    """Where a count stands in its sentence: databases keep the names of stored values in orders of their own."""
    if name in COUNTED_FIRST:
        return 0, name
    return (2 + COUNTED_LAST.index(name), name) if name in COUNTED_LAST else (1, name)


def _counts(table: TidyTable) -> Iterator[str]:
    """How much stands behind the table, and behind its cells."""
    if counted := {name: number for name, number in table.about.get("counted", {}).items() if number}:
        listed = ", ".join(f"{counted[name]} {name}" for name in sorted(counted, key=_place))
        yield _("Counted: %(listed)s.") % {"listed": listed}
    measured = [row.estimate for row in table.rows if row.estimate.value is not None]
    if measured:
        yield _("Of %(cells)s numbers, n is %(n)s and clusters are %(clusters)s.") % {
            "cells": len(measured),
            "n": _range([estimate.n for estimate in measured]),
            "clusters": _range([estimate.clusters for estimate in measured]),
        }
    yield from _lacking([row.estimate for row in table.rows])


def _lacking(estimates: list[Estimate]) -> Iterator[str]:
    small = sum(estimate.small for estimate in estimates if estimate.value is not None)
    if small:
        text = ngettext(
            "%(count)s number is of a small group (n under %(n)s, %(clusters)s clusters or %(people)s reviewers).",
            "%(count)s numbers are of small groups (n under %(n)s, %(clusters)s clusters or %(people)s reviewers).",
            small,
        )
        yield text % {"count": small, "n": SMALL_N, "clusters": SMALL_CLUSTERS, "people": SMALL_PEOPLE}
    missing = sum(estimate.value is None for estimate in estimates)
    if missing:
        yield ngettext("%(count)s number was not measured.", "%(count)s numbers were not measured.", missing) % {
            "count": missing
        }


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def _intervals(table: TidyTable) -> Iterator[str]:
    made = presentation_table.list_interval_methods(table)
    if made:
        yield _("95 %% intervals: %(methods)s.") % {"methods": "; ".join(made)}
    else:
        yield _("No interval is claimed.")


def _circumstances(found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What machines, versions and batches it was made with, and how often where they differ."""
    parts = []
    for name, values in found.items():
        listed = ", ".join(value if len(values) == 1 else f"{value} ({count})" for value, count in values.items())
        parts.append(f"{name.replace('_', ' ')} {listed}")
    if parts:
        yield _("Circumstances of the outcomes: %(listed)s.") % {"listed": "; ".join(parts)}


def _made(spec: TableSpec, table: TidyTable, filters: Filters, computed_at: datetime | None) -> Iterator[str]:
    if computed_at:
        yield _("Computed on %(date)s.") % {"date": computed_at.strftime("%Y-%m-%d %H:%M UTC")}
    yield _("The same numbers: %(command)s") % {"command": presentation_table.build_table_command(spec.name, filters)}
