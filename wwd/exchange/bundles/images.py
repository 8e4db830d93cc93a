"""Images in a bundle: only those that may leave the platform, which is for evaluation and not for training."""

from collections.abc import Iterator

from django.db.models import Q

from collection.models import Dish
from evaluation import content_store
from evaluation.images.shared_photos import shared_photos
from evaluation.models import GeneratedImage, Role
from wwd.exchange.bundles.archive import Archive
from wwd.exchange.bundles.row_selection import Needed


def may_leave(needed: Needed) -> Iterator[GeneratedImage]:
    """Held images of dishes that are still shown. Photographs only where their contributor lets others use them."""
    public = Q(subject__dish=None) | Q(subject__dish__state=Dish.State.ACCEPTED)
    photographs = list_shared_photo_ids()
    for part in needed.chunks(GeneratedImage):
        held = part.filter(public, state=GeneratedImage.State.HELD).exclude(sha256="").select_related("model")
        for image in held.order_by("pk"):
            if image.model and (image.model.role != Role.CAMERA or photograph_of(image) in photographs):
                yield image


def list_shared_photo_ids() -> set[str]:
    """Random ids of the photographs that may be shared, as 32 hexadecimal digits."""
    return {
        photo.hex
        for demonstration in (False, True)
        for photo in shared_photos(demonstration=demonstration).values_list("pk", flat=True)
    }


def photograph_of(image: GeneratedImage) -> str:
    """The random id in the key of an image that is a photograph (`evaluation/ingest/photographs.py`)."""
    return image.source_key.rpartition("/")[2].removeprefix("photo:").replace("-", "")


def add_bundle_images(archive: Archive, needed: Needed) -> int:
    """Adds each image once, by its SHA-256; returns how many. What is missing in the storage is left out."""
    added: set[str] = set()
    for image in may_leave(needed):
        if image.sha256 in added:
            continue
        try:
            archive.add(
                f"pictures/{image.sha256}{ENDINGS.get(image.media_type, '')}", content_store.read_content(image.sha256)
            )
        except FileNotFoundError:
            continue
        added.add(image.sha256)
    return len(added)


ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
