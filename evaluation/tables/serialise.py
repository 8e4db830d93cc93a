"""A tidy table as stored content, CSV or JSON: one function each, for pages and command line alike."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evaluation.contracts.table import TableSpec
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.plans.marks import EXPLORATORY, PLANNED

NUMBERS = ("metric", "value", "n", "clusters", "low", "high", "plan")


def to_content(table: TidyTable) -> dict[str, Any]:
    """What is stored: plain values that JSON holds exactly (floats keep every digit)."""
    return {
        "columns": list(table.columns),
        "rows": [
            {"groups": dict(row.groups), "metric": row.metric, **asdict(row.estimate), "small": row.estimate.small}
            for row in table.rows
        ],
        "notes": list(table.notes),
        "demonstration": table.demonstration,
        "extra": dict(table.extra),
        "about": dict(table.about),
    }


def from_content(name: str, version: str, content: Mapping[str, Any]) -> TidyTable:
    """The table that was stored with `to_content`."""
    fields = ("value", "n", "clusters", "low", "high", "method", "reason")
    rows = tuple(
        TidyRow(
            row["groups"],
            row["metric"],
            Estimate(**{field: row[field] for field in fields}, people=row.get("people")),
        )
        for row in content["rows"]
    )
    return TidyTable(
        name=name,
        version=version,
        columns=tuple(content["columns"]),
        rows=rows,
        notes=tuple(content["notes"]),
        demonstration=content["demonstration"],
        extra=content["extra"],
        about=content.get("about", {}),
    )


def to_csv(table: TidyTable) -> str:
    """Columns: the group columns, metric, value, n, clusters, low, high, plan. Empty: not measured or not claimed."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table.columns, *NUMBERS])
    for row in table.rows:
        estimate = row.estimate
        numbers = (estimate.value, estimate.n, estimate.clusters, estimate.low, estimate.high)
        shown = ["" if number is None else repr(number) for number in numbers]
        writer.writerow([*(row.groups[column] for column in table.columns), row.metric, *shown, plan_of(row)])
    return text.getvalue()


def plan_of(row: TidyRow) -> str:
    """Whether a row was planned before the data, as files say it."""
    return PLANNED if row.planned else EXPLORATORY


def to_json(spec: TableSpec, table: TidyTable, filters: Mapping[str, str], fingerprint: str) -> str:
    """Everything that the CSV has no place for too: definitions, notes, methods, reasons."""
    content = to_content(table)
    content["about"] = {name: value for name, value in content["about"].items() if name != "options"}
    content["rows"] = [{**row, "plan": plan_of(kept)} for row, kept in zip(content["rows"], table.rows, strict=True)]
    document = {
        "name": spec.name,
        "title": spec.title,
        "source": spec.source,
        "version": table.version,
        "filters": dict(sorted(filters.items())),
        "fingerprint": fingerprint,
        "metrics": dict(spec.metrics),
        **content,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
