"""Downloads of a table: numbers as CSV and JSON, the figure as SVG, PDF and PNG at print size."""

import hashlib

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from evaluation.figures import files, layout
from evaluation.figures.model import Ending, FigureStyle
from evaluation.metrics.tidy import TidyTable
from evaluation.suggestions import describe_unknown_name
from evaluation.tables import store
from evaluation.tables.serialise import to_csv, to_json
from evaluation.views.tables import for_researchers, model_colours, no_table, read_requested_table
from wwd.base.csv_files import exact_to_spreadsheet

FIGURE_SECONDS = 3600
WIDTH = "width"
SPREADSHEET = "spreadsheet.csv"
TYPES = {
    "csv": "text/csv; charset=utf-8",
    SPREADSHEET: "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
}


@for_researchers
def table_csv(request: HttpRequest, name: str) -> HttpResponse:
    """The stored table as CSV, the same text as `manage.py tables`."""
    view = read_requested_table(request, name)
    if isinstance(view, HttpResponse):
        return view
    return build_file_response(to_csv(view.table), view, "csv") if view.table else redirect_to_table(view)


@for_researchers
def table_spreadsheet(request: HttpRequest, name: str) -> HttpResponse:
    """The same numbers for Excel and LibreOffice: no cell is read as a formula."""
    view = read_requested_table(request, name)
    if isinstance(view, HttpResponse):
        return view
    return (
        build_file_response(exact_to_spreadsheet(to_csv(view.table)), view, SPREADSHEET)
        if view.table
        else redirect_to_table(view)
    )


@for_researchers
def table_json(request: HttpRequest, name: str) -> HttpResponse:
    """The same with all that a CSV has no place for, as `manage.py tables --format json`."""
    view = read_requested_table(request, name)
    if isinstance(view, HttpResponse):
        return view
    text = to_json(view.spec, view.table, view.filters, view.fingerprint) if view.table else None
    return redirect_to_table(view) if text is None else build_file_response(text, view, "json")


@for_researchers
def table_figure(request: HttpRequest, name: str, ending: Ending) -> HttpResponse:
    """The figure, `?width=8` or `17` cm wide, drawn from the stored table."""
    view = read_requested_table(request, name, beside=(WIDTH,))
    if isinstance(view, HttpResponse):
        return view
    widths = [str(width) for width in layout.WIDTHS]
    width = request.GET.get(WIDTH) or widths[-1]
    if width not in widths:
        return no_table(request, describe_unknown_name("width of a figure in cm", width, widths))
    drawn = render_figure_file(view, view.table, ending, int(width)) if view.table and view.spec.figure else None
    return redirect_to_table(view) if drawn is None else build_file_response(drawn, view, ending)


def render_figure_file(view: store.TableView, table: TidyTable, ending: Ending, width: int) -> bytes | None:
    """The file of a figure, kept for a while: drawing takes longer than reading. None where nothing can be drawn."""
    colours = model_colours()
    chosen = "; ".join(f"{name}: {value}" for name, value in sorted(view.filters.items()))
    when = f", computed {view.computed_at:%Y-%m-%d %H:%M} UTC" if view.computed_at else ""
    source = f"Table {view.spec.name}, version {table.version}{when}{f'. Only {chosen}' if chosen else ''}."
    named = f"{source} {view.computed_at} {ending} {width} {sorted(colours.items())} {view.seen}"
    key = f"figure:{hashlib.sha256(named.encode()).hexdigest()}"
    style = FigureStyle(width, source, colours)
    to_draw = view.spec.to_draw(table)
    return cache.get_or_set(
        key, lambda: files.render_figure_file(to_draw, view.spec.drawn, ending, style), FIGURE_SECONDS
    )


def redirect_to_table(view: store.TableView) -> HttpResponse:
    """To the page, which says why there is nothing to download yet."""
    query = f"?{urlencode(view.filters)}" if view.filters else ""
    return redirect(reverse("evaluation:table", args=[view.spec.name]) + query)


def build_file_response(content: str | bytes, view: store.TableView, ending: str) -> HttpResponse:
    """A file whose name says what it holds, and whether it is a demonstration. Images may be shown in a page too."""
    mark = ".demonstration" if view.table and view.table.demonstration else ""
    disposition = "inline" if ending == "svg" else "attachment"
    headers = {"Content-Disposition": f'{disposition}; filename="{view.spec.name}{mark}.{ending}"'}
    return HttpResponse(content, content_type=TYPES[ending], headers=headers)
