"""Each page as owner, stranger, signed out and with the wrong method; what a cookie alone may do."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from collection.access.form_tokens import Proof
from collection.dishes.receipts import format_receipt
from collection.models import ConsentText, Contributor, Dish, Photo, Submission
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    TICKS,
    dish_form,
    make_contributor,
    make_dish,
    make_photo,
    make_steward,
    page,
    stranger,
    tokens,
)

pytestmark = pytest.mark.django_db

FORMS = ["/dish/", "/more/", "/photo/", "/caption/", "/about/", "/another/", "/mine/", "/describe/"]


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
@pytest.mark.parametrize("address", [*FORMS, "/finish/"])
def test_other_methods_are_answered_with_405(client: Client, address: str, method: str) -> None:
    assert getattr(client, method)(address).status_code == 405


@pytest.mark.parametrize("address", ["/", "/leaderboard/"])
def test_pages_to_look_at_take_no_post(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405


def test_finish_takes_no_get(client: Client) -> None:
    assert client.get("/finish/").status_code == 405


@pytest.mark.parametrize("purpose", ["more", "photo", "about", "go"])
def test_dish_of_somebody_else_is_not_there(purpose: str) -> None:
    dish = make_dish(contributor=make_contributor())
    token = Proof.new(purpose, make_contributor().pk, dish.pk).token
    address = "/another/" if purpose == "go" else f"/{purpose}/"
    assert stranger().post(address, {"proof": token, "drink": "tea", "agree": "on"}).status_code == 404


def test_photo_of_somebody_else_is_not_there() -> None:
    photo = make_photo(make_dish(contributor=make_contributor()), Photo.State.DRAFT)
    token = Proof.new("caption", make_contributor().pk, photo.pk).token
    assert stranger().post("/caption/", {"proof": token, "caption": "mine", **TICKS}).status_code == 404


def test_dish_of_somebody_else_cannot_be_corrected() -> None:
    dish = make_dish(contributor=make_contributor())
    token = Proof.new("dish", make_contributor().pk, dish.pk).token
    assert stranger().post("/dish/", {**ANSWERS, "proof": token, "choice": "correction"}).status_code == 404


@pytest.mark.parametrize("purpose", ["more", "photo", "caption", "about"])
def test_without_proof_nothing_is_saved_and_the_typing_is_shown(purpose: str) -> None:
    dish = make_dish(contributor=make_contributor())
    typed = {"dish": str(dish.pk), "drink": "typed words", "caption": "typed words", "name": "typed words"}
    text = page(stranger(), f"/{purpose}/", typed)
    assert "Nothing was saved" in text and dish.local_name not in text
    assert purpose == "photo" or "typed words" in text


def test_withdrawn_dish_cannot_be_reached_by_its_author() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor, state=Dish.State.WITHDRAWN)
    token = Proof.new("more", contributor.pk, dish.pk).token
    assert stranger().post("/more/", {"proof": token}).status_code == 404


def signed_in(client: Client) -> Contributor:
    first = client.get("/describe/").content.decode()
    page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    return Contributor.objects.get()


def test_cookie_is_a_session_cookie_that_scripts_cannot_read(client: Client) -> None:
    signed_in(client)
    cookie = client.cookies["turn"]
    assert cookie["httponly"] and cookie["samesite"] == "Lax" and not cookie["expires"] and not cookie["max-age"]


def test_cookie_lets_the_next_visit_go_straight_to_the_dish(client: Client) -> None:
    contributor = signed_in(client)
    text = client.get("/describe/").content.decode()
    assert "2 of 4" in text
    page(stranger(), "/dish/", {**ANSWERS, "proof": tokens(text)["/dish/"]})
    assert Dish.objects.get().contributor == contributor


def test_altered_cookie_is_nobody(client: Client) -> None:
    signed_in(client)
    client.cookies["turn"] = make_contributor().pk.hex
    assert "1 of 4" in client.get("/describe/").content.decode()


def test_cookie_shows_dishes_of_the_last_day_only(client: Client) -> None:
    contributor = signed_in(client)
    make_dish("Thieb", contributor=contributor)
    old = make_dish("Mafé", contributor=contributor)
    Dish.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(hours=25))
    make_dish("Yassa", contributor=make_contributor())
    text = client.get("/mine/").content.decode()
    assert "Thieb" in text and "Mafé" not in text and "Yassa" not in text
    token = tokens(text)["/mine/"]
    assert client.post("/mine/", {"proof": token, "dish": old.pk}).status_code == 404


def test_own_dish_can_be_corrected_from_the_list_without_cookies() -> None:
    contributor = make_contributor()
    dish = make_dish("Thieb", contributor=contributor)
    shown = page(stranger(), "/mine/", {"proof": Proof.new("go", contributor.pk).token})
    form = page(stranger(), "/mine/", {"proof": tokens(shown)["/mine/"], "dish": str(dish.pk)})
    assert 'value="Thieb"' in form
    changed = {**ANSWERS, "local_name": "Thieboudienne", "choice": "correction", "proof": tokens(form)["/dish/"]}
    page(stranger(), "/dish/", changed)
    dish.refresh_from_db()
    assert dish.local_name == "Thieboudienne" and Dish.objects.count() == 1


def test_correction_with_a_missing_answer_stays_a_correction() -> None:
    contributor = make_contributor()
    dish = make_dish("Thieb", contributor=contributor)
    token = Proof.new("dish", contributor.pk, dish.pk).token
    text = page(stranger(), "/dish/", {**ANSWERS, "local_name": "", "choice": "correction", "proof": token})
    assert "Save the correction" in text and "Write what the dish is called." in text


def test_signed_out_list_shows_nothing() -> None:
    make_dish("Thieb", contributor=make_contributor())
    text = stranger().get("/mine/").content.decode()
    assert "does not remember you" in text and "Thieb" not in text


def test_form_without_token_is_offered_again_to_the_cookie_of_its_author(client: Client) -> None:
    contributor = signed_in(client)
    dish = make_dish("Thieb", contributor=contributor)
    text = page(client, "/more/", {"dish": str(dish.pk), "drink": "bissap"})
    assert 'value="bissap"' in text and "nothing was saved" in text
    page(client, "/more/", {"proof": tokens(text)["/more/"], "drink": "bissap"})
    dish.refresh_from_db()
    assert dish.drink == "bissap"


def test_finish_leaves_no_cookie_and_no_word_of_the_person(client: Client) -> None:
    contributor = signed_in(client)
    make_dish("Thieb", contributor=contributor)
    client.cookies["turn_review"] = "somebody"
    response = client.post("/finish/")
    assert not client.cookies["turn"].value and not client.cookies["turn_review"].value
    assert response.headers["Clear-Site-Data"] == '"cache"'
    for address in ("/", "/describe/", "/mine/", "/leaderboard/"):
        text = client.get(address).content.decode()
        assert "Thieb" not in text and contributor.pk.hex not in text


def test_sending_an_old_form_after_finish_does_not_bring_the_person_back(client: Client) -> None:
    signed_in(client)
    form = {**ANSWERS, "proof": tokens(client.get("/describe/").content.decode())["/dish/"]}
    client.post("/finish/")
    text = page(client, "/dish/", form)
    assert Dish.objects.count() == 0 and 'value="Jollof"' in text and "The turn of the person before is over" in text
    assert "1 of 4" in client.get("/describe/").content.decode()


def test_consent_is_the_one_that_stood_on_the_page(client: Client) -> None:
    shown = client.get("/describe/").content.decode()
    ConsentText.objects.create(version=2, language="en", sentences=["Newer."])
    page(client, "/describe/", {**CONSENT, "proof": tokens(shown)["/describe/"]})
    consent = Contributor.objects.get().consent
    assert consent is not None and consent.version == 1


def test_another_site_cannot_end_a_turn(client: Client) -> None:
    signed_in(client)
    client.post("/finish/", headers={"Sec-Fetch-Site": "cross-site"})
    assert client.cookies["turn"].value


@pytest.mark.parametrize("address", ["/", "/describe/", "/leaderboard/", "/mine/"])
def test_finish_stands_on_every_page_of_a_browser_that_is_known_and_on_no_other(client: Client, address: str) -> None:
    unknown = client.get(address).content.decode()
    assert 'action="/finish/"' not in unknown or 'action="/finish/" hidden' in unknown
    signed_in(client)
    assert 'action="/finish/"><' in client.get(address).content.decode()


def test_leaderboard_takes_two_queries_at_most(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for country in ("Ghana", "Peru", "Atlantis"):
        make_dish(country=country, state=Dish.State.ACCEPTED, source="demonstration")
    with django_assert_num_queries(2):
        text = client.get("/leaderboard/").content.decode()
    assert '<bdi dir="auto">Atlantis</bdi>' in text and "demonstration" in text
    make_dish(country="Ghana", state=Dish.State.ACCEPTED)
    with django_assert_num_queries(2):
        text = client.get("/leaderboard/").content.decode()
    assert "Peru" not in text and "demonstration" not in text


def decide(client: Client, action: str, dish: Dish) -> None:
    data = {"action": action, "_selected_action": [dish.pk]}
    client.post("/admin/collection/dish/", data)
    dish.refresh_from_db()


def test_steward_accepts_and_hides_dishes_and_the_history_says_who(client: Client) -> None:
    dish = make_dish()
    steward = make_steward("view_dish", "change_dish")
    client.force_login(steward)
    decide(client, "accept", dish)
    assert dish.state == Dish.State.ACCEPTED
    decide(client, "hide", dish)
    assert dish.state == Dish.State.HIDDEN
    changes = [(change.before, change.by_steward) for change in dish.changes.order_by("pk")]
    assert changes == [({"state": "waiting"}, steward), ({"state": "accepted"}, steward)]


def test_withdrawn_dish_stays_withdrawn(client: Client) -> None:
    dish = make_dish(state=Dish.State.WITHDRAWN)
    client.force_login(make_steward("view_dish", "change_dish"))
    decide(client, "accept", dish)
    assert dish.state == Dish.State.WITHDRAWN


def test_staff_without_the_permission_decide_nothing(client: Client) -> None:
    dish = make_dish()
    client.force_login(make_steward("view_dish"))
    decide(client, "accept", dish)
    assert dish.state == Dish.State.WAITING


def test_only_confirmed_photos_can_be_accepted(client: Client) -> None:
    dish = make_dish()
    draft, waiting = make_photo(dish, Photo.State.DRAFT), make_photo(dish)
    client.force_login(make_steward("view_photo", "change_photo"))
    data = {"action": "accept", "_selected_action": [str(draft.pk), str(waiting.pk)]}
    client.post("/admin/collection/photo/", data)
    assert sorted(Photo.objects.values_list("state", flat=True)) == ["accepted", "draft"]


@pytest.mark.parametrize("permission", ["view_dish", "view_photo", "view_contributor", "view_aboutyou"])
def test_each_list_opens_only_with_its_permission(client: Client, permission: str) -> None:
    make_photo(make_dish(contributor=make_contributor()))
    address = f"/admin/collection/{permission.removeprefix('view_')}/"
    client.force_login(make_steward())
    assert client.get(address).status_code == 403
    client.force_login(make_steward(permission))
    assert client.get(address).status_code == 200


def test_demonstration_is_marked_in_the_list_of_dishes(client: Client) -> None:
    make_dish(source="demonstration")
    client.force_login(make_steward("view_dish"))
    assert "DEMONSTRATION" in client.get("/admin/collection/dish/").content.decode()


def test_receipt_number_finds_its_dish(client: Client) -> None:
    make_dish("Other")
    page(stranger(), "/dish/", dish_form(make_contributor()))
    receipt = format_receipt(Submission.objects.get().receipt)
    client.force_login(make_steward("view_dish"))
    text = client.get("/admin/collection/dish/", {"q": receipt}).content.decode()
    assert "Jollof" in text and "Other" not in text


def test_page_of_a_dish_shows_words_places_and_history(client: Client) -> None:
    dish = make_dish("Thieb", contributor=make_contributor())
    client.force_login(
        make_steward("view_dish", "view_dishcountry", "view_dishlanguage", "view_dishchange", "view_photo")
    )
    text = client.get(f"/admin/collection/dish/{dish.pk}/change/").content.decode()
    assert "Thieb" in text and "Senegal" in text and "Wolof" in text


def test_new_form_after_the_same_words_is_another_dish() -> None:
    contributor = make_contributor()
    for _ in range(2):
        page(stranger(), "/dish/", dish_form(contributor))
    assert Dish.objects.count() == 2
