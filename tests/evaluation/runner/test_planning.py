"""From a configuration to a run: keys, labels, and sentences about what is wrong."""

from typing import Any

import pytest

from collection.models import Dish, Source
from evaluation import studies
from evaluation.contracts.study import ConfigError
from evaluation.models import Model, PromptTemplate, Run, RunLabel, Subject, Unit
from evaluation.runner import chains, create_run, preview_run
from evaluation.subjects import select_subjects, subject_for
from tests.evaluation.make import make_country, make_demonstration_dishes, make_dish, make_model

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def generation(**values: Any) -> dict[str, Any]:
    return {"model": "sketch", "images_per_subject": 2, **values}


def keys(run: Run) -> list[str]:
    return list(run.units.order_by("pk").values_list("key", flat=True))


def test_every_dish_gets_the_wanted_number_of_images() -> None:
    dishes = [make_dish("Waakye"), make_dish("Jollof")]
    run = create_run("generation", generation())
    assert keys(run) == [f"dish:{dish.number}/{n}" for dish in dishes for n in (0, 1)]
    assert run.state == Run.State.PLANNED
    assert set(run.units.values_list("state", flat=True)) == {"pending"}


def test_the_same_configuration_gives_the_same_keys_and_payloads() -> None:
    make_dish()
    first = create_run("generation", generation(), slug="first")
    second = create_run("generation", generation(), slug="second")
    fields = ("key", "payload", "affinity")
    assert list(first.units.order_by("pk").values(*fields)) == list(second.units.order_by("pk").values(*fields))


def test_asking_twice_gives_the_same_run() -> None:
    make_dish()
    first = create_run("generation", generation())
    assert create_run("generation", generation()).pk == first.pk
    assert create_run("generation", generation(seed=1)).pk != first.pk
    assert Unit.objects.filter(run=first).count() == 2


def test_a_name_in_use_for_another_configuration_is_refused() -> None:
    make_dish()
    create_run("generation", generation(), slug="mine")
    with pytest.raises(ConfigError, match="'mine' exists with another config"):
        create_run("generation", generation(seed=1), slug="mine")


def test_seeds_differ_by_image_dish_and_seed_and_fit_every_model() -> None:
    make_dish("Waakye")
    make_dish("Jollof")
    seeds = [
        unit.payload["seed"]
        for seed in (0, 1)
        for unit in create_run("generation", generation(images_per_subject=20, seed=seed)).units.all()
    ]
    assert len(set(seeds)) == 80
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_model_without_seeds_gets_sample_numbers() -> None:
    make_dish()
    make_model("unseeded", parameters={"seeds": False})
    run = create_run("generation", generation(model="unseeded"))
    assert [unit.payload["sample"] for unit in run.units.order_by("pk")] == [0, 1]
    assert all("seed" not in unit.payload for unit in run.units.all())


def test_the_prompt_holds_the_contributors_own_words() -> None:
    make_dish("ဒံပေါက်", country=make_country("MMR", "Myanmar", ["Asia"]), written="Burma")
    run = create_run("generation", generation())
    sent = run.units.first().payload["prompt"]  # type: ignore[union-attr]
    assert sent == (
        "Generate a photograph of food from Burma called ဒံပေါက်. The food should be served, ready to be eaten."
    )


def test_a_name_that_looks_like_a_placeholder_stays_as_it_is() -> None:
    make_dish("{countries} {0.__class__} %s \\1")
    run = create_run("generation", generation())
    assert "called {countries} {0.__class__} %s \\1." in run.units.first().payload["prompt"]  # type: ignore[union-attr]


def test_labels_are_frozen_with_the_run() -> None:
    turkiye = make_country("TUR", "Türkiye", ["Asia", "Europe"])
    dish = make_dish("Lokma", country=turkiye, written="Turkey", kinds=["dessert"])
    run = create_run("generation", generation())
    dish.continents.all().delete()
    create_run("generation", generation(), slug="later")
    assert sorted(RunLabel.objects.filter(run=run).values_list("dimension", "value")) == [
        ("continent", "Asia"),
        ("continent", "Europe"),
        ("country", "Türkiye"),
        ("kind", "dessert"),
        ("language", "hau"),
    ]
    assert not RunLabel.objects.filter(run__slug="later", dimension="continent").exists()


def test_the_definition_says_what_must_be_equal_to_be_compared() -> None:
    make_dish()
    run = create_run("generation", generation())
    assert run.definition["prompt"] == "generation-specific as published"
    assert len(run.definition["prompt_sha256"]) == 64
    assert (run.definition["model"], run.definition["revision"], run.study_version) == ("sketch", "1", "1")


def test_a_stand_in_makes_a_demonstration_and_so_do_demonstration_dishes() -> None:
    make_dish()
    make_demonstration_dishes(1)
    make_model("painter")
    assert create_run("generation", generation()).demonstration
    assert not create_run("generation", generation(model="painter")).demonstration
    subjects = {"kind": "dish", "demonstration": True}
    assert create_run("generation", generation(model="painter", subjects=subjects)).demonstration


def test_the_model_says_which_queue_its_runs_go_to() -> None:
    make_dish()
    make_model("big", parameters={"queue": "gpu"})
    assert create_run("generation", generation(model="big")).queue == "gpu"
    assert create_run("generation", generation(model="big", seed=1), queue="cpu").queue == "cpu"


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({}, "model is missing"),
        ([], "The configuration is an object"),
        ({"model": "sketch", "sed": 1}, "Did you mean seed"),
        ({"model": "skech"}, "There is no model 'skech'. Did you mean sketch?"),
        ({"model": 3}, "model is 3. Accepted: a text."),
        ({"model": "sketch", "images_per_subject": "5"}, "images_per_subject is '5'. Accepted: a whole number from 1"),
        ({"model": "sketch", "images_per_subject": True}, "images_per_subject is true. Accepted: a whole"),
        ({"model": "sketch", "images_per_subject": 0}, "from 1 to 1000"),
        ({"model": "sketch", "seed": -1}, "seed is -1. Accepted: a whole number from 0 to 2147483647."),
        ({"model": "sketch", "subjects": "dish"}, "subjects is 'dish'. Accepted: an object with fields."),
        ({"model": "sketch", "subjects": {"kind": "dsh"}}, "Did you mean dish?"),
        ({"model": "sketch", "subjects": {"contries": []}}, "Did you mean countries?"),
        (
            {"model": "sketch", "subjects": {"kind": "place", "level": "country", "countries": ["Gana"]}},
            "There is no country 'Gana'. Did you mean Ghana",
        ),
        ({"model": "sketch", "subjects": {"countries": ["Gana"]}}, "There is no country 'Gana'. Did you mean Ghana"),
        (
            {"model": "sketch", "subjects": {"countries": "Ghana"}},
            "subjects.countries is 'Ghana'. Accepted: a list of texts",
        ),
        ({"model": "sketch", "subjects": {"limit": 0}}, "limit is 0. Accepted: a whole number of at least 1"),
        ({"model": "sketch", "subjects": {"limit": True}}, "limit is true. Accepted: a whole number of"),
        ({"model": "sketch", "subjects": {"demonstration": "yes"}}, "demonstration is 'yes'. Accepted: true or false."),
        (
            {"model": "sketch", "subjects": {"kind": "place", "level": "contry"}},
            "subjects.level is 'contry'. Accepted: 'country' or 'continent' or 'world'. Did you mean country",
        ),
        ({"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}}, "nothing is selected"),
        ({"model": "sketch", "prompt": "generation-specfic"}, "Did you mean generation-specific"),
        ({"model": "sketch", "prompt_version": "as publshed"}, "Did you mean as published?"),
        (
            {"model": "sketch", "prompt": "generation-unspecific"},
            "no placeholder 'place'. Known: countries, local_name",
        ),
        ({"model": "standin-encoder"}, "standin-encoder makes no images"),
        ({"model": "elsewhere"}, "can be imported, not made here"),
        ({"model": "odd"}, "no backend for the role image_generator named 'scetch'. Did you mean sketch?"),
    ],
)
def test_a_configuration_that_cannot_be_used_says_what_to_change(config: Any, sentence: str) -> None:
    make_dish()
    make_model("elsewhere", backend="import")
    make_model("odd", backend="scetch")
    with pytest.raises(ConfigError) as caught:
        create_run("generation", config)
    assert sentence in str(caught.value)
    assert Run.objects.count() == 0
    assert Unit.objects.count() == 0


@pytest.mark.parametrize("slug", ["with blank", "ö", "a/b", "x" * 81])
def test_names_of_runs_are_short_and_plain(slug: str) -> None:
    make_dish()
    with pytest.raises(ConfigError, match="name of a run"):
        create_run("generation", generation(), slug=slug)


def test_a_plan_that_names_a_unit_twice_is_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "doubled", "tests.evaluation.failing_study:Doubled")
    with pytest.raises(ConfigError, match="twice"):
        create_run("doubled", {"acts": ["yes"]})
    assert Run.objects.count() == 0


def test_only_released_dishes_are_selected_unless_demonstrations_are_asked_for() -> None:
    released = make_dish("Waakye")
    make_dish("Waiting", state=Dish.State.WAITING)
    make_dish("Withdrawn", state=Dish.State.WITHDRAWN)
    make_dish("Merged", merged_into=released)
    shown = make_dish("Shown", source=Source.DEMONSTRATION)
    assert [row.dish for row in select_subjects({})] == [released]
    assert [row.dish for row in select_subjects({"demonstration": True})] == [shown]


def test_dishes_are_found_by_the_country_as_written_and_by_its_usual_name() -> None:
    burmese = make_dish("Mohinga", country=make_country("MMR", "Myanmar", ["Asia"]), written="Burma")
    make_dish("Waakye")
    assert [row.dish for row in select_subjects({"countries": ["Burma"]})] == [burmese]
    assert [row.dish for row in select_subjects({"countries": ["Myanmar"]})] == [burmese]
    assert len(select_subjects({"countries": ["Myanmar", "Ghana"]})) == 2
    assert len(select_subjects({"limit": 1})) == 1


def test_a_corrected_dish_keeps_its_subject() -> None:
    dish = make_dish("Wakye")
    before = subject_for(dish)
    dish.local_name = "Waakye"
    dish.save()
    after = subject_for(dish, before)
    assert (after.pk, after.name) == (before.pk, "Waakye")
    assert Subject.objects.count() == 1


def test_places_are_countries_with_dishes_continents_or_the_world() -> None:
    make_dish("Waakye")
    make_country("NGA", "Nigeria")
    assert [row.name for row in select_subjects({"kind": "place", "level": "country"})] == ["Ghana"]
    assert [row.name for row in select_subjects({"kind": "place", "countries": ["Nigeria"]})] == ["Nigeria"]
    continents = select_subjects({"kind": "place", "level": "continent"})
    assert [row.name for row in continents] == ["Africa", "Asia", "Europe", "North America", "Oceania", "South America"]
    assert continents[0].labels == {"continent": ["Africa"]}
    assert [row.name for row in select_subjects({"kind": "place", "level": "world"})] == ["the world"]
    with pytest.raises(ConfigError, match="level country only"):
        select_subjects({"kind": "place", "level": "world", "countries": ["Ghana"]})


def test_places_are_drawn_with_prompts_that_name_no_dish() -> None:
    config = generation(prompt="generation-unspecific", subjects={"kind": "place", "level": "continent"})
    run = create_run("generation", config)
    assert run.units.count() == 12
    assert "food from South America." in run.units.get(key="place:continent:South America/0").payload["prompt"]


def test_a_later_version_of_a_prompt_is_used_unless_one_is_named() -> None:
    make_dish()
    PromptTemplate.objects.create(slug="generation-specific", version="2", text="Draw {local_name}.")
    assert create_run("generation", generation()).units.first().payload["prompt"] == "Draw Waakye."  # type: ignore[union-attr]
    named = create_run("generation", generation(prompt_version="as published"))
    assert named.definition["prompt"] == "generation-specific as published"


def test_shipped_rows_are_added_once_and_never_overwrite_what_staff_changed() -> None:
    from evaluation.seed_data import load_reference

    before = PromptTemplate.objects.count(), Model.objects.count()
    Model.objects.filter(slug="sketch").update(title="Our sketch")
    load_reference()
    assert Model.objects.get(slug="sketch").title == "Our sketch"
    assert (PromptTemplate.objects.count(), Model.objects.count()) == before


def test_a_plan_without_units_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    for made in (create_run, preview_run):
        with pytest.raises(ConfigError, match="The plan holds no unit"):
            made("fragile", {"acts": []})
    assert not Run.objects.exists()


def test_a_run_that_was_planned_already_is_not_planned_again() -> None:
    make_dish()
    run = create_run("generation", generation())
    assert chains.plan_one(run.pk) is None
    assert run.units.count() == 2
