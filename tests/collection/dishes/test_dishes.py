"""Writing dishes: numbers, places, corrections, receipts, who counts where."""

import pytest
from django.db import IntegrityError
from hypothesis import given
from hypothesis import strategies as st

from collection.check_digits import check_digit
from collection.dishes.idempotency import ATTEMPTS, Entry, enter_with_retry
from collection.dishes.numbers import from_row, next_number
from collection.dishes.receipts import format_receipt, new_receipt, read_receipt
from collection.dishes.write import change_dish, save_dish, set_places
from collection.leaderboard.counters import update_leaderboard_counters
from collection.leaderboard.read import build_leaderboard
from collection.models import Dish, DishChange, Source
from tests.collection.make import make_dish

pytestmark = pytest.mark.embedded

State = Dish.State


@pytest.mark.django_db
def test_new_dishes_are_numbered_above_ten_thousand_and_never_twice() -> None:
    first = make_dish()
    Dish.objects.all().delete()
    assert first.number >= 10_001
    assert make_dish().number == first.number + 1


@pytest.mark.django_db
def test_imported_dish_keeps_its_number_and_is_stepped_over() -> None:
    last = next_number()
    save_dish({"local_name": "Fufu", "ingredients": "cassava"}, [], [], number=last + 1)
    assert next_number() == last + 2


@pytest.mark.django_db
def test_place_outside_the_list_is_kept_as_written() -> None:
    dish = make_dish(country="Atlantis")
    place = dish.places.get()
    assert (place.name, place.country) == ("Atlantis", None)
    assert dish.continents.count() == 0


@pytest.mark.django_db
def test_stated_continents_replace_those_of_the_places() -> None:
    dish = make_dish(country="Russia")
    set_places(dish, ["Russia"], ["Europe"])
    assert [row.continent for row in dish.continents.all()] == ["Europe"]


@pytest.mark.django_db
def test_change_without_difference_leaves_no_trace() -> None:
    dish = make_dish(drink="tea")
    assert change_dish(dish, {"drink": "tea"}, ["Senegal"], [("Wolof", "wol")]) is None
    assert DishChange.objects.count() == 0


@given(st.integers(0, 10**8 - 1), st.integers(0, 8), st.integers(1, 9))
def test_check_digit_notices_a_wrong_digit(number: int, position: int, shift: int) -> None:
    receipt = f"{number:08d}" + check_digit(f"{number:08d}")
    assert read_receipt(format_receipt(receipt)) == receipt
    wrong = str((int(receipt[position]) + shift) % 10)
    assert read_receipt(receipt[:position] + wrong + receipt[position + 1 :]) is None


@given(st.integers(0, 10**8 - 1), st.integers(0, 7))
def test_check_digit_notices_two_swapped_digits(number: int, position: int) -> None:
    receipt = f"{number:08d}" + check_digit(f"{number:08d}")
    one, other = receipt[position], receipt[position + 1]
    swapped = receipt[:position] + other + one + receipt[position + 2 :]
    assert (read_receipt(swapped) is None) == (one != other)


def test_receipt_may_be_typed_in_digits_of_any_script() -> None:
    receipt = new_receipt()
    arabic = receipt.translate({ord(str(digit)): chr(0x0660 + digit) for digit in range(10)})
    assert read_receipt(arabic) == receipt


@pytest.mark.django_db
def test_leaderboard_counts_accepted_dishes_and_shares_ranks() -> None:
    for country, number in {"Ghana": 2, "Peru": 2, "Ivory Coast": 1, "Côte d'Ivoire": 2, "Atlantis": 1}.items():
        for _ in range(number):
            make_dish(country=country, state=State.ACCEPTED)
    for state in (State.WAITING, State.HIDDEN, State.REJECTED, State.WITHDRAWN):
        make_dish(country="Chad", state=state)
    merged = make_dish(country="Peru", state=State.ACCEPTED)
    Dish.objects.filter(pk=merged.pk).update(merged_into=make_dish(country="Mali"))
    update_leaderboard_counters([merged.pk])
    found = build_leaderboard()
    assert [(row.rank, row.place, row.dishes, row.width) for row in found.rows] == [
        (1, "Côte d'Ivoire", 3, 20),
        (2, "Ghana", 2, 13),
        (2, "Peru", 2, 13),
        (4, "Atlantis", 1, 7),
    ]
    assert not found.demonstration


@pytest.mark.django_db
def test_demonstration_shows_only_while_nothing_real_is_there() -> None:
    make_dish(country="Fiji", state=State.ACCEPTED, source=Source.DEMONSTRATION)
    assert build_leaderboard().demonstration and build_leaderboard().rows[0].place == "Fiji"
    make_dish(country="Peru", state=State.ACCEPTED)
    assert [row.place for row in build_leaderboard().rows] == ["Peru"] and not build_leaderboard().demonstration


@pytest.mark.django_db
def test_dish_with_two_spellings_of_one_country_counts_once() -> None:
    dish = make_dish(state=State.ACCEPTED)
    change_dish(dish, {}, ["Burma", "Myanmar"])
    assert [(row.place, row.dishes) for row in build_leaderboard().rows] == [("Myanmar", 1)]


@pytest.mark.django_db
def test_number_that_a_dish_has_is_passed_over_where_numbers_are_counted_in_a_row() -> None:
    Dish.objects.filter(pk=make_dish().pk).update(number=71)
    assert [from_row("test", 70) for _ in range(3)] == [70, 72, 73]


@pytest.mark.django_db
def test_form_that_never_can_be_entered_ends_with_an_error() -> None:
    tried = []

    def enter() -> Entry:
        tried.append(1)
        raise IntegrityError("taken")

    with pytest.raises(IntegrityError, match="could not be entered"):
        enter_with_retry(enter)
    assert len(tried) == ATTEMPTS
