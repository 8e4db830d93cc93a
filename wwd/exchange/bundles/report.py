"""A report: chosen tables as one page that prints like a paper, shown on the site and made into a PDF."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.contrib.staticfiles import finders
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, get_language_bidi

from evaluation import queue
from evaluation.figures import draw, layout, model
from evaluation.metrics.tidy import TidyTable
from evaluation.presentation import methods_text
from evaluation.presentation import table as presentation_table
from evaluation.registry import lookup
from evaluation.tables import read as tables_read
from evaluation.tables import store
from evaluation.tables.store import TableView
from evaluation.views.tables import model_colours
from wwd.exchange.bundles import listings, source
from wwd.exchange.bundles.blurred_images import BlurredImage, select_blurred_images
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.page_fit import Fit, choose_page_layout
from wwd.exchange.bundles.table_views import ChosenError, View

STYLE = "report.css"
# More lines than this are not read on paper; the bundle and the CSV hold all.
MOST_LINES = 150
MOST_GROUPS = 4
# Sheets of one figure; the page of the table draws all. Inches: a heading has room above it.
MOST_SHEETS = 3
SHEET_WIDTH, SHEET_HEIGHT = 17 / 2.54, 8.4
Read = Callable[[View], TableView]


@dataclass(frozen=True)
class Reason:
    """Why something is not measured or not claimed, some of what this concerns, and how much more."""

    text: str
    groups: Sequence[str]
    more: int


@dataclass(frozen=True)
class Section:
    """One table of a report; `table` is None while a worker still computes it."""

    number: int
    view: View
    read: TableView
    lines: Sequence[presentation_table.Line]
    left_out: int
    columns: Sequence[str]
    metrics: Sequence[str]
    figures: Sequence[str]
    sheets_left_out: int
    reasons: Sequence[Reason]
    methods: Sequence[str]
    images: Sequence[BlurredImage]

    @property
    def title(self) -> str:
        return self.read.spec.title

    @property
    def table(self) -> TidyTable | None:
        return self.read.table

    @cached_property
    def fit(self) -> Fit:
        """How its numbers fit on paper."""
        return choose_page_layout(self.columns, self.metrics, self.lines) if self.lines else "upright"


def as_stored(view: View) -> TableView:
    """What a page may show: never computed here, asked for where it is not fresh."""
    read = read_checked_view(tables_read.read_stored_table, view)
    if read.state != "fresh" and store.request_fresh_table(read):
        transaction.on_commit(queue.request_tables)
    return read


def read_fresh_view(view: View) -> TableView:
    """For workers and the command line."""
    return read_checked_view(tables_read.read_fresh_table, view)


def read_checked_view(read: Callable[[str, Mapping[str, str]], TableView], view: View) -> TableView:
    """Reads the view. Raises ChosenError where a mask does not know its filters."""
    try:
        return read(view.table, view.values)
    except lookup.FilterNotFound as error:
        raise ChosenError(str(error)) from error


def build_section(number: int, view: View, read: TableView, *, images: bool, on_site: bool) -> Section:
    """What is shown of one table. On the site its figure has an address of its own, and is drawn there."""
    table, spec = read.table, read.spec
    lines = presentation_table.build_table_lines(table, list(spec.metrics)) if table else []
    drawn = [] if on_site else split_figure_into_sheets(read)
    return Section(
        number=number,
        view=view,
        read=read,
        lines=lines[:MOST_LINES],
        left_out=max(0, len(lines) - MOST_LINES),
        columns=[column.replace("_", " ") for column in spec.columns],
        metrics=[metric.replace("_", " ") for metric in spec.metrics],
        figures=figure_address(read) if on_site else [as_address(plan) for plan in drawn[:MOST_SHEETS]],
        sheets_left_out=max(0, len(drawn) - MOST_SHEETS),
        reasons=list_missing_reasons(table) if table else [],
        methods=methods_text.write_methods_paragraph(spec, table, view.values, read.computed_at) if table else [],
        images=select_blurred_images(read) if images else [],
    )


def figure_address(read: TableView) -> list[str]:
    """Where the site draws the figure, and keeps it; nowhere where there is nothing to draw."""
    if select_drawable_rows(read) is None:
        return []
    query = f"?{urlencode(read.filters)}" if read.filters else ""
    return [reverse("evaluation:figure", args=[read.spec.name]) + query]


def select_drawable_rows(read: TableView) -> TidyTable | None:
    """What the figure shows; None where that would be nothing but dashes."""
    if read.table is None or not read.spec.figure:
        return None
    shown = read.spec.to_draw(read.table)
    measured = any(row.estimate.value is not None for row in shown.rows if row.metric in read.spec.drawn)
    return shown if measured else None


def split_figure_into_sheets(read: TableView) -> list[model.FigurePlan]:
    """The figure in parts that fit on a printed page; none where there is nothing to draw."""
    shown = select_drawable_rows(read)
    style = model.FigureStyle(colours=model_colours())
    plan = layout.lay_out_figure(shown, read.spec.drawn, style) if shown else None
    if plan is None:
        return []
    pages = draw.split_into_pages(plan, SHEET_WIDTH, SHEET_HEIGHT)
    return [replace(plan, panels=tuple(panel for line, _height in page.lines for panel in line)) for page in pages]


def as_address(plan: model.FigurePlan) -> str:
    """A figure as an address that holds the whole image."""
    return f"data:image/svg+xml;base64,{base64.b64encode(draw.draw_figure(plan, 'svg', SHEET_WIDTH)).decode()}"


def list_missing_reasons(table: TidyTable) -> list[Reason]:
    found = presentation_table.group_missing_reasons(table)
    return [Reason(text, held[:MOST_GROUPS], max(0, len(held) - MOST_GROUPS)) for text, held in found.items()]


def build_report_context(
    request: Request, read: Read, step: Callable[[str], None] = lambda text: None, *, on_site: bool = False
) -> dict[str, Any]:
    """Everything that the template needs but its style."""
    sections = []
    for number, view in enumerate(request.views, start=1):
        step(f"{view.address} is being computed.")
        sections.append(build_section(number, view, read(view), images=request.images, on_site=on_site))
    return {
        "name": request.name,
        "site": on_site,
        "sections": sections,
        "demonstration": any(one.table.demonstration for one in sections if one.table),
        "waiting": [one for one in sections if one.read.state != "fresh"],
        "ethics": map_ethics_approvals(request.views),
        "code": source.describe_commit(),
        "language": get_language() or "en",
        "direction": "rtl" if get_language_bidi() else "ltr",
        "image_count": sum(len(one.images) for one in sections),
    }


def map_ethics_approvals(views: Iterable[View]) -> Mapping[str, str]:
    """Campaign → its approval, of the campaigns that the tables count; the collection's under no name."""
    found = {"": listings.collection_ethics()}
    for campaign in listings.list_counted_campaigns(views):
        found[campaign.slug] = campaign.ethics_reference.strip() or listings.NO_ETHICS
    return found


def render_standalone_report(
    request: Request, read: Read, step: Callable[[str], None] = lambda text: None
) -> tuple[str, int]:
    """The report as one file that names nothing outside of itself, and how many images it holds."""
    made = build_report_context(request, read, step)
    page = render_to_string("bundles/report.html", {**made, "style": build_style_element(made)})
    return page, int(made["image_count"])


def build_style_element(made: Mapping[str, Any]) -> SafeString:
    """The style sheet as an element of the page, with the running title in the margins of each page."""
    path = finders.find(STYLE)
    assert isinstance(path, str)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        sheet = file.read()
    running = "World Wide Dishes, report {name}".format(name=made["name"])
    mark = "Demonstration: no measurement" if made["demonstration"] else ""
    margins = f"@page{{@top-left{{content:{quote_css_string(running)}}}@top-right{{content:{quote_css_string(mark)}}}}}"
    # Nothing in it comes from people: the name is checked, the rest are texts of ours; "<" is escaped nevertheless.
    return mark_safe(f"<style>{sheet}{margins}</style>")  # noqa: S308


def quote_css_string(text: str) -> str:
    """`text` as a string of a style sheet that can end neither the string nor the element."""
    return '"' + "".join(sign if sign.isalnum() or sign in " ,:.-" else f"\\{ord(sign):06x}" for sign in text) + '"'


def build_stylesheet_link(address: str) -> SafeString:
    return format_html('<link rel="stylesheet" href="{}">', address)
