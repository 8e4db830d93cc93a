"""Images in a report: few, only where somebody wishes them, and blurred in the file itself."""

import base64
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PIL import ImageFilter

from collection.models import Dish
from evaluation import content_store
from evaluation.models import GeneratedImage, Role
from evaluation.readers.image_decode import ImageError, decode_reduced
from evaluation.tables import observe
from evaluation.tables.store import TableView

MOST_IMAGES = 8
SIDE = 200
BLUR = 9


@dataclass(frozen=True)
class BlurredImage:
    """`address` holds the whole image; `model` is empty for a photograph."""

    address: str
    dish: str
    model: str


def select_blurred_images(read: TableView) -> Sequence[BlurredImage]:
    """Some of the images behind a table, one dish after the other. None while a plan hides who made them."""
    if read.mask.active or read.table is None:
        return []
    found = observe.observe_table(read.spec, read.stored)
    if found is None:
        return []
    keys = sorted({int(key) for key in found.images.tolist() if key})
    return [blurred for image in sample_images_evenly(select_public_images(keys)) if (blurred := blur_image(image))]


def select_public_images(keys: Sequence[int]) -> list[GeneratedImage]:
    """Those of dishes that the public sees; photographs stay where their contributors put them."""
    images = GeneratedImage.objects.filter(pk__in=keys[:5000], state=GeneratedImage.State.HELD).exclude(sha256="")
    images = images.exclude(model__role=Role.CAMERA).exclude(model=None)
    images = images.exclude(subject__dish__isnull=False, subject__dish__state__in=NOT_SHOWN)
    return list(images.select_related("model", "subject").order_by("pk"))


def sample_images_evenly(images: Sequence[GeneratedImage]) -> Iterable[GeneratedImage]:
    """At most eight, from the whole length of the list."""
    many = min(MOST_IMAGES, len(images))
    return [images[place * len(images) // many] for place in range(many)]


def blur_image(image: GeneratedImage) -> BlurredImage | None:
    """The image, small and blurred; None where its file is missing or cannot be read."""
    try:
        small = decode_reduced(content_store.read_content(image.sha256), SIDE)
    except (OSError, ImageError):
        return None
    small.thumbnail((SIDE, SIDE))
    out = io.BytesIO()
    small.filter(ImageFilter.GaussianBlur(BLUR)).save(out, "JPEG", quality=60)
    address = f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"
    return BlurredImage(address, image.subject.name, image.model.title if image.model else "")


NOT_SHOWN = tuple(state for state in Dish.State.values if state != Dish.State.ACCEPTED)
