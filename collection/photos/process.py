"""A photo on arrival: its kind decided by content, made upright, sRGB and small, everything else thrown away.

Decoding takes memory that a few bytes can ask for. It is reckoned from the head of the file before a pixel is decoded,
and taken from a budget of the whole host (`wwd/base/decode_memory.py`).
"""

import hashlib
import io
import secrets
from dataclasses import dataclass
from typing import IO

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _
from PIL import Image, ImageCms, ImageOps
from PIL.JpegImagePlugin import JpegImageFile
from pillow_heif import register_heif_opener

from wwd.base.decode_memory import DecodeMemoryFullError, get_decode_budget, room_for

register_heif_opener()

# MPO, the JPEG of several images, is read by the reader of JPEG.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "HEIF", "AVIF")
LONGEST_SIDE = 1600
THUMBNAIL_SIDE = 320
THUMBNAIL_BYTES = 12 * 1024
MOST_PIXELS = 64_000_000
SMALLEST_SIDE = 16
CHUNK = 256 * 1024
# A large image is first made about so small by averaging, then exactly small by resampling.
ROUGH_SIDE = 2 * LONGEST_SIDE
BAND = 64
REDUCED = ("L", "LA", "RGB", "RGBA", "CMYK")
ORIENTATION = 0x0112
# Peak of each decoder, measured with the pinned versions; bytes of one pixel of the whole image.
BYTES_A_PIXEL = {"PNG": 5, "GIF": 5, "WEBP": 17, "AVIF": 10, "HEIF": 8}
# Small copies that turning, scaling and colours need at once, in bytes of a pixel.
COPIES = 16


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


def too_large() -> str:
    return _("The photo is larger than 15 MB. Send a smaller copy, or go on without it.")


def prepare_photo(source: bytes | IO[bytes]) -> Prepared:
    """Re-encodes a photo. Raises PhotoError with a sentence for the person who sent it.

    Only who found room for its pixels reads the photo: however many are sent at once, few lie in memory.
    """
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    sha256 = hash_of(file)
    with open_photo(file) as image:
        check_size(image)
        try:
            with room_for(estimate_decoding_memory(image)):
                return encode_photo(image, sha256)
        except DecodeMemoryFullError as error:
            raise PhotoError(
                _("Many photos are arriving at this moment. Wait a minute and send it again, or go on without it.")
            ) from error


def hash_of(file: IO[bytes]) -> str:
    """The SHA-256 of a whole file, in hexadecimal, read piece by piece."""
    file.seek(0)
    digest = hashlib.sha256()
    while piece := file.read(CHUNK):
        digest.update(piece)
    return digest.hexdigest()


def open_photo(file: IO[bytes]) -> Image.Image:
    """The photo, its head read and no pixel decoded. A JPEG will be made smaller while it is decoded."""
    try:
        file.seek(0)
        image = Image.open(file, formats=FORMATS)
        if isinstance(image, JpegImageFile):
            image.info["stated"] = image.size
            image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        return image
    except Image.DecompressionBombError as error:
        raise PhotoError(too_many_pixels()) from error
    except Exception as error:
        raise PhotoError(describe_unreadable_photo()) from error


def encode_photo(image: Image.Image, sha256: str) -> Prepared:
    """What is stored of a photo. Nothing as large as its pixels outlives this call."""
    small = convert_to_upright_rgb(image)
    return Prepared(
        image=encode_jpeg(small, 82),
        thumbnail=thumbnail_of(small),
        width=small.width,
        height=small.height,
        sha256=sha256,
    )


def convert_to_upright_rgb(image: Image.Image) -> Image.Image:
    """The first image as plain RGB pixels, upright, at most `LONGEST_SIDE` wide and high."""
    try:
        image.load()
        small = shrink_photo(image)
        shown = ImageOps.exif_transpose(small)
        shown.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
        return strip_metadata(in_srgb(shown))
    except Exception as error:
        # Decoders meet hostile bytes here and raise whatever they stumble over, from OSError to struct.error.
        raise PhotoError(describe_unreadable_photo()) from error
    finally:
        image.close()


def describe_unreadable_photo() -> str:
    return _("The photo could not be read. Try another one, or go on without it.")


def shrink_photo(image: Image.Image) -> Image.Image:
    """The image with sides of at most `ROUGH_SIDE`, made band by band: a copy of a large one would double it."""
    factor = rough_factor(image.size)
    if factor == 1:
        return image
    mode = image.mode if image.mode in REDUCED else ("RGBA" if image.has_transparency_data else "RGB")
    if image.mode.startswith("I;16"):
        mode = "I"
    small = Image.new(mode, (-(-image.width // factor), -(-image.height // factor)))
    for top in range(0, image.height, BAND * factor):
        band = image.crop((0, top, image.width, min(top + BAND * factor, image.height)))
        small.paste(band.convert(mode).reduce(factor), (0, top // factor))
    if "icc_profile" in image.info and mode in ("RGB", "RGBA", "CMYK", "L", "LA"):
        small.info["icc_profile"] = image.info["icc_profile"]
    small.getexif()[ORIENTATION] = image.getexif().get(ORIENTATION, 1)
    image.close()
    return small


def rough_factor(size: tuple[int, int]) -> int:
    return -(-max(size) // ROUGH_SIDE)


def estimate_decoding_memory(image: Image.Image) -> int:
    """Bytes that decoding takes at most, as measured for each kind, until the photo is small."""
    pixels = image.width * image.height
    rough = min(ROUGH_SIDE**2, pixels // rough_factor(image.size) ** 2 + ROUGH_SIDE)
    if image.format in ("JPEG", "MPO"):
        stated = image.info.get("stated", image.size)
        # A progressive one is held as a whole before it is made small.
        decoding = 6 * stated[0] * stated[1] if image.info.get("progressive") else 0
    else:
        decoding = BYTES_A_PIXEL[image.format or ""] * pixels
    return max(decoding, 4 * pixels + 4 * rough, COPIES * rough)


def check_size(image: Image.Image) -> None:
    width, height = image.info.get("stated", image.size)
    if width * height > MOST_PIXELS or estimate_decoding_memory(image) > get_decode_budget():
        raise PhotoError(too_many_pixels())
    if min(width, height) < SMALLEST_SIDE:
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


def strip_metadata(image: Image.Image) -> Image.Image:
    """A copy that holds pixels and nothing else: no EXIF, comment, profile or preview can travel with it."""
    copy = Image.new("RGB", image.size)
    copy.paste(image)
    return copy


def encode_jpeg(image: Image.Image, quality: int) -> bytes:
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
            data = encode_jpeg(small, quality)
            if len(data) <= THUMBNAIL_BYTES:
                return data
        side = side * 3 // 4


def store_photo_files(prepared: Prepared) -> tuple[str, str]:
    """Writes photo and thumbnail under random names and returns their paths. Never call it inside a transaction."""
    paths = tuple(f"photos/{secrets.token_hex(16)}.jpg" for _ in range(2))
    for path, data in zip(paths, (prepared.image, prepared.thumbnail), strict=True):
        default_storage.save(path, ContentFile(data))
    return paths[0], paths[1]


def delete_stored_files(*paths: str) -> None:
    """Deletes stored files. Never call it inside a transaction."""
    for path in paths:
        if path:
            default_storage.delete(path)
