"""The page behind a cell of a table."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from evaluation.drilldown.cells import Cell, CellNotFound, cell_of, load_drilldown
from evaluation.presentation import cell as presentation_cell
from evaluation.registry import lookup
from evaluation.views.images import after_of
from evaluation.views.tables import (
    View,
    build_admin_context,
    for_researchers,
    render_missing_table,
    request_if_stale,
)


def with_cell(view: Callable[[HttpRequest, Cell], HttpResponseBase]) -> View:
    """Hands the cell of the address to a view; what names none gets the page that says what is wrong with it."""

    def inner(request: HttpRequest, name: str) -> HttpResponseBase:
        try:
            return view(request, cell_of(name, request.GET))
        except (lookup.TableNotFound, lookup.FilterNotFound, CellNotFound) as error:
            return render_missing_table(request, str(error), "There is no such cell")

    return inner


@for_researchers
@with_cell
def show_cell(request: HttpRequest, found: Cell) -> HttpResponse:
    """Images, units and answers that a number counted, page by page."""
    request_if_stale(found.view)
    more = {
        "view": found.view,
        "found": found,
        "query": found.query,
        **presentation_cell.build_cell_number_context(found),
    }
    if found.row is not None:
        listed = load_drilldown(found)
        more |= {
            "note": listed.note,
            **presentation_cell.build_drilldown_context(request, found, listed, after_of(request)),
        }
    return render(
        request,
        "evaluation/images/drilldown.html",
        build_admin_context(request, presentation_cell.title_of(found), **more),
    )
