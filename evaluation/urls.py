"""Researchers' pages inside the admin."""

from django.urls import path

from evaluation.views import (
    cells,
    gallery,
    image_downloads,
    images,
    overview,
    plans,
    precision,
    runs,
    table_downloads,
    tables,
)

app_name = "evaluation"
urlpatterns = [
    path("overview/", overview.show_overview, name="overview"),
    path("runs/start/", runs.start_run, name="start"),
    path("runs/<slug:slug>/", runs.show_run, name="run"),
    path("runs/<slug:slug>/steer/", runs.control_run, name="steer"),
    path("tables/", tables.table_list, name="tables"),
    path("tables/<str:name>/", tables.table_detail, name="table"),
    path("tables/<str:name>/table.csv", table_downloads.table_csv, name="csv"),
    path("tables/<str:name>/table.spreadsheet.csv", table_downloads.table_spreadsheet, name="spreadsheet"),
    path("tables/<str:name>/table.json", table_downloads.table_json, name="json"),
    path("tables/<str:name>/figure.svg", table_downloads.table_figure, {"ending": "svg"}, name="figure"),
    path("tables/<str:name>/figure.pdf", table_downloads.table_figure, {"ending": "pdf"}, name="pdf"),
    path("tables/<str:name>/figure.png", table_downloads.table_figure, {"ending": "png"}, name="png"),
    path("tables/<str:name>/behind/", cells.show_cell, name="behind"),
    path("tables/<str:name>/behind/take/", image_downloads.of_cell, name="take-cell"),
    path("tables/<str:name>/gallery/", gallery.show_gallery, name="gallery"),
    path("pictures/<int:pk>/", images.show_image, name="picture"),
    path("pictures/<int:pk>/take/", image_downloads.download_image, name="take-image"),
    path("pictures/<int:pk>/<slug:size>.jpg", images.serve_image_file, name="picture-file"),
    path("subjects/<int:pk>/pictures/", images.show_subject_images, name="subject-images"),
    path("precision/", precision.show_precision_planner, name="precision"),
    path("plans/", plans.plan_list, name="plans"),
    path("plans/new/", plans.edit_plan, name="plan-new"),
    path("plans/<slug:slug>/", plans.show_plan, name="plan"),
    path("plans/<slug:slug>/edit/", plans.edit_plan, name="plan-edit"),
    path("plans/<slug:slug>/freeze/", plans.freeze_plan, name="plan-freeze"),
    path("plans/<slug:slug>/unmask/", plans.unmask_plan, name="plan-unmask"),
    path("plans/<slug:slug>/plan.json", plans.as_json, name="plan-json"),
]
