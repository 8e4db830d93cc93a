"""Colours of images: how colourful one is, and how far the colours of several lie apart."""

import numpy as np
import numpy.typing as npt

from evaluation.metrics.entropy import Floats, entropy

Pixels = npt.NDArray[np.uint8]
STEPS = 3
BINS = STEPS**3


def colourfulness(pixels: Pixels) -> float:
    """Of an image (h, w, 3) sRGB, 0 for grey ones to about 150: M⁽³⁾ of Hasler & Süsstrunk 2003, §7, eq. (3)."""
    red, green, blue = np.moveaxis(np.asarray(pixels, dtype=np.float64), -1, 0)
    across, along = red - green, (red + green) / 2 - blue
    return float(np.hypot(across.std(), along.std()) + 0.3 * np.hypot(across.mean(), along.mean()))


def colour_histogram(pixels: Pixels) -> Floats:
    """Shares of the pixels of an image (h, w, 3) in 3 × 3 × 3 equal boxes of red, green and blue, (27,); sum 1."""
    steps = np.asarray(pixels, dtype=np.int64) * STEPS // 256
    boxes = (steps[..., 0] * STEPS + steps[..., 1]) * STEPS + steps[..., 2]
    return np.bincount(boxes.ravel(), minlength=BINS) / boxes.size


def jensen_shannon_divergence(parts: Floats) -> Floats:
    """Jensen–Shannon divergence of several images, in bits (Lin 1991, §5): entropy of the mean − mean entropy.

    `parts` (n, 27 + 2): sums over images of their histogram, their entropy, and 1. 0 where all have the same colours.
    (n, 1), NaN where a row holds no image.
    """
    count = parts[:, -1:]
    means = np.divide(parts[:, :-1], count, out=np.full_like(parts[:, :-1], np.nan), where=count > 0)
    return np.maximum(entropy(means[:, :-1]) - means[:, -1], 0)[:, None]
