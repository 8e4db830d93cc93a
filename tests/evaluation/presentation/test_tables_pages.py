"""Researchers' pages: who may see them, what they show, and that they compute nothing."""

import csv
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils.http import urlencode

from evaluation import counters
from evaluation.figures import palette
from evaluation.models import StoredTable
from evaluation.presentation import table
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute
from evaluation.views import tables as views_tables
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAME = "association.scores"
LIST = "/admin/evaluation/tables/"
PAGE = f"{LIST}{NAME}/"
FILES = ("table.csv", "table.json", "figure.svg", "figure.pdf", "figure.png")
PAGES = (LIST, PAGE, *(PAGE + file for file in FILES))
Capture = Callable[..., Any]


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(make_staff())
    return client


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response
    return response.content.decode()


def make_stored(images: int = 12, **run: Any) -> None:
    place = make_place_in("Africa")
    make_association(*(image_result(place, "painter", 1, number) for number in range(images)), **run)
    compute.compute_and_store(NAME, {})


@pytest.mark.parametrize("address", PAGES)
def test_strangers_sign_in_first(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("address", PAGES)
def test_people_who_are_not_staff_sign_in_first(client: Client, address: str) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.get(address).status_code == 302


@pytest.mark.parametrize("address", PAGES)
def test_staff_without_the_permission_are_refused(client: Client, address: str) -> None:
    client.force_login(make_staff(may_see_tables=False))
    assert client.get(address).status_code == 403


@pytest.mark.parametrize("address", PAGES)
def test_pages_only_answer_reading(researcher: Client, address: str) -> None:
    assert researcher.post(address).status_code == 405


@pytest.mark.parametrize("ending", ["", *FILES])
def test_a_wrong_name_is_not_found_and_names_the_near_ones(researcher: Client, ending: str) -> None:
    response = researcher.get(f"{LIST}association.score/{ending}")
    assert response.status_code == 404
    assert "Did you mean association.scores" in response.content.decode()


@pytest.mark.parametrize("query", ["?continnt=Africa", "?model=" + "x" * 200, "?model=%00", "?%3Cscript%3E=1"])
def test_a_filter_that_cannot_be_used_is_not_found_and_stores_nothing(researcher: Client, query: str) -> None:
    response = researcher.get(PAGE + query)
    assert response.status_code == 404
    assert "<script>=" not in response.content.decode()
    assert not StoredTable.objects.exists()


def test_the_list_names_every_table_in_groups_with_a_sentence(researcher: Client) -> None:
    shown = text_of(researcher, LIST)
    assert all(f'href="{LIST}{name}/"' in shown for name in TABLES)
    assert shown.index("Reviews by people") < shown.index("Association with descriptor words")
    assert "By group, continent, model: normalised score, normalised over all, net, as printed." in shown


def test_the_list_says_how_fresh_each_table_is(researcher: Client) -> None:
    make_stored()
    assert shown_state(researcher, NAME).startswith("Fresh, computed 2")
    assert shown_state(researcher, "review.quality").startswith("Never computed")
    counters.bump_input_counters("runs.association")
    assert shown_state(researcher, NAME).startswith("Stale: something has changed since 2")
    StoredTable.objects.update(error="MemoryError")
    assert shown_state(researcher, NAME).startswith("The last attempt to compute it failed.")


def shown_state(client: Client, name: str) -> str:
    rest = text_of(client, LIST).partition(f'href="{LIST}{name}/"')[2]
    return rest.partition('<p class="quiet">')[2]


def test_the_admin_index_leads_to_the_tables_for_those_who_may(researcher: Client) -> None:
    assert f'href="{LIST}"' in text_of(researcher, "/admin/")
    researcher.force_login(make_staff(may_see_tables=False, name="steward"))
    assert f'href="{LIST}"' not in text_of(researcher, "/admin/")


def test_a_table_not_computed_yet_says_so_and_is_computed_by_a_worker(
    researcher: Client, django_capture_on_commit_callbacks: Capture
) -> None:
    make_association(image_result(make_place_in("Africa"), "painter", 1, 0))
    with django_capture_on_commit_callbacks() as first:
        assert "This table is being computed" in text_of(researcher, PAGE)
    with django_capture_on_commit_callbacks() as second:
        text_of(researcher, PAGE)
    assert (len(first), len(second)) == (1, 0)
    assert StoredTable.objects.get().content is None
    assert compute.recompute_wanted() == 1
    assert "nothing has changed since" in text_of(researcher, PAGE)


@pytest.mark.parametrize("ending", FILES)
def test_downloads_of_a_table_not_computed_yet_lead_to_the_page_that_says_so(researcher: Client, ending: str) -> None:
    response = researcher.get(f"{PAGE}{ending}?continent=Africa")
    assert response.status_code == 302
    assert response.headers["Location"] == f"{PAGE}?continent=Africa"


def test_a_stale_table_is_shown_with_its_time_and_asked_for(
    researcher: Client, django_capture_on_commit_callbacks: Capture
) -> None:
    make_stored()
    counters.bump_input_counters("runs.association")
    with django_capture_on_commit_callbacks() as announced:
        shown = text_of(researcher, PAGE)
    assert "is being recomputed" in shown
    assert re.search(r"As of \d{4}-\d\d-\d\d \d\d:\d\d UTC", shown)
    assert "<data " in shown
    assert len(announced) == 1


def test_a_failed_table_says_so_and_keeps_its_numbers(researcher: Client) -> None:
    make_stored()
    StoredTable.objects.update(error="MemoryError")
    shown = text_of(researcher, PAGE)
    assert "The last attempt to compute this table failed" in shown
    assert "<data " in shown


def test_the_page_shows_the_numbers_that_the_command_prints(researcher: Client) -> None:
    make_stored()
    out = io.StringIO()
    call_command("tables", NAME, stdout=out)
    values = [row["value"] for row in csv.DictReader(io.StringIO(out.getvalue())) if row["value"]]
    shown = re.findall(r'<data value="([^"]+)">([^<]+)</data>', text_of(researcher, PAGE))
    assert [exact for exact, _rounded in shown] == values
    assert [rounded.replace("−", "-") for _exact, rounded in shown] == [f"{float(value):.3f}" for value in values]


def test_the_download_is_the_text_that_the_command_prints(researcher: Client) -> None:
    make_stored()
    out = io.StringIO()
    call_command("tables", NAME, stdout=out)
    response = researcher.get(f"{PAGE}table.csv")
    assert response.content.decode() == out.getvalue()
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="association.scores.csv"'


def test_a_filter_in_the_address_reaches_page_downloads_and_command_line(researcher: Client) -> None:
    make_stored()
    compute.compute_and_store(NAME, {"continent": "Africa"})
    shown = text_of(researcher, f"{PAGE}?continent=Africa")
    assert "manage.py tables association.scores --format csv --filter continent=Africa" in shown
    assert f'src="{PAGE}figure.svg?continent=Africa"' in shown
    assert f'href="{PAGE}table.csv?continent=Africa"' in shown


def test_a_long_table_says_what_it_leaves_out(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [make_place_in("Africa"), make_place_in("Asia")]
    make_association(*(image_result(place, "painter", 1, number) for number, place in enumerate(places)))
    compute.compute_and_store(NAME, {})
    monkeypatch.setattr(table, "MOST_LINES", 1)
    shown = text_of(researcher, PAGE)
    assert "1 more line is not shown" in shown
    assert shown.count('<th scope="row">') == 3


def test_what_is_not_claimed_stands_below_with_its_reason(researcher: Client) -> None:
    make_stored(images=3)
    shown = text_of(researcher, PAGE)
    assert "fewer than 10 dishes: no interval is claimed" in shown
    assert "taste, Africa, painter (normalised score, normalised over all, net, as printed)" in shown
    assert '<td class="num small-group">' in shown


def test_what_is_not_measured_is_a_dash_and_never_a_zero(researcher: Client) -> None:
    make_stored(images=1)
    shown = text_of(researcher, PAGE)
    assert re.search(r'<abbr title="all images that the range is taken from score the same[^"]*">—</abbr>', shown)
    assert len(re.findall("<data ", shown)) == 2


def test_a_demonstration_says_so_on_page_file_name_and_figure(researcher: Client) -> None:
    make_stored(demonstration=True)
    assert "Demonstration: these numbers come from stand-ins" in text_of(researcher, PAGE)
    disposition = researcher.get(f"{PAGE}table.csv").headers["Content-Disposition"]
    assert 'filename="association.scores.demonstration.csv"' in disposition


def test_a_selection_that_holds_nothing_says_so(researcher: Client) -> None:
    made_by = {"Africa": "painter", "Asia": "tilebench"}
    places = {name: make_place_in(name) for name in made_by}
    make_association(
        *(image_result(places[name], made_by[name], 1, number) for number in range(12) for name in made_by)
    )
    chosen = {"continent": "Africa", "model": "tilebench"}
    compute.compute_and_store(NAME, {})
    compute.compute_and_store(NAME, chosen)
    query = urlencode(chosen)
    assert "Not measured: there is nothing to count for this choice" in text_of(researcher, f"{PAGE}?{query}")
    assert researcher.get(f"{PAGE}figure.svg?{query}").status_code == 302


def test_names_from_outside_are_escaped_and_keep_their_direction(researcher: Client) -> None:
    make_association(image_result(make_place_in("<b>إفريقيا</b>"), "painter", 1, 0))
    compute.compute_and_store(NAME, {})
    assert '<bdi dir="auto">&lt;b&gt;إفريقيا&lt;/b&gt;</bdi>' in text_of(researcher, PAGE)


def test_the_figure_is_an_image_that_loads_nothing(researcher: Client) -> None:
    make_stored()
    response = researcher.get(f"{PAGE}figure.svg")
    assert response.headers["Content-Type"] == "image/svg+xml"
    drawn = response.content.decode()
    assert drawn.lstrip().startswith("<?xml")
    assert "<script" not in drawn
    assert not re.findall(r'href="(?!#)', drawn)
    assert researcher.get(f"{PAGE}figure.svg").content.decode() == drawn


def test_figures_come_in_the_widths_of_print(researcher: Client) -> None:
    make_stored()
    queries = ("?width=8", "?width=17", "?width=9", "?width=")
    assert [researcher.get(f"{PAGE}figure.svg{query}").status_code for query in queries] == [200, 200, 404, 200]


def test_other_files_are_downloads_with_a_name(researcher: Client) -> None:
    make_stored()
    for file, begins in {"figure.pdf": b"%PDF-", "figure.png": b"\x89PNG", "table.json": b"{"}.items():
        response = researcher.get(PAGE + file)
        assert response.content.startswith(begins)
        assert response.headers["Content-Disposition"] == f'attachment; filename="{NAME}.{file.partition(".")[2]}"'


def test_a_form_offers_the_values_that_occur_and_keeps_what_is_chosen(researcher: Client) -> None:
    places = [make_place_in("Africa"), make_place_in("Asia")]
    make_association(*(image_result(place, "painter", 1, number) for number, place in enumerate(places)), slug="one")
    compute.compute_and_store(NAME, {})
    compute.compute_and_store(NAME, {"continent": "Asia"})
    shown = text_of(researcher, f"{PAGE}?continent=Asia")
    assert '<form class="filters" method="get">' in shown
    assert "<option>Africa</option><option selected>Asia</option>" in shown
    assert '<a href="?">Continent: <bdi dir="auto">Asia</bdi>' in shown


def test_the_form_is_there_while_a_choice_is_computed(researcher: Client) -> None:
    places = [make_place_in("Africa"), make_place_in("Asia")]
    make_association(*(image_result(place, "painter", 1, number) for number, place in enumerate(places)))
    compute.compute_and_store(NAME, {})
    shown = text_of(researcher, f"{PAGE}?continent=Asia")
    assert "This table is being computed" in shown
    assert "<option>Africa</option><option selected>Asia</option>" in shown


def test_empty_choices_leave_the_address(researcher: Client) -> None:
    response = researcher.get(f"{PAGE}?continent=&model=painter&run=")
    assert (response.status_code, response.headers["Location"]) == (302, f"{PAGE}?model=painter")


@pytest.mark.parametrize(("query", "near"), [("continent=Afrika", "Africa"), ("run=vector", "vectors")])
def test_a_value_that_nothing_has_is_not_found_and_names_the_near_ones(
    researcher: Client, query: str, near: str
) -> None:
    make_stored()
    response = researcher.get(f"{PAGE}?{query}")
    assert response.status_code == 404
    assert f"Did you mean {near}" in response.content.decode()
    assert StoredTable.objects.count() == 1


def test_the_page_says_how_the_numbers_were_made(researcher: Client) -> None:
    make_stored()
    shown = text_of(researcher, PAGE)
    version = lookup.find_table_spec(NAME).version
    assert f"Association with descriptor words: table association.scores, version {version} of its definition" in shown
    assert "The run vectors of the study association (version " in shown
    assert "Counted: 14 outcomes, 14 done, 14 clusters." in shown


def test_a_model_has_its_colour_beside_its_name(researcher: Client) -> None:
    make_stored()
    painter = palette.get_model_colour("painter", views_tables.model_colours())
    assert f'fill="{painter}"/></svg><bdi dir="auto">painter</bdi>' in text_of(researcher, PAGE)
    assert painter in researcher.get(f"{PAGE}figure.svg").content.decode()


def test_a_newly_computed_table_has_a_new_figure(researcher: Client) -> None:
    make_stored()
    before = researcher.get(f"{PAGE}figure.svg").content
    make_stored(images=15, slug="later")
    assert researcher.get(f"{PAGE}figure.svg").content != before


def test_a_stored_page_takes_few_queries_however_many_rows(
    researcher: Client, django_assert_max_num_queries: Callable[[int], Any]
) -> None:
    continents = ("Africa", "Asia", "Europe", "Oceania")
    make_association(*(image_result(make_place_in(name), "painter", 1, n) for n, name in enumerate(continents)))
    compute.compute_and_store(NAME, {})
    # Session, user, two of permissions, counters, table, plans, runs, models.
    with django_assert_max_num_queries(9):
        text_of(researcher, PAGE)
