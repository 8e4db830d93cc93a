"""Researchers' pages inside the admin."""

from django.urls import path

from evaluation import dashboards

app_name = "evaluation"
urlpatterns = [
    path("tables/", dashboards.table_list, name="tables"),
    path("tables/<str:name>/", dashboards.table_detail, name="table"),
    path("tables/<str:name>/table.csv", dashboards.table_csv, name="csv"),
    path("tables/<str:name>/figure.svg", dashboards.table_figure, name="figure"),
]
