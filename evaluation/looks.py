"""What can be said about a picture without any model: whether it is one, and whether there is anything on it.

Thresholds are documented in docs/researcher.md. Pure: bytes in, words out.
"""

import io
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
MOST_PIXELS = 64_000_000
SIDE = 256
BLACK = 16.0
FLAT = 3.0
BLURRED = 3.0

BLACK_REASON = "The picture is black."
FLAT_REASON = "The picture is flat: nearly one colour."
BLURRED_REASON = "The picture is blurred all over."


class Looks(NamedTuple):
    """Kind and size of a picture. `flaw` says why it is held back, empty where nothing is wrong."""

    media_type: str
    width: int
    height: int
    flaw: str


class NoPicture(ValueError):
    """The content is no picture that can be used; the text says why."""


def look(content: bytes) -> Looks:
    """Decodes a picture once, whatever it was said to be. Raises NoPicture."""
    try:
        with Image.open(io.BytesIO(content), formats=tuple(MEDIA_TYPES)) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise NoPicture("The picture has more than 64 million pixels.")
            kind, width, height = MEDIA_TYPES[picture.format or ""], picture.width, picture.height
            return Looks(kind, width, height, flaw(grey(picture)))
    except UnidentifiedImageError:
        raise NoPicture("What came is no PNG, JPEG or WebP picture.") from None
    except NoPicture:
        raise
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise NoPicture("The picture is damaged.") from None


def grey(picture: Image.Image) -> npt.NDArray[np.float64]:
    """Luminance 0 to 255, the longest side 256 pixels at most. Transparent parts lie on white."""
    if picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info:
        ground = Image.new("RGBA", picture.size, "white")
        picture = Image.alpha_composite(ground, picture.convert("RGBA"))
    small = picture.convert("L")
    small.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64)


def flaw(light: npt.NDArray[np.float64]) -> str:
    """Why a picture of this luminance (height, width) is held back; empty where nothing is wrong."""
    if np.percentile(light, 99) < BLACK:
        return BLACK_REASON
    if light.std() < FLAT:
        return FLAT_REASON
    return BLURRED_REASON if sharpness(light) < BLURRED else ""


def sharpness(light: npt.NDArray[np.float64]) -> float:
    """Variance of the Laplacian (Pech-Pacheco et al. 2000), infinite where the picture is too small for one."""
    if min(light.shape) < 3:
        return float("inf")
    middle = light[1:-1, 1:-1]
    laplacian = light[:-2, 1:-1] + light[2:, 1:-1] + light[1:-1, :-2] + light[1:-1, 2:] - 4 * middle
    return float(laplacian.var())
