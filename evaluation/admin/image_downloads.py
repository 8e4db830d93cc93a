"""The log of images that were taken away, for operators. The package imports it."""

from django.contrib import admin

from evaluation.models import ImageDownload
from wwd.base.admin_lists import ReadOnly


@admin.register(ImageDownload)
class ImageDownloadAdmin(ReadOnly):
    """Who took how many images when, under which terms. Written by `images.download_log.record` alone."""

    list_display = ("at", "by", "what", "number", "terms")
    list_select_related = ("by",)
    search_fields = ("by__username__startswith",)
