"""A reviewer's own page: codes, notes, background, withdrawal; what needs the code and what does not."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from evaluation.models import InputCounter
from review import rights
from review.assignment import reserve_image
from review.models import Note, Review, Reviewer, ReviewerBackground
from review.rights import erase_withdrawn
from tests.review.make import GOOD, make_campaign, make_invitation, make_reviewer
from tests.review.phone import CODE, Phone, joined

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def with_code(images: int = 3) -> tuple[Phone, str]:
    phone = joined(make_invitation(make_campaign(images=images)))
    found = CODE.search(phone.page)
    assert found
    return phone, found[1]


def opened(code: str, phone: Phone) -> Phone:
    """Another phone that typed the code."""
    other = Phone(phone.invitation)
    other.send("/review/", code=code)
    return other


def counter() -> int:
    return InputCounter.objects.get(name="reviews").value


def test_code_opens_the_own_page_on_another_phone_in_digits_of_any_script() -> None:
    phone, code = with_code()
    phone.answer()
    arabic = code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    other = opened(arabic, phone)
    assert "My own page" in other.page
    assert "1 of 3 pictures are done" in other.page
    assert "Picture 2 of 3" in other.press("next", near="Go on")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("1234", "The code has 16 digits"),
        ("0000 0000 0000 0000", "Nobody has this code."),
        ("", "The code has 16 digits"),
        ("<b>\x00", "The code has 16 digits"),
    ],
)
def test_wrong_code_is_answered_with_a_sentence(typed: str, sentence: str) -> None:
    phone = Phone()
    page = phone.send("/review/", code=typed)
    assert sentence in page
    assert phone.status == 409


def test_short_code_leads_to_its_invitation_however_it_is_written() -> None:
    invitation = make_invitation()
    typed = f" {invitation.short[:4].upper()}-{invitation.short[4:]} "
    response = Client().post("/review/", {"code": typed})
    assert (response.status_code, response.headers["Location"]) == (302, invitation.get_absolute_url())


def test_earlier_answers_are_listed_and_can_be_changed_from_there() -> None:
    phone, _code = with_code()
    phone.answer()
    page = phone.press("me")
    which = page.split('name="which" value="')[1].split('"')[0]
    page = phone.press("edit", near="which", which=which)
    assert "Àmàlà" in page
    assert page.count(" checked") == 4


def test_somebody_elses_answer_cannot_be_opened() -> None:
    campaign = make_campaign(images=3)
    first, second = (joined(make_invitation(campaign)) for _ in range(2))
    first.answer()
    which = str(Reviewer.objects.order_by("created_at")[0].assignments.get(state="answered").pk)
    second.press("me")
    second.press("edit", which=which)
    assert second.status == 403
    assert "This picture is not one of yours." in second.page


def test_note_is_kept_once_and_the_answer_of_the_team_stands_there() -> None:
    phone, _code = with_code()
    phone.press("me")
    phone.press("note", near="note", text="ሰላም")
    phone.press("note", near="note", text="ሰላም")
    note = Note.objects.get()
    note.answer = "Thank you"
    note.save()
    assert "Thank you" in phone.press("me", near="Go on")


def test_empty_note_is_said_at_the_field() -> None:
    phone, _code = with_code()
    phone.press("me")
    assert "Write something first." in phone.press("note", near="note", text="  ")
    assert not Note.objects.exists()


def test_background_is_kept_apart_never_shown_again_and_read_by_stewards_only() -> None:
    phone, _code = with_code()
    phone.press("me")
    page = phone.press("background", near="background", cultures="Yorùbá", lived="Ibadan")
    assert ReviewerBackground.objects.get().cultures == "Yorùbá"
    assert "Yorùbá" not in page
    user = User.objects.create_user("looking", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_reviewer"))
    client = Client()
    client.force_login(user)
    assert client.get("/admin/review/reviewerbackground/").status_code == 403


@pytest.mark.parametrize("do", ["withdraw", "download", "new-code"])
def test_rights_need_the_code_or_the_personal_link(do: str) -> None:
    phone, _code = with_code()
    page = phone.press("me")
    assert "End taking part" not in page
    assert "This needs your return code" in phone.press(do, answers="delete")
    assert not Reviewer.objects.exclude(withdrawn_at=None).exists()


def test_everything_can_be_taken_along() -> None:
    phone, code = with_code()
    phone.answer({**GOOD, "explanation": "Ẹ kú"})
    told = json.loads(opened(code, phone).press("download", near="download"))
    assert told["answers"][0]["answers"]["explanation"] == "Ẹ kú"


def test_withdrawn_answers_count_no_more_at_once_and_are_gone_after_seven_days() -> None:
    phone, code = with_code()
    phone.answer()
    other, before = opened(code, phone), counter()
    assert "They will be deleted" in other.press("withdraw", near="withdraw", answers="delete")
    assert (Review.objects.counted().count(), Review.objects.count(), counter()) == (0, 1, before + 1)
    assert "You ended taking part" in phone.press("next")
    assert erase_withdrawn() == 0
    Reviewer.objects.update(withdrawn_at=timezone.now() - timedelta(days=8))
    assert erase_withdrawn() == 1
    assert (Reviewer.objects.count(), Review.objects.count()) == (0, 0)
    assert counter() > before + 1
    assert "Nobody has this code." in opened(code, phone).page


def test_withdrawal_can_be_undone_with_the_code() -> None:
    phone, code = with_code()
    phone.answer()
    opened(code, phone).press("withdraw", near="withdraw", answers="delete")
    again = opened(code, phone)
    assert "You ended taking part" in again.page
    assert "Your withdrawal is undone." in again.press("undo-withdrawal", near="undo-withdrawal")
    assert Review.objects.counted().count() == 1
    assert Reviewer.objects.get().withdrawn_at is None


def test_answers_without_me_stay_and_nothing_leads_to_the_person() -> None:
    phone, code = with_code()
    phone.answer()
    phone.press("me")
    phone.press("note", near="note", text="I am Ada")
    person = Reviewer.objects.get().pk
    opened(code, phone).press("withdraw", near="withdraw", answers="keep")
    assert Review.objects.counted().count() == 1
    Reviewer.objects.update(withdrawn_at=timezone.now() - timedelta(days=8))
    erase_withdrawn()
    left = Reviewer.objects.get()
    assert left.pk != person
    assert (left.invitation, left.source_key, Note.objects.count()) == (None, None, 0)
    assert Review.objects.counted().get().reviewer == left


def test_withdrawn_opinion_is_wanted_again() -> None:
    campaign = make_campaign(images=1, wanted=1)
    phone = joined(make_invitation(campaign))
    code = CODE.search(phone.page)
    assert code
    phone.answer()
    late = make_reviewer(campaign)
    assert reserve_image(late) is None
    opened(code[1], phone).press("withdraw", near="withdraw", answers="delete")
    assert reserve_image(late) is not None


def test_what_never_to_see_is_chosen_and_chosen_anew() -> None:
    phone, _code = with_code()
    phone.press("me")
    assert "Your choice is kept." in phone.press("avoid", near="avoids", avoids=["insects", "alcohol"])
    assert Reviewer.objects.get().avoids == ["insects", "alcohol"]
    phone.press("me")
    phone.press("avoid", near="avoids")
    assert Reviewer.objects.get().avoids == []
    phone.press("me")
    assert "Choose among the answers" in phone.press("avoid", near="avoids", avoids=["vegetables"])
    assert phone.status == 400 and Reviewer.objects.get().avoids == []


def test_background_that_is_too_long_is_not_kept() -> None:
    phone, _code = with_code()
    phone.press("me")
    assert "One of the texts is too long." in phone.press("background", near="background", lived="x" * 501)
    assert phone.status == 400 and not ReviewerBackground.objects.exists()


def test_nobody_ends_taking_part_without_choosing_what_happens_to_their_answers() -> None:
    phone, code = with_code()
    phone.answer()
    other = opened(code, phone)
    assert "Choose what happens to your answers." in other.press("withdraw", near="withdraw")
    assert not Reviewer.objects.exclude(withdrawn_at=None).exists()


def test_ending_or_undoing_twice_counts_answers_anew_once() -> None:
    phone, _code = with_code()
    phone.answer()
    reviewer = Reviewer.objects.get()
    before = counter()
    rights.undo_withdrawal(reviewer)
    assert counter() == before
    for keep_answers in (False, True):
        rights.withdraw_reviewer(reviewer, keep_answers)
    reviewer.refresh_from_db()
    assert (reviewer.keep_answers, counter(), Review.objects.counted().count()) == (False, before + 1, 0)


def test_note_of_control_characters_alone_is_empty() -> None:
    phone, _code = with_code()
    phone.press("me")
    assert "Write something first." in phone.press("note", near="note", text="\x07\x1b")
    assert not Note.objects.exists()
