"""Figures of tables as files: SVG, PDF and PNG."""

from collections.abc import Sequence

from evaluation.figures import draw
from evaluation.figures.layout import lay_out_figure
from evaluation.figures.model import Ending, FigureStyle
from evaluation.metrics.tidy import TidyTable


def render_figure_file(
    table: TidyTable, metrics: Sequence[str], ending: Ending, style: FigureStyle | None = None
) -> bytes | None:
    """The figure of `table` as a file, the same bytes for the same table; None where there is nothing to draw."""
    style = style or FigureStyle()
    plan = lay_out_figure(table, metrics, style)
    return draw.draw_figure(plan, ending, style.width / 2.54) if plan else None
