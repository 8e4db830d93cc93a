"""Public addresses of the collection: short, because people read them to each other."""

from django.urls import path, re_path

from collection.views import describe, further, own, pages

app_name = "collection"
urlpatterns = [
    path("", pages.start, name="start"),
    path("describe/", describe.describe, name="describe"),
    path("dish/", describe.dish, name="dish"),
    path("more/", further.more, name="more"),
    path("photo/", further.photo, name="photo"),
    path("caption/", further.caption, name="caption"),
    path("about/", further.about, name="about"),
    path("another/", own.another, name="another"),
    path("mine/", own.mine, name="mine"),
    path("finish/", own.finish, name="finish"),
    path("leaderboard/", pages.leaderboard, name="leaderboard"),
    re_path(r"^photos/(?P<name>[\w-]{1,100}\.jpg)$", pages.photo_file, name="photo-file"),
]
