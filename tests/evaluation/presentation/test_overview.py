"""The overview: what there is, from where, beside internet use, and what waits, from an empty site on."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from collection.dishes.receipts import new_receipt
from collection.models import Country, Dish, DishCountry, Photo, Source, Submission
from evaluation.overview import tables as overview_tables
from evaluation.overview import todo
from evaluation.presentation.world_map import world_map
from evaluation.registry import lookup
from evaluation.tables import compute, read
from evaluation.views.overview import TABLES
from tests.collection.make import make_contributor, make_dish, make_photo
from tests.evaluation.make_tables import make_staff

pytestmark = pytest.mark.django_db
PAGE = "/admin/evaluation/overview/"
ACCEPTED = Dish.State.ACCEPTED


def accepted(name: str, country: str = "Ghana", month: str = "2026-03", **more: Any) -> Dish:
    dish = make_dish(name, country, state=ACCEPTED, **more)
    at = datetime.fromisoformat(f"{month}-15").replace(tzinfo=UTC)
    Dish.objects.filter(pk=dish.pk).update(created_at=at)
    return dish


def numbers(name: str, metric: str) -> dict[str, float | None]:
    """First column → value, as the stored table holds them."""
    table = compute.compute_and_store(f"overview.{name}", {}).table
    assert table is not None
    return {row.groups[table.columns[0]]: row.estimate.value for row in table.rows if row.metric == metric}


def compute_all() -> None:
    for name in TABLES:
        compute.compute_and_store(f"overview.{name}", {})


def test_totals_count_what_is_released_once() -> None:
    person = make_contributor()
    kept, copy = accepted("Kenkey", contributor=person), accepted("Kenkey", contributor=make_contributor())
    Dish.objects.filter(pk=copy.pk).update(merged_into=kept)
    accepted("Waakye", "Nigeria", contributor=person, language="Hausa")
    make_dish("Waits", "Togo")
    make_dish("Gone", "Togo", state=Dish.State.WITHDRAWN)
    make_photo(kept, Photo.State.ACCEPTED)
    make_photo(kept, Photo.State.WAITING)
    assert numbers("totals", "number") == {
        "contributors": 1,
        "countries": 2,
        "dishes": 2,
        "languages": 1,
        "photos": 1,
        "withdrawn dishes": 1,
    }


def test_the_names_of_one_country_are_told_where_it_is_counted_once() -> None:
    ivory = Country.objects.get(code="CIV")
    for name, place in (("Foutou", "Ivory Coast"), ("Garba", "Côte d'Ivoire"), ("Attiéké", "Côte d'Ivoire")):
        dish = accepted(name, place)
        DishCountry.objects.filter(dish=dish).update(name=place, country=ivory)
    accepted("Kenkey")
    assert numbers("totals", "number")["countries"] == 2
    for name in ("totals", "countries"):
        table = read.read_stored_table(f"overview.{name}", {}).table or compute.compute_table(
            lookup.find_table_spec(f"overview.{name}"), {}
        )
        [said] = [note for note in table.notes if "counted once" in note]
        assert said.endswith("counts names): Côte d'Ivoire, Ivory Coast.")


def test_demonstrations_count_only_where_nothing_real_is_there_and_say_so() -> None:
    accepted("Made up", source=Source.DEMONSTRATION)
    view = compute.compute_and_store("overview.totals", {})
    assert view.table is not None
    assert view.table.demonstration
    accepted("Real")
    assert numbers("totals", "number")["dishes"] == 1


def test_months_without_a_dish_stand_between_the_others() -> None:
    person = make_contributor()
    for month in ("2025-11", "2025-11", "2026-02"):
        accepted(f"Dish of {month}", month=month, contributor=person)
    assert numbers("growth", "dishes") == {"2025-11": 2, "2025-12": 0, "2026-01": 0, "2026-02": 1}
    assert numbers("growth", "so_far")["2026-02"] == 3
    assert numbers("growth", "new_contributors") == {"2025-11": 1, "2025-12": 0, "2026-01": 0, "2026-02": 0}


def test_coverage_is_counted_by_range_of_internet_use() -> None:
    accepted("A", "Afghanistan")  # 18.4 %
    accepted("B", "Angola")  # 32.6 %
    accepted("C", "Angola")
    accepted("D", "Taiwan")  # no figure in this source
    dishes, share = numbers("coverage", "dishes"), numbers("coverage", "represented")
    assert dishes == {"0 to 25 %": 1, "25 to 50 %": 2, "50 to 75 %": 0, "75 to 100 %": 0, "no figure": 1}
    countries = numbers("coverage", "countries")
    assert share["0 to 25 %"] == pytest.approx(1 / float(countries["0 to 25 %"] or 0))
    assert (share["50 to 75 %"], share["no figure"]) == (0, None)
    assert sum(int(number or 0) for number in countries.values()) == 206 + 1


def test_devices_are_shares_of_those_that_are_known() -> None:
    for number, device in enumerate(("mobile", "mobile", "mobile", "desktop", "unknown", "")):
        person = make_contributor()
        dish = accepted(f"Dish {number}", contributor=person)
        form = f"00000000-0000-0000-0000-00000000000{number}"
        Submission.objects.create(
            form=form, purpose="dish", contributor=person, dish=dish, receipt=new_receipt(), device=device
        )
    assert numbers("devices", "share") == {"desktop": 0.25, "mobile": 0.75}
    table = read.read_stored_table("overview.devices", {}).table
    assert table is not None
    assert {row.estimate.n for row in table.rows} == {4}
    assert all(row.estimate.low is None and "people" in row.estimate.reason for row in table.rows)
    assert any("not known: 1" in note for note in table.notes)


@pytest.mark.parametrize("name", TABLES)
def test_with_nothing_there_tables_are_empty_and_say_why(name: str) -> None:
    table = compute.compute_and_store(f"overview.{name}", {}).table
    assert table is not None
    assert table.rows == ()
    assert table.notes


def test_a_place_outside_the_list_counts_and_stands_beside_the_map() -> None:
    accepted("A", "Kingdom of Nowhere")
    accepted("B", "Ghana")
    found = numbers("countries", "dishes")
    assert found == {"Ghana": 1, "Kingdom of Nowhere": 1}
    drawn = world_map({name: int(number or 0) for name, number in found.items()})
    assert drawn.elsewhere == (("Kingdom of Nowhere", 1),)
    assert [country.title for country in drawn.countries if country.title] == ["Ghana: 1"]


def test_shades_follow_the_numbers_and_small_countries_are_dots() -> None:
    drawn = world_map({"Ghana": 1, "Nigeria": 9, "Kenya": 100, "Mauritius": 30})
    shades = {country.title: country.shade for country in drawn.countries if country.title}
    assert shades == {"Ghana: 1": 1, "Nigeria: 9": 2, "Mauritius: 30": 4, "Kenya: 100": 5}
    assert [country.path for country in drawn.countries if country.title == "Mauritius: 30"] == [""]
    assert [step.words for step in drawn.legend] == ["0", "1–2", "3–9", "10–29", "30–99", "≥ 100"]


def test_accepting_a_dish_makes_the_tables_stale(client: Client) -> None:
    compute_all()
    dish = make_dish("Kenkey", "Ghana")
    client.force_login(User.objects.create_superuser("chief"))
    client.post("/admin/collection/dish/", {"action": "accept", "_selected_action": dish.pk})
    assert {read.read_stored_table(f"overview.{name}", {}).state for name in TABLES} == {"stale"}


def test_the_empty_page_says_what_is_missing_and_shows_no_number(client: Client) -> None:
    client.force_login(make_staff())
    first = client.get(PAGE).text
    assert "being computed" in first
    assert compute.recompute_wanted() == len(TABLES)
    compute_all()
    page = client.get(PAGE).text
    assert overview_tables.NOTHING_YET in page
    assert "Not measured." in page
    assert '<svg class="world"' not in page
    assert not any(word in page for word in ("NaN", "nan ", "None"))


def test_the_page_shows_numbers_map_growth_and_coverage_in_few_queries(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    accepted("Kenkey")
    compute_all()
    client.force_login(User.objects.create_superuser("chief"))
    with django_assert_max_num_queries(15):
        page = client.get(PAGE).text
    assert "<title>Ghana: 1</title>" in page
    assert "<title>2026-03: 1</title>" in page
    assert "75 to 100 %" in page


def test_what_waits_is_counted_where_one_may_see_it(client: Client) -> None:
    dish = make_dish("Kenkey", "Ghana")
    make_photo(dish)
    steward = User.objects.create_superuser("chief")
    found = {row.label: (row.number, row.more) for row in todo.list_pending_work(steward)}
    assert (found["dishes"], found["photos"]) == ((1, False), (1, False))
    assert found["notes of reviewers"] == (0, False)
    client.force_login(steward)
    page = client.get(PAGE).text
    assert ">1 dish</a>" in page and ">no notes of reviewers<" in page
    researcher = make_staff()
    assert todo.list_pending_work(researcher) == []
    researcher.user_permissions.add(Permission.objects.get(codename="view_photo"))
    assert [row.label for row in todo.list_pending_work(User.objects.get(pk=researcher.pk))] == ["photos"]


def test_counting_what_waits_ends_at_some_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(todo, "MOST", 2)
    for number in range(4):
        make_dish(f"Dish {number}", "Ghana")
    [row] = [row for row in todo.list_pending_work(User.objects.create_superuser("chief")) if row.label == "dishes"]
    assert (row.number, row.more, row.text) == (2, True, "more than 2 dishes")


def test_every_list_of_what_waits_opens(client: Client) -> None:
    steward = User.objects.create_superuser("chief")
    client.force_login(steward)
    found = todo.list_pending_work(steward)
    assert len(found) == 6
    assert [row.label for row in found if client.get(row.address).status_code != 200] == []


def test_a_kind_that_waits_is_listed_once() -> None:
    before = list(todo.KINDS)
    todo.register_todo_kind(before[0])
    assert before == todo.KINDS
