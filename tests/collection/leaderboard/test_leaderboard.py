"""The leaderboard and its counters: right after anything that happens to dishes, in any order."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from collection.dishes.curation import DishMergeError, decide_dishes, merge_dishes, unmerge_dishes
from collection.dishes.write import change_dish, save_dish
from collection.leaderboard import counters
from collection.leaderboard.counters import (
    EVER,
    correct_counters,
    list_counted_names,
    rebuild_leaderboard,
    update_leaderboard_counters,
)
from collection.leaderboard.read import build_leaderboard, compute_ranks
from collection.models import BoardName, Contributor, Dish, Heard, Opening, Tally, Withdrawal
from collection.withdrawal.withdraw import restore_withdrawn_dish, withdraw_dish
from tests.collection.make import make_contributor

pytestmark = pytest.mark.embedded

PLACES = (["Ghana"], ["Ghana", "Togo"], ["Atlantis"], ["Kenya"])
LANGUAGES = ([("Ewe", "ewe")], [("Twi", "twi"), ("Ga", "gaa")], [("Sign of my village", "")])
REGIONS = ("", "Volta, Ashanti", "volta")


def from_scratch() -> dict[tuple[str, str, str, str], int]:
    """Counted by a loop over all dishes, without the counters' own code for moving them."""
    found: Counter[tuple[str, str, str, str]] = Counter()
    for dish in Dish.objects.filter(state="accepted", merged_into=None).exclude(source="demonstration"):
        day = dish.created_at.astimezone(UTC).date()
        told_here = (("month", day.replace(day=1)), ("day", day)) if dish.source != "import" else ()
        for kind, key in list_counted_names(dish):
            for period, start in (("ever", EVER), *told_here):
                found[kind, key, period, start.isoformat()] += 1
    return dict(found)


def held() -> dict[tuple[str, str, str, str], int]:
    rows = Tally.objects.filter(dishes__gt=0).select_related("name")
    return {(row.name.kind, row.name.key, row.period, row.start.isoformat()): row.dishes for row in rows}


def people_from_scratch() -> dict[str, int]:
    told: dict[str, set[Any]] = {}
    for dish in Dish.objects.filter(state="accepted", merged_into=None):
        for kind, key in list_counted_names(dish):
            if kind == "country" and dish.contributor_id:
                told.setdefault(key, set()).add(dish.contributor_id)
    return {key: len(who) for key, who in told.items()}


def people_held() -> dict[str, int]:
    rows = Tally.objects.filter(kind="country", period="ever", people__gt=0).select_related("name")
    return {row.name.key: row.people for row in rows}


STEP = st.tuples(
    st.sampled_from(["submit", "accept", "reject", "correct", "merge", "unmerge", "withdraw", "undo", "name"]),
    st.integers(0, 7),
    st.integers(0, 7),
)


class Counters(TestCase):
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(STEP, min_size=4, max_size=30))
    def test_random_lives_of_dishes_leave_the_counters_as_a_count_from_scratch(
        self, steps: list[tuple[str, int, int]]
    ) -> None:
        people = [make_contributor() for _ in range(3)]
        for what, one, other in steps:
            act(what, one, other, people)
        self.assertEqual(held(), from_scratch())
        self.assertEqual(people_held(), people_from_scratch())
        firsts = {(name.kind, name.key): name.first_at for name in BoardName.objects.all()}
        told: dict[tuple[str, str], list[datetime]] = {}
        for row in Heard.objects.select_related("name"):
            told.setdefault((row.name.kind, row.name.key), []).append(row.dish.created_at)
        self.assertEqual(firsts, {key: min(times) for key, times in told.items()})
        self.assertEqual(rebuild_leaderboard(), 0)


def act(what: str, one: int, other: int, people: list[Contributor]) -> None:
    dishes = list(Dish.objects.order_by("pk"))
    if what == "submit" or not dishes:
        source = "import" if one % 2 else "form"
        dish = told(PLACES[one % 4], contributor=people[one % 3], languages=LANGUAGES[other % 3], source=source)
        at = timezone.now() - timedelta(days=other * 9)
        Dish.objects.filter(pk=dish.pk).update(regions=REGIONS[other % 3], created_at=at)
        return
    dish, second = dishes[one % len(dishes)], dishes[other % len(dishes)]
    rows = Dish.objects.filter(pk=dish.pk)
    if what in ("accept", "reject"):
        decide_dishes(rows, "accepted" if what == "accept" else "rejected", None)
    elif what == "correct":
        change_dish(dish, {"regions": REGIONS[other % 3]}, PLACES[other % 4], LANGUAGES[one % 3])
    elif what == "merge" and dish.pk != second.pk:
        try:
            merge_dishes(rows, second, None)
        except DishMergeError:
            return
    elif what == "unmerge":
        unmerge_dishes(rows, None)
    elif what == "withdraw":
        withdraw_dish(dish, Withdrawal.Reason.STEWARD)
    elif what == "undo":
        for withdrawal in Withdrawal.objects.filter(dish=dish, undone_at=None):
            restore_withdrawn_dish(withdrawal)
    elif what == "name" and dish.contributor_id:
        Contributor.objects.filter(pk=dish.contributor_id).update(alias=("", "Ama", "AMA", "Kofi")[other % 4])
        update_leaderboard_counters(Dish.objects.filter(contributor=dish.contributor_id).values_list("pk", flat=True))


def told(places: list[str], state: str = "waiting", languages: Any = (("Wolof", "wol"),), **more: Any) -> Dish:
    words = {"local_name": "Dish", "ingredients": "water", **more}
    contributor, source = words.pop("contributor", None), words.pop("source", "form")
    return save_dish(words, places, list(languages), contributor=contributor, state=state, source=source)


def accepted(*places: str, **more: Any) -> Dish:
    return told(list(places), "accepted", **more)


@pytest.mark.django_db
class TestBoard:
    def test_equal_numbers_share_a_rank_and_countries_without_dishes_have_none(self) -> None:
        for place in ("Ghana", "Ghana", "Kenya", "Peru"):
            accepted(place)
        told(["Togo"])
        assert [(row.rank, row.place, row.dishes) for row in build_leaderboard().rows] == [
            (1, "Ghana", 2),
            (2, "Kenya", 1),
            (2, "Peru", 1),
        ]

    def test_languages_and_regions_heard_for_the_first_time_stand_first(self, client: Client) -> None:
        accepted("Ghana", languages=[("Ewe", "ewe")])
        text = client.get("/leaderboard/").content.decode()
        assert text.index("Heard for the first time") < text.index('<bdi dir="auto">Ewe</bdi>') < text.index("Ghana")

    def test_a_period_counts_only_its_dishes(self, client: Client) -> None:
        old = accepted("Ghana")
        Dish.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=70))
        Heard.objects.all().delete()
        BoardName.objects.all().delete()
        update_leaderboard_counters([old.pk])
        accepted("Kenya")
        assert [row.place for row in build_leaderboard("today").rows] == ["Kenya"]
        assert {row.place for row in build_leaderboard().rows} == {"Ghana", "Kenya"}
        assert client.get("/leaderboard/?when=nonsense").status_code == 200

    def test_imported_dishes_count_in_no_month_and_on_no_day(self) -> None:
        accepted("Ghana", source="import")
        accepted("Kenya")
        accepted("Kenya", source="import")
        assert [(row.place, row.dishes) for row in build_leaderboard().rows] == [("Kenya", 2), ("Ghana", 1)]
        for when in ("month", "today"):
            assert [(row.place, row.dishes) for row in build_leaderboard(when).rows] == [("Kenya", 1)]
        assert rebuild_leaderboard() == 0
        assert held() == from_scratch()

    def test_what_an_imported_dish_brought_first_was_heard_in_no_month_and_on_no_day(self, client: Client) -> None:
        accepted("Ghana", source="import", languages=[("Ewe", "ewe")], regions="Volta")
        accepted("Kenya", languages=[("Luo", "luo")])
        accepted("Ghana", languages=[("Ewe", "ewe")])
        assert {name.label for name in build_leaderboard().first} == {"Ewe", "Volta", "Luo"}
        for when in ("month", "today"):
            assert [name.label for name in build_leaderboard(when).first] == ["Luo"]
            assert "Volta" not in client.get(f"/leaderboard/?when={when}").content.decode()

    def test_few_people_are_not_numbered(self) -> None:
        for _ in range(4):
            accepted("Ghana", contributor=make_contributor())
        assert build_leaderboard().rows[0].people is None
        accepted("Ghana", contributor=make_contributor())
        assert build_leaderboard().rows[0].people == 5

    def test_many_copies_of_one_dish_merged_move_no_rank(self) -> None:
        kept = accepted("Ghana")
        accepted("Kenya")
        before = build_leaderboard().rows
        copies = [accepted("Ghana") for _ in range(20)]
        merge_dishes(Dish.objects.filter(pk__in=[dish.pk for dish in copies]), kept, None)
        assert build_leaderboard().rows == before

    def test_own_waiting_dishes_are_told_to_oneself_alone(self, client: Client) -> None:
        from django.http import HttpResponse

        from collection.access.turns import COOKIE, set_turn_cookie

        me = make_contributor()
        told(["Togo"], contributor=me)
        assert "waits to be read" not in client.get("/leaderboard/").content.decode()
        response = HttpResponse()
        set_turn_cookie(response, me.pk)
        client.cookies[COOKIE] = response.cookies[COOKIE].value
        assert "1 dish of yours waits" in client.get("/leaderboard/").content.decode()

    def test_names_show_only_where_the_campaign_wishes_and_can_be_hidden(self, client: Client) -> None:
        me = make_contributor()
        Contributor.objects.filter(pk=me.pk).update(alias="Ama of Ho")
        dish = accepted("Ghana", contributor=Contributor.objects.get(pk=me.pk))
        assert "Ama of Ho" not in client.get("/leaderboard/?by=name").content.decode()
        Opening.objects.create(aliases=True)
        assert "Ama of Ho" in client.get("/leaderboard/?by=name").content.decode()
        Contributor.objects.filter(pk=me.pk).update(alias_hidden=True)
        update_leaderboard_counters([dish.pk])
        assert "Ama of Ho" not in client.get("/leaderboard/?by=name").content.decode()

    def test_two_queries_are_enough(self, client: Client, django_assert_max_num_queries: Any) -> None:
        accepted("Ghana")
        client.get("/leaderboard/")
        with django_assert_max_num_queries(2):
            client.get("/leaderboard/")

    def test_drift_is_found_mended_and_told(self, caplog: pytest.LogCaptureFixture) -> None:
        accepted("Ghana")
        right = held()
        Tally.objects.filter(kind="country", period="ever").update(dishes=7)
        Tally.objects.filter(kind="language").delete()
        assert rebuild_leaderboard() == 4
        assert held() == right
        assert "had drifted in 4 places" in caplog.text
        assert correct_counters([999_999]) == 0

    def test_a_name_that_goes_between_being_found_and_locked_is_made_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add_names = counters.add_names
        gone: list[int] = []

        def and_one_goes(told: Any) -> None:
            add_names(told)
            if not gone:
                gone.append(BoardName.objects.filter(kind="country").delete()[0])

        monkeypatch.setattr(counters, "add_names", and_one_goes)
        accepted("Ghana")
        assert gone and held() == from_scratch()

    def test_names_given_before_get_their_one_form_at_night(self) -> None:
        first, second = make_contributor(), make_contributor()
        Contributor.objects.filter(pk=first.pk).update(alias="Ama")
        Contributor.objects.filter(pk=second.pk).update(alias="AMA")
        rebuild_leaderboard()
        assert Contributor.objects.get(alias_key="ama").pk == first.pk
        assert Contributor.objects.get(pk=second.pk).alias_key is None

    def test_withdrawn_words_are_in_no_counter(self) -> None:
        dish = accepted("Ghana")
        change_dish(dish, {"regions": "Zzyzx"})
        assert BoardName.objects.filter(label="Zzyzx").exists()
        withdraw_dish(dish, Withdrawal.Reason.STEWARD)
        assert not BoardName.objects.exists() and not Heard.objects.exists() and not Tally.objects.exists()

    def test_merging_is_written_down_and_taken_back(self, admin_user: User) -> None:
        one, other = accepted("Ghana"), accepted("Ghana")
        assert merge_dishes(Dish.objects.filter(pk=other.pk), one, admin_user) == 1
        other.refresh_from_db()
        assert other.merged_into_id == one.pk
        assert other.changes.get().by_steward == admin_user
        with pytest.raises(DishMergeError):
            merge_dishes(Dish.objects.filter(pk=one.pk), other, admin_user)
        assert unmerge_dishes(Dish.objects.filter(pk=other.pk), admin_user) == 1
        assert build_leaderboard().rows[0].dishes == 2


@pytest.mark.parametrize(("numbers", "expected"), [([], []), ([5, 5, 3, 3, 1], [1, 1, 3, 3, 5]), ([2, 1], [1, 2])])
def test_ranks_by_hand(numbers: list[int], expected: list[int]) -> None:
    assert compute_ranks(numbers) == expected


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["Call 0244 123 456", "٠٢٤٤١٢٣٤٥٦"])
def test_a_telephone_number_is_no_public_name(name: str) -> None:
    from collection.forms import PersonalDetailsForm

    form = PersonalDetailsForm({"alias": name, "agree": "on"})
    assert "telephone number" in form.errors["alias"][0]
