"""Researchers' pages inside the admin."""

from django.urls import path

from evaluation import (behind_views, dashboards, gallery_views, overview_views, picture_views, plan_views, precision_views, run_views, table_files, take_views)

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
    path("tables/<str:name>/behind/", behind_views.cell, name="behind"),
    path("tables/<str:name>/behind/take/", take_views.of_cell, name="take-cell"),
    path("tables/<str:name>/gallery/", gallery_views.gallery, name="gallery"),
    path("pictures/<int:pk>/", picture_views.picture, name="picture"),
    path("pictures/<int:pk>/take/", take_views.one, name="take-picture"),
    path("pictures/<int:pk>/<slug:size>.jpg", picture_views.picture_file, name="picture-file"),
    path("subjects/<int:pk>/pictures/", picture_views.subject_pictures, name="subject-pictures"),
    path("precision/", precision_views.planner, name="precision"),
    path("plans/", plan_views.plan_list, name="plans"),
    path("plans/new/", plan_views.write, name="plan-new"),
    path("plans/<slug:slug>/", plan_views.detail, name="plan"),
    path("plans/<slug:slug>/edit/", plan_views.write, name="plan-edit"),
    path("plans/<slug:slug>/freeze/", plan_views.freeze, name="plan-freeze"),
    path("plans/<slug:slug>/unmask/", plan_views.unmask, name="plan-unmask"),
    path("plans/<slug:slug>/plan.json", plan_views.as_json, name="plan-json"),
]
