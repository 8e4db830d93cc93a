"""Public addresses of the review."""

from django.urls import URLPattern, path

from review.views import pages

app_name = "review"
urlpatterns: list[URLPattern] = [
    path("", pages.show_code_entry, name="start"),
    path("picture/<token>", pages.serve_review_image, name="picture"),
    path("back/<token>/", pages.open_personal_link, name="back"),
    path("<slug:code>/", pages.show_invitation, name="invitation"),
    path("<slug:code>/pictures/", pages.handle_review_turn, name="pictures"),
]
