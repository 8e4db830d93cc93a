"""Public addresses of the review."""

from django.urls import URLPattern, path

from review import views

app_name = "review"
urlpatterns: list[URLPattern] = [
    path("", views.start, name="start"),
    path("picture/<token>", views.picture, name="picture"),
    path("back/<token>/", views.back, name="back"),
    path("<slug:code>/", views.invitation, name="invitation"),
    path("<slug:code>/pictures/", views.pictures, name="pictures"),
]
