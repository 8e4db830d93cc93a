"""Every cell of every table opens what it counted: in the demonstration, with all its tables."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from collection.models import Dish
from evaluation import content_store
from evaluation.drilldown import cells
from evaluation.models import GeneratedImage
from evaluation.presentation.images import SEE
from evaluation.registry.names import READ_ANSWERS, TABLES
from evaluation.tables import compute, read
from tests.evaluation.drilldown import cell_of, check
from tests.evaluation.make_tables import make_staff
from tests.review.make import make_image_bytes
from tests.wwd.demonstration import demonstration as demonstration
from wwd.exchange.demo.loading import KEY

pytestmark = pytest.mark.django_db
COUNTED = [
    name for name in TABLES if name.split(".")[0] in ("association", "colours", "generation", "review", "stereotypes")
]
# Nobody skipped anything there, there are no photographs, and too few images for a ranking.
EMPTY = ("review.controls", "association.descriptors")
# Its numbers are no means over images: it opens those of its group.
OTHER = "agreement.labels"
# Fifteen, and two for the permissions of somebody who is no superuser.
MOST_QUERIES = 17


def researcher(*more: str) -> Client:
    """Signed in, with the permission to see tables and what else is named."""
    person = make_staff()
    for permission in more:
        app, codename = permission.split(".")
        person.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    client = Client()
    client.force_login(person)
    return client


def address(name: str) -> str:
    """The page behind the first cell of a table that has a value."""
    view = read.read_stored_table(name, {})
    assert view.table
    row = next(row for row in view.table.rows if row.estimate.value is not None)
    return f"/admin/evaluation/tables/{name}/drilldown/{cells.cell_query({}, row.groups, row.metric)}"


@pytest.fixture(scope="module")
def stored(demonstration: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """All tables computed once."""
    with django_db_blocker.unblock(), transaction.atomic():
        for name in (*COUNTED, OTHER):
            compute.compute_and_store(name, {})
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_listed_behind_a_number_is_what_it_counted(name: str, stored: None) -> None:
    assert check(read.read_stored_table(name, {})) or name in EMPTY


@pytest.mark.parametrize(
    ("name", "filters"),
    [
        ("review.quality", {"country": "Fiji"}),
        ("review.quality", {"continent": "Oceania"}),
        ("association.scores", {"country": "Fiji"}),
        ("generation.counts", {"prompt": "generation-plain"}),
    ],
)
def test_a_filter_goes_on_to_what_stands_behind(name: str, filters: dict[str, str], stored: None) -> None:
    assert check(compute.compute_and_store(name, filters), **filters)


@pytest.mark.parametrize("name", [*COUNTED, OTHER])
def test_every_table_opens_its_images_within_few_queries(
    name: str, stored: None, django_assert_max_num_queries: object
) -> None:
    view = read.read_stored_table(name, {})
    if not view.table or not view.table.rows:
        pytest.skip("The demonstration has nothing of it.")
    client, row = researcher(SEE, READ_ANSWERS), view.table.rows[0]
    page = f"/admin/evaluation/tables/{name}/drilldown/{cells.cell_query({}, row.groups, row.metric)}"
    # The first page of a process reads the types of content too.
    client.get(page)
    with django_assert_max_num_queries(MOST_QUERIES):  # type: ignore[operator]
        response = client.get(page)
    assert response.status_code == 200
    assert "<img" not in response.content.decode()


def test_the_page_of_a_table_leads_behind_each_of_its_cells(stored: None) -> None:
    link = address("review.quality")
    page = researcher().get("/admin/evaluation/tables/review.quality/").content.decode()
    assert f'href="drilldown/{link.partition("drilldown/")[2]}"'.replace("&", "&amp;") in page


def test_an_image_has_no_address_before_somebody_asks_for_it(stored: None) -> None:
    client, page = researcher(SEE), address("review.quality")
    before = client.get(page).content.decode()
    assert "The image is covered." in before
    assert ".jpg" not in before
    image = int(before.partition('id="p')[2].partition('"')[0])
    GeneratedImage.objects.all().update(sha256=content_store.store_content(make_image_bytes()))
    after = client.get(f"{page}&show={image}").content.decode()
    assert after.count("<img") == 1
    assert f'src="/admin/evaluation/images/{image}/small.jpg"' in after
    assert client.get(f"{page}&show=all").content.decode().count("<img") > 1
    assert client.get(f"/admin/evaluation/images/{image}/small.jpg").headers["Content-Type"] == "image/jpeg"


def test_prompt_seed_scores_and_reviews_stand_beside_an_image(stored: None) -> None:
    page = address("review.quality")
    shown = researcher(SEE, READ_ANSWERS).get(page).content.decode()
    for words in ("Prompt as sent", "A photograph of", "seed ", "net score", "Machine: stereotypes", "counted: "):
        assert words in shown
    assert "Demonstration: nobody said this." not in shown
    assert "shown once a steward has read them" in shown
    assert f"{KEY}/" not in shown


def test_single_answers_are_for_those_who_may_read_them(stored: None) -> None:
    shown = researcher(SEE).get(address("review.quality")).content.decode()
    assert re.search(r"\d+ answers? counted, \d+ not counted", shown)
    assert "Reviewer " not in shown


def test_own_words_are_for_stewards_or_after_one_has_read_them(stored: None) -> None:
    steward = researcher(SEE, READ_ANSWERS, "review.change_review")
    assert "Demonstration: nobody said this." in steward.get(address("review.quality")).content.decode()


def test_a_withdrawn_dish_vanishes_at_once(stored: None) -> None:
    page = address("review.quality")
    client = researcher(SEE, READ_ANSWERS)
    view = read.read_stored_table("review.quality", {})
    assert view.table
    cell = cell_of("review.quality", next(row for row in view.table.rows if row.estimate.value is not None))
    [first, *_rest], _more = cells.load_drilldown(cell).page()
    dish = GeneratedImage.objects.get(pk=first).subject.dish
    assert dish
    Dish.objects.filter(pk=dish.pk).update(state=Dish.State.WITHDRAWN)
    assert dish.local_name not in client.get(page).content.decode()
    alone = client.get(f"/admin/evaluation/images/{first}/?show=all").content.decode()
    assert "Its dish was withdrawn" in alone
    assert dish.local_name not in alone and "Prompt" not in alone and "<img" not in alone
    assert client.get(f"/admin/evaluation/images/{first}/small.jpg").status_code == 404
    assert client.get(f"/admin/evaluation/subjects/{dish.subjects.get().pk}/images/").status_code == 404
