"""Public addresses of the collection: short, because people read them to each other."""

from django.urls import path, re_path

from collection.views import (
    ambassador,
    beside,
    describe,
    further,
    own,
    pages,
    phone,
    public,
    recordings,
    rights,
    withdrawn,
)

app_name = "collection"
urlpatterns = [
    path("", pages.start, name="start"),
    path("describe/", describe.describe, name="describe"),
    path("beside/", beside.beside, name="beside"),
    path("slip/", beside.slip, name="slip"),
    path("ambassador/", ambassador.ready, name="ambassador"),
    path("ambassador/<slug:code>/", ambassador.invitation, name="invitation"),
    path("dish/", describe.dish, name="dish"),
    path("phone/", phone.phone, name="phone"),
    path("phone/send/", phone.queued, name="queued"),
    path("worker.js", phone.worker, name="worker"),
    path("more/", further.more, name="more"),
    path("photo/", further.photo, name="photo"),
    path("photo/part/", further.photo_part, name="photo-part"),
    path("caption/", further.caption, name="caption"),
    path("about/", further.about, name="about"),
    path("another/", own.another, name="another"),
    path("mine/", own.mine, name="mine"),
    path("finish/", own.finish, name="finish"),
    path("return/", rights.enter, name="return"),
    path("return/lost/", rights.lost, name="lost-code"),
    path("return/dishes/", rights.own, name="rights"),
    path("withdrawn/", withdrawn.page, name="withdrawn"),
    path("withdrawn.json", withdrawn.as_json, name="withdrawn-json"),
    path("leaderboard/", pages.leaderboard, name="leaderboard"),
    path("translation/", pages.translation, name="translation"),
    path("dishes/", public.dishes, name="dishes"),
    path("dishes/<int:number>/", public.dish, name="public-dish"),
    path("dishes/<int:number>/report/", public.report_dish, name="report-dish"),
    path("pictures/<uuid:pk>/report/", public.report_photo, name="report-photo"),
    path("ingredients/", pages.ingredients, name="ingredients"),
    re_path(r"^recordings/(?P<name>[\w-]{1,36}\.mp3)$", recordings.recording, name="recording"),
    re_path(r"^photos/(?P<name>[\w-]{1,100}\.jpg)$", pages.photo_file, name="photo-file"),
]
