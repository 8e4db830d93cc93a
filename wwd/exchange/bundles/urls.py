"""Addresses of bundles and reports, beside the researchers' other pages."""

from django.urls import path

from wwd.exchange.bundles import pages

app_name = "bundles"
urlpatterns = [
    path("bundle/", pages.bundle, name="bundle"),
    path("report/", pages.reports, name="reports"),
    path("report/read/", pages.read, name="read"),
    path("exports/<int:pk>/", pages.fetch, name="fetch"),
]
