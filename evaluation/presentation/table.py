"""A tidy table as a page shows it: rows of groups, a column per metric, and what could not be said."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote_plus

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from evaluation.contracts.table import TableSpec
from evaluation.drilldown.cells import cell_query
from evaluation.figures.layout import is_drawable
from evaluation.figures.palette import Palette, get_model_colour
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.tables.format import format_number

# Lines of a page; the files hold all.
MOST_LINES = 500


@dataclass(frozen=True)
class ShownCell:
    """One number as shown. `exact` has every digit; `value` is None where nothing was measured.

    `drilldown_query`: the query of its drill-down page. `exploratory`: other numbers of the table were planned, this
    one was not.
    """

    value: str | None
    exact: str
    n: int
    clusters: int
    interval: str | None
    small: bool
    reason: str
    drilldown_query: str = ""
    exploratory: bool = False

    @property
    def html(self) -> SafeString:
        """The cell of the table. Not a template: a page has thousands of them."""
        dash = f'<abbr title="{escape(self.reason)}">—</abbr>'
        said = dash if self.value is None else f'<data value="{escape(self.exact)}">{escape(self.value)}</data>'
        if self.drilldown_query:
            said = f'<a href="drilldown/{escape(self.drilldown_query)}">{said}</a>'
        if self.interval or self.reason:
            said += f' <span class="interval">[{escape(self.interval) if self.interval else dash}]</span>'
        said += f' <span class="n">{self.n} / {self.clusters}</span>'
        if self.exploratory:
            said += f' <span class="n outside">{escape("exploratory")}</span>'
        if self.small:
            said += f' <span class="visually-hidden">{escape("small group")}</span>'
        classes = "num small-group" if self.small else "num"
        return mark_safe(f'<td class="{classes}">{said}</td>')  # noqa: S308  (each part is escaped above)


@dataclass(frozen=True)
class Head:
    """The name of a group; a model's with its colour."""

    text: str
    colour: str = ""


@dataclass(frozen=True)
class Line:
    groups: tuple[str, ...]
    cells: tuple[ShownCell | None, ...]
    heads: tuple[Head, ...] = ()

    @property
    def html(self) -> SafeString:
        """Its cells."""
        empty = '<td class="num"></td>'
        return mark_safe("".join(cell.html if cell else empty for cell in self.cells))  # noqa: S308  (parts are safe)


def build_table_context(
    spec: TableSpec, table: TidyTable, filters: Mapping[str, str], colours: Palette
) -> dict[str, Any]:
    """What the page of a table shows of its numbers."""
    metrics = list(spec.metrics)
    found = build_table_lines(table, metrics)
    return {
        "lines": [
            add_drilldown_links(add_line_heads(line, table.columns, colours), table.columns, metrics, filters)
            for line in found[:MOST_LINES]
        ],
        "left_out": max(0, len(found) - MOST_LINES),
        "drawn": spec.figure and is_drawable(spec.to_draw(table), spec.drawn),
        "reasons": group_missing_reasons(table),
        "methods": list_interval_methods(table),
    }


def add_line_heads(line: Line, columns: Sequence[str], colours: Palette) -> Line:
    """The line with the heads of its groups."""
    pairs = zip(columns, line.groups, strict=True)
    return replace(
        line, heads=tuple(Head(name, get_model_colour(name, colours) if c == "model" else "") for c, name in pairs)
    )


def add_drilldown_links(line: Line, columns: Sequence[str], metrics: Sequence[str], filters: Mapping[str, str]) -> Line:
    """The line with the way to what is behind each of its cells, under the same `filters`."""
    groups = dict(zip(columns, line.groups, strict=True))
    pairs = zip(line.cells, metrics, strict=True)
    # All but the metric is the same along a line.
    start = cell_query(filters, groups, "")
    return replace(
        line, cells=tuple(each and replace(each, drilldown_query=f"{start}{quote_plus(name)}") for each, name in pairs)
    )


def build_table_lines(table: TidyTable, metrics: Iterable[str]) -> list[Line]:
    """One line per group in the table's order, one cell per metric; None where the table has no such row."""
    names = list(metrics)
    found: dict[tuple[str, ...], dict[str, Estimate]] = {}
    for row in table.rows:
        found.setdefault(tuple(row.groups[column] for column in table.columns), {})[row.metric] = row.estimate
    planned = {(tuple(row.groups[c] for c in table.columns), row.metric) for row in table.rows if row.planned}
    digits = {name: choose_decimals(row.estimate for row in table.rows if row.metric == name) for name in names}

    def shown(groups: tuple[str, ...], name: str, estimate: Estimate) -> ShownCell:
        made = format_cell(estimate, digits[name])
        return replace(made, exploratory=True) if planned and (groups, name) not in planned else made

    return [
        Line(groups, tuple(shown(groups, name, held[name]) if name in held else None for name in names))
        for groups, held in found.items()
    ]


def choose_decimals(estimates: Iterable[Estimate]) -> int:
    """Digits after the point: three; four where all values are below a tenth, or where one would read as nothing."""
    values = [abs(estimate.value) for estimate in estimates if estimate.value is not None]
    return 4 if values and (max(values) < 0.1 or any(0 < value < 0.0005 for value in values)) else 3


def format_cell(estimate: Estimate, digits: int) -> ShownCell:
    interval = None
    if estimate.low is not None and estimate.high is not None:
        interval = f"{format_number(estimate.low, digits)}, {format_number(estimate.high, digits)}"
    return ShownCell(
        value=None if estimate.value is None else format_number(estimate.value, digits),
        exact="" if estimate.value is None else repr(estimate.value),
        n=estimate.n,
        clusters=estimate.clusters,
        interval=interval,
        small=estimate.small,
        reason=estimate.reason,
    )


def list_interval_methods(table: TidyTable) -> list[str]:
    """How the intervals that are claimed were made."""
    return sorted({row.estimate.method for row in table.rows if row.estimate.low is not None})


def group_missing_reasons(table: TidyTable) -> dict[str, list[str]]:
    """Why something is not measured or not claimed → the groups and metrics that this concerns."""
    found: dict[str, dict[str, list[str]]] = {}
    for row in table.rows:
        if row.estimate.reason:
            group = ", ".join(row.groups[column] for column in table.columns)
            found.setdefault(row.estimate.reason, {}).setdefault(group, []).append(row.metric.replace("_", " "))
    return {
        reason: [f"{group} ({', '.join(metrics)})" for group, metrics in groups.items()]
        for reason, groups in found.items()
    }


def build_table_command(name: str, filters: Mapping[str, str], form: str = "csv") -> str:
    """The line that prints the same table on the command line."""
    pairs = [shlex.quote(f"{key}={value}") for key, value in sorted(filters.items())]
    return " ".join(["manage.py tables", name, f"--format {form}", *(["--filter", *pairs] if pairs else [])])
