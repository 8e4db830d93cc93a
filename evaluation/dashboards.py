"""Researchers' pages inside the admin: the named tables with figure, definition and downloads.

Pages read what is stored and never compute: a table that is missing or stale is asked for, and says so.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.contrib.auth.decorators import permission_required
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluation import figures, table_page, tables
from evaluation.table_text import to_csv
from wwd.tables import TABLES

View = Callable[..., HttpResponse]
FIGURE_SECONDS = 3600


def allowed(permission: str) -> Callable[[View], View]:
    """Signed-in staff with the permission: others sign in first, staff without it get 403."""

    def decorate(view: View) -> View:
        return admin.site.admin_view(permission_required(f"evaluation.{permission}", raise_exception=True)(view))

    return decorate


def for_researchers(view: View) -> View:
    """Staff who may see tables."""
    return allowed("view_storedtable")(require_safe(view))


def context(request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": title, **more}


@for_researchers
def table_list(request: HttpRequest) -> HttpResponse:
    """All named tables with their sources."""
    specs = [tables.spec(name) for name in sorted(TABLES)]
    return render(request, "evaluation/tables.html", context(request, _("Tables"), specs=specs))


def stored(request: HttpRequest, name: str) -> tables.TableView | HttpResponse:
    """The table and filters of the address, asked for where it is not fresh; or the page that says what is wrong."""
    try:
        view = tables.read(name, {key: str(value) for key, value in request.GET.items()})
    except (tables.UnknownTable, tables.UnknownFilter) as error:
        more = context(request, _("There is no such table"), sentence=str(error))
        return render(request, "evaluation/no_table.html", more, status=404)
    if view.state != "fresh" and tables.ask(view):
        transaction.on_commit(tables.announce)
    return view


@for_researchers
def table_detail(request: HttpRequest, name: str) -> HttpResponse:
    """One table: figure, numbers, what is not measured, definition, downloads."""
    view = stored(request, name)
    if isinstance(view, HttpResponse):
        return view
    metrics = list(view.spec.metrics)
    lines = table_page.lines(view.table, metrics, view.filters) if view.table else []
    more = context(
        request,
        _(view.spec.title),
        view=view,
        columns=[column.replace("_", " ") for column in view.spec.columns],
        metrics=[metric.replace("_", " ") for metric in metrics],
        lines=lines[: table_page.MOST_LINES],
        left_out=max(0, len(lines) - table_page.MOST_LINES),
        choices=table_page.choices(view.table, view.spec.filters, view.filters) if view.table else {},
        reasons=table_page.reasons(view.table) if view.table else {},
        methods=table_page.methods(view.table) if view.table else [],
        definitions={metric.replace("_", " "): _(text) for metric, text in view.spec.metrics.items()},
        command=table_page.command(name, view.filters),
        query=f"?{urlencode(view.filters)}" if view.filters else "",
    )
    return render(request, "evaluation/table.html", more)


@for_researchers
def table_csv(request: HttpRequest, name: str) -> HttpResponse:
    """The stored table as CSV, the same text as `manage.py tables`."""
    view = stored(request, name)
    if isinstance(view, HttpResponse) or view.table is None:
        return view if isinstance(view, HttpResponse) else back(view)
    return download(to_csv(view.table), "text/csv; charset=utf-8", view, "csv")


@for_researchers
def table_figure(request: HttpRequest, name: str) -> HttpResponse:
    """The figure as SVG, drawn from the stored table; kept for a while, since drawing takes longer than reading."""
    view = stored(request, name)
    if isinstance(view, HttpResponse) or view.table is None:
        return view if isinstance(view, HttpResponse) else back(view)
    table = view.table
    if not view.spec.figure:
        return back(view)
    named = f"{name} {table.version} {sorted(view.filters.items())} {view.computed_at} {view.seen}"
    key = f"figure:{hashlib.sha256(named.encode()).hexdigest()}"
    drawn = cache.get_or_set(key, lambda: figures.drawn(table, view.spec.drawn, "svg"), FIGURE_SECONDS)
    return back(view) if drawn is None else download(drawn, "image/svg+xml", view, "svg")


def back(view: tables.TableView) -> HttpResponse:
    """To the page, which says why there is nothing to download yet."""
    query = f"?{urlencode(view.filters)}" if view.filters else ""
    return redirect(reverse("evaluation:table", args=[view.spec.name]) + query)


def download(content: str | bytes, media_type: str, view: tables.TableView, ending: str) -> HttpResponse:
    """A file whose name says what it holds, and whether it is a demonstration. Pictures may be shown in a page too."""
    mark = ".demonstration" if view.table and view.table.demonstration else ""
    disposition = "inline" if ending == "svg" else "attachment"
    headers = {"Content-Disposition": f'{disposition}; filename="{view.spec.name}{mark}.{ending}"'}
    return HttpResponse(content, content_type=media_type, headers=headers)
