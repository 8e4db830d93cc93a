"""Reference lists in the admin: which there are and from which file. `manage.py import_reference` adds them."""

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from evaluation.models import ReferenceList
from wwd.base.admin_lists import ReadOnly


@admin.register(ReferenceList)
class ReferenceListAdmin(ReadOnly):
    list_display = ("slug", "title", "dishes", "source", "demonstration", "created_at")
    search_fields = ("slug__startswith",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ReferenceList]:
        return ReferenceList.objects.annotate(number=Count("dishes"))

    @admin.display(description="dishes")
    def dishes(self, row: ReferenceList) -> int:
        return int(getattr(row, "number", 0))
