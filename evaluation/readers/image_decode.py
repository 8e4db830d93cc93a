"""The one decode of an image, for people, quality checks, encoders, questions about images, and providers.

Eight bits, RGB, sRGB: the first frame, upright by its EXIF orientation, 16 bits scaled, transparency over GROUND.
What is not plain (see `Header`) goes through `decode`; for what is plain every decoder gives the same pixels.
"""

import io
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, ImageCms, ImageOps, UnidentifiedImageError

# Belongs to every vector: another decode gives other pixels.
VERSION = "decode-1"
# Nobody knows how vectors from elsewhere were made, or those of files that are gone.
UNKNOWN = "unknown"
IMPORTED = f"{UNKNOWN}, imported"
# White, as paper, a page or a plate: what transparent parts lie on.
GROUND = (255, 255, 255)
MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
FORMATS = tuple(MEDIA_TYPES)
# Several images in one JPEG file; the first one counts.
ALSO = {"MPO": "JPEG"}
MOST_PIXELS = 64_000_000
UPRIGHT = (None, 0, 1)
WITH_ALPHA = ("RGBA", "LA", "PA", "RGBa", "La")
SIXTEEN_BITS = 65535
# Where a PNG file says its bits per channel, and the words with which one may say its orientation.
PNG_BITS = 24
SAYS_ORIENTATION = (b"eXIf", b"Raw profile type", b"xmp")
# Everything with which Pillow's decoders answer hostile bytes. Running out of memory is none of it.
DAMAGED = (
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, OverflowError),
    *(struct.error, zlib.error, Image.DecompressionBombError),
)

Pixels = npt.NDArray[np.uint8]


class ImageError(ValueError):
    """The content cannot be used as an image; the text says why, in a sentence."""


@dataclass(frozen=True)
class Header:
    """What is known before the pixels are read. `height` and `width` are those of the upright image.

    `plain`: three channels of eight bits, one frame, upright, without transparency and without a colour profile, so
    that a decode without any of this gives the same pixels.
    """

    media_type: str
    height: int
    width: int
    plain: bool


@contextmanager
def open_image(content: bytes) -> Iterator[Image.Image]:
    """The image, not decoded yet. Whatever Pillow says of it becomes an ImageError."""
    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                raise ImageError("The image has more than 64 million pixels.")
            yield image
    except UnidentifiedImageError:
        raise ImageError("What came is no PNG, JPEG or WebP image.") from None
    except ImageError:
        raise
    except DAMAGED:
        raise ImageError("The image is damaged.") from None


def read_header(content: bytes) -> Header:
    """Kind and size of an image, without its pixels. Raises ImageError."""
    with open_image(content) as image:
        return _header(image, content)


def decode_image(content: bytes) -> Image.Image:
    """The image as 8-bit RGB in sRGB, upright, over GROUND. Raises ImageError."""
    with open_image(content) as image:
        return decode_opened(image)


def decode_reduced(
    content: bytes, side: int, room: Callable[[int], AbstractContextManager[None]] = lambda pixels: nullcontext()
) -> Image.Image:
    """The same for a small copy: a JPEG is scaled down to no less than `side` while it is read.

    `room` is entered with the number of pixels while they are decoded. Raises ImageError, and what `room` raises.
    """
    with open_image(content) as image:
        image.draft(None, (side, side))
        with room(image.width * image.height):
            return decode_opened(image)


def decode_pixels(content: bytes) -> Pixels:
    """The same as an array, (height, width, 3). Raises ImageError."""
    return np.asarray(decode_image(content))


def decode_opened(image: Image.Image) -> Image.Image:
    """The first frame of an open image, decoded, without any of its metadata. Raises what Pillow raises."""
    image.load()
    upright = ImageOps.exif_transpose(image)
    decoded = over_ground(in_srgb(in_eight_bits(upright)))
    # Nothing of the file, such as a comment, may travel on into a copy.
    decoded.info.clear()
    return decoded


def in_eight_bits(image: Image.Image) -> Image.Image:
    """16-bit grey levels scaled to 8 bits, 65535 to 255; other images as they are."""
    if not (image.mode.startswith("I") or image.mode == "F"):
        return image
    levels = np.clip(np.asarray(image, dtype=np.float64), 0, SIXTEEN_BITS)
    return Image.fromarray(np.floor(levels * 255 / SIXTEEN_BITS + 0.5).astype(np.uint8))


def in_srgb(image: Image.Image) -> Image.Image:
    """The image in sRGB; one whose profile cannot be used is taken to be in sRGB already."""
    profile = image.info.get("icc_profile")
    if not profile or image.mode not in ("RGB", "RGBA", "CMYK", "L"):
        return image
    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        found = ImageCms.profileToProfile(image, given, ImageCms.createProfile("sRGB"), outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    return found or image


def over_ground(image: Image.Image) -> Image.Image:
    """Three channels, transparent parts over GROUND."""
    if image.mode not in WITH_ALPHA and "transparency" not in image.info:
        return image.convert("RGB")
    clear = image.convert("RGBA")
    ground = Image.new("RGBA", clear.size, (*GROUND, 255))
    return Image.alpha_composite(ground, clear).convert("RGB")


def as_sent(content: bytes) -> tuple[bytes, str]:
    """Content and media type for a provider: an image that is not plain is sent decoded, as PNG. Raises ImageError."""
    header = read_header(content)
    if header.plain:
        return content, header.media_type
    out = io.BytesIO()
    decode_image(content).save(out, "PNG")
    return out.getvalue(), MEDIA_TYPES["PNG"]


def _header(image: Image.Image, content: bytes) -> Header:
    kind = ALSO.get(image.format or "", image.format or "")
    orientation = _orientation(image, content)
    lying = orientation in (5, 6, 7, 8)
    height, width = (image.width, image.height) if lying else (image.height, image.width)
    plain = (
        image.mode == "RGB"
        and image.format in ("PNG", "JPEG")
        and "transparency" not in image.info
        and "icc_profile" not in image.info
        and orientation in UPRIGHT
        and getattr(image, "n_frames", 1) == 1
        and _bits(image, content) == 8
    )
    return Header(MEDIA_TYPES[kind], height, width, plain)


def _orientation(image: Image.Image, content: bytes) -> int | None:
    """The EXIF orientation, also as XMP says it. Pillow reads a whole PNG for it, so that is asked only with cause."""
    if image.format == "PNG" and not any(word in content for word in SAYS_ORIENTATION):
        return None
    found = image.getexif().get(ExifTags.Base.Orientation)
    return int(found) if found else None


def _bits(image: Image.Image, content: bytes) -> int:
    """Bits of a channel in the file: Pillow's mode RGB does not tell 16 from 8 in a PNG."""
    return content[PNG_BITS] if image.format == "PNG" else 8
