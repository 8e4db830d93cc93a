"""The log of pictures that were taken away, for operators. `admin.py` imports it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from evaluation.models import ImageDownload


@admin.register(ImageDownload)
class ImageDownloadAdmin(admin.ModelAdmin):
    """Who took how many pictures when, and under which terms. Written by `evaluation.downloads.record` alone."""

    list_display = ("at", "by", "what", "number", "terms")
    list_select_related = ("by",)
    ordering = ("-pk",)
    sortable_by = ()
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
