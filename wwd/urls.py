"""Addresses. Public pages first; the admin is for staff."""

from django.contrib import admin
from django.urls import include, path

from collection.views.bulk_rollback import undo_reports
from collection.views.takeback import takebacks
from evaluation.urls import FORMER_ADDRESSES
from wwd import health
from wwd.staff.log_in import EntryForm, log_in
from wwd.staff.views import second_factor_page, set_up
from wwd.translations_page import translations

admin.site.site_header = admin.site.site_title = "World Wide Dishes"
admin.site.index_title = "For staff"
admin.site.login_form = EntryForm

handler400 = "wwd.base.errors.bad_request"
handler500 = "wwd.base.errors.server_error"

urlpatterns = [
    path("healthz", health.check_liveness),
    path("readyz", health.check_readiness),
    path("", include("collection.urls")),
    path("review/", include("review.urls")),
    path("worker/v1/", include("evaluation.worker_api.urls")),
    path("admin/evaluation/", include("evaluation.urls")),
    path("admin/evaluation/", include("wwd.exchange.bundles.urls")),
    path("admin/evaluation/", include(FORMER_ADDRESSES)),
    path("admin/takeback/", takebacks, name="takeback"),
    path("admin/undo-reports/", undo_reports, name="undo-reports"),
    path("admin/translations/", translations, name="translations"),
    path("admin/login/", log_in),
    path("admin/second-factor/", second_factor_page, name="second-factor"),
    path("admin/second-factor/set-up/", set_up, name="second-factor-set-up"),
    path("admin/", admin.site.urls),
]
