"""The precision planner: how wide intervals will be, and which gap can be seen, before anybody is asked."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.presentation.precision_form import PrecisionForm, compute_precision_rows
from evaluation.views.tables import build_admin_context, request_if_stale, require_permission


@require_permission("view_storedtable")
@require_safe
def show_precision_planner(request: HttpRequest) -> HttpResponse:
    """The form, the expected precision of its design, and that of its neighbours."""
    form = PrecisionForm(request.GET or None)
    more: dict[str, Any] = {}
    if form.is_valid():
        if form.view:
            request_if_stale(form.view)
        more = {"pilot": form.found, "view": form.view, "rows": compute_precision_rows(form)}
    title = "Precision planner"
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(
        request, "evaluation/precision.html", build_admin_context(request, title, form=form, **more), status=status
    )
