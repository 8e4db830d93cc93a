"""Withdrawing, undoing, erasing; retention; the public list; the list that is applied after a restoration."""

import json
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from collection.access import return_codes
from collection.access.form_tokens import BY_CODE, Proof
from collection.dishes.curation import decide_dishes
from collection.dishes.write import change_dish
from collection.models import (
    AboutYou,
    Contributor,
    Dish,
    FinishedTurn,
    Ingredient,
    Photo,
    ReturnCode,
    Submission,
    Withdrawal,
)
from collection.photos import process
from collection.withdrawal import erase, retention, tombstones
from collection.withdrawal.withdraw import restore_withdrawn_dish, undo_everything, withdraw_dish, withdraw_everything
from tests.collection.make import (
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
OWN = Withdrawal.Reason.OWN


def accepted(name: str = "Thieb", contributor: Contributor | None = None, **words: Any) -> Dish:
    dish = make_dish(name, contributor=contributor or make_contributor(), **words)
    decide_dishes(Dish.objects.filter(pk=dish.pk), Dish.State.ACCEPTED, make_steward())
    return state_of(dish)


def state_of(dish: Dish) -> Dish:
    return Dish.objects.get(pk=dish.pk)


def press(contributor: Contributor, **button: object) -> str:
    return page(stranger(), "/return/dishes/", {"proof": Proof.new(BY_CODE, contributor.pk).token, **button})


def a_week_later() -> dict[str, int]:
    """Erases as if the seven days were over."""
    Withdrawal.objects.exclude(erase_after=None).update(erase_after=timezone.now() - timedelta(seconds=1))
    return erase.erase_due()


def test_withdrawn_dish_is_gone_at_once_from_every_public_page() -> None:
    dish = accepted("Thieb")
    accepted("Mafé")
    photo = make_photo(dish, Photo.State.ACCEPTED)
    address = f"/{photo.file}"
    assert stranger().get(address).status_code == 200
    withdraw_dish(dish, OWN)
    assert stranger().get(address).status_code == 404
    assert stranger().get(f"/dishes/{dish.number}/").status_code == 404
    for public in ("/", "/leaderboard/", "/dishes/"):
        assert "Thieb" not in stranger().get(public).content.decode()


def test_ingredient_that_only_this_dish_had_is_suggested_no_more_and_comes_back_with_undo() -> None:
    dish = accepted(ingredients="netetou")
    assert Ingredient.objects.filter(name="netetou").exists()
    known = withdraw_dish(dish, OWN)
    assert not Ingredient.objects.filter(name="netetou").exists()
    restore_withdrawn_dish(known)
    assert Ingredient.objects.filter(name="netetou").exists()


@pytest.mark.parametrize("state", ["waiting", "accepted", "hidden", "rejected"])
def test_undo_restores_the_former_state(state: str) -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor, state=state)
    asked = press(contributor, withdraw=dish.pk)
    assert "For 7 days you can undo this" in asked and state_of(dish).state == state
    assert "Nobody sees it any more." in press(contributor, withdraw=dish.pk, sure="1")
    assert state_of(dish).state == Dish.State.WITHDRAWN
    assert "as it was before" in press(contributor, undo=dish.pk)
    assert state_of(dish).state == state


def test_withdrawing_twice_and_undoing_twice_does_no_more_than_once() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    for _ in range(2):
        press(contributor, withdraw=dish.pk, sure="1")
    assert Withdrawal.objects.count() == 1
    for _ in range(2):
        press(contributor, undo=dish.pk)
    assert state_of(dish).state == Dish.State.WAITING
    press(contributor, withdraw=dish.pk, sure="1")
    assert Withdrawal.objects.count() == 2


def test_withdrawn_dish_is_corrected_only_after_undo() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    press(contributor, withdraw=dish.pk, sure="1")
    assert "Undo that first" in press(contributor, correct=dish.pk)


def test_steward_withdraws_for_somebody_who_asked_by_letter(client: Client) -> None:
    dish = accepted()
    client.force_login(make_steward("view_dish", "change_dish"))
    client.post("/admin/collection/dish/", {"action": "withdraw", "_selected_action": [dish.pk]})
    assert Withdrawal.objects.get().reason == "steward" and state_of(dish).state == Dish.State.WITHDRAWN


def test_nothing_is_erased_before_seven_days_and_nothing_can_be_undone_after() -> None:
    dish = accepted("Thieb")
    known = withdraw_dish(dish, OWN)
    assert known.erase_after is not None and known.erase_after - known.at == timedelta(days=7)
    assert erase.erase_due() == {"dishes": 0, "persons": 0} and state_of(dish).local_name == "Thieb"
    assert a_week_later() == {"dishes": 1, "persons": 0}
    assert state_of(dish).local_name == "" and not restore_withdrawn_dish(known)
    assert a_week_later() == {"dishes": 0, "persons": 0}


def test_dish_hidden_without_a_code_is_not_erased_before_a_steward_decides() -> None:
    dish = accepted("Thieb")
    withdraw_dish(dish, Withdrawal.Reason.LOST_CODE)
    assert a_week_later() == {"dishes": 0, "persons": 0} and state_of(dish).local_name == "Thieb"


def test_erasure_keeps_ids_and_receipts_and_nothing_else_of_the_dish() -> None:
    contributor = make_contributor()
    page(stranger(), "/dish/", dish_form(contributor))
    dish = Dish.objects.get()
    photo = make_photo(dish)
    change_dish(dish, {"drink": "tea"}, by_contributor=contributor)
    receipt = Submission.objects.get().receipt
    withdraw_dish(dish, OWN)
    a_week_later()
    left = state_of(dish)
    assert (left.number, left.contributor, left.state) == (dish.number, contributor, Dish.State.WITHDRAWN)
    assert left.drink == left.ingredients == "" and not left.changes.exists() and not left.places.exists()
    assert not default_storage.exists(photo.file) and not default_storage.exists(photo.thumbnail)
    assert Submission.objects.get().receipt == receipt and Submission.objects.get().content_hash == ""


def test_form_of_an_erased_dish_makes_a_new_dish_and_shows_nothing_old() -> None:
    contributor = make_contributor()
    form = dish_form(contributor)
    page(stranger(), "/dish/", form)
    withdraw_dish(Dish.objects.get(), OWN)
    assert "This was received before" in page(stranger(), "/dish/", form)
    a_week_later()
    asked = page(stranger(), "/dish/", form)
    assert "is withdrawn" in asked
    page(stranger(), "/dish/", {**form, "proof": tokens(asked)["/dish/"]})
    assert Dish.objects.live().get().local_name == "Jollof"


def test_dishes_merged_into_a_withdrawn_one_come_back_and_join_again_on_undo() -> None:
    dish, second, third = accepted("Thieb"), accepted("Thiéb"), accepted("Tieb")
    Dish.objects.filter(pk__in=[second.pk, third.pk]).update(merged_into=dish)
    known = withdraw_dish(dish, OWN)
    assert list(Dish.objects.released()) == [second] and state_of(third).merged_into == second
    restore_withdrawn_dish(known)
    assert list(Dish.objects.released()) == [dish] and state_of(third).merged_into == dish


def whole_person() -> Contributor:
    """Somebody with two dishes, details, a public name, a code and a finished turn."""
    contributor = make_contributor()
    page(stranger(), "/dish/", dish_form(contributor))
    accepted("Mafé", contributor=contributor)
    Contributor.objects.filter(pk=contributor.pk).update(alias="Auntie")
    AboutYou.objects.create(contributor=contributor, agreed_at=timezone.now(), name="Awa")
    return_codes.issue_return_code(contributor.pk, "contributor")
    FinishedTurn.objects.create(person=contributor.pk, at=timezone.now() - timedelta(minutes=1))
    return contributor


def test_everything_is_hidden_at_once_and_comes_back_whole() -> None:
    contributor = whole_person()
    assert "For 7 days" in press(contributor, everything="1") and Withdrawal.objects.count() == 0
    assert "Everything of yours is withdrawn" in press(contributor, everything="1", sure="1")
    assert Dish.objects.live().count() == 0
    assert "bring everything back" in press(contributor)
    press(contributor, undo_everything="1")
    assert sorted(Dish.objects.values_list("state", flat=True)) == ["accepted", "waiting"]
    assert AboutYou.objects.get().name == "Awa"


def test_after_withdrawing_everything_old_forms_and_cookies_save_nothing() -> None:
    contributor = make_contributor()
    form = dish_form(contributor)
    withdraw_everything(contributor)
    text = page(stranger(), "/dish/", form)
    assert "I have read this, and I agree." in text and Dish.objects.count() == 0


def test_dish_withdrawn_before_everything_stays_withdrawn_when_everything_is_undone() -> None:
    contributor = make_contributor()
    first, second = make_dish(contributor=contributor), make_dish(contributor=contributor)
    withdraw_dish(first, OWN, contributor.pk)
    withdraw_everything(contributor)
    assert undo_everything(contributor.pk) and not undo_everything(contributor.pk)
    assert state_of(first).state == Dish.State.WITHDRAWN and state_of(second).state == Dish.State.WAITING


@pytest.mark.parametrize("before", [None, *Withdrawal.Reason.values])
def test_no_dish_waits_for_ever_once_its_person_withdrew_everything(before: str | None) -> None:
    """However a dish was hidden before, a lost code included: its person has said that all of it shall go."""
    person = make_contributor()
    dishes = [accepted(f"Thieb {state}", contributor=person) for state in Dish.State.values[:-1]]
    for dish, state in zip(dishes, Dish.State.values[:-1], strict=True):
        Dish.objects.filter(pk=dish.pk).update(state=state)
        if before:
            withdraw_dish(state_of(dish), before)
    withdraw_everything(person)
    assert not Withdrawal.objects.filter(dish__in=dishes, erase_after=None).exists()
    assert a_week_later()["persons"] == 1
    assert set(Dish.objects.values_list("local_name", flat=True)) == {""}


def test_erasing_everything_leaves_no_row_of_the_person() -> None:
    contributor, other = whole_person(), whole_person()
    withdraw_everything(contributor)
    assert a_week_later() == {"dishes": 2, "persons": 1}
    for rows in (Contributor, ReturnCode, AboutYou, FinishedTurn):
        assert rows.objects.count() == 1, rows
    assert {dish.contributor for dish in Dish.objects.filter(local_name="")} == {None}
    assert Dish.objects.live().filter(contributor=other).count() == 2


def test_helper_who_withdraws_takes_nobody_else_along() -> None:
    helper = make_contributor()
    elders = [make_contributor(entered_by=helper) for _ in range(5)]
    for elder in elders:
        make_dish(contributor=elder)
    withdraw_everything(elders[0])
    a_week_later()
    assert Dish.objects.live().count() == 4
    withdraw_everything(helper)
    a_week_later()
    assert Dish.objects.live().count() == 4 and Contributor.objects.count() == 4


def test_public_list_tells_numbers_by_month_and_nothing_else() -> None:
    public, other = accepted("Thieb"), make_dish("Mafé")
    for dish in (public, other):
        withdraw_dish(dish, OWN)
    Withdrawal.objects.update(at=timezone.now().replace(year=2026, month=3, day=5))
    text = stranger().get("/withdrawn/").content.decode()
    assert "2026-03" in text and str(public.number) in text and str(other.number) not in text and "Thieb" not in text
    told = stranger().get("/withdrawn.json").json()
    assert told == {"months": {"2026-03": [public.number]}, "withdrawn": [{"dish": public.number, "month": "2026-03"}]}


def test_undone_undecided_and_demonstration_dishes_are_not_in_the_public_list() -> None:
    restore_withdrawn_dish(withdraw_dish(accepted(), OWN))
    withdraw_dish(accepted(), Withdrawal.Reason.LOST_CODE)
    demonstration = make_dish(state=Dish.State.ACCEPTED, source="demonstration")
    withdraw_dish(demonstration, OWN)
    assert stranger().get("/withdrawn.json").json()["withdrawn"] == []
    assert "There are none." in stranger().get("/withdrawn/").content.decode()


def list_of_withdrawals(folder: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    call_command("withdrawals", "list")
    file = folder / "withdrawals.json"
    file.write_text(capsys.readouterr().out)
    return file


def test_list_applied_to_a_restored_backup_withdraws_and_erases_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    person, erased, kept = whole_person(), accepted("Erased"), accepted("Kept")
    undone = withdraw_dish(kept, OWN)
    restore_withdrawn_dish(undone)
    withdraw_dish(erased, OWN)
    withdraw_everything(person)
    Withdrawal.objects.exclude(erase_after=None).update(erase_after=timezone.now() - timedelta(seconds=1))
    file = list_of_withdrawals(tmp_path, capsys)
    Withdrawal.objects.all().delete()
    Dish.objects.update(state=Dish.State.ACCEPTED)
    call_command("withdrawals", "apply", str(file))
    assert "4 withdrawn, 1 undone, 0 not here; erased now: 3 dishes, 1 persons." in capsys.readouterr().out
    assert list(Dish.objects.live()) == [kept] and state_of(erased).local_name == ""
    assert not Contributor.objects.filter(pk=person.pk).exists()


def test_rows_that_are_not_here_are_counted_and_undone_ones_undone() -> None:
    dish = accepted()
    row = {"dish": dish.number, "person": None, "reason": "own", "at": "2026-03-05T10:00:00+00:00"}
    row |= {"erase_after": None, "undone_at": "2026-03-06T10:00:00+00:00"}
    withdraw_dish(dish, OWN)
    assert tombstones.apply_tombstones([row, {**row, "dish": 5}]) == {"withdrawn": 0, "undone": 1, "not here": 1}
    assert state_of(dish).state == Dish.State.ACCEPTED


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[1]", "[{}]", '{"dish": 1}', '[{"dish": "x"}]', "null"),
        '[{"dish":null,"person":null,"reason":"own"}]',
        '[{"dish":null,"person":null,"reason":"own","at":"2026-03-05T10:00:00Z","erase_after":null,"undone_at":null}]',
        '[{"dish":10001,"person":null,"reason":"own","at":null,"erase_after":null,"undone_at":null}]',
    ],
)
def test_broken_list_is_refused_and_nothing_is_written(tmp_path: Path, text: str) -> None:
    dish = accepted()
    good = {"dish": dish.number, "person": None, "reason": "own", "at": "2026-03-05T10:00:00+00:00"}
    good |= {"erase_after": None, "undone_at": None}
    file = tmp_path / "list.json"
    file.write_text(text if not text.startswith("[{") else json.dumps([good, *json.loads(text)]))
    with pytest.raises(CommandError, match="cannot be applied"):
        call_command("withdrawals", "apply", str(file))
    assert state_of(dish).state == Dish.State.ACCEPTED


LONG_AGO = timedelta(days=31)


def test_drafts_that_nobody_touched_go_after_thirty_days_with_their_files() -> None:
    dish = make_dish(contributor=make_contributor())
    old, young = make_photo(dish, Photo.State.DRAFT), make_photo(dish, Photo.State.DRAFT)
    waiting = make_photo(dish)
    Photo.objects.exclude(pk=young.pk).update(created_at=timezone.now() - LONG_AGO)
    assert retention.apply_retention_rules()["photo drafts"] == 1
    assert set(Photo.objects.all()) == {young, waiting}
    assert not default_storage.exists(old.file) and default_storage.exists(waiting.file)


def test_person_who_agreed_and_sent_nothing_goes_after_thirty_days() -> None:
    silent, helper, teller, recent = (make_contributor() for _ in range(4))
    make_contributor(entered_by=helper)
    make_dish(contributor=teller)
    return_codes.issue_return_code(silent.pk, "contributor")
    Contributor.objects.exclude(pk=recent.pk).filter(entered_by=None).update(created_at=timezone.now() - LONG_AGO)
    assert retention.apply_retention_rules()["persons without a dish"] == 1
    assert not Contributor.objects.filter(pk=silent.pk).exists() and not ReturnCode.objects.exists()
    assert Contributor.objects.count() == 4


def test_retention_removes_personal_details_and_keeps_the_way_to_withdraw(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    contributor = whole_person()
    later = timezone.now() - timedelta(days=settings.RETENTION_DAYS + 1)
    AboutYou.objects.update(agreed_at=later)
    Submission.objects.update(created_at=later)
    with caplog.at_level("INFO"):
        retention.apply_retention_rules()
    assert "1 personal details" in caplog.text and "Awa" not in caplog.text
    assert not AboutYou.objects.exists() and Contributor.objects.get().alias == ""
    assert Submission.objects.get().content_hash == "" and Submission.objects.get().receipt
    dish = Dish.objects.filter(local_name="Jollof").get()
    assert return_codes.has_code(contributor.pk)
    press(contributor, withdraw=dish.pk, sure="1")
    assert state_of(dish).state == Dish.State.WITHDRAWN


def test_details_within_the_time_stay(settings: Settings) -> None:
    whole_person()
    settings.RETENTION_DAYS = 30
    retention.apply_retention_rules()
    assert AboutYou.objects.get().name == "Awa" and Contributor.objects.get().alias == "Auntie"


def test_nothing_goes_of_a_dish_that_was_undone_before_its_turn_came() -> None:
    dish = accepted("Thieb")
    photo = make_photo(dish)
    known = withdraw_dish(dish, OWN)
    restore_withdrawn_dish(known)
    assert not erase.erase_dish(known)
    assert state_of(dish).local_name == "Thieb" and default_storage.exists(photo.file)


def test_words_of_a_dish_that_is_undone_while_its_files_go_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    dish = accepted("Thieb")
    photo = make_photo(dish)
    Photo.objects.filter(pk=photo.pk).update(thumbnail="")
    known = withdraw_dish(dish, OWN)
    remove = process.delete_stored_files

    def meanwhile(*paths: str) -> None:
        remove(*paths)
        restore_withdrawn_dish(known)

    monkeypatch.setattr(process, "delete_stored_files", meanwhile)
    assert a_week_later() == {"dishes": 0, "persons": 0}
    assert (state_of(dish).local_name, state_of(dish).state) == ("Thieb", Dish.State.ACCEPTED)


def test_person_with_a_dish_that_came_after_they_withdrew_everything_goes_later() -> None:
    contributor = make_contributor()
    withdraw_everything(contributor)
    make_dish("Late", contributor=contributor)
    assert a_week_later() == {"dishes": 0, "persons": 0}
    row = Withdrawal.objects.get(dish=None)
    assert Contributor.objects.filter(pk=contributor.pk).exists()
    assert row.erase_after is not None and row.erase_after > timezone.now() + timedelta(days=6)


def test_person_who_undid_everything_before_their_turn_came_stays() -> None:
    contributor = whole_person()
    withdraw_everything(contributor)
    row = Withdrawal.objects.get(dish=None)
    undo_everything(contributor.pk)
    Dish.objects.filter(contributor=contributor).update(state=Dish.State.WITHDRAWN)
    assert not erase.erase_person(row)
    assert Contributor.objects.filter(pk=contributor.pk).exists() and AboutYou.objects.get().name == "Awa"


def test_everything_of_a_person_in_the_list_is_undone_or_not_here() -> None:
    contributor = whole_person()
    withdraw_everything(contributor)
    row = {"dish": None, "person": str(contributor.pk), "reason": "everything", "at": "2026-03-05T10:00:00+00:00"}
    row |= {"erase_after": None, "undone_at": "2026-03-06T10:00:00+00:00"}
    unknown = {**row, "person": str(uuid.uuid4()), "undone_at": None}
    assert tombstones.apply_tombstones([row, unknown]) == {"withdrawn": 0, "undone": 1, "not here": 1}
    assert Dish.objects.live().filter(contributor=contributor).count() == 2
