"""Return codes: any digits, a check digit, one live code. How wrong ones are slowed is in `test_rate_limits.py`."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from pytest_django import Settings

from collection.access import attempt_limits, return_codes
from collection.access.return_codes import (
    MistypedCodeError,
    issue_first_code,
    issue_return_code,
    person_for,
    shown_again,
)
from collection.check_digits import check_digit
from collection.dishes.receipts import read_receipt
from collection.forms.rights import CodeForm
from collection.models import PhoneCode, ReturnCode, Tries

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PERSON = uuid.uuid4()
SCRIPTS = {"arabic": "٠١٢٣٤٥٦٧٨٩", "persian": "۰۱۲۳۴۵۶۷۸۹", "devanagari": "०१२३४५६७८९", "wide": "０１２３４５６７８９"}


def swapped(code: str) -> str:
    """The code with the first two neighbours that differ exchanged, as people do when they copy."""
    digits = list(code.replace(" ", ""))
    place = next(index for index in range(15) if digits[index] != digits[index + 1])
    digits[place], digits[place + 1] = digits[place + 1], digits[place]
    return "".join(digits)


def unknown_code(start: str = "123456789012345") -> str:
    return start + check_digit(start)


def test_code_is_sixteen_digits_in_four_groups_and_knows_its_person() -> None:
    code = issue_return_code(PERSON, "contributor")
    assert [len(group) for group in code.split(" ")] == [4, 4, 4, 4] and code.replace(" ", "").isdecimal()
    assert person_for(code, "contributor") == PERSON


@pytest.mark.parametrize("script", SCRIPTS)
def test_code_may_be_typed_in_digits_of_any_script(script: str) -> None:
    typed = issue_return_code(PERSON, "contributor").translate({ord(str(n)): SCRIPTS[script][n] for n in range(10)})
    assert person_for(typed, "contributor") == PERSON


@pytest.mark.parametrize("between", ["", "-", "  ", "‑", ".", "\u200f \u200f"])
def test_blanks_and_dashes_do_not_matter(between: str) -> None:
    assert person_for(issue_return_code(PERSON, "contributor").replace(" ", between), "contributor") == PERSON


@pytest.mark.parametrize(
    "typed",
    [
        lambda code: f"\u202a{code}\u202c",
        lambda code: f"\u2066{code}\u2069\n",
        lambda code: code.replace("0", "O").replace("1", "l"),
        lambda code: code.replace("0", "o").replace("1", "I"),
        lambda code: code.replace("0", "О").replace("1", "І"),
        lambda code: "/".join(code.replace(" ", "")),
        lambda code: f"World Wide Dishes, my return code: {code} https://dishes.example/return/",
    ],
)
@pytest.mark.parametrize("length", [15, 19])
def test_code_is_read_as_people_and_messengers_write_it(length: int, typed: Callable[[str], str]) -> None:
    digits = "1001100110011001011"[:length]
    code = return_codes.format_return_code(digits + check_digit(digits))
    assert return_codes.read_code(typed(code)) == code.replace(" ", "")
    form = CodeForm({"code": typed(code)})
    assert not form.is_valid() and "Nobody has this code" in str(form.errors)


@pytest.mark.parametrize("typed", ["\u202a12O-45l 780\u202c", "12O 45l 780", "١٢٠ ٤٥١ ٧٨٠"])
def test_receipt_number_is_read_in_the_same_way(typed: str) -> None:
    digits = "12045178"
    number = digits + check_digit(digits)
    assert read_receipt(typed.replace("780", "78" + number[-1]).replace("٧٨٠", "٧٨" + number[-1])) == number


@pytest.mark.parametrize(
    "change",
    [
        lambda code: code[:-1],
        lambda code: code + "1",
        lambda code: code[:-1] + str((int(code[-1]) + 1) % 10),
        swapped,
        lambda code: "",
        lambda code: "my code",
    ],
)
def test_typing_mistake_is_told_from_an_unknown_code(change: object) -> None:
    code = issue_return_code(PERSON, "contributor")
    assert callable(change)
    with pytest.raises(MistypedCodeError, match="16 digits"):
        person_for(change(code), "contributor")
    assert person_for(unknown_code(), "contributor") is None


def test_new_code_replaces_the_old_one() -> None:
    old, new = issue_return_code(PERSON, "contributor"), issue_return_code(PERSON, "contributor")
    assert person_for(old, "contributor") is None and person_for(new, "contributor") == PERSON
    assert ReturnCode.objects.count() == 1


def test_code_of_a_reviewer_opens_nothing_of_a_contributor() -> None:
    code = issue_return_code(PERSON, "reviewer")
    assert person_for(code, "contributor") is None and person_for(code, "reviewer") == PERSON


def test_rows_hold_nothing_that_gives_the_digits() -> None:
    code = issue_return_code(PERSON, "contributor").replace(" ", "")
    person_for(code, "contributor")
    stored = [*ReturnCode.objects.values_list(), *Tries.objects.values_list()]
    assert code not in str(stored) and code[:8] not in str(stored)


def test_first_code_is_shown_again_until_it_is_used() -> None:
    code = issue_first_code(PERSON, "contributor")
    assert code is not None and issue_first_code(PERSON, "contributor") == code == shown_again(PERSON)
    person_for(code, "contributor")
    assert issue_first_code(PERSON, "contributor") is None and person_for(code, "contributor") == PERSON


def test_code_is_not_shown_again_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    issue_return_code(PERSON, "contributor")
    monkeypatch.setattr(return_codes, "SHOWN_AGAIN", -return_codes.SHOWN_AGAIN)
    assert shown_again(PERSON) is None


def test_used_code_keeps_its_hmac_only_and_still_opens() -> None:
    code = issue_return_code(PERSON, "contributor")
    assert person_for(code, "contributor") == PERSON
    assert ReturnCode.objects.get().seed == ""
    assert person_for(code, "contributor") == PERSON


def test_code_that_no_page_shows_any_more_keeps_its_hmac_only(monkeypatch: pytest.MonkeyPatch) -> None:
    code = issue_return_code(PERSON, "contributor")
    assert return_codes.forget_seeds() == 0
    monkeypatch.setattr(return_codes, "SHOWN_AGAIN", timedelta(0))
    assert return_codes.forget_seeds() == 1
    assert (ReturnCode.objects.get().seed, person_for(code, "contributor")) == ("", PERSON)


def test_codes_stay_valid_when_the_key_of_the_site_changes(settings: Settings) -> None:
    code = issue_return_code(PERSON, "contributor")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, long enough to be one"
    assert shown_again(PERSON) is None
    assert person_for(code, "contributor") == PERSON


def test_forgotten_code_opens_nothing() -> None:
    code = issue_return_code(PERSON, "contributor")
    return_codes.revoke_return_codes(PERSON)
    assert person_for(code, "contributor") is None and not return_codes.has_code(PERSON)


def test_next_window_begins_anew_and_old_ones_are_forgotten() -> None:
    assert [attempt_limits.count_try("something") for _ in range(2)] == [1, 2] and attempt_limits.count_attempts(
        "something"
    ) == 2
    rows = Tries.objects.all()
    rows.update(
        window=attempt_limits.window_start(rows.get().window, attempt_limits.timedelta(hours=1))
        - attempt_limits.timedelta(days=3)
    )
    assert attempt_limits.count_try("something") == 1
    assert attempt_limits.forget_old_tries() == 1 and Tries.objects.count() == 1


def test_typing_mistakes_are_not_counted() -> None:
    with pytest.raises(MistypedCodeError):
        person_for("1234", "contributor")
    assert Tries.objects.count() == 0


def test_a_person_has_no_more_than_twenty_codes_of_phones() -> None:
    seals = [f"{number:064x}" for number in range(return_codes.MOST_SEALS + 1)]
    for seal in seals:
        return_codes.store_phone_code(PERSON, "contributor", seal)
    assert PhoneCode.objects.filter(person=PERSON).count() == return_codes.MOST_SEALS
    return_codes.store_phone_code(uuid.uuid4(), "contributor", seals[-1])
    assert PhoneCode.objects.count() == return_codes.MOST_SEALS + 1
