"""Figures in one house style, drawn from tidy tables and from nothing else.

One panel per metric (and per value of a third group column), places along the axis, one colour per model, zero on
the axis, lines for intervals, hatching for small groups.
"""

import io
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

from evaluation.metrics.tidy import SMALL_CLUSTERS, SMALL_N, Estimate, TidyTable
from evaluation.ordering import model_key, ordered, place

# Told apart by people who see few colours, and by their lightness when printed in grey.
COLOURS = {"dalle2": "#0b3c6f", "dalle3": "#e69f00", "sd21": "#b5527e", "real": "#111111", "sketch": "#56b4e9"}
SPARE_COLOURS = ("#009e73", "#8c510a", "#8c8c8c", "#c9a7e0")
PLACES = ("continent", "country")
UNDER_FIGURE = (
    "Lines: 95 % intervals; no line, no interval is claimed. "
    f"Hatched: small group (n under {SMALL_N} or under {SMALL_CLUSTERS} clusters). “–”: not measured."
)
SIZE = (3.7, 2.3)  # inches of one panel
PLACE_WIDTH = 0.17  # inches that a place's name needs at least
MOST_PANELS = 24  # the first ones; a filter shows the others
MOST_BESIDE = 16  # with more places than this, panels stand one under another
# The drawing library keeps caches that threads share; one figure at a time costs little and cannot mix them.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Layout:
    """Which column lies along the axis, which makes the colours, and what each panel shows."""

    along: str
    places: tuple[str, ...]
    models: tuple[str, ...]
    panels: tuple[tuple[Mapping[str, str], str], ...]
    wide: int
    left_out: int = 0

    @property
    def deep(self) -> int:
        return -(-len(self.panels) // self.wide)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        width = max(SIZE[0], PLACE_WIDTH * len(self.places) * max(1, len(self.models) / 3))
        return min(width, 14.0) * self.wide, SIZE[1] * self.deep + 0.9


def colours(models: Sequence[str]) -> dict[str, str]:
    """A colour for each model: the same in every figure for those that are known, by their name for the others."""
    found: dict[str, str] = {}
    for model in ordered(models, "model"):
        key = model_key(model)
        free = [colour for colour in SPARE_COLOURS if colour not in found.values()] or list(SPARE_COLOURS)
        found[model] = COLOURS.get(key) or free[crc32(key.encode()) % len(free)]
    return found


def layout(table: TidyTable, metrics: Sequence[str]) -> Layout | None:
    """How to draw `table`; None where there is nothing to draw."""
    if not table.rows:
        return None
    values = {column: ordered((row.groups[column] for row in table.rows), column) for column in table.columns}
    along = next((column for column in PLACES if column in values), table.columns[0])
    others = [column for column in table.columns if column not in (along, "model")]
    held = {tuple(row.groups[column] for column in others) for row in table.rows}
    in_place = sorted(held, key=lambda names: [place(column, name) for column, name in zip(others, names, strict=True)])
    chosen = [dict(zip(others, names, strict=True)) for names in in_place]
    panels = tuple((groups, metric) for groups in chosen for metric in metrics)
    wide = len(metrics) if others and len(metrics) <= 3 else 2
    if len(values[along]) > MOST_BESIDE:
        wide = 1
    models = tuple(values.get("model", [""]))
    shown = panels[:MOST_PANELS]
    return Layout(along, tuple(values[along]), models, shown, min(wide, len(shown)), len(panels) - len(shown))


def svg(table: TidyTable, metrics: Sequence[str]) -> bytes | None:
    """The figure of `table` as SVG without outside references; None where there is nothing to draw."""
    plan = layout(table, metrics)
    if plan is None:
        return None
    with _one_at_a_time:
        return _saved(_figure(table, plan))


@cache
def _style() -> None:
    """Settings that hold for the whole process, made once: letters as shapes, the same bytes for the same table."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams.update({"svg.hashsalt": "world-wide-dishes", "svg.fonttype": "path", "hatch.linewidth": 0.7})
    mpl.rcParams.update({"font.size": 8, "axes.titlesize": 8.5, "axes.spines.top": False, "axes.spines.right": False})


def _figure(table: TidyTable, plan: Layout) -> Any:
    """The drawn figure, a `matplotlib.figure.Figure`."""
    _style()
    from matplotlib.figure import Figure

    figure = Figure(figsize=plan.size, layout="constrained")
    held = {(tuple(row.groups[column] for column in table.columns), row.metric): row.estimate for row in table.rows}
    axes = figure.subplots(plan.deep, plan.wide, squeeze=False).ravel()
    for axis, (groups, metric) in zip(axes, plan.panels, strict=False):
        for model in plan.models:
            chosen = {**groups, "model": model}
            keys = [tuple({**chosen, plan.along: where}[name] for name in table.columns) for where in plan.places]
            _bars(axis, plan, model, [held.get((key, metric)) for key in keys])
        _finish(axis, plan, ", ".join((*groups.values(), metric.replace("_", " "))))
    for axis in axes[len(plan.panels) :]:
        axis.set_axis_off()
    _legend(figure, plan)
    if table.demonstration:
        figure.text(0.5, 0.5, "DEMONSTRATION", size=34, color="#b3201a", alpha=0.25, rotation=25, ha="center")
    return figure


def _bars(axis: Any, plan: Layout, model: str, estimates: Sequence[Estimate | None]) -> None:
    """One model's bars in a panel, one per place; a place without a row stays empty."""
    width = 0.8 / len(plan.models)
    shift = width * (plan.models.index(model) - (len(plan.models) - 1) / 2)
    colour = colours(plan.models)[model]
    for number, estimate in enumerate(estimates):
        at = number + shift
        if estimate is None:
            continue
        if estimate.value is None:
            axis.text(at, 0, "–", ha="center", va="bottom", color=colour)
            continue
        hatch = "////" if estimate.small else ""
        axis.bar(at, estimate.value, width * 0.92, color=colour, hatch=hatch, edgecolor="white", linewidth=0.3)
        if estimate.low is not None and estimate.high is not None:
            axis.vlines(at, estimate.low, estimate.high, color="white", linewidth=2.4)
            axis.vlines(at, estimate.low, estimate.high, color="#2b211a", linewidth=1)


def _finish(axis: Any, plan: Layout, title: str) -> None:
    """Title, zero line, and the places' names."""
    axis.set_title(title, loc="left")
    axis.axhline(0, color="#6a5a4d", linewidth=0.6)
    turned = 60 if len(plan.places) > MOST_BESIDE else 30
    axis.set_xticks(range(len(plan.places)), plan.places, rotation=turned, ha="right", rotation_mode="anchor")
    if not any(bar.get_height() for bar in axis.patches):
        axis.set_ylim(0, 1)
    axis.set_xlim(-0.6, len(plan.places) - 0.4)
    axis.grid(axis="y", color="#d9c9b6", linewidth=0.4)
    axis.set_axisbelow(True)


def _legend(figure: Any, plan: Layout) -> None:
    """Models above, what lines and hatching mean below."""
    from matplotlib.patches import Patch

    if plan.models != ("",):
        patches = [Patch(facecolor=colour, label=model) for model, colour in colours(plan.models).items()]
        figure.legend(handles=patches, loc="outside upper center", ncols=min(len(patches), 6), frameon=False)
    more = f" {plan.left_out} more panels are not drawn: choose some with a filter." if plan.left_out else ""
    figure.supxlabel(UNDER_FIGURE + more, size=6.5, color="#6a5a4d", wrap=True)


def _saved(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="svg", metadata={"Date": None, "Creator": "World Wide Dishes"})
    return target.getvalue()
