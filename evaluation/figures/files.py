"""Figures of tables as files: SVG, PDF and PNG."""

from collections.abc import Sequence

from evaluation.figures import draw
from evaluation.figures.layout import lay_out_figure
from evaluation.figures.model import Ending, Look
from evaluation.metrics.tidy import TidyTable


def render_figure_file(
    table: TidyTable, metrics: Sequence[str], ending: Ending, look: Look | None = None
) -> bytes | None:
    """The figure of `table` as a file, the same bytes for the same table; None where there is nothing to draw."""
    look = look or Look()
    plan = lay_out_figure(table, metrics, look)
    return draw.draw_figure(plan, ending, look.width / 2.54) if plan else None
