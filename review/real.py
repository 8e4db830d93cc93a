"""Real photographs among the pictures of a campaign, unmarked: what people call wrong though it is right."""

from collections import Counter

from django.core.files.storage import default_storage
from django.db.models import Count, QuerySet

from collection.models import Dish, Photo
from evaluation import files
from evaluation.models import GeneratedImage, Model, Role
from evaluation.subjects import subject_for
from review.campaigns import prepare
from review.models import Campaign, CampaignImage

SLUG = "real"


def camera() -> Model:
    """The model that stands for real photographs."""
    found = Model.objects.filter(role=Role.CAMERA).order_by("pk").first()
    return found or Model.objects.create(
        slug=SLUG, title="Real photographs", role=Role.CAMERA, backend="folder", identifier=SLUG
    )


def usable_photos(campaign: Campaign) -> QuerySet[Photo]:
    """Accepted photos of accepted dishes that may be shared, by people whose consent covers photos."""
    dishes = Dish.objects.accepted() if campaign.source == "demonstration" else Dish.objects.released()
    shared = Photo.objects.filter(state=Photo.State.ACCEPTED, may_be_shared=True, dish__in=dishes)
    agreed = shared.exclude(dish__contributor__consent=None).exclude(dish__contributor__consent__licence_photos="")
    return agreed.exclude(file="").select_related("dish").order_by("dish__number", "pk")


def wanted(generated: int, percent: int) -> int:
    """How many real photographs make up `percent` of all pictures beside so many generated ones."""
    return round(generated * percent / (100 - percent))


def lacking(campaign: Campaign) -> Counter[str]:
    """Real photographs that are still wanted, by country."""
    rows = CampaignImage.objects.filter(campaign=campaign).order_by()
    real = Counter(dict(rows.filter(image__model__role=Role.CAMERA).values_list("country").annotate(Count("pk"))))
    made = dict(rows.exclude(image__model__role=Role.CAMERA).values_list("country").annotate(Count("pk")))
    return +Counter({name: wanted(n, campaign.real_percent) - real[name] for name, n in made.items()})


def add_real_photographs(campaign: Campaign) -> int:
    """Adds as many as are wanted and there are; returns how many. Writes files: call it outside transactions."""
    left = lacking(campaign)
    there = set(CampaignImage.objects.filter(campaign=campaign).values_list("image__source_key", flat=True))
    added = 0
    for photo in usable_photos(campaign).iterator(chunk_size=100):
        if not +left:
            break
        places = photo.dish.places.select_related("country")
        names = {name for place in places for name in (place.name, place.country.name if place.country else "")}
        country = next((name for name in sorted(names) if left[name] > 0), None)
        if country is None or key_of(photo) in there:
            continue
        done = prepare(campaign, [image_of(photo)], country)
        left[country] -= done.added
        added += done.added
    return added


def key_of(photo: Photo) -> str:
    return f"photo:{photo.pk}"


def image_of(photo: Photo) -> GeneratedImage:
    """The photo as a picture of the model of real photographs; made once."""
    found = GeneratedImage.objects.filter(source_key=key_of(photo)).select_related("subject__dish").first()
    if found:
        return found
    with default_storage.open(photo.file) as file:
        sha256 = files.keep(file.read())
    subject = photo.dish.subjects.order_by("pk").first() or subject_for(photo.dish)
    size = {"width": photo.width, "height": photo.height, "media_type": "image/jpeg"}
    made, _ = GeneratedImage.objects.get_or_create(
        source_key=key_of(photo), defaults={"subject": subject, "model": camera(), "sha256": sha256, **size}
    )
    return made
