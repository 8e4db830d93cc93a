"""How figures are drawn: matplotlib, exact sizes in inches, letters of every script, the same bytes each time."""

import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.figures import fonts, palette
from evaluation.figures.fonts import text_width, wrap_text
from evaluation.figures.model import Bar, Ending, FigurePlan, Panel
from evaluation.metrics.tidy import Estimate

# Inches, but for sizes of letters in points: 6 at least, so that a figure of 8 cm can be read.
ROW, BETWEEN, LINE, AXIS, GAP, EDGE = 0.125, 0.05, 0.125, 0.2, 0.12, 0.04
NAMES, NUMBERS, SMALL = 7, 6, 6
NAMES_SHARE = 0.36  # of a panel's width, at most
PAGE = 9.6  # height of a printed page
WIDE = 5.0  # from here on panels are in two columns
QUIET = "#5f5348"
METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "World Wide Dishes"},
    "pdf": {"CreationDate": None, "Creator": "World Wide Dishes", "Producer": "matplotlib"},
    "png": {"Software": None},
}
# The drawing library keeps caches that threads share; one figure at a time costs little and cannot mix them.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Page:
    """One sheet: panels in lines from top to bottom, each line with its height in inches."""

    lines: tuple[tuple[tuple[Panel, ...], float], ...]

    @property
    def height(self) -> float:
        return sum(height for _panels, height in self.lines)


def draw_figure(plan: FigurePlan, ending: Ending, width: float) -> bytes:
    """The figure of `plan`, `width` inches wide; a PDF has several pages where one is not enough."""
    with _one_at_a_time:
        import matplotlib as mpl

        with mpl.rc_context(build_figure_style(plan)):
            sheets = [
                _sheet(plan, page, width) for page in split_into_pages(plan, width, PAGE if ending == "pdf" else None)
            ]
            return _as_pdf(sheets) if ending == "pdf" else _encode_figure(sheets[0], ending)


def build_figure_style(plan: FigurePlan) -> Any:
    """Settings of one figure: TrueType letters in a PDF, letters as shapes in an SVG, a dollar sign is no formula."""
    return {
        "font.family": fonts.choose_font_families(plan.texts()),
        "font.size": NAMES,
        "pdf.fonttype": 42,
        "svg.fonttype": "path",
        "svg.hashsalt": "world-wide-dishes",
        "hatch.linewidth": 0.6,
        "axes.linewidth": 0.5,
        "axes.edgecolor": QUIET,
        "xtick.major.width": 0.5,
        "xtick.major.size": 2,
        "text.color": palette.INK,
        "text.parse_math": False,
    }


def count_panel_columns(plan: FigurePlan, width: float) -> int:
    """How many panels are beside one another."""
    return 2 if width > WIDE and len(plan.panels) > 1 else 1


def split_into_pages(plan: FigurePlan, width: float, tallest: float | None) -> list[Page]:
    """The panels in lines, and the lines on pages of at most `tallest` inches where a height is given."""
    beside = count_panel_columns(plan, width)
    room = (tallest or float("inf")) - _height(legend_lines(plan, width)) - _height(foot_lines(plan, width))
    found: list[list[tuple[tuple[Panel, ...], float]]] = [[]]
    for start in range(0, len(plan.panels), beside):
        line = plan.panels[start : start + beside]
        height = max(panel_height(panel, width / beside) for panel in line)
        if found[-1] and sum(held for _panels, held in found[-1]) + height > room:
            found.append([])
        found[-1].append((line, height))
    return [Page(tuple(lines)) for lines in found]


def panel_height(panel: Panel, width: float) -> float:
    rows = sum(place_height(name, bars, width) + BETWEEN for name, bars in panel.places())
    return len(title_lines(panel, width)) * LINE + rows + AXIS + GAP


def place_height(name: str, bars: Sequence[Bar], width: float) -> float:
    """What the bars of a place need, or its name where that is taller."""
    return max(len(bars) * ROW, len(name_lines(name, width)) * LINE)


def name_lines(name: str, width: float) -> list[str]:
    return wrap_text(name, NAMES, width * NAMES_SHARE)


def title_lines(panel: Panel, width: float) -> list[str]:
    return wrap_text(panel.title, NAMES + 0.5, width - 2 * EDGE)


def foot_lines(plan: FigurePlan, width: float) -> list[str]:
    return [line for sentence in plan.foot for line in wrap_text(sentence, SMALL, width - 2 * EDGE)]


def legend_lines(plan: FigurePlan, width: float) -> list[list[str]]:
    """Names of models as they fit beside one another."""
    found: list[list[str]] = [[]]
    taken = 0.0
    for model in plan.models:
        needed = text_width(model, NAMES) + 0.32
        if found[-1] and taken + needed > width - 2 * EDGE:
            found.append([])
            taken = 0.0
        found[-1].append(model)
        taken += needed
    return found if plan.models else []


def _height(lines: Sequence[object]) -> float:
    return len(lines) * LINE + (GAP / 2 if lines else 0)


def _sheet(plan: FigurePlan, page: Page, width: float) -> Any:
    """One page, a `matplotlib.figure.Figure`."""
    from matplotlib.figure import Figure

    legend, foot = legend_lines(plan, width), foot_lines(plan, width)
    height = page.height + _height(legend) + _height(foot)
    figure = Figure(figsize=(width, height))
    _legend(figure, plan, legend)
    top = height - _height(legend)
    for panels, tall in page.lines:
        share = width / count_panel_columns(plan, width)
        for number, panel in enumerate(panels):
            _panel(figure, plan, panel, (number * share, top, share))
        top -= tall
    for number, line in enumerate(foot):
        figure.text(EDGE / width, ((len(foot) - number) * LINE - 0.09) / height, line, size=SMALL, color=QUIET)
    if plan.demonstration:
        mark: dict[str, Any] = {"color": "#b3201a", "alpha": 0.22, "rotation": 25, "ha": "center", "va": "center"}
        figure.text(0.5, 0.5, "DEMONSTRATION", size=4.6 * width, **mark)
    return figure


def _legend(figure: Any, plan: FigurePlan, lines: Sequence[Sequence[str]]) -> None:
    """Colours of models along the top."""
    from matplotlib.patches import Rectangle

    width, height = figure.get_size_inches()
    for number, names in enumerate(lines):
        x, y = EDGE, height - (number + 1) * LINE
        for name in names:
            box = ((x / width, (y + 0.005) / height), 0.12 / width, 0.085 / height)
            figure.add_artist(Rectangle(*box, facecolor=plan.colour(name), edgecolor=palette.INK, linewidth=0.4))
            figure.text((x + 0.16) / width, (y + 0.01) / height, name, size=NAMES)
            x += text_width(name, NAMES) + 0.32


def _panel(figure: Any, plan: FigurePlan, panel: Panel, where: tuple[float, float, float]) -> None:
    """One panel; `where`: its left edge, its top and its width in inches."""
    left, top, share = where
    width, height = figure.get_size_inches()
    title = title_lines(panel, share)
    names = max(text_width(line, NAMES) for name, _bars in panel.places() for line in name_lines(name, share))
    numbers = max(text_width(format_estimate_counts(bar.estimate), NUMBERS) for bar in panel.bars) + 0.08
    names += 0.08
    tall = panel_height(panel, share) - len(title) * LINE - AXIS - GAP
    bottom = top - len(title) * LINE - tall
    inside = (left + EDGE + names, bottom, share - names - numbers - 4 * EDGE, tall)
    axis = figure.add_axes([inside[0] / width, inside[1] / height, inside[2] / width, inside[3] / height])
    for number, line in enumerate(title):
        figure.text((left + EDGE) / width, (top - (number + 0.8) * LINE) / height, line, size=NAMES + 0.5)
    _bars(axis, plan, panel, share)
    _finish(axis, panel, tall, inside[2])


def _bars(axis: Any, plan: FigurePlan, panel: Panel, share: float) -> None:
    """The bars from top to bottom, in inches from the top; names at the left, n and clusters at the right."""
    beside = axis.get_yaxis_transform()
    at = 0.0
    for name, bars in panel.places():
        room = place_height(name, bars, share)
        lines = "\n".join(name_lines(name, share))
        text = {"ha": "right", "va": "center", "transform": beside, "size": NAMES, "linespacing": 1.1}
        axis.text(-0.06 / axis.get_window_extent().width * axis.figure.dpi, at + room / 2, lines, **text)
        start = at + (room - len(bars) * ROW) / 2
        for number, bar in enumerate(bars):
            _bar(axis, bar.estimate, plan.colour(bar.model), start + (number + 0.5) * ROW)
        at += room + BETWEEN


def _bar(axis: Any, estimate: Estimate, colour: str, at: float) -> None:
    right = axis.get_yaxis_transform()
    edge = 1 + 0.05 / axis.get_window_extent().width * axis.figure.dpi
    text = {"va": "center", "transform": right, "size": NUMBERS, "color": QUIET}
    axis.text(edge, at, format_estimate_counts(estimate), **text)
    if estimate.value is None:
        axis.text(0, at, " –", va="center", size=NAMES, color=palette.INK)
        return
    style = {"hatch": "//////", "hatchcolor": palette.choose_contrast_colour(colour)} if estimate.small else {}
    axis.barh(at, estimate.value, ROW * 0.8, color=colour, edgecolor=palette.INK, linewidth=0.3, **style)
    if estimate.low is not None and estimate.high is not None:
        ends = (estimate.low, estimate.high)
        axis.hlines(at, *ends, color="white", linewidth=2.2)
        axis.hlines(at, *ends, color=palette.INK, linewidth=0.9)


def format_estimate_counts(estimate: Estimate) -> str:
    return f"{estimate.n} / {estimate.clusters}"


def _finish(axis: Any, panel: Panel, tall: float, wide: float) -> None:
    """Scale, zero line, grid; nothing at the sides."""
    from matplotlib.ticker import MaxNLocator

    low, high = panel.scale
    room = (high - low) * 0.03
    axis.set_xlim(low - (room if low < 0 else 0), high + (room if high > 0 else 0))
    axis.set_ylim(tall, -BETWEEN / 2)
    axis.set_yticks([])
    axis.xaxis.set_major_locator(MaxNLocator(max(2, min(6, int(wide / 0.42))), steps=[1, 2, 2.5, 5, 10], min_n_ticks=2))
    axis.xaxis.set_major_formatter(lambda value, _place: f"{value:.10g}".replace("-", "−"))
    axis.tick_params(axis="x", labelsize=NUMBERS, labelcolor=QUIET, pad=1.5, color=QUIET)
    axis.grid(axis="x", color="#d9c9b6", linewidth=0.4)
    axis.axvline(0, color=QUIET, linewidth=0.6)
    axis.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)


def _encode_figure(figure: Any, ending: str) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format=ending, dpi=300, metadata=METADATA[ending])
    return target.getvalue()


def _as_pdf(figures: Sequence[Any]) -> bytes:
    from matplotlib.backends.backend_pdf import PdfPages

    target = io.BytesIO()
    with PdfPages(target, metadata=METADATA["pdf"]) as pages_of:
        for figure in figures:
            pages_of.savefig(figure)
    return target.getvalue()
