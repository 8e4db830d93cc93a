"""Contents of images as staff get them: made small, checked each time, with the reason where there is none."""

import io
from collections.abc import Collection, Iterable, Mapping
from uuid import UUID

from django.core.cache import cache
from django.core.files.storage import default_storage
from PIL import Image

from collection.models import Dish
from evaluation import content_store
from evaluation.images.shared_photos import shared_photos
from evaluation.models import GeneratedImage, Role
from evaluation.readers.image_decode import FORMATS, MEDIA_TYPES, decode_reduced
from wwd.base.decode_memory import room_for

# Longest side in pixels.
SIZES: Mapping[str, int] = {"small": 320, "large": 1024}
CACHED_SECONDS = 3600
# Decoded, with transparency, and ready for scaling.
BYTES_A_PIXEL = 12
SHOWABLE = (GeneratedImage.State.HELD, GeneratedImage.State.HELD_BACK)
ENDINGS = {media_type: kind.lower() for kind, media_type in MEDIA_TYPES.items()}


def is_withdrawn(image: GeneratedImage) -> bool:
    """Whether nothing about the image may be shown: its dish was withdrawn."""
    dish = image.subject.dish
    return dish is not None and dish.state == Dish.State.WITHDRAWN


def why_not(images: Iterable[GeneratedImage]) -> dict[int, str]:
    """Image id → why it cannot be shown, "" where it can. They come with `subject__dish` and `model`."""
    held = list(images)
    gone = no_longer_shared(held)
    return {image.pk: _why(image, gone) for image in held}


def _why(image: GeneratedImage, gone: Collection[int]) -> str:
    if is_withdrawn(image):
        return "Its dish was withdrawn: nothing of it is shown."
    if image.state not in SHOWABLE:
        return str(image.get_state_display())
    if not image.sha256:
        return str(GeneratedImage.State.NOT_HELD.label)
    if image.pk in gone:
        return "The contributor's photo is not shared any more."
    return ""


def no_longer_shared(images: Iterable[GeneratedImage]) -> set[int]:
    """Ids of the real photographs among `images` whose photo may not be shown now, or cannot be found any more."""
    photos = {image.pk: photo_of(image) for image in images if image.model and image.model.role == Role.CAMERA}
    # A photograph that was brought in from a folder is nobody's photo here.
    named = {image: photo for image, photo in photos.items() if photo}
    if not named:
        return set()
    both = [shared_photos(demonstration=each).filter(pk__in=named.values()).order_by() for each in (False, True)]
    shared: set[UUID] = set(both[0].values_list("pk", flat=True).union(both[1].values_list("pk", flat=True)))
    return {image for image, photo in named.items() if photo not in shared}


def photo_of(image: GeneratedImage) -> UUID | None:
    """The contributor's photo that a real photograph was made of, by its key: `photo:<id>` or `run:…/<id>`."""
    try:
        return UUID(image.source_key.rpartition("/")[2].rpartition(":")[2])
    except ValueError:
        return None


def is_there(image: GeneratedImage) -> bool:
    """Whether the file lies in the storage and begins as an image does."""
    try:
        with default_storage.open(content_store.path_of(image.sha256)) as file:
            Image.open(file, formats=FORMATS).close()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False
    return True


def read_reduced_image(image: GeneratedImage, size: str) -> bytes:
    """The image as JPEG of the named size, without metadata. Raises FileNotFoundError, ImageError."""
    key = f"picture:{image.sha256}:{size}"
    made = cache.get(key)
    if made is None:
        made = reduce_image(content_store.read_content(image.sha256), SIZES[size])
        cache.set(key, made, CACHED_SECONDS)
    return bytes(made)


def reduce_image(content: bytes, side: int) -> bytes:
    """The image with its longest side at `side` pixels at most. Raises ImageError, DecodeMemoryFullError.

    Researchers look at many at once; the same memory is shared with photos that arrive.
    """
    small = decode_reduced(content, side, lambda pixels: room_for(pixels * BYTES_A_PIXEL))
    small.thumbnail((side, side))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=85)
    return out.getvalue()
