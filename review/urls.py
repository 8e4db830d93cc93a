"""Public addresses of the review."""

from django.urls import URLPattern, path

from review.views import pages

app_name = "review"
urlpatterns: list[URLPattern] = [
    path("", pages.start, name="start"),
    path("picture/<token>", pages.picture, name="picture"),
    path("back/<token>/", pages.back, name="back"),
    path("<slug:code>/", pages.invitation, name="invitation"),
    path("<slug:code>/pictures/", pages.pictures, name="pictures"),
]
