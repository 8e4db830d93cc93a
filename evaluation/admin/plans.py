"""Plans in the admin: a list that leads to their pages, where drafts are written and frozen. The package imports it."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from evaluation.models import Plan
from wwd.base.admin_lists import ReadOnly


@admin.register(Plan)
class PlanAdmin(ReadOnly):
    """Nothing is changed here: a frozen plan never, a draft on its own page."""

    list_display = ("title", "frozen_at", "masked", "created_by", "created_at")
    list_select_related = ("created_by",)
    search_fields = ("slug__startswith",)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A plan has a page of its own. Who may not see plans learns no name of one."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return redirect("evaluation:plan", get_object_or_404(Plan, pk=object_id).slug)
