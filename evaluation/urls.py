"""Researchers' pages inside the admin."""

from django.urls import path

from evaluation import dashboards, overview_views, picture_urls, plan_urls, run_views, table_files

app_name = "evaluation"
urlpatterns = [
    path("overview/", overview_views.overview, name="overview"),
    path("runs/start/", run_views.start, name="start"),
    path("runs/<slug:slug>/", run_views.detail, name="run"),
    path("runs/<slug:slug>/steer/", run_views.steer, name="steer"),
    path("tables/", dashboards.table_list, name="tables"),
    path("tables/<str:name>/", dashboards.table_detail, name="table"),
    path("tables/<str:name>/table.csv", table_files.table_csv, name="csv"),
    path("tables/<str:name>/table.spreadsheet.csv", table_files.table_spreadsheet, name="spreadsheet"),
    path("tables/<str:name>/table.json", table_files.table_json, name="json"),
    path("tables/<str:name>/figure.svg", table_files.table_figure, {"ending": "svg"}, name="figure"),
    path("tables/<str:name>/figure.pdf", table_files.table_figure, {"ending": "pdf"}, name="pdf"),
    path("tables/<str:name>/figure.png", table_files.table_figure, {"ending": "png"}, name="png"),
    *picture_urls.urlpatterns,
    *plan_urls.urlpatterns,
]
