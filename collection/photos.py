"""A photo on arrival: its kind decided by content, made upright, sRGB and small, everything else thrown away."""

import hashlib
import io
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _
from PIL import Image, ImageCms, ImageOps
from PIL.JpegImagePlugin import JpegImageFile
from pillow_heif import register_heif_opener

register_heif_opener()

# MPO, the JPEG of several pictures, is read by the reader of JPEG.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "HEIF", "AVIF")
LONGEST_SIDE = 1600
THUMBNAIL_SIDE = 320
THUMBNAIL_BYTES = 12 * 1024
MOST_PIXELS = 64_000_000
SMALLEST_SIDE = 16


class PhotoError(Exception):
    """The photo cannot be taken; the text says what happened and what to do."""


@dataclass(frozen=True)
class Prepared:
    """A photo ready to be stored: JPEG bytes, sizes in pixels, the hash of the bytes as they arrived."""

    image: bytes
    thumbnail: bytes
    width: int
    height: int
    sha256: str


def arrived(upload: UploadedFile) -> bytes:
    """The bytes of an upload, where it is not too large."""
    if (upload.size or 0) > settings.MAX_PHOTO_BYTES:
        raise PhotoError(too_large())
    return bytes(upload.read())


def too_large() -> str:
    return _("The photo is larger than 15 MB. Send a smaller copy, or go on without it.")


def prepare(data: bytes) -> Prepared:
    """Re-encodes the photo in `data`. Raises PhotoError with a sentence for the person who sent it."""
    image = upright(data)
    return Prepared(
        image=jpeg(image, 82),
        thumbnail=thumbnail_of(image),
        width=image.width,
        height=image.height,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def upright(data: bytes) -> Image.Image:
    """The first picture in `data` as plain RGB pixels, upright, at most `LONGEST_SIDE` wide and high."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            check_size(image)
            if isinstance(image, JpegImageFile):
                image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
            image.load()
            shown = ImageOps.exif_transpose(image)
            shown.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
            return bare(in_srgb(shown))
    except PhotoError:
        raise
    except Image.DecompressionBombError as error:
        raise PhotoError(too_many_pixels()) from error
    except Exception as error:
        # Decoders meet hostile bytes here and raise whatever they stumble over, from OSError to struct.error.
        raise PhotoError(_("The photo could not be read. Try another one, or go on without it.")) from error


def check_size(image: Image.Image) -> None:
    if image.width * image.height > MOST_PIXELS:
        raise PhotoError(too_many_pixels())
    if min(image.size) < SMALLEST_SIDE:
        raise PhotoError(_("The photo is too small to show a dish. Try another one, or go on without it."))


def too_many_pixels() -> str:
    return _("The photo has more pixels than can be read here. Send a smaller copy, or go on without it.")


def in_srgb(image: Image.Image) -> Image.Image:
    """RGB in the colours of the web; transparency becomes white, the profile of the camera is applied."""
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        image = Image.new("RGBA", layer.size, "white")
        image.alpha_composite(layer)
        image = image.convert("RGB")
    if profile and image.mode in ("RGB", "CMYK", "L"):
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        except (ImageCms.PyCMSError, OSError, ValueError):
            # A broken profile is no reason to lose the photo: its colours are taken as they are.
            converted = None
        image = converted or image
    return image.convert("RGB")


def bare(image: Image.Image) -> Image.Image:
    """A copy that holds pixels and nothing else: no EXIF, comment, profile or preview can travel with it."""
    copy = Image.new("RGB", image.size)
    copy.paste(image)
    return copy


def jpeg(image: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, optimize=True, progressive=True)
    return buffer.getvalue()


def thumbnail_of(image: Image.Image) -> bytes:
    """A JPEG of at most `THUMBNAIL_BYTES`: quality goes down first, then size."""
    side = THUMBNAIL_SIDE
    while True:
        small = image.copy()
        small.thumbnail((side, side), Image.Resampling.LANCZOS)
        for quality in (75, 60, 45):
            data = jpeg(small, quality)
            if len(data) <= THUMBNAIL_BYTES:
                return data
        side = side * 3 // 4


def store(prepared: Prepared) -> tuple[str, str]:
    """Writes photo and thumbnail under random names and returns their paths. Never call it inside a transaction."""
    paths = tuple(f"photos/{secrets.token_hex(16)}.jpg" for _ in range(2))
    for path, data in zip(paths, (prepared.image, prepared.thumbnail), strict=True):
        default_storage.save(path, ContentFile(data))
    return paths[0], paths[1]


def remove(*paths: str) -> None:
    """Deletes stored files. Never call it inside a transaction."""
    for path in paths:
        if path:
            default_storage.delete(path)
