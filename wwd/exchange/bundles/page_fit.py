"""How a table fits on paper: upright, across, or across in small letters. Estimated by counting letters."""

from collections.abc import Iterable, Sequence
from typing import Literal

from evaluation.presentation.table import Line, ShownCell

Fit = Literal["upright", "across", "dense"]
# Millimetres: what A4 leaves between its margins, upright and across; a letter of 8.5 points, and a cell's edges.
UPRIGHT, ACROSS = 178, 265
LETTER, EDGES = 1.65, 4
# Names of groups may be broken into lines, but not into shorter ones than this.
BROKEN = 16


def choose_page_layout(columns: Sequence[str], metrics: Sequence[str], lines: Iterable[Line]) -> Fit:
    """`columns` of names, then `metrics` of numbers. Intervals are beside values upright, below them across."""
    held = list(lines)
    names = sum(
        _millimetres(min(BROKEN, max([len(column), *(len(line.groups[place]) for line in held)])))
        for place, column in enumerate(columns)
    )
    cells = [[line.cells[place] for line in held] for place in range(len(metrics))]
    if (
        names + sum(_numbers(metric, column, beside=True) for metric, column in zip(metrics, cells, strict=True))
        <= UPRIGHT
    ):
        return "upright"
    below = sum(_numbers(metric, column, beside=False) for metric, column in zip(metrics, cells, strict=True))
    return "across" if names + below <= ACROSS else "dense"


def _numbers(metric: str, cells: Iterable[ShownCell | None], *, beside: bool) -> float:
    """The width of a column of numbers; the name of the metric may be broken between words."""
    widest = max(len(word) for word in metric.split() or [""])
    for cell in cells:
        if cell:
            value, interval = len(cell.value or "—"), len(cell.interval or "") + 2 if cell.interval else 0
            widest = max(
                widest, value + interval + 1 if beside else max(value, interval), len(f"{cell.n} / {cell.clusters}")
            )
    return _millimetres(widest)


def _millimetres(letters: int) -> float:
    return letters * LETTER + EDGES
