"""Researchers' pages inside the admin."""

from django.urls import path

from evaluation import dashboards, picture_urls, plan_urls, run_views

app_name = "evaluation"
urlpatterns = [
    path("runs/start/", run_views.start, name="start"),
    path("runs/<slug:slug>/", run_views.detail, name="run"),
    path("runs/<slug:slug>/steer/", run_views.steer, name="steer"),
    path("tables/", dashboards.table_list, name="tables"),
    path("tables/<str:name>/", dashboards.table_detail, name="table"),
    path("tables/<str:name>/table.csv", dashboards.table_csv, name="csv"),
    path("tables/<str:name>/figure.svg", dashboards.table_figure, name="figure"),
    *picture_urls.urlpatterns,
    *plan_urls.urlpatterns,
]
