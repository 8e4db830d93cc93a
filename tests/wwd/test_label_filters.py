"""Filters by the labels of dishes and by prompts choose what is counted, in tables and in observations alike."""

from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from collection.models import Dish
from evaluation import counters
from evaluation.contracts.table import TableSpec
from evaluation.metrics.tidy import TidyTable
from evaluation.models import GeneratedImage, Outcome
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute
from evaluation.tables.serialise import from_content, to_content
from review.models import Assignment, Review
from tests.evaluation.table_observations import check
from tests.wwd.demonstration import demonstration as demonstration
from wwd.exchange.demo import loading

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("demonstration"), pytest.mark.embedded]
PROMPT = "generation-plain"


def table(name: str, **filters: str) -> TidyTable:
    return compute.compute_table(lookup.find_table_spec(name), filters)


def total(made: TidyTable, metric: str) -> int:
    return sum(row.estimate.n for row in made.rows if row.metric == metric)


def images(**labels: str) -> list[int]:
    """Images of the demonstration whose dish has these labels."""
    rows = GeneratedImage.objects.filter(run__slug=loading.GENERATION).select_related("subject")
    return [row.pk for row in rows if all(value in row.subject.labels[name] for name, value in labels.items())]


def spec_of(name: str) -> TableSpec:
    return lookup.find_table_spec(name)


def test_every_study_and_every_table_of_reviews_has_these_filters() -> None:
    for name in TABLES:
        if spec_of(name).study:
            assert {"continent", "language", "kind", "prompt"} <= {*spec_of(name).filters}, name
    lacking = [name for name in TABLES if name.startswith("review.") and "language" not in spec_of(name).filters]
    assert lacking == []


@pytest.mark.parametrize("labels", [{"language": "hin"}, {"kind": "main_sides"}, {"continent": "Asia", "kind": "soup"}])
def test_reviews_of_dishes_with_a_label_are_counted_and_no_others(labels: dict[str, str]) -> None:
    expected = Review.objects.filter(image__image__in=images(**labels)).count()
    assert total(table("review.quality", **labels), "food") == expected
    assert total(table("review.words", **labels), "as_published") == expected * 17


@pytest.mark.parametrize("labels", [{"language": "hin"}, {"continent": "Africa"}])
def test_outcomes_about_dishes_with_a_label_are_counted_and_no_others(labels: dict[str, str]) -> None:
    assert table("generation.counts", **labels).about["counted"]["done"] == len(images(**labels)) > 0


def test_words_belong_to_every_choice_so_that_chosen_images_can_be_scored() -> None:
    made = table("association.scores", language="hin")
    assert {row.estimate.n for row in made.rows} == {len(images(language="hin"))}


def test_prompts_choose_images_and_reviews_of_them() -> None:
    assert table("generation.counts", prompt=PROMPT).rows == table("generation.counts").rows
    assert table("stereotypes.answers", prompt=PROMPT).rows == table("stereotypes.answers").rows
    assert not table("generation.counts", prompt="another").rows
    assert table("review.quality", prompt=PROMPT).rows == table("review.quality").rows
    assert not table("review.quality", prompt="another").rows


@pytest.mark.parametrize("name", ["review.quality", "review.match", "stereotypes.answers", "association.scores"])
def test_observations_are_chosen_by_the_same_filters(name: str) -> None:
    assert check(name, language="hin", prompt=PROMPT)


def test_a_table_says_what_was_chosen_and_keeps_what_else_there_is() -> None:
    for name, note in {
        "review.quality": "Only reviews of images of these dishes and prompts: language: hin.",
        "generation.counts": "Only what is about language: hin was counted",
    }.items():
        made = table(name, language="hin")
        assert any(said.startswith(note) for said in made.notes)
        assert {"hin", "amh"} <= {*made.about["options"]["language"]}
        assert made.about["options"]["prompt"] == [PROMPT]


def test_a_table_keeps_its_run_its_circumstances_and_how_much_was_counted() -> None:
    about = table("generation.counts").about
    assert about["run"]["slug"] == loading.GENERATION
    assert about["circumstances"]["backend"] == {"sketch": len(images())}
    assert about["counted"]["outcomes"] == about["counted"]["done"] == len(images())
    reviews = table("review.quality").about
    assert reviews["counted"]["reviews"] == Review.objects.count()
    assert reviews["questionnaire"] == "e2 1"


DERIVED = [f"{kind}.{base}" for kind in ("compare", "disparity") for base in ("review.quality", "stereotypes.answers")]
KEEPING = [name for name in (*TABLES, *DERIVED) if any(map(spec_of(name).only_selects_rows, spec_of(name).filters))]


@pytest.mark.parametrize("name", KEEPING)
def test_what_a_column_keeps_of_the_stored_table_is_what_would_be_computed(name: str) -> None:
    spec = spec_of(name)
    whole = compute.compute_and_store(name, {}).table
    assert whole is not None
    names = filter(spec.only_selects_rows, spec.filters)
    for chosen in [{column: row.groups[column]} for column in names for row in whole.rows[-1:]]:
        computed = compute.compute_table(spec, chosen)
        stored = compute.compute_and_store(name, chosen).table
        assert stored == from_content(name, spec.version, to_content(computed))


@pytest.fixture
def turned_rows() -> Iterator[Callable[[], None]]:
    """Makes the database give rows without an order in another one than before."""
    pragma = "PRAGMA reverse_unordered_selects = {}"

    def turn() -> None:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(pragma.format("ON"))
                return
            for model in (Review, Assignment, Outcome, Dish, GeneratedImage):
                # A row that is written again moves to the end of its table.
                table, key = model._meta.db_table, model._meta.pk.column
                cursor.execute(f"UPDATE {table} SET {key} = {key} WHERE hashtext({key}::text) % 2 = 0")
            cursor.execute("SET LOCAL enable_indexscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")

    yield turn
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(pragma.format("OFF"))


@pytest.mark.parametrize("name", lookup.list_table_names())
def test_no_number_depends_on_the_order_in_which_a_database_gives_rows(
    name: str, turned_rows: Callable[[], None]
) -> None:
    before = to_content(table(name))
    turned_rows()
    assert to_content(table(name)) == before


@pytest.mark.parametrize("name", ["agreement.calibration", "agreement.scores"])
def test_one_country_of_people_and_machine_has_the_rows_that_it_has_among_all(name: str) -> None:
    whole = table(name).rows
    countries = {row.groups["country"] for row in whole}
    for country in countries:
        assert table(name, country=country).rows == tuple(row for row in whole if row.groups["country"] == country)


def test_a_column_of_a_table_that_is_not_fresh_is_computed_from_the_rows() -> None:
    whole = compute.compute_and_store("review.quality", {}).table
    assert whole is not None
    country = whole.rows[0].groups["country"]
    Review.objects.filter(image__country=country).update(food=False)
    counters.bump_input_counters("reviews")
    kept = compute.compute_and_store("review.quality", {"country": country}).table
    assert kept is not None
    assert {row.estimate.value for row in kept.rows if row.metric == "food"} == {0.0}
