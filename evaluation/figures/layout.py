"""What a figure of a tidy table shows, in one house style, and its files. Drawn from tables and from nothing else.

One panel per metric (and per value of a third group column), places down the side, one bar per model in its colour,
zero on the axis, lines for intervals, n and clusters at the right, hatching for small groups, a dash for what is not
measured. Panels of one metric share a scale. What stands where is decided here; `evaluation/figures/draw.py` draws it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluation.figures import palette
from evaluation.figures.model import Bar, FigurePlan, FigureStyle, Panel, find_value_range
from evaluation.metrics.dimensions import SIDE_DIMENSIONS
from evaluation.metrics.observations import ALL
from evaluation.metrics.ordering import group_value_sort_key, sort_group_values
from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, SMALL_PEOPLE, TidyTable
from evaluation.plans.marks import in_short

MOST_BARS = 500  # those of the first panels; a filter shows the others
MOST_REASONS = 4
TALLEST = 48  # bars of a panel on one printed page
FILLER = "no model"

LINES = "Lines: 95 % intervals ({methods})."
NO_LINES = "No interval is claimed."
MARKS = (
    "No line: no interval is claimed. Grey, at the right: n / clusters. "
    f"Hatched: small group (n under {SMALL_N}, {SMALL_CLUSTERS} clusters or {SMALL_PEOPLE} reviewers), never named "
    "best or worst."
)


WIDTHS = (8, 17)


def lay_out_figure(table: TidyTable, metrics: Sequence[str], style: FigureStyle | None = None) -> FigurePlan | None:
    """What to draw of `table`; None where there is nothing to draw."""
    style = style or FigureStyle()
    if not is_drawable(table, metrics):
        return None
    panels = list(_panels(table, metrics))
    shown: list[Panel] = []
    for panel in panels:
        if shown and sum(len(each.bars) for each in (*shown, panel)) > MOST_BARS:
            break
        shown.append(panel)
    left_out = len(panels) - len(shown)
    models = sort_group_values((row.groups["model"] for row in table.rows), "model") if "model" in table.columns else []
    colours = {model: palette.get_model_colour(model, style.colours) for model in models}
    foot = (*_foot(table, metrics, left_out), *([style.source] if style.source else []))
    parts = tuple(part for panel in shown for part in _parted(panel))
    return FigurePlan(parts, colours, foot, left_out, table.demonstration)


def is_drawable(table: TidyTable, metrics: Sequence[str]) -> bool:
    """Whether there is any number to draw: a figure of dashes alone would say less than their reasons."""
    return any(row.estimate.value is not None for row in table.rows if row.metric in metrics)


def _panels(table: TidyTable, metrics: Sequence[str]) -> Iterator[Panel]:
    """One for each group beside place and model, and each metric that has a row there."""
    along = along_of(table)
    # What is the same in the whole table needs no word over each panel.
    others = [
        column for column in table.columns if column not in (along, "model") and count_column_values(table, column) > 1
    ]
    found: dict[tuple[tuple[str, ...], str], list[Bar]] = {}
    for row in table.rows:
        bar = Bar(row.groups[along], row.groups.get("model", FILLER), row.estimate)
        found.setdefault((tuple(row.groups[name] for name in others), row.metric), []).append(bar)
    scales = {
        metric: find_value_range(row.estimate for row in table.rows if row.metric == metric) for metric in metrics
    }
    groups = sorted(
        {group for group, _metric in found},
        key=lambda group: [group_value_sort_key(column, name) for column, name in zip(others, group, strict=True)],
    )
    for group in groups:
        for metric in metrics:
            if bars := found.get((group, metric)):
                title = ", ".join((*group, metric)).replace("_", " ")
                yield Panel(title, scales[metric], tuple(_in_order(bars, along)))


def along_of(table: TidyTable) -> str:
    """The column whose values are at the side: a place where there is one, of which there are several."""
    places = [column for column in SIDE_DIMENSIONS if column in table.columns]
    others = [column for column in table.columns if column not in (*places, "model")]
    listed = [*places, *others] or ["model"]
    return next((column for column in listed if count_column_values(table, column) > 1), listed[0])


def count_column_values(table: TidyTable, column: str) -> int:
    """How many values a column has."""
    return len({row.groups[column] for row in table.rows})


def _in_order(bars: Sequence[Bar], along: str) -> list[Bar]:
    """By place and model; a row over all places comes last."""
    return sorted(
        bars,
        key=lambda bar: (
            bar.place == ALL,
            group_value_sort_key(along, bar.place),
            group_value_sort_key("model", bar.model),
        ),
    )


def _parted(panel: Panel) -> Iterator[Panel]:
    """The panel, in parts where it is taller than a printed page; the bars of a place stay together."""
    parts: list[list[Bar]] = [[]]
    for _name, bars in panel.places():
        if parts[-1] and len(parts[-1]) + len(bars) > TALLEST:
            parts.append([])
        parts[-1] += bars
    for number, part in enumerate(parts, 1):
        title = panel.title if len(parts) == 1 else f"{panel.title} ({number} of {len(parts)})"
        yield replace(panel, title=title, bars=tuple(part))


def _foot(table: TidyTable, metrics: Sequence[str], left_out: int) -> Iterator[str]:
    """How intervals were made, what the marks mean, and why something is not measured."""
    rows = [row.estimate for row in table.rows if row.metric in metrics]
    methods = sorted({estimate.method for estimate in rows if estimate.low is not None})
    yield LINES.format(methods="; ".join(methods)) if methods else NO_LINES
    yield MARKS
    yield in_short([row for row in table.rows if row.metric in metrics])
    reasons = Counter(estimate.reason or "no reason given" for estimate in rows if estimate.value is None)
    if reasons:
        listed = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(MOST_REASONS))
        yield f"– not measured: {listed}{'; …' if len(reasons) > MOST_REASONS else ''}."
    if left_out:
        yield f"{left_out} more panels are not drawn: choose some with a filter."
    if table.demonstration:
        yield "Demonstration: made by stand-ins, no measurement."
