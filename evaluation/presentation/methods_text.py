"""How a table was made, in sentences that can be cited: for its page and for reports. Nothing is computed here."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, SMALL_PEOPLE, Estimate, TidyTable
from evaluation.presentation import table as presentation_table
from wwd.base.text import count_noun

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
    return {metric.replace("_", " "): text for metric, text in spec.metrics.items()}


def _what(spec: TableSpec, table: TidyTable) -> Iterator[str]:
    yield f"{spec.title}: table {spec.name}, version {table.version} of its definition ({spec.source})."
    for metric, definition in list_metric_definitions(spec).items():
        yield f"{metric}: {definition}"
    if table.demonstration:
        yield "Demonstration: these numbers come from stand-ins and are no measurement."


def _chosen(filters: Filters) -> Iterator[str]:
    if filters:
        chosen = "; ".join(f"{name}: {value}" for name, value in sorted(filters.items()))
        yield f"Only {chosen}."


def _run(run: Mapping[str, Any]) -> Iterator[str]:
    """Which run it was made from; what defines the run is in the notes of the table."""
    if run.get("finished"):
        yield "The run {slug} of the study {study} (version {version}) ended on {date}.".format(
            slug=run["slug"],
            study=run["study"],
            version=run["version"],
            date=run["finished"],
        )


def _notes(table: TidyTable) -> Iterator[str]:
    """The notes of the table but for long lists; what defines the run (prompt hash, revision) however long it is."""
    definition = table.about.get("run", {}).get("definition", {})
    defining = "; ".join(f"{name}: {value}" for name, value in sorted(definition.items())) + "."
    for note in table.notes:
        if len(note) <= LONGEST_NOTE or note == defining:
            yield note


def _place(name: str) -> tuple[int, str]:
    """Where a count is in its sentence: databases keep the names of stored values in orders of their own."""
    if name in COUNTED_FIRST:
        return 0, name
    return (2 + COUNTED_LAST.index(name), name) if name in COUNTED_LAST else (1, name)


def _counts(table: TidyTable) -> Iterator[str]:
    """How much is behind the table, and behind its cells."""
    if counted := {name: number for name, number in table.about.get("counted", {}).items() if number}:
        listed = ", ".join(f"{counted[name]} {name}" for name in sorted(counted, key=_place))
        yield f"Counted: {listed}."
    measured = [row.estimate for row in table.rows if row.estimate.value is not None]
    if measured:
        n = _range([estimate.n for estimate in measured])
        clusters = _range([estimate.clusters for estimate in measured])
        yield f"Of {len(measured)} numbers, n is {n} and clusters are {clusters}."
    yield from _lacking([row.estimate for row in table.rows])


def _lacking(estimates: list[Estimate]) -> Iterator[str]:
    small = sum(estimate.small for estimate in estimates if estimate.value is not None)
    if small:
        text = count_noun(
            small,
            "%(count)s number is of a small group (n under %(n)s, %(clusters)s clusters or %(people)s reviewers).",
            "%(count)s numbers are of small groups (n under %(n)s, %(clusters)s clusters or %(people)s reviewers).",
        )
        yield text % {"count": small, "n": SMALL_N, "clusters": SMALL_CLUSTERS, "people": SMALL_PEOPLE}
    missing = sum(estimate.value is None for estimate in estimates)
    if missing:
        yield f"{missing} {count_noun(missing, 'number was', 'numbers were')} not measured."


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low}–{high}"


def _intervals(table: TidyTable) -> Iterator[str]:
    made = presentation_table.list_interval_methods(table)
    if made:
        yield "95 % intervals: {methods}.".format(methods="; ".join(made))
    else:
        yield "No interval is claimed."


def _circumstances(found: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What machines, versions and batches it was made with, and how often where they differ."""
    parts = []
    for name, values in found.items():
        listed = ", ".join(value if len(values) == 1 else f"{value} ({count})" for value, count in values.items())
        parts.append(f"{name.replace('_', ' ')} {listed}")
    if parts:
        yield "Circumstances of the outcomes: {listed}.".format(listed="; ".join(parts))


def _made(spec: TableSpec, table: TidyTable, filters: Filters, computed_at: datetime | None) -> Iterator[str]:
    if computed_at:
        yield "Computed on {date}.".format(date=computed_at.strftime("%Y-%m-%d %H:%M UTC"))
    yield f"The same numbers: {presentation_table.build_table_command(spec.name, filters)}"
