"""Coming back with the code: what it opens, what a cookie or a stranger never reaches, and the end of a turn."""

import json
import uuid
from datetime import timedelta
from urllib.parse import unquote

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from collection.access import form_tokens as proof_module
from collection.access import return_codes
from collection.access.form_tokens import BY_CODE, Proof
from collection.access.turns import finish_turn, forget_old_turns
from collection.check_digits import check_digit
from collection.dishes.receipts import format_receipt
from collection.dishes.write import change_dish
from collection.models import AboutYou, Contributor, Dish, FinishedTurn, Photo, ReturnCode, Submission, Withdrawal
from collection.withdrawal.rights import code_context
from collection.withdrawal.withdraw import withdraw_everything
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    dish_form,
    make_contributor,
    make_dish,
    make_photo,
    make_steward,
    page,
    stranger,
    tokens,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def journey(name: str = "Thieb") -> tuple[Contributor, str]:
    """Somebody describes a first dish without cookies; returns who that is and the page with the code."""
    contributor = make_contributor()
    more = page(stranger(), "/dish/", dish_form(contributor, local_name=name))
    photo = page(stranger(), "/more/", {"proof": tokens(more)["/more/"], "skip": "1"})
    return contributor, page(stranger(), "/photo/", {"proof": tokens(photo)["/photo/"], "skip": "1"})


def code_on(text: str) -> str:
    return text.partition('<span class="code big">')[2].partition("<")[0]


def with_code(contributor: Contributor, client: Client | None = None) -> dict[str, str]:
    """The form of the page that the code opens."""
    text = page(
        client or stranger(), "/return/", {"code": return_codes.issue_return_code(contributor.pk, "contributor")}
    )
    return {"proof": tokens(text)["/return/dishes/"]}


def act(form: dict[str, str], **button: object) -> str:
    return page(stranger(), "/return/dishes/", {**form, **button})


def test_code_is_shown_after_the_first_dish_with_links_to_send_it() -> None:
    contributor, thanks = journey()
    code = code_on(thanks)
    assert return_codes.person_for(code, "contributor") == contributor.pk
    links = unquote(thanks)
    assert f"sms:?body=World Wide Dishes, my return code: {code} http://testserver/return/" in links
    assert f"https://wa.me/?text=World Wide Dishes, my return code: {code}" in links
    assert "Whoever reads that message can change" in thanks


@pytest.mark.parametrize(("language", "sign"), [("ar", "\u2066{}\u2069"), ("en", "{}"), ("hi", "{}")])
def test_code_in_a_message_from_right_to_left_keeps_the_order_of_its_groups(language: str, sign: str) -> None:
    with override(language):
        context = code_context("1234 5678 9012 3456", "http://testserver/return/")
    message = unquote(context["sms"])
    assert sign.format("1234 5678 9012 3456") in message and message.endswith(" http://testserver/return/")
    assert ("\u2066" in message) is (language == "ar")


def test_page_that_was_lost_shows_the_same_code_and_the_second_dish_shows_none() -> None:
    contributor = make_contributor()
    first, second = make_dish(contributor=contributor), make_dish(contributor=contributor)
    shown = [
        code_on(page(stranger(), "/photo/", {"proof": Proof.new("photo", contributor.pk, dish.pk).token, "skip": "1"}))
        for dish in (first, first, second)
    ]
    assert shown[0] and shown == [shown[0], shown[0], ""]


def test_pages_with_a_code_are_neither_compressed_nor_kept() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    token = Proof.new("photo", contributor.pk, dish.pk).token
    code = return_codes.issue_return_code(contributor.pk, "contributor")
    sent: list[tuple[str, dict[str, object]]] = [
        ("/photo/", {"proof": token, "skip": "1"}),
        ("/return/", {"code": code}),
        ("/return/dishes/", {"proof": Proof.new(BY_CODE, contributor.pk).token, "new_code": "1"}),
    ]
    for address, data in sent:
        response = stranger().post(address, data, headers={"Accept-Encoding": "gzip"})
        assert response.headers["Cache-Control"] == "no-store" and "Content-Encoding" not in response.headers, address


def test_code_typed_in_arabic_digits_on_another_phone_shows_dishes_of_any_age() -> None:
    _contributor, thanks = journey("Thieb")
    Dish.objects.update(created_at=timezone.now() - timedelta(days=400))
    make_dish("Somebody else's", contributor=make_contributor())
    text = page(stranger(), "/return/", {"code": code_on(thanks).translate(ARABIC)})
    assert "Thieb" in text and "Somebody else" not in text


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Write your return code."),
        ("1234", "The code has 16 digits"),
        ("1234 5678 1234 567x", "The code has 16 digits"),
        ("9" * 15 + check_digit("9" * 15), "Nobody has this code."),
        ("0" * 70, "The code has 16 digits"),
    ],
)
def test_wrong_codes_get_a_sentence_and_keep_the_typing(typed: str, sentence: str) -> None:
    text = page(stranger(), "/return/", {"code": typed})
    assert sentence in text and (f'value="{typed}"' in text or not typed)


def test_another_site_cannot_bring_a_code_into_a_browser(client: Client) -> None:
    contributor = make_contributor()
    code = return_codes.issue_return_code(contributor.pk, "contributor")
    text = page(client, "/return/", {"code": code}, **{"Sec-Fetch-Site": "cross-site"})
    assert "nothing was saved" in text and not client.cookies


@pytest.mark.parametrize("purpose", ["go", "dish", "more"])
def test_only_the_code_opens_what_needs_the_code(purpose: str) -> None:
    contributor = make_contributor()
    dish = make_dish("Thieb", contributor=contributor)
    for button in ("withdraw", "everything", "download", "new_code", "correct"):
        form = {"proof": Proof.new(purpose, contributor.pk, dish.pk).token, button: dish.pk, "sure": "1"}
        text = page(stranger(), "/return/dishes/", form)
        assert "Write your return code again." in text and "Thieb" not in text
    assert Withdrawal.objects.count() == ReturnCode.objects.count() == 0


def test_what_the_code_opened_closes_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    contributor = make_contributor()
    make_dish("Thieb", contributor=contributor)
    form = with_code(contributor)
    monkeypatch.setattr(proof_module, "BY_CODE_AGE", timedelta(seconds=-1))
    text = act(form, everything="1", sure="1")
    assert "Write your return code again." in text and Withdrawal.objects.count() == 0


@pytest.mark.parametrize("button", ["correct", "withdraw", "undo"])
@pytest.mark.parametrize("which", ["other", "nonsense", "huge"])
def test_dish_of_somebody_else_is_not_there_for_any_code(button: str, which: str) -> None:
    theirs = make_dish(contributor=make_contributor())
    value = {"other": str(theirs.pk), "nonsense": "x'; --", "huge": "9" * 40}[which]
    form = with_code(make_contributor())
    assert stranger().post("/return/dishes/", {**form, button: value, "sure": "1"}).status_code == 404
    assert Withdrawal.objects.count() == 0


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
@pytest.mark.parametrize("address", ["/return/", "/return/lost/", "/return/dishes/"])
def test_other_methods_are_answered_with_405(client: Client, address: str, method: str) -> None:
    assert getattr(client, method)(address).status_code == 405


def test_looking_at_the_address_leads_to_the_code(client: Client) -> None:
    assert client.get("/return/dishes/").headers["Location"] == "/return/"
    assert "Your return code" in client.get("/return/").content.decode()


def test_old_dish_is_corrected_with_the_code() -> None:
    contributor = make_contributor()
    dish = make_dish("Thieb", contributor=contributor)
    Dish.objects.update(created_at=timezone.now() - timedelta(days=400))
    form = act(with_code(contributor), correct=dish.pk)
    assert 'value="Thieb"' in form and "Save the correction" in form
    changed = {**ANSWERS, "local_name": "Thieboudienne", "choice": "correction", "proof": tokens(form)["/dish/"]}
    page(stranger(), "/dish/", changed)
    dish.refresh_from_db()
    assert dish.local_name == "Thieboudienne"


def test_download_holds_everything_about_the_person_and_nothing_of_others() -> None:
    contributor = make_contributor()
    page(stranger(), "/dish/", dish_form(contributor, local_name="ثريد"))
    dish = Dish.objects.get()
    make_photo(dish, Photo.State.WAITING).save()
    change_dish(dish, {"drink": "tea"}, by_contributor=contributor)
    AboutYou.objects.create(contributor=contributor, agreed_at=timezone.now(), name="Awa", email="awa@example.org")
    make_dish("Somebody else's", contributor=make_contributor())
    response = stranger().post("/return/dishes/", {**with_code(contributor), "download": "photos"})
    assert response.headers["Content-Disposition"] == 'attachment; filename="my-dishes.json"'
    text = response.content.decode()
    told = json.loads(text)
    assert "ثريد" in text and "Somebody else" not in text
    assert told["details"]["email"] == "awa@example.org" and told["consent"]["text"]
    (only,) = told["dishes"]
    assert only["words"]["drink"] == "tea" and only["earlier_words"][0]["before"] == {"drink": ""}
    assert only["receipts"] == [format_receipt(Submission.objects.get().receipt)]
    assert only["photos"][0]["jpeg_base64"].startswith("/9j/")


def test_personal_details_are_removed_at_once_after_a_question() -> None:
    contributor = make_contributor()
    Contributor.objects.filter(pk=contributor.pk).update(alias="Auntie")
    AboutYou.objects.create(contributor=contributor, agreed_at=timezone.now(), name="Awa")
    form = with_code(contributor)
    assert "cannot be undone" in act(form, details="1") and AboutYou.objects.count() == 1
    text = act(form, details="1", sure="1")
    assert AboutYou.objects.count() == 0 and Contributor.objects.get().alias == ""
    assert "is removed" in text and 'name="details"' not in text


def test_new_code_makes_the_old_one_worthless() -> None:
    contributor = make_contributor()
    old = return_codes.issue_return_code(contributor.pk, "contributor")
    opened = page(stranger(), "/return/", {"code": old})
    new = code_on(act({"proof": tokens(opened)["/return/dishes/"]}, new_code="1"))
    assert "Nobody has this code" in page(stranger(), "/return/", {"code": old})
    assert "My dishes" in page(stranger(), "/return/", {"code": new})


def test_code_begins_a_turn_in_which_the_next_dish_is_theirs(client: Client) -> None:
    contributor = make_contributor()
    with_code(contributor, client)
    text = client.get("/describe/").content.decode()
    page(client, "/dish/", {**ANSWERS, "proof": tokens(text)["/dish/"]})
    assert Dish.objects.get().contributor == contributor


def lost(receipt: str, name: str) -> str:
    return page(stranger(), "/return/lost/", {"receipt": receipt, "name": name})


def sent_dish(name: str = "Thiéb") -> tuple[Dish, str]:
    page(stranger(), "/dish/", dish_form(make_contributor(), local_name=name))
    return Dish.objects.get(), format_receipt(Submission.objects.get().receipt)


def test_receipt_and_name_hide_the_dish_and_a_steward_restores_it(client: Client) -> None:
    dish, receipt = sent_dish()
    Dish.objects.update(state=Dish.State.ACCEPTED)
    lost(receipt.translate(ARABIC), " thieb ")
    dish.refresh_from_db()
    assert dish.state == Dish.State.WITHDRAWN and Withdrawal.objects.get().erase_after is None
    client.force_login(make_steward("view_withdrawal", "change_withdrawal"))
    address = "/admin/collection/withdrawal/"
    assert "Thiéb" in client.get(address, {"decision": "waiting"}).content.decode()
    client.post(address, {"action": "restore", "_selected_action": [Withdrawal.objects.get().pk]})
    dish.refresh_from_db()
    assert dish.state == Dish.State.ACCEPTED


def test_steward_confirms_what_was_hidden_without_a_code(client: Client) -> None:
    _dish, receipt = sent_dish()
    lost(receipt, "Thiéb")
    client.force_login(make_steward("view_withdrawal", "change_withdrawal"))
    data = {"action": "confirm", "_selected_action": [Withdrawal.objects.get().pk]}
    client.post("/admin/collection/withdrawal/", data)
    assert Withdrawal.objects.get().erase_after is not None


def test_staff_without_the_permission_decide_nothing(client: Client) -> None:
    _dish, receipt = sent_dish()
    lost(receipt, "Thiéb")
    client.force_login(make_steward("view_withdrawal"))
    data = {"action": "confirm", "_selected_action": [Withdrawal.objects.get().pk]}
    client.post("/admin/collection/withdrawal/", data)
    assert Withdrawal.objects.get().erase_after is None


@pytest.mark.parametrize(
    ("receipt", "name"), [(None, "Mafé"), ("111 111 111", "Thiéb"), ("12", "Thiéb"), (None, "𝅘𝅥𝅯"), ("x", "y")]
)
def test_wrong_number_or_name_reads_the_same_as_a_right_one(receipt: str | None, name: str) -> None:
    dish, right = sent_dish()
    wrong = lost(receipt or right, name)
    assert Withdrawal.objects.count() == 0
    assert wrong == lost(right, dish.local_name) and Withdrawal.objects.count() == 1
    assert dish.local_name not in wrong


def test_owner_sees_that_a_dish_was_hidden_without_the_code_and_brings_it_back() -> None:
    dish, receipt = sent_dish()
    lost(receipt, "Thiéb")
    assert dish.contributor is not None
    form = with_code(dish.contributor)
    assert "Hidden: somebody gave its receipt number" in act(form)
    act(form, undo=dish.pk)
    dish.refresh_from_db()
    assert dish.state == Dish.State.WAITING


def first_form(client: Client) -> dict[str, str]:
    """The dish form of somebody who has just agreed."""
    consent = tokens(client.get("/describe/").content.decode())["/describe/"]
    text = page(client, "/describe/", {**CONSENT, "proof": consent})
    return {**ANSWERS, "proof": tokens(text)["/dish/"]}


def test_cached_form_sent_by_another_person_after_finish_asks_who_it_is(client: Client) -> None:
    form = first_form(client)
    page(client, "/dish/", form)
    client.post("/finish/")
    asked = page(client, "/dish/", {**form, "local_name": "Mafé"})
    assert 'value="Mafé"' in asked and "Jollof" not in asked and "I have read this, and I agree." in asked
    page(client, "/dish/", {**form, **CONSENT, "local_name": "Mafé", "proof": tokens(asked)["/dish/"]})
    owners = [dish.contributor_id for dish in Dish.objects.order_by("pk")]
    assert len(owners) == 2 and owners[0] != owners[1]


def test_finish_ends_the_turn_where_cookies_are_refused_too() -> None:
    form = first_form(stranger())
    shown = page(stranger(), "/dish/", form)
    stranger().post("/finish/", {"proof": tokens(shown)["/finish/"]})
    again = page(stranger(), "/dish/", {**form, "local_name": "Mafé"})
    assert "The turn of the person before is over" in again and Dish.objects.count() == 1


def test_same_words_after_finish_are_not_saved_twice_and_tell_nothing_of_who_sent_them(client: Client) -> None:
    form = first_form(client)
    page(client, "/dish/", form)
    client.post("/finish/")
    text = page(client, "/dish/", form)
    assert "This was received before" in text and "Jollof" not in text and Dish.objects.count() == 1
    assert format_receipt(Submission.objects.get().receipt) not in text


def test_copied_cookie_is_worth_nothing_after_finish(client: Client) -> None:
    first_form(client)
    kept = client.cookies["turn"].value
    client.post("/finish/")
    client.cookies["turn"] = kept
    assert "1 of 4" in client.get("/describe/").content.decode()


def test_forms_served_after_coming_back_work_although_the_turn_was_finished() -> None:
    contributor = make_contributor()
    finish_turn(contributor.pk)
    FinishedTurn.objects.update(at=timezone.now() - timedelta(seconds=1))
    assert "My dishes" in act(with_code(contributor))


@pytest.mark.parametrize("purpose", ["more", "photo", "caption", "about"])
def test_browser_that_sends_again_after_finish_shows_nothing_of_what_was_typed(purpose: str) -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    about = make_photo(dish, Photo.State.DRAFT).pk if purpose == "caption" else dish.pk
    form = {"proof": Proof.new(purpose, contributor.pk, about).token, "drink": "typed words", "agree": "on"}
    form |= {"caption": "typed words", "name": "typed words"}
    page(stranger(), f"/{purpose}/", form)
    finish_turn(contributor.pk)
    text = page(stranger(), f"/{purpose}/", form)
    assert "Nothing was saved" in text and "typed words" not in text


def test_words_typed_into_an_old_form_after_finish_are_shown_to_be_copied() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    form = {"proof": Proof.new("more", contributor.pk, dish.pk).token}
    page(stranger(), "/more/", {**form, "drink": "tea"})
    finish_turn(contributor.pk)
    text = page(stranger(), "/more/", {**form, "drink": "bissap"})
    assert "bissap" in text and "tea" not in text.replace("steward", "")


def test_somebody_else_before_finish_says_so_and_agrees_for_themselves() -> None:
    form = dish_form(make_contributor())
    page(stranger(), "/dish/", form)
    asked = page(stranger(), "/dish/", {**form, "local_name": "Mafé"})
    other = {**ANSWERS, "local_name": "Mafé", "proof": tokens(asked)["/dish/"]}
    again = page(stranger(), "/dish/", {**other, "choice": "somebody"})
    page(stranger(), "/dish/", {**other, **CONSENT, "proof": tokens(again)["/dish/"]})
    assert Dish.objects.values("contributor").distinct().count() == 2


def test_rows_of_turns_go_once_no_form_can_ask_for_them() -> None:
    finish_turn(make_contributor().pk)
    assert forget_old_turns() == 0
    FinishedTurn.objects.update(at=timezone.now() - timedelta(days=92))
    assert forget_old_turns() == 1


def test_download_says_which_photo_is_lost() -> None:
    contributor = make_contributor()
    photo = make_photo(make_dish(contributor=contributor), Photo.State.WAITING)
    default_storage.delete(photo.file)
    response = stranger().post("/return/dishes/", {**with_code(contributor), "download": "photos"})
    (told,) = response.json()["dishes"][0]["photos"]
    assert told["jpeg_base64"] is None and told["state"] == "waiting"


def test_code_of_somebody_of_whom_nothing_is_left_opens_nothing() -> None:
    code = return_codes.issue_return_code(uuid.uuid4(), "contributor")
    assert stranger().post("/return/", {"code": code}).status_code == 404


@pytest.mark.parametrize("purpose", ["go", "more", "photo"])
def test_pages_of_somebody_who_withdrew_everything_lead_to_no_dish(purpose: str) -> None:
    contributor = make_contributor()
    imported, own = make_dish(), make_dish(contributor=contributor)
    withdraw_everything(contributor)
    address = "/another/" if purpose == "go" else f"/{purpose}/"
    for dish in (imported, own):
        token = Proof.new(purpose, contributor.pk, dish.pk).token
        assert stranger().post(address, {"proof": token, "place": "1"}).status_code == 404


def test_cookie_leads_to_no_dish_of_somebody_else(client: Client) -> None:
    first_form(client)
    other = make_dish("Thieb", contributor=make_contributor(), drink="bissap")
    text = page(client, "/more/", {"dish": str(other.pk), "drink": "tea", "proof": "forged"})
    assert "tea" in text and "Thieb" not in text and "bissap" not in text
    other.refresh_from_db()
    assert other.drink == "bissap"


def test_finish_leaves_cookies_that_name_nobody_alone(client: Client) -> None:
    first_form(client)
    client.cookies["django_language"] = "ar"
    response = client.post("/finish/")
    assert response.cookies["turn"].value == "" and "django_language" not in response.cookies
