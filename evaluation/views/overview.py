"""The first page of staff: what there is, from where, and what waits for somebody."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.admin.country_scope import sees_some
from evaluation import queue
from evaluation.metrics.tidy import Estimate
from evaluation.overview.todo import list_pending_work
from evaluation.presentation import table
from evaluation.presentation.world_map import world_map
from evaluation.tables import read, store
from evaluation.views.tables import build_admin_context

TABLES = ("totals", "countries", "growth", "coverage", "devices")
MOST_MONTHS = 36
HEIGHT = 100  # of the highest bar
Values = Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True)
class Bar:
    """A month of the figure of growth, in units of its drawing."""

    month: str
    new: int
    total: int
    x: int
    y: float
    height: float


def for_staff(view: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Staff who may see tables or dishes: others sign in first, staff who may see neither get 403."""

    @wraps(view)
    def allowed(request: HttpRequest) -> HttpResponse:
        if not (request.user.has_perm("evaluation.view_storedtable") or sees_some(request.user)):
            raise PermissionDenied
        return view(request)

    return admin.site.admin_view(require_safe(allowed))


@for_staff
def show_overview(request: HttpRequest) -> HttpResponse:
    """Numbers of the collection from stored tables, and what waits."""
    views = read.read_whole([f"overview.{name}" for name in TABLES])
    if store.ask_whole(views.values()):
        transaction.on_commit(queue.request_tables)
    found = {name: values_of(views[f"overview.{name}"]) for name in TABLES}
    dishes = {name: int(row["dishes"].value or 0) for name, row in found["countries"].items()}
    more = build_admin_context(
        request,
        "Overview",
        views=views,
        state=find_worst_state([view.state for view in views.values()]),
        notes={name: notes_of(views[f"overview.{name}"]) for name in TABLES},
        demonstration=any(view.table.demonstration for view in views.values() if view.table),
        totals={name.replace(" ", "_"): row["number"].value for name, row in found["totals"].items()},
        devices={name: table.format_cell(row["share"], 2) for name, row in found["devices"].items()},
        map=world_map(dishes) if dishes else None,
        countries=sorted(dishes.items(), key=lambda pair: (-pair[1], pair[0])),
        bars=build_month_bars(found["growth"]),
        coverage=found["coverage"],
        waiting=list_pending_work(request.user),
    )
    return render(request, "evaluation/overview.html", more)


def values_of(view: store.TableView) -> Values:
    """Value of the table's column → metric → estimate."""
    found: dict[str, dict[str, Estimate]] = {}
    for row in view.table.rows if view.table else ():
        found.setdefault(row.groups[view.spec.columns[0]], {})[row.metric] = row.estimate
    return found


def notes_of(view: store.TableView) -> tuple[str, ...]:
    return view.table.notes if view.table else ()


def find_worst_state(states: list[store.State]) -> store.State:
    """The state of all the tables together."""
    order: tuple[store.State, ...] = ("failed", "computing", "stale", "fresh")
    return min(states, key=order.index)


def build_month_bars(growth: Values) -> list[Bar]:
    """The last three years, a bar for each month."""
    shown = sorted(growth.items())[-MOST_MONTHS:]
    numbers = [(month, int(row["dishes"].value or 0), int(row["so_far"].value or 0)) for month, row in shown]
    most = max((new for _month, new, _total in numbers), default=0) or 1
    return [
        Bar(month, new, total, 20 * place, HEIGHT - HEIGHT * new / most, HEIGHT * new / most)
        for place, (month, new, total) in enumerate(numbers)
    ]
