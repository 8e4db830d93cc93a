"""Accepted photographs as images of the model *real*: the line that generated images are held against."""

from collections import Counter
from collections.abc import Iterable, Iterator

from django.core.files.storage import default_storage
from django.db.models import QuerySet

from collection.models import Dish, Photo
from evaluation import content_store
from evaluation.contracts.study import ConfigError, ImageResult, Result, UnitPlan
from evaluation.images.shared_photos import shared_photos
from evaluation.models import GeneratedImage, Model, Role, Run, Subject
from evaluation.runner import import_run
from evaluation.runner.catalogue import model_data, subject_data
from evaluation.studies.generation import shorten_key
from evaluation.subjects import in_countries, subject_for

SLUG = "real"
MEDIA_TYPE = "image/jpeg"


def get_camera_model() -> Model:
    """The model that stands for real photographs."""
    found = Model.objects.filter(role=Role.CAMERA).order_by("pk").first()
    return found or Model.objects.create(
        slug=SLUG, title="Real photographs", role=Role.CAMERA, backend="folder", identifier=SLUG
    )


def import_photographs(slug: str, countries: Iterable[str] = (), *, demonstration: bool = False) -> tuple[Run, int]:
    """The imported run `slug` with a unit for every shared photograph, and how many of these are new.

    A second import adds what was accepted since. Raises ConfigError.
    """
    names = list(countries)
    photos = shared_photos(demonstration=demonstration)
    if names:
        photos = photos.filter(dish__in=Dish.objects.accepted().filter(in_countries(names)))
    if not photos.exists():
        raise ConfigError("There is no accepted photograph that may be shared.")
    config = {"model": get_camera_model().slug, "countries": names, "demonstration": demonstration}
    return import_run("generation", slug, config, plan_photo_units(photos))


def plan_photo_units(photos: QuerySet[Photo]) -> Iterator[tuple[UnitPlan, Result]]:
    """Unit and result of each photograph; those of one dish are numbered."""
    model, numbers = model_data(get_camera_model()), Counter[str]()
    for photo in photos.iterator(chunk_size=100):
        subject = subject_data(subject_of(photo))
        sample = numbers[subject.key]
        numbers[subject.key] += 1
        key = f"{shorten_key(subject.key)}/{photo.pk.hex}"
        image = ImageResult(content_of(photo), MEDIA_TYPE, photo.width, photo.height, prompt_sent="", sample=sample)
        yield UnitPlan(key, model, subject, {"sample": sample}, shorten_key(subject.key)), Result(key, image=image)


def key_of(photo: Photo) -> str:
    return f"photo:{photo.pk}"


def image_of(photo: Photo) -> GeneratedImage:
    """The photo as an image outside of any run, for people to judge; made once."""
    found = GeneratedImage.objects.filter(source_key=key_of(photo)).select_related("subject__dish").first()
    if found:
        return found
    sha256 = content_store.store_content(content_of(photo))
    size = {"width": photo.width, "height": photo.height, "media_type": MEDIA_TYPE}
    made, _ = GeneratedImage.objects.get_or_create(
        source_key=key_of(photo),
        defaults={"subject": subject_of(photo), "model": get_camera_model(), "sha256": sha256, **size},
    )
    return made


def subject_of(photo: Photo) -> Subject:
    return photo.dish.subjects.order_by("pk").first() or subject_for(photo.dish)


def content_of(photo: Photo) -> bytes:
    with default_storage.open(photo.file) as file:
        return bytes(file.read())
