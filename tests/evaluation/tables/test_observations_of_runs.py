"""Every number of every study is the mean of its observations, in runs with dishes of two countries and photographs."""

from collections.abc import Iterator

import pytest
from pytest_django.plugin import DjangoDbBlocker

from collection.models import DishContinent, DishCountry, Source
from evaluation import runner, studies
from evaluation.backends.standin import images
from evaluation.contracts.study import ImageResult, Result, UnitPlan
from evaluation.models import GeneratedImage, Role, Subject
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.runner.catalogue import subject_data
from evaluation.studies.knowledge.study import answer_key, answer_payload
from tests.evaluation.make import make_country, make_dish, make_model
from tests.evaluation.provider import png
from tests.evaluation.table_observations import check, declares, observed
from tests.shared_rows import share_rows

pytestmark = pytest.mark.django_db
OBSERVED = [name for name in TABLES if (spec := lookup.find_table_spec(name)).study and declares(spec)]
DISHES = {"kind": "dish", "demonstration": True}
JUDGED = "judged-elsewhere"


def make_run(study: str, **config: object) -> None:
    run = runner.create_run(study, config, slug=study)
    while runner.process_run(run.pk, "test"):
        pass


def make_runs() -> None:
    """A run of every study about four dishes, two of them of two countries on two continents, one photographed."""
    ghana, peru = make_country(), make_country("PER", "Peru", ["South America"])
    for number in range(4):
        dish = make_dish(f"Dish {number}", source=Source.DEMONSTRATION, utensils="spoon", kinds=["soup"])
        if number < 2:
            DishCountry.objects.create(dish=dish, name="Peru", country=peru, position=1)
            DishContinent.objects.create(dish=dish, continent="South America")
    assert ghana.name == "Ghana"
    make_run("generation", model="sketch", subjects=DISHES, images_per_subject=2)
    subject = subject_data(Subject.objects.order_by("pk")[0])
    camera = make_model("snaps", role=Role.CAMERA, backend="folder")
    photo = Result("photo", image=ImageResult(png(), "image/png", 32, 24, "", sample=0))
    runner.import_run("generation", "photographs", {}, [(UnitPlan("photo", camera, subject, {}, "a"), photo)])
    make_run("association", images="generation")
    make_run("colours", images="generation", beside="photographs")
    asked = {"questions": "vqa-demonstration", "reading": "logits", "beside": "photographs"}
    make_run("stereotypes", images="generation", **asked)
    make_run("knowledge", subjects=DISHES, samples=2)
    make_run("judging", answers="knowledge")
    chat = make_model("chat", role=Role.CHAT, backend="standin-chat")
    key = answer_key(subject.id, "chat", "country", 0)
    plan = UnitPlan(key, chat, subject, answer_payload("country", 0, "Ghana, Peru"), "a")
    runner.import_run("knowledge", JUDGED, {}, [(plan, Result(key, text="Ghana", numbers={"match": 1}))])


@pytest.fixture(scope="module")
def runs(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        # Nothing here looks at the pixels.
        patched.setattr(images, "DEFAULT_SIZE", 96)
        with share_rows("runs of every study", make_runs, django_db_blocker) as made:
            yield made


def test_every_study_has_such_a_table() -> None:
    assert {lookup.find_table_spec(name).study for name in OBSERVED} == set(studies.STUDIES)


@pytest.mark.parametrize("name", OBSERVED)
def test_every_number_of_a_study_is_the_mean_of_its_observations(name: str, runs: None) -> None:
    spec = lookup.find_table_spec(name)
    filters = {"run": JUDGED if name == "knowledge.judge" else spec.study}
    assert check(name, **filters)
    places = [column for column in ("continent", "country") if column in spec.columns]
    for place in places:
        counts = observed(name, **filters).count_groups(place)
        assert counts.max() == 2, "nothing of two places was counted"
    assert GeneratedImage.objects.filter(model__role=Role.CAMERA).exists()
