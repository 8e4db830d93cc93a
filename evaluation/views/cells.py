"""The page behind a cell of a table."""

from collections.abc import Callable

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from evaluation import queue
from evaluation.drilldown.cells import Cell, NoSuchCell, behind, cell_of
from evaluation.presentation import cell as presentation_cell
from evaluation.registry import lookup
from evaluation.tables import store
from evaluation.views.images import after_of
from evaluation.views.tables import View, context, for_researchers


def with_cell(view: Callable[[HttpRequest, Cell], HttpResponseBase]) -> View:
    """Hands the cell of the address to a view; what names none gets the page that says what is wrong with it."""

    def inner(request: HttpRequest, name: str) -> HttpResponseBase:
        try:
            return view(request, cell_of(name, request.GET))
        except (lookup.UnknownTable, lookup.UnknownFilter, NoSuchCell) as error:
            more = context(request, _("There is no such cell"), sentence=str(error))
            return render(request, "evaluation/no_table.html", more, status=404)

    return inner


@for_researchers
@with_cell
def cell(request: HttpRequest, found: Cell) -> HttpResponse:
    """Pictures, units and answers that a number counted, page by page."""
    if found.view.state != "fresh" and store.ask(found.view):
        transaction.on_commit(queue.request_tables)
    more = {"view": found.view, "found": found, "query": found.query, **presentation_cell.about(found)}
    if found.row is not None:
        listed = behind(found)
        more |= {"note": listed.note, **presentation_cell.context(request, found, listed, after_of(request))}
    return render(
        request, "evaluation/pictures/behind.html", context(request, presentation_cell.title_of(found), **more)
    )
