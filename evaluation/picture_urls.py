"""Pages of pictures: single ones, one subject across models, what stands behind a cell of a table."""

from django.urls import path

from evaluation import behind_views, gallery_views, picture_views, take_views

urlpatterns = [
    path("tables/<str:name>/behind/", behind_views.cell, name="behind"),
    path("tables/<str:name>/behind/take/", take_views.of_cell, name="take-cell"),
    path("tables/<str:name>/gallery/", gallery_views.gallery, name="gallery"),
    path("pictures/<int:pk>/", picture_views.picture, name="picture"),
    path("pictures/<int:pk>/take/", take_views.one, name="take-picture"),
    path("pictures/<int:pk>/<slug:size>.jpg", picture_views.picture_file, name="picture-file"),
    path("subjects/<int:pk>/pictures/", picture_views.subject_pictures, name="subject-pictures"),
]
