"""Reports: three reasons hide at once, all wait for a steward, nobody can flood a dish."""

import html

import pytest
from django.contrib.auth.models import User
from django.test import Client

from collection.access.form_tokens import Proof
from collection.dishes.reports import MOST_OPEN, Target, decide_reports, file_report
from collection.models import Dish, DishChange, Photo, Report
from tests.collection.make import make_contributor, make_dish, make_photo, make_steward, page, stranger

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

HIDING = ["person", "mine", "outsiders"]
OTHERS = ["insulting", "wrong"]


def public_dish(**words: str) -> Dish:
    return make_dish(state=Dish.State.ACCEPTED, contributor=make_contributor(), **words)


def public_photo() -> Photo:
    return make_photo(public_dish(), Photo.State.ACCEPTED)


def address(row: Dish | Photo) -> str:
    return f"/dishes/{row.number}/report/" if isinstance(row, Dish) else f"/pictures/{row.pk}/report/"


def mark(row: Dish | Photo) -> str:
    return f"dish:{row.pk}" if isinstance(row, Dish) else f"photo:{row.pk}"


def send(row: Dish | Photo, reason: str, **more: str) -> str:
    proof = Proof.new("report", target=mark(row)).token
    return page(stranger(), address(row), {"proof": proof, "reason": reason, **more})


def reload(row: Dish | Photo) -> Dish | Photo:
    row.refresh_from_db()
    return row


@pytest.mark.parametrize("reason", HIDING)
def test_reported_image_is_hidden_at_once_and_the_dish_stays(client: Client, reason: str) -> None:
    photo = public_photo()
    assert "Your report arrived" in send(photo, reason, words="It is my daughter.")
    assert reload(photo).state == Photo.State.HIDDEN
    assert client.get(f"/{photo.file}").status_code == client.get(f"/{photo.thumbnail}").status_code == 404
    assert client.get(f"/dishes/{photo.dish.number}/").status_code == 200
    entered = Report.objects.get()
    assert (entered.reason, entered.words, entered.hid, entered.state) == (reason, "It is my daughter.", True, "open")


@pytest.mark.parametrize("reason", HIDING)
def test_reported_dish_is_hidden_at_once_with_everything(client: Client, reason: str) -> None:
    photo = public_photo()
    send(photo.dish, reason)
    assert reload(photo.dish).state == Dish.State.HIDDEN
    assert client.get(f"/dishes/{photo.dish.number}/").status_code == 404
    assert client.get(f"/{photo.file}").status_code == 404
    assert DishChange.objects.get().before == {"state": "accepted"}


@pytest.mark.parametrize("reason", OTHERS)
@pytest.mark.parametrize("which", ["dish", "photo"])
def test_other_reasons_wait_for_a_steward(reason: str, which: str) -> None:
    row = public_dish() if which == "dish" else public_photo()
    send(row, reason)
    assert reload(row).state == "accepted"
    assert Report.objects.get().hid is False


@pytest.mark.parametrize("uphold", [True, False])
@pytest.mark.parametrize("reason", [*HIDING, *OTHERS])
@pytest.mark.parametrize("which", ["dish", "photo"])
def test_steward_decides_what_becomes_of_it(which: str, reason: str, uphold: bool) -> None:
    row = public_dish() if which == "dish" else public_photo()
    send(row, reason)
    steward = User.objects.create_user("steward")
    assert decide_reports(Report.objects.all(), steward, uphold=uphold) == 1
    assert reload(row).state == ("hidden" if uphold else "accepted")
    decided = Report.objects.get()
    assert decided.state == ("upheld" if uphold else "dismissed") and decided.decided_by == steward
    assert decided.decided_at is not None


def test_what_a_steward_kept_is_not_hidden_again_by_the_same_reason() -> None:
    dish = public_dish()
    send(dish, "person")
    decide_reports(Report.objects.all(), User.objects.create_user("steward"), uphold=False)
    send(dish, "person")
    assert reload(dish).state == "accepted" and Report.objects.filter(state="open").count() == 1
    send(dish, "outsiders")
    assert reload(dish).state == "hidden"


def test_dismissing_brings_back_nothing_that_was_withdrawn_meanwhile() -> None:
    dish = public_dish()
    send(dish, "person")
    Dish.objects.update(state=Dish.State.WITHDRAWN)
    decide_reports(Report.objects.all(), User.objects.create_user("steward"), uphold=False)
    assert reload(dish).state == "withdrawn"


def test_one_person_cannot_flood_a_dish() -> None:
    dish = public_dish()
    for _ in range(MOST_OPEN + 5):
        assert "Your report arrived" in send(dish, "wrong")
    assert Report.objects.count() == MOST_OPEN
    assert file_report(Target(dish), "person", "") is not None
    assert reload(dish).state == "hidden"


def test_reports_of_one_dish_leave_the_others_alone() -> None:
    dish, other = public_dish(), public_dish(name="Thieboudienne")
    send(dish, "outsiders")
    assert reload(other).state == "accepted"


def test_looking_at_the_form_changes_nothing(client: Client) -> None:
    photo = public_photo()
    for row in (photo, photo.dish):
        text = client.get(address(row)).content.decode()
        assert all(f'value="{reason}"' in text for reason in [*HIDING, *OTHERS])
        assert 'value="lost"' not in text
    assert Report.objects.count() == 0 and reload(photo).state == "accepted"


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({}, "Choose what is wrong."),
        ({"reason": "boring"}, "none of the choices"),
        ({"reason": "wrong", "words": "x" * 1001}, "too long: 1001 signs"),
        ({"reason": "wrong", "words": "\x00"}, "a sign that cannot be shown"),
        ({"reason": "person", "words": "\u202ehello"}, "turns the direction of writing"),
    ],
)
def test_report_that_cannot_be_kept_gets_its_sentence(answers: dict[str, str], sentence: str) -> None:
    dish = public_dish()
    proof = Proof.new("report", target=mark(dish)).token
    text = html.unescape(page(stranger(), address(dish), {"proof": proof, **answers}))
    assert sentence in text
    if "words" in answers and answers["words"].isprintable():
        assert answers["words"] in text
    assert Report.objects.count() == 0 and reload(dish).state == "accepted"


@pytest.mark.parametrize("token", ["", "forged", "another"])
def test_report_without_its_own_token_is_shown_again_and_not_entered(token: str) -> None:
    dish = public_dish()
    proof = Proof.new("report", target="dish:0").token if token == "another" else token
    text = page(stranger(), address(dish), {"proof": proof, "reason": "person", "words": "kept typing"})
    assert "nothing was saved" in text and "kept typing" in text
    assert Report.objects.count() == 0


def test_report_from_another_site_hides_nothing() -> None:
    dish = public_dish()
    proof = Proof.new("report", target=mark(dish)).token
    page(stranger(), address(dish), {"proof": proof, "reason": "person"}, **{"Sec-Fetch-Site": "cross-site"})
    assert reload(dish).state == "accepted"


@pytest.mark.parametrize("state", ["waiting", "hidden", "rejected", "withdrawn"])
def test_what_is_not_public_cannot_be_reported_or_guessed(client: Client, state: str) -> None:
    photo = make_photo(make_dish(state=state), Photo.State.ACCEPTED)
    for row in (photo, photo.dish):
        assert client.get(address(row)).status_code == 404
        assert stranger().post(address(row), {"reason": "person"}).status_code == 404


@pytest.mark.parametrize("path", ["/dishes/abc/report/", "/pictures/1/report/", "/dishes/-1/report/"])
def test_addresses_that_name_nothing_are_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == client.post(path).status_code == 404


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert getattr(client, method)(address(public_dish())).status_code == 405


def test_stewards_decide_in_the_admin(client: Client) -> None:
    photo = public_photo()
    send(photo, "person")
    client.force_login(make_steward("view_report", "change_report"))
    listed = client.get("/admin/collection/report/").content.decode()
    assert "I am, or a child is, in it" in listed
    data = {"action": "dismiss", "_selected_action": [Report.objects.get().pk]}
    client.post("/admin/collection/report/", data)
    assert reload(photo).state == "accepted"
    send(photo, "mine")
    data = {"action": "uphold", "_selected_action": [Report.objects.filter(state="open").get().pk]}
    client.post("/admin/collection/report/", data)
    assert reload(photo).state == "hidden"


def test_staff_without_the_permission_decide_nothing(client: Client) -> None:
    send(public_dish(), "person")
    client.force_login(make_steward("view_report"))
    data = {"action": "dismiss", "_selected_action": [Report.objects.get().pk]}
    client.post("/admin/collection/report/", data)
    assert Report.objects.get().state == "open"
