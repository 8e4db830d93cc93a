"""Accepted photographs as a run of real images: `manage.py import_photographs`."""

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from collection.models import Dish, Photo, Source
from evaluation import content_store
from evaluation.contracts.study import ConfigError
from evaluation.ingest.photographs import image_of, import_photographs
from evaluation.models import GeneratedImage, Model, Run
from evaluation.runner import create_run, process_run
from evaluation.runner.catalogue import DatabaseCatalogue
from tests.collection.make import make_contributor
from tests.evaluation.make import make_country, make_dish
from tests.evaluation.provider import png

pytestmark = pytest.mark.django_db


def make_photo(dish: Dish, *, number: int = 0, **values: Any) -> Photo:
    """An accepted photo of somebody who consented to its use."""
    if dish.contributor is None:
        dish.contributor = make_contributor()
        dish.save()
    confirmed = dict.fromkeys(("taken_by_me", "may_be_shared", "no_people", "is_photograph"), True)
    file = default_storage.save(f"photos/{dish.pk}-{number}", ContentFile(png(number)))
    given = {"file": file, "width": 32, "height": 24, "state": Photo.State.ACCEPTED, **confirmed, **values}
    return Photo.objects.create(dish=dish, **given)


def test_accepted_photographs_become_the_images_of_a_run() -> None:
    dish = make_dish("Waakye")
    for number in (1, 2):
        make_photo(dish, number=number)
    run, new = import_photographs("real-2026")
    assert (new, run.imported, run.study, run.state, run.demonstration) == (2, True, "generation", "done", False)
    images = DatabaseCatalogue().images("real-2026")
    assert [(image.model_slug, image.subject.name, image.seed, image.sample) for image in images] == [
        ("real", "Waakye", None, 0),
        ("real", "Waakye", None, 1),
    ]
    assert {content_store.read_content(image.sha256) for image in images} == {png(1), png(2)}
    assert set(run.labels.filter(dimension="country").values_list("value", flat=True)) == {"Ghana"}


def test_photographs_are_scored_like_generated_images() -> None:
    make_photo(make_dish())
    import_photographs("real-2026")
    run = create_run("association", {"images": "real-2026", "encoder": "standin-encoder"})
    while process_run(run.pk, "tests"):
        pass
    assert run.units.filter(payload__has_key="image", state="done").count() == 1


def test_a_second_import_adds_only_what_was_accepted_since() -> None:
    dish = make_dish()
    make_photo(dish, number=1)
    import_photographs("real-2026")
    before = list(GeneratedImage.objects.values_list("pk", "sha256"))
    make_photo(dish, number=2)
    assert import_photographs("real-2026")[1] == 1
    assert import_photographs("real-2026")[1] == 0
    assert list(GeneratedImage.objects.order_by("pk").values_list("pk", "sha256"))[:1] == before
    assert Model.objects.filter(role="camera").count() == 1


@pytest.mark.parametrize(
    "values",
    [{"state": "waiting"}, {"state": "hidden"}, {"state": "rejected"}, {"state": "draft", "may_be_shared": False}],
)
def test_photographs_that_are_not_accepted_stay_out(values: dict[str, Any]) -> None:
    make_photo(make_dish(), **values)
    with pytest.raises(ConfigError, match="no accepted photograph"):
        import_photographs("real-2026")
    assert not Run.objects.exists()


def test_photographs_of_dishes_that_are_not_released_stay_out() -> None:
    make_photo(make_dish(state=Dish.State.WITHDRAWN))
    make_photo(make_dish(source=Source.DEMONSTRATION))
    with pytest.raises(ConfigError, match="no accepted photograph"):
        import_photographs("real-2026")
    run, _ = import_photographs("shown", demonstration=True)
    assert run.demonstration


def test_a_photograph_without_consent_to_photos_stays_out() -> None:
    photo = make_photo(make_dish())
    contributor = photo.dish.contributor
    assert contributor is not None
    contributor.consent = None
    contributor.save()
    with pytest.raises(ConfigError, match="no accepted photograph"):
        import_photographs("real-2026")


def test_countries_choose_the_dishes() -> None:
    make_photo(make_dish("Waakye"))
    make_photo(make_dish("Ugali", country=make_country("KEN", "Kenya")))
    run, new = import_photographs("kenya", ["Kenya"])
    assert (new, run.units.get().subject.name) == (1, "Ugali")  # type: ignore[union-attr]
    with pytest.raises(ConfigError, match="Did you mean Kenya"):
        import_photographs("kenia", ["Kenia"])


def test_the_image_that_people_judge_is_made_once() -> None:
    photo = make_photo(make_dish())
    assert image_of(photo) == image_of(photo)
    assert (image_of(photo).run, content_store.read_content(image_of(photo).sha256)) == (None, png(0))


def test_the_command_says_how_many_are_new(capsys: pytest.CaptureFixture[str]) -> None:
    make_photo(make_dish())
    call_command("import_photographs", run_slug="real-2026")
    assert capsys.readouterr().out == "Run real-2026: 1 new photographs, 1 in all.\n"
    with pytest.raises(CommandError, match="There is no country"):
        call_command("import_photographs", run_slug="other", country=["Nowhere"])
