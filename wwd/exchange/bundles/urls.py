"""Addresses of bundles and reports, beside the researchers' other pages."""

from django.urls import path

from wwd.exchange.bundles import pages

app_name = "bundles"
urlpatterns = [
    path("bundle/", pages.request_bundle, name="bundle"),
    path("report/", pages.request_report, name="reports"),
    path("report/read/", pages.show_report, name="read"),
    path("exports/<int:pk>/", pages.download_export, name="fetch"),
]
