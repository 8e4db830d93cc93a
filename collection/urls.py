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
    path("", home.show_home_page, name="start"),
    path("describe/", dish.start_dish_entry, name="describe"),
    path("beside/", assisted.start_assisted_entry, name="beside"),
    path("slip/", assisted.show_paper_slip, name="slip"),
    path("ambassador/", ambassador.show_ambassador_page, name="ambassador"),
    path("ambassador/<slug:code>/", ambassador.accept_invitation, name="invitation"),
    path("dish/", dish.submit_dish_form, name="dish"),
    path("phone/", offline_queue.show_offline_page, name="phone"),
    path("phone/send/", offline_queue.save_queued_dish, name="queued"),
    path("worker.js", offline_queue.serve_service_worker, name="worker"),
    path("more/", details.save_further_answers, name="more"),
    path("photo/", details.upload_photo, name="photo"),
    path("photo/part/", details.photo_part, name="photo-part"),
    path("caption/", details.save_caption, name="caption"),
    path("about/", details.save_personal_details, name="about"),
    path("another/", my_dishes.start_next_dish, name="another"),
    path("mine/", my_dishes.show_my_dishes, name="mine"),
    path("finish/", my_dishes.finish_contributor_turn, name="finish"),
    path("return/", return_page.enter_return_code, name="return"),
    path("return/lost/", return_page.hide_lost_dish, name="lost-code"),
    path("return/dishes/", return_page.show_own_data, name="rights"),
    path("withdrawn/", withdrawn.show_withdrawn_dishes, name="withdrawn"),
    path("withdrawn.json", withdrawn.as_json, name="withdrawn-json"),
    path("leaderboard/", home.show_leaderboard, name="leaderboard"),
    path("translation/", home.show_translation_help, name="translation"),
    path("dishes/", browse.list_public_dishes, name="dishes"),
    path("dishes/<int:number>/", browse.show_public_dish, name="public-dish"),
    path("dishes/<int:number>/report/", browse.report_dish, name="report-dish"),
    path("pictures/<uuid:pk>/report/", browse.report_photo, name="report-photo"),
    path("ingredients/", home.autocomplete_ingredients, name="ingredients"),
    re_path(r"^recordings/(?P<name>[\w-]{1,36}\.mp3)$", recordings.serve_recording, name="recording"),
    re_path(r"^photos/(?P<name>[\w-]{1,100}\.jpg)$", home.photo_file, name="photo-file"),
]
