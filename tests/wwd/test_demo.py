"""The demonstration: right in itself, marked wherever it stands, loaded once, and gone with everything it made."""

import unicodedata
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.db import transaction
from django.test import Client, override_settings
from pytest_django.plugin import DjangoDbBlocker

from collection.dishes.write import save_dish
from collection.models import Contributor, Dish, DishContinent, DishKind, Source, TimeOfDay
from collection.vocabularies.languages import UNKNOWN
from collection.vocabularies.places import code_for
from evaluation import content_store, runner
from evaluation.models import GeneratedImage, Outcome, Run, Subject, Unit
from review.campaigns.service import add_invitation, prepare_campaign_images, save_review
from review.models import Campaign, Invitation, Questionnaire, Review, Reviewer
from wwd.base.packages import list_models
from wwd.exchange.demo import loading

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
INHABITED = {"Africa", "Asia", "Europe", "North America", "Oceania", "South America"}
ANSWERS = {"associates": "yes", "familiarity": "very", "quality": "4", "food": "no"}


def demo(action: str) -> str:
    out = StringIO()
    call_command("demo", action, stdout=out)
    return out.getvalue()


def dump() -> dict[str, list[dict[str, Any]]]:
    """Every row of ours, counters of changes excepted."""
    kept = (model for model in list_models() if model.__name__ != "InputCounter")
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in kept}


def stored_files() -> set[str]:
    root = Path(default_storage.path("."))
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def work_through(run: Run) -> None:
    while runner.process_run(run.pk, "test"):
        pass


def make_real_things() -> None:
    """A dish, images of it by the same stand-in, a campaign with an answer, and a run with the same words."""
    words = {"local_name": "Echter Eintopf", "ingredients": "lentils"}
    save_dish(words, ["Germany"], [("German", "deu")], state=Dish.State.ACCEPTED)
    generation = runner.create_run("generation", {"model": "sketch", "images_per_subject": 1}, slug="real-pictures")
    work_through(generation)
    work_through(runner.create_run("association", {"images": "real-pictures"}, slug="real-words"))
    questionnaire = Questionnaire.objects.get(slug="e2", version="1")
    campaign = Campaign.objects.create(slug="real", title="Real", questionnaire=questionnaire, state="open")
    prepare_campaign_images(campaign, GeneratedImage.objects.filter(run=generation))
    add_invitation(campaign)
    save_review(Reviewer.objects.create(campaign=campaign, country="Germany"), campaign.images.get(), ANSWERS)


def test_there_are_dishes_of_all_inhabited_continents() -> None:
    loading.add_dishes()
    shown = Dish.objects.accepted().filter(source=Source.DEMONSTRATION)
    assert shown.count() == len(loading.read_demo_dishes()) >= 36
    assert set(DishContinent.objects.values_list("continent", flat=True)) == INHABITED
    assert len(set(shown.values_list("places__country", flat=True))) >= 16


def test_every_demonstration_dish_is_valid_in_itself() -> None:
    loading.add_dishes()
    for dish in Dish.objects.filter(source=Source.DEMONSTRATION).prefetch_related("languages", "places"):
        dish.full_clean(exclude=["kinds", "time_of_day"])
        assert all(unicodedata.is_normalized("NFC", text) for text in (dish.local_name, dish.ingredients))
        assert all(place.country for place in dish.places.all()), dish
        assert all(language.code != UNKNOWN for language in dish.languages.all()), dish


@pytest.mark.parametrize("dish", loading.read_demo_dishes(), ids=lambda dish: dish["key"])
def test_codes_of_a_demonstration_dish_are_known(dish: dict[str, Any]) -> None:
    known = {"key", "countries", "languages", *loading.WORDS}
    assert set(dish) <= known
    assert all(code_for(name) for name in dish["countries"])
    assert set(dish.get("time_of_day", [])) <= set(TimeOfDay.values)
    assert set(dish.get("kinds", [])) <= set(DishKind.values)


def test_dishes_stand_in_the_scripts_of_their_languages() -> None:
    scripts = {unicodedata.name(dish["local_name"][0]).split()[0] for dish in loading.read_demo_dishes()}
    assert scripts >= {"ARABIC", "ARMENIAN", "BENGALI", "CANADIAN", "CJK", "CYRILLIC", "DEVANAGARI", "ETHIOPIC"}
    assert scripts >= {"GEORGIAN", "GREEK", "HANGUL", "HEBREW", "KHMER", "LAO", "LATIN", "MYANMAR", "SINHALA", "TAMIL"}
    assert scripts >= {"THAI", "TIFINAGH"}


def test_clearing_removes_every_row_and_file_and_what_people_did_with_it_and_nothing_else() -> None:
    """Slow: the whole demonstration beside real rows, because clearing must never take one of those."""
    make_real_things()
    before, held = dump(), stored_files()
    demo("load")
    assert len(stored_files()) > len(held)
    config = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True, "limit": 1}}
    work_through(runner.create_run("generation", config, slug="somebody-tried"))
    campaign = Campaign.objects.get(slug=loading.KEY)
    shown = campaign.images.filter(country="Japan")[0]
    save_review(Reviewer.objects.create(campaign=campaign, country="Japan"), shown, ANSWERS)
    demo("clear")
    assert dump() == before
    assert stored_files() == held
    assert Outcome.objects.filter(unit__run__slug="real-words").exclude(embedding=None).count() > 20
    assert content_store.read_content(GeneratedImage.objects.get().sha256)


def test_clearing_where_nothing_was_loaded_leaves_everything() -> None:
    make_real_things()
    before = dump()
    assert "Removed the demonstration data: 0 dishes" in demo("clear")
    assert dump() == before


def test_the_numbers_of_peoples_dishes_are_not_used_up() -> None:
    loading.add_dishes()
    dish = save_dish({"local_name": "Suppe", "ingredients": "salt"}, ["Germany"], [("German", "deu")])
    assert dish.number < 20_000


def test_status_counts_what_is_there() -> None:
    loading.add_dishes()
    assert demo("status") == (
        f"Demonstration data here: {len(loading.read_demo_dishes())} dishes, 0 images, 0 runs, 0 campaigns, "
        "0 reviewers.\n"
    )


@pytest.mark.parametrize("state", [Campaign.State.CLOSED, Campaign.State.DRAFT])
def test_a_campaign_that_staff_closed_stays_closed(state: str) -> None:
    campaign = loading.open_campaign()
    Campaign.objects.update(state=state)
    assert loading.open_campaign() == campaign
    assert loading.add_reviews(loading.open_campaign()) == 0
    assert Campaign.objects.get().state == state


@pytest.fixture(scope="module")
def loaded(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The demonstration for all tests that only look at it; what the command printed."""
    folder = tmp_path_factory.mktemp("demonstration")
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    with (
        django_db_blocker.unblock(),
        transaction.atomic(),
        override_settings(STORAGES={**settings.STORAGES, "default": storage}),
    ):
        yield demo("load")
        transaction.set_rollback(True)


def test_loading_shows_the_whole_recipe_and_marks_every_row(loaded: str, client: Client) -> None:
    assert f"Added {len(loading.read_demo_dishes())} dishes" in loaded
    assert set(Dish.objects.values_list("source", flat=True)) == {Source.DEMONSTRATION}
    assert set(Contributor.objects.values_list("source", flat=True)) == {Source.DEMONSTRATION}
    assert set(Subject.objects.values_list("demonstration", flat=True)) == {True}
    assert set(Run.objects.values_list("demonstration", "state")) == {(True, Run.State.DONE)}
    assert set(Run.objects.values_list("study", flat=True)) == {"generation", "association", "stereotypes", "knowledge"}
    assert set(Unit.objects.values_list("state", flat=True)) == {Unit.State.DONE}
    assert set(GeneratedImage.objects.values_list("model__demonstration", "state")) == {(True, "held")}
    assert set(Reviewer.objects.values_list("source", flat=True)) == {Source.DEMONSTRATION}
    assert set(Campaign.objects.values_list("source", "state")) == {(Source.DEMONSTRATION, Campaign.State.OPEN)}
    said = [review.answers.get("explanation") or review.answers["seen"] for review in Review.objects.all()]
    assert set(said) == {loading.SAID}
    assert Dish.objects.released().count() == 0
    link = Invitation.objects.get().get_absolute_url()
    assert f"Link to judge images: {link}" in loaded
    assert client.get(link).status_code == 200
    assert not Campaign.objects.get().images.filter(copy_sha256="").exists()


def test_loading_twice_changes_nothing(loaded: str) -> None:
    before, held = dump(), stored_files()
    assert "Added 0 dishes, 0 images and 0 reviews." in demo("load")
    assert dump() == before
    assert stored_files() == held
