"""The stewards' page that undoes all reports of one network: shown first, then one act."""

from string import hexdigits
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.decorators import permission_required
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from collection.access.request_info import HASH_SIGNS
from collection.dishes.reports import lost_of_network, open_of_network, undo_network
from collection.models import Report
from wwd.base.text import count_noun

MOST_SHOWN = 200
MOST_NETWORKS = 50


@require_http_methods(["GET", "HEAD", "POST"])
def show_bulk_rollback(request: HttpRequest) -> HttpResponse:
    """GET: networks with open reports, with `?network=…` those of one. POST: undoes them."""
    network = network_in((request.POST if request.method == "POST" else request.GET).get("network", ""))
    if request.method == "POST":
        return undo_network_reports(request, network)
    rows = open_of_network(network).select_related("dish", "photo").order_by("pk")
    withdrawals = lost_of_network(network).select_related("dish").order_by("pk")
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": "Undo all reports of a network",
        "network": network,
        "number": rows.count() + withdrawals.count(),
        "reports": rows[:MOST_SHOWN],
        "withdrawals": withdrawals[:MOST_SHOWN],
        "networks": list_reported_networks(),
    }
    return render(request, "collection/admin/undo_reports.html", context)


def network_in(text: str) -> str:
    """The hash of a network as somebody typed or copied it; empty where it cannot be one."""
    signs = text.strip().lower()
    return signs if len(signs) == HASH_SIGNS and set(signs) <= set(hexdigits) else ""


def list_reported_networks() -> list[dict[str, Any]]:
    """Networks with open reports, the most first."""
    rows = Report.objects.filter(state=Report.State.OPEN).exclude(network="").order_by()
    counted = rows.values("network").annotate(number=Count("pk"), last=Max("created_at"))
    return list(counted.order_by("-number", "-last")[:MOST_NETWORKS])


def undo_network_reports(request: HttpRequest, network: str) -> HttpResponse:
    number = undo_network(network, request.user)
    if number:
        text = count_noun(number, "%(n)d report is undone.", "%(n)d reports are undone.")
        messages.success(request, text % {"n": number})
    else:
        messages.error(request, "Nothing of this network waits for a decision.")
    return redirect("undo-reports")


may = permission_required(["collection.change_report", "collection.change_withdrawal"], raise_exception=True)
undo_reports = admin.site.admin_view(may(show_bulk_rollback))
