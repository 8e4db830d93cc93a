"""Public addresses of the collection: short, because people read them to each other."""

from django.urls import path, re_path

from collection.views import (
    ambassador,
    assisted,
    browse,
    details,
    dish,
    home,
    my_dishes,
    offline_queue,
    recordings,
    return_page,
    withdrawn,
)

app_name = "collection"
urlpatterns = [
    path("", home.start, name="start"),
    path("describe/", dish.describe, name="describe"),
    path("beside/", assisted.beside, name="beside"),
    path("slip/", assisted.slip, name="slip"),
    path("ambassador/", ambassador.ready, name="ambassador"),
    path("ambassador/<slug:code>/", ambassador.invitation, name="invitation"),
    path("dish/", dish.dish, name="dish"),
    path("phone/", offline_queue.phone, name="phone"),
    path("phone/send/", offline_queue.queued, name="queued"),
    path("worker.js", offline_queue.worker, name="worker"),
    path("more/", details.more, name="more"),
    path("photo/", details.photo, name="photo"),
    path("photo/part/", details.photo_part, name="photo-part"),
    path("caption/", details.caption, name="caption"),
    path("about/", details.about, name="about"),
    path("another/", my_dishes.another, name="another"),
    path("mine/", my_dishes.mine, name="mine"),
    path("finish/", my_dishes.finish, name="finish"),
    path("return/", return_page.enter, name="return"),
    path("return/lost/", return_page.lost, name="lost-code"),
    path("return/dishes/", return_page.own, name="rights"),
    path("withdrawn/", withdrawn.page, name="withdrawn"),
    path("withdrawn.json", withdrawn.as_json, name="withdrawn-json"),
    path("leaderboard/", home.leaderboard, name="leaderboard"),
    path("translation/", home.translation, name="translation"),
    path("dishes/", browse.dishes, name="dishes"),
    path("dishes/<int:number>/", browse.dish, name="public-dish"),
    path("dishes/<int:number>/report/", browse.report_dish, name="report-dish"),
    path("pictures/<uuid:pk>/report/", browse.report_photo, name="report-photo"),
    path("ingredients/", home.ingredients, name="ingredients"),
    re_path(r"^recordings/(?P<name>[\w-]{1,36}\.mp3)$", recordings.recording, name="recording"),
    re_path(r"^photos/(?P<name>[\w-]{1,100}\.jpg)$", home.photo_file, name="photo-file"),
]
