"""Addresses. Public pages first; the admin is for staff."""

from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _

from collection.views.takeback import takebacks
from wwd import health
from wwd.translation_page import translations

admin.site.site_header = admin.site.site_title = _("World Wide Dishes")
admin.site.index_title = _("For staff")

handler400 = "wwd.errors.bad_request"
handler500 = "wwd.errors.server_error"

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("collection.urls")),
    path("review/", include("review.urls")),
    path("admin/evaluation/", include("evaluation.urls")),
    path("admin/evaluation/", include("wwd.bundles.urls")),
    path("admin/takeback/", takebacks, name="takeback"),
    path("admin/translations/", translations, name="translations"),
    path("admin/", admin.site.urls),
]
