"""Dishes that a phone kept arrive: once, anyone who has the phone by then, and with an answer that names their form."""

import re
import secrets
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from collection.access import form_tokens as proofs
from collection.access import return_codes
from collection.access.daily_quotas import DISHES
from collection.access.form_tokens import MAX_AGE, Proof
from collection.access.turns import finish_turn
from collection.check_digits import check_digit
from collection.dishes.receipts import format_receipt, new_receipt, read_receipt
from collection.models import Contributor, Dish, Opening, PhoneCode, Submission
from collection.withdrawal.withdraw import withdraw_everything
from tests.collection.make import ANSWERS, CONSENT, make_contributor, make_dish, stranger

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
ADDRESS = "/phone/send/"
CONSENT_TOKEN = re.compile('data-consent="([^"]+)"')


@pytest.fixture
def contributor() -> Contributor:
    return make_contributor()


def send(
    contributor: Contributor | None, form: object = None, token: str = "", **answers: Any
) -> tuple[int, dict[str, Any]]:
    """Status and JSON for a dish as a phone sends it, with its own form and without any cookie."""
    token = token or Proof.new("queue", contributor.pk if contributor else None).token
    data = {**ANSWERS, **answers, "form": str(form or uuid.uuid4()), "proof": token}
    response = stranger().post(ADDRESS, data)
    return response.status_code, response.json()


def test_dish_arrives_with_the_forms_name_and_leads_on(contributor: Contributor) -> None:
    form = uuid.uuid4()
    status, said = send(contributor, form)
    dish = Dish.objects.get()
    assert (status, said["form"]) == (200, str(form)) and dish.contributor == contributor
    assert said["receipt"] == format_receipt(Submission.objects.get(pk=form).receipt)
    page = stranger().post("/more/", {"proof": said["more"], "speak": "more"}).content.decode()
    assert "Your dish is saved" in page and said["receipt"] in page


def test_sent_again_it_is_the_same_dish_by_phone_and_by_the_plain_form(contributor: Contributor) -> None:
    plain = Proof.new("dish", contributor.pk)
    first, again = send(contributor, plain.form), send(contributor, plain.form)
    page = stranger().post("/dish/", {**ANSWERS, "proof": plain.token}).content.decode()
    assert first[1]["receipt"] == again[1]["receipt"] and first[1]["receipt"] in page
    assert Dish.objects.count() == 1


def test_other_words_with_the_same_form_are_refused_and_nothing_is_changed(contributor: Contributor) -> None:
    form = uuid.uuid4()
    send(contributor, form)
    status, said = send(contributor, form, local_name="Fufu")
    assert status == 409 and "other words" in said["error"] and "receipt" not in said
    assert [dish.local_name for dish in Dish.objects.all()] == ["Jollof"]


def test_after_finish_a_kept_dish_still_arrives_and_shows_nothing(contributor: Contributor) -> None:
    token = Proof.new("queue", contributor.pk).token
    finish_turn(contributor.pk)
    status, said = send(contributor, token=token)
    assert status == 200 and said["receipt"] and said["more"] == ""
    assert Dish.objects.get().contributor == contributor


def consent_of_the_kept_page() -> str:
    found = CONSENT_TOKEN.search(stranger().get("/phone/").content.decode())
    assert found
    return found[1]


def made_by_a_phone() -> tuple[str, str]:
    """A code as a phone makes it, and what it sends of it."""
    digits = "".join(str(secrets.randbelow(10)) for _ in range(19))
    digits += check_digit(digits)
    return return_codes.format_return_code(digits), return_codes.seal_of(digits)


def test_number_and_code_that_the_phone_showed_count_and_replays_change_nothing(contributor: Contributor) -> None:
    code, seal = made_by_a_phone()
    form, number = uuid.uuid4(), new_receipt()
    token = Proof.new("queue", contributor.pk).token
    finish_turn(contributor.pk)
    first = send(contributor, form, token, number=number, seal=seal)
    again = send(contributor, form, token, number=new_receipt(), seal=made_by_a_phone()[1])
    assert first[1]["receipt"] == again[1]["receipt"] == format_receipt(number) and "seal" not in first[1]
    assert return_codes.person_for(code, "contributor") == contributor.pk
    assert "My dishes" in stranger().post("/return/", {"code": code}).content.decode()
    assert code not in str(PhoneCode.objects.values()) and seal not in str(PhoneCode.objects.values())


def test_answer_that_was_lost_does_not_lose_the_code(contributor: Contributor) -> None:
    form, (code, seal), number = uuid.uuid4(), made_by_a_phone(), new_receipt()
    send(contributor, form, number=number)
    assert send(contributor, form, number=number, seal=seal)[1]["receipt"] == format_receipt(number)
    assert return_codes.person_for(code, "contributor") == contributor.pk


def test_number_or_code_of_somebody_else_is_not_taken_and_nothing_tells_of_it(contributor: Contributor) -> None:
    code, seal = made_by_a_phone()
    _status, theirs = send(contributor, seal=seal, number=new_receipt())
    other = make_contributor()
    status, said = send(other, seal=seal, number=theirs["receipt"].replace(" ", ""), local_name="Fufu")
    assert status == 200 and sorted(said) == ["form", "more", "receipt"] and said["receipt"] != theirs["receipt"]
    assert return_codes.person_for(code, "contributor") == contributor.pk


@pytest.mark.parametrize("number", ["", "12", "123456789", "no number"])
def test_number_that_no_phone_of_ours_makes_is_replaced(contributor: Contributor, number: str) -> None:
    assert read_receipt(send(contributor, number=number)[1]["receipt"])


def test_dishes_of_somebody_who_agreed_without_a_network_arrive_with_their_consent_and_code() -> None:
    (code, seal), token = made_by_a_phone(), consent_of_the_kept_page()
    for name in ("Fufu", "Banku", "Fufu"):
        form = uuid.uuid5(uuid.NAMESPACE_URL, name)
        status, said = send(None, form, token, seal=seal, local_name=name, number=new_receipt(), **CONSENT)
        assert status == 200 and said["receipt"] and said["more"] == ""
    author = Contributor.objects.get()
    assert author.dishes.count() == 2 and author.consent is not None and author.consent_opening is not None
    assert return_codes.person_for(code, "contributor") == author.pk


@pytest.mark.parametrize("lacking", ["adult", "agree", "seal"])
def test_nobody_is_a_contributor_without_consent_and_a_way_back(lacking: str) -> None:
    data = {**CONSENT, "seal": made_by_a_phone()[1], lacking: ""}
    status, said = send(None, token=consent_of_the_kept_page(), **data)
    assert status in (400, 403) and said["error"] and not Contributor.objects.exists()


def test_old_copy_of_a_dish_does_not_bring_back_who_withdrew_everything() -> None:
    (_code, seal), token = made_by_a_phone(), consent_of_the_kept_page()
    send(None, token=token, seal=seal, **CONSENT)
    withdraw_everything(Contributor.objects.get())
    assert send(None, token=token, seal=seal, local_name="Fufu", **CONSENT)[0] == 403


def test_new_code_makes_the_phones_code_worthless_for_ever(contributor: Contributor) -> None:
    code, seal = made_by_a_phone()
    send(contributor, seal=seal)
    new = return_codes.issue_return_code(contributor.pk, "contributor")
    send(contributor, seal=seal, local_name="Fufu")
    assert (
        return_codes.person_for(code, "contributor") is None
        and return_codes.person_for(new, "contributor") == contributor.pk
    )


def test_page_after_a_phones_code_shows_no_second_one(contributor: Contributor) -> None:
    more = send(contributor, seal=made_by_a_phone()[1])[1]["more"]
    assert "Your return code" not in stranger().post("/more/", {"proof": more, "speak": "more"}).content.decode()


def test_a_token_of_another_form_brings_nothing(contributor: Contributor) -> None:
    for token in (Proof.new("dish", contributor.pk).token, Proof.new("more", contributor.pk).token, "forged", ""):
        data = {**ANSWERS, "form": str(uuid.uuid4()), "proof": token}
        response = stranger().post(ADDRESS, data)
        assert response.status_code == 403 and response.json()["error"]
    assert not Dish.objects.exists()


def test_a_token_too_old_or_of_somebody_who_withdrew_brings_nothing(
    contributor: Contributor, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = Proof.new("queue", contributor.pk).token
    monkeypatch.setattr(proofs, "MAX_AGE", -MAX_AGE)
    assert send(contributor, token=token)[0] == 403
    monkeypatch.undo()
    make_dish(contributor=contributor)
    withdraw_everything(contributor)
    assert send(contributor, token=token)[0] == 403
    assert Dish.objects.live().count() == 0


def test_what_the_form_refuses_is_said_and_not_stored(contributor: Contributor) -> None:
    status, said = send(contributor, local_name="---", ingredients="")
    assert status == 400 and "Write what is in it." in said["error"]
    for form in ("", "no form", "../../etc"):
        response = stranger().post(
            ADDRESS, {**ANSWERS, "form": form, "proof": Proof.new("queue", contributor.pk).token}
        )
        assert response.status_code == 403 and response.json()["form"] == ""
    assert not Dish.objects.exists()


def test_past_a_days_dishes_it_waits_for_tomorrow(contributor: Contributor) -> None:
    for number in range(DISHES):
        make_dish(f"Dish {number}", contributor=contributor)
    status, said = send(contributor)
    assert status == 429 and said["later"] is True and "tomorrow" in said["error"]


def test_when_the_collection_is_closed_a_dish_sent_before_has_its_receipt_and_a_new_one_waits(
    contributor: Contributor,
) -> None:
    form = uuid.uuid4()
    receipt = send(contributor, form)[1]["receipt"]
    Opening.objects.update(ethics_until=timezone.localdate() - timedelta(days=1))
    assert send(contributor, form)[1]["receipt"] == receipt
    status, said = send(contributor, local_name="Fufu")
    assert status == 403 and "not open" in said["error"] and Dish.objects.count() == 1


def test_another_site_cannot_send(contributor: Contributor) -> None:
    data = {**ANSWERS, "form": str(uuid.uuid4()), "proof": Proof.new("queue", contributor.pk).token}
    response = Client().post(ADDRESS, data, headers={"Origin": "https://elsewhere.example"})
    assert response.status_code == 403 and not Dish.objects.exists()


def test_sentences_are_in_the_language_of_the_address(contributor: Contributor) -> None:
    data = {**ANSWERS, "ingredients": "", "form": str(uuid.uuid4()), "proof": Proof.new("queue", contributor.pk).token}
    said = Client().post("/fr" + ADDRESS, data).json()
    assert said["error"] and "Write" not in said["error"]


@pytest.mark.parametrize("language", [code for code, _name in settings.LANGUAGES])
def test_the_page_that_phones_keep_is_the_same_for_everybody(language: str, contributor: Contributor) -> None:
    somebody = Client()
    somebody.post("/describe/", {})
    known = somebody.get(f"/{language}/phone/")
    # Its token says which consent was there, and is of nobody.
    texts = [CONSENT_TOKEN.sub("", page.content.decode()) for page in (known, stranger().get(f"/{language}/phone/"))]
    assert texts[0] == texts[1] and "consent:" not in texts[0]
    assert 'name="proof"' not in known.content.decode() and known.headers["ETag"]
    assert str(contributor.pk) not in known.content.decode()


def test_the_worker_may_answer_for_the_whole_site(client: Client) -> None:
    response = client.get("/worker.js")
    assert response.headers["Content-Type"].startswith("text/javascript") and b"respondWith" in response.content
