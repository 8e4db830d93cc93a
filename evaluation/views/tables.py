"""Researchers' pages inside the admin: the named tables with filters, figure, methods and definition.

Pages read what is stored and never compute: a table that is missing or stale is asked for, and says so.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from django.contrib import admin
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.decorators import permission_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from evaluation import queue
from evaluation.figures import palette
from evaluation.models import Model
from evaluation.presentation import methods_text, table, table_filters
from evaluation.presentation import table_list as presentation_table_list
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import read, store

View = Callable[..., HttpResponseBase]


def require_permission(permission: str) -> Callable[[View], View]:
    """Signed-in staff with the permission: others sign in first, staff without it get 403."""

    def decorate(view: View) -> View:
        return admin.site.admin_view(permission_required(f"evaluation.{permission}", raise_exception=True)(view))

    return decorate


def for_researchers(view: View) -> View:
    """Staff who may see tables."""
    return require_permission("view_storedtable")(require_safe(view))


def build_admin_context(request: HttpRequest, title: str, **more: Any) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": title, **more}


@for_researchers
def table_list(request: HttpRequest) -> HttpResponse:
    """All named tables in groups, with their states."""
    return render(
        request,
        "evaluation/tables.html",
        build_admin_context(request, "Tables", groups=presentation_table_list.group_tables(TABLES)),
    )


def get_staff_user(request: HttpRequest) -> AbstractBaseUser:
    """Who is signed in, for views under `require_permission`."""
    assert isinstance(request.user, AbstractBaseUser)
    return request.user


def with_table(beside: Collection[str] = ()) -> Callable[[View], View]:
    """Hands a view the table and filters of its address; what names none gets the page that says what is wrong.

    A table that is not fresh is requested. `beside`: parameters that are no filters. The view is called as
    `view(request, found, ...)`.
    """

    def decorate(view: View) -> View:
        def inner(request: HttpRequest, name: str, **more: Any) -> HttpResponseBase:
            chosen = {key: str(value) for key, value in request.GET.items() if key not in beside}
            try:
                found = read.read_stored_table(name, chosen)
            except (lookup.TableNotFound, lookup.FilterNotFound) as error:
                return render_missing_table(request, str(error))
            request_if_stale(found)
            return view(request, found, **more)

        return inner

    return decorate


def request_if_stale(view: store.TableView) -> None:
    """Lets a worker compute the table, unless it is fresh or requested already."""
    if view.state != "fresh" and store.request_fresh_table(view):
        transaction.on_commit(queue.request_tables)


def render_missing_table(request: HttpRequest, sentence: str, title: str = "There is no such table") -> HttpResponse:
    """404 with a sentence that says what the address names wrongly."""
    more = build_admin_context(request, title, sentence=sentence)
    return render(request, "evaluation/no_table.html", more, status=404)


def options_of(view: store.TableView) -> Mapping[str, list[str]]:
    """Values to choose from, as the stored table keeps them."""
    found: Mapping[str, list[str]] = view.table.about.get("options", {}) if view.table else {}
    return found


def model_colours() -> palette.Palette:
    """The colours of all models."""
    return palette.assign_model_colours(Model.objects.order_by("pk").values_list("slug", "title"))


def without_empty_filters(view: View) -> View:
    """A form sends every field: leads to the address that holds only what was chosen."""

    def inner(request: HttpRequest, name: str) -> HttpResponseBase:
        if "" not in request.GET.values():
            return view(request, name)
        chosen = {key: str(value) for key, value in request.GET.items() if value}
        return redirect(f"{request.path}?{urlencode(chosen)}" if chosen else request.path)

    return inner


@for_researchers
@without_empty_filters
@with_table()
def table_detail(request: HttpRequest, view: store.TableView) -> HttpResponse:
    """One table: filters, figure, numbers, what is not measured, methods, definition, downloads."""
    options = options_of(view if view.table else read.read_stored_table(view.spec.name, {}))
    more = build_admin_context(
        request,
        view.spec.title,
        view=view,
        columns=[table_filters.get_filter_label(column) for column in view.spec.columns],
        metrics=[metric.replace("_", " ") for metric in view.spec.metrics],
        fields=table_filters.build_filter_fields(
            view.spec, view.filters, {**options, "run": view.mask.plain(table_filters.list_finished_runs(view.spec))}
        ),
        chips=table_filters.build_filter_chips(view.filters),
        definitions=methods_text.list_metric_definitions(view.spec),
        command=table.build_table_command(view.spec.name, view.filters),
        query=f"?{urlencode(view.filters)}" if view.filters else "",
        **(table.build_table_context(view.spec, view.table, view.filters, model_colours()) if view.table else {}),
        paragraph=methods_text.write_methods_paragraph(view.spec, view.table, view.filters, view.computed_at)
        if view.table
        else [],
    )
    return render(request, "evaluation/table.html", more)
