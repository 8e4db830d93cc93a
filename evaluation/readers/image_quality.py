"""What can be said about an image without any model: whether it is one, and whether there is anything on it.

Thresholds are documented in docs/researcher/generation.md. Pure: bytes in, words out.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from evaluation.readers.image_decode import decode_image, read_header

SIDE = 256
BLACK = 16.0
FLAT = 3.0
BLURRED = 3.0

BLACK_REASON = "The image is black."
FLAT_REASON = "The image is flat: nearly one colour."
BLURRED_REASON = "The image is blurred all over."


class ImageQuality(NamedTuple):
    """Kind and size of an image. `flaw` says why it is held back, empty where nothing is wrong."""

    media_type: str
    width: int
    height: int
    flaw: str


def assess_image_quality(content: bytes) -> ImageQuality:
    """Decodes an image once, whatever it was said to be. Raises ImageError."""
    header = read_header(content)
    return ImageQuality(
        header.media_type, header.width, header.height, find_image_flaw(compute_luminance(decode_image(content)))
    )


def compute_luminance(image: Image.Image) -> npt.NDArray[np.float64]:
    """Luminance 0 to 255 of a decoded image, the longest side 256 pixels at most."""
    small = image.convert("L")
    small.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64)


def find_image_flaw(light: npt.NDArray[np.float64]) -> str:
    """Why an image of this luminance (height, width) is held back; empty where nothing is wrong."""
    if np.percentile(light, 99) < BLACK:
        return BLACK_REASON
    if light.std() < FLAT:
        return FLAT_REASON
    return BLURRED_REASON if compute_sharpness(light) < BLURRED else ""


def compute_sharpness(light: npt.NDArray[np.float64]) -> float:
    """Variance of the Laplacian (Pech-Pacheco et al. 2000), infinite where the image is too small for one."""
    if min(light.shape) < 3:
        return float("inf")
    middle = light[1:-1, 1:-1]
    laplacian = light[:-2, 1:-1] + light[2:, 1:-1] + light[1:-1, :-2] + light[1:-1, 2:] - 4 * middle
    return float(laplacian.var())
