"""The page behind a cell of a table."""

from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from evaluation import queue
from evaluation.drilldown.cells import Cell, CellNotFound, cell_of, load_drilldown
from evaluation.presentation import cell as presentation_cell
from evaluation.registry import lookup
from evaluation.tables import store
from evaluation.views.images import after_of
from evaluation.views.tables import View, build_admin_context, for_researchers


def with_cell(view: Callable[[HttpRequest, Cell], HttpResponseBase]) -> View:
    """Hands the cell of the address to a view; what names none gets the page that says what is wrong with it."""

    def inner(request: HttpRequest, name: str) -> HttpResponseBase:
        try:
            return view(request, cell_of(name, request.GET))
        except (lookup.TableNotFound, lookup.FilterNotFound, CellNotFound) as error:
            more = build_admin_context(request, "There is no such cell", sentence=str(error))
            return render(request, "evaluation/no_table.html", more, status=404)

    return inner


@for_researchers
@with_cell
def show_cell(request: HttpRequest, found: Cell) -> HttpResponse:
    """Images, units and answers that a number counted, page by page."""
    if found.view.state != "fresh" and store.request_fresh_table(found.view):
        transaction.on_commit(queue.request_tables)
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
        "evaluation/images/behind.html",
        build_admin_context(request, presentation_cell.title_of(found), **more),
    )
