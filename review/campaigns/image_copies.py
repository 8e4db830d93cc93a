"""Review copies: all images in one size and encoding, without metadata: nothing but the pixels differs.

Providers sign images along the bottom edge: coloured squares in the right corner, a star, a name or a sentence in
either corner. The same margins are cut from every image, whatever made it, so that a missing edge reveals nothing.
"""

from io import BytesIO

from PIL import Image, ImageOps

from evaluation import content_store
from evaluation.readers.image_decode import ImageError, decode_image

SIDE = 512
MAX_BYTES = 60_000
LARGE_SIDE = 1024
LARGE_MAX_BYTES = 240_000
# Shares of the square that are cut off: left, top, right, bottom. What is left is square.
MARGINS = (0.05, 0.0, 0.05, 0.10)
QUALITY = 60
SOFTER = 0.8


class CopyError(Exception):
    """The content is no image that can be read; the text says what was wrong."""


def store_image_copies(sha256: str) -> tuple[str, str]:
    """Makes and stores the review copy of a held image and the larger one; their SHA-256. Raises CopyError."""
    try:
        content = content_store.read_content(sha256)
    except FileNotFoundError as error:
        raise CopyError("the file is not held") from error
    return content_store.store_content(review_copy(content)), content_store.store_content(
        review_copy(content, LARGE_SIDE, LARGE_MAX_BYTES)
    )


def review_copy(content: bytes, side: int = SIDE, most: int = MAX_BYTES) -> bytes:
    """A square JPEG of `side` px and at most `most` bytes, by one encoder setting for all images.

    An image that the setting does not bring under the limit is softened, never encoded otherwise: the
    setting would tell images apart.
    """
    square = _square(content, side)
    softness = side
    while True:
        encoded = _encode(square if softness == side else _softened(square, softness))
        if len(encoded) <= most:
            return encoded
        softness = int(softness * SOFTER)


def _square(content: bytes, side: int) -> Image.Image:
    """The middle of the image without the margins, decoded as for everybody (evaluation/readers/image_decode.py)."""
    try:
        decoded = decode_image(content)
    except ImageError as error:
        raise CopyError(f"the image cannot be read: {error}") from error
    whole = ImageOps.fit(decoded, (min(decoded.size),) * 2, Image.Resampling.LANCZOS)
    return whole.resize((side, side), Image.Resampling.LANCZOS, box=_inner(whole.width))


def _inner(width: int) -> tuple[float, float, float, float]:
    """What the margins leave of a square of `width` px."""
    left, top, right, bottom = MARGINS
    return (width * left, width * top, width * (1 - right), width * (1 - bottom))


def _softened(square: Image.Image, side: int) -> Image.Image:
    small = square.resize((side, side), Image.Resampling.LANCZOS)
    return small.resize(square.size, Image.Resampling.BICUBIC)


def _encode(image: Image.Image) -> bytes:
    out = BytesIO()
    image.save(out, "JPEG", quality=QUALITY, subsampling="4:2:0", optimize=True, progressive=True)
    return out.getvalue()
