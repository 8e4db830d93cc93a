"""One subject across models and seeds, with its contributor's photo where that may be shown."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from collection.models import Photo
from evaluation.images.shared_photos import shared_photos
from evaluation.metrics.ordering import group_value_sort_key
from evaluation.models import GeneratedImage, Subject
from evaluation.presentation.images import SEE, ImageRow, RequestedImages, User, rows_for

MOST_PHOTOS = 6
# Images of one page: a place may have thousands.
PER_PAGE = 60


@dataclass(frozen=True)
class Shot:
    """A contributor's photo; `address` only where it was asked for."""

    photo: Photo
    asked: RequestedImages

    @property
    def name(self) -> str:
        return f"photo-{self.photo.pk.hex}"

    @property
    def address(self) -> str:
        if not self.asked.shows(self.name):
            return ""
        return reverse("collection:photo-file", args=[self.photo.thumbnail.removeprefix("photos/")])

    @property
    def show(self) -> str:
        return self.asked.turned(self.name)


@dataclass(frozen=True)
class Grid:
    """Images by model and number: `lines` are (model, a list of images for each of `numbers`)."""

    numbers: Sequence[str]
    lines: Sequence[tuple[str, Sequence[Sequence[ImageRow]]]]
    next: int | None


def photos_of(subject: Subject, user: User, asked: RequestedImages) -> list[Shot]:
    """The contributor's photos that consent and moderation make public, for anyone who may see images."""
    if subject.dish_id is None or not user.has_perm(SEE):
        return []
    rows = shared_photos(demonstration=subject.demonstration).filter(dish=subject.dish_id).exclude(thumbnail="")
    return [Shot(photo, asked) for photo in rows[:MOST_PHOTOS]]


def grid_of(subject: Subject, user: User, asked: RequestedImages, after: int) -> Grid:
    """A page of the subject's images, those with a larger id than `after`."""
    images = GeneratedImage.objects.filter(subject=subject, pk__gt=after).order_by("pk")
    ids = list(images.values_list("pk", flat=True)[: PER_PAGE + 1])
    rows = rows_for(ids[:PER_PAGE], user, asked)
    numbers = sorted({key_of(row) for row in rows})
    models = sorted({row.model for row in rows}, key=lambda model: group_value_sort_key("model", model))
    lines = [
        (model, [[row for row in rows if row.model == model and key_of(row) == key] for key in numbers])
        for model in models
    ]
    return Grid([name for *_order, name in numbers], lines, ids[PER_PAGE - 1] if len(ids) > PER_PAGE else None)


def key_of(row: ImageRow) -> tuple[int, int, str]:
    """Samples first, then seeds, then images without either; the last part is what the column says."""
    if row.image.sample is not None:
        return (0, row.image.sample, row.number)
    return (1, row.image.seed, row.number) if row.image.seed is not None else (2, 0, "–")
