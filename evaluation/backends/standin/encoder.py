"""A stand-in for image–text encoders: colour statistics and hashed letters. Deterministic, and no measurement."""

import hashlib
from collections.abc import Sequence

import numpy as np

from evaluation.contracts.backend import Vectors
from evaluation.contracts.study import ModelData
from evaluation.readers import image_decode
from evaluation.readers.image_decode import decode_image

DIMENSIONS = 64
GRID = 8
BINS = 8
GRAM = 3


class StandinEncoder:
    """Gives every image and text a vector, (64,) float32. Demonstrations only: the numbers mean nothing."""

    preprocessing = f"{image_decode.VERSION} standin-1"

    def __init__(self, model: ModelData) -> None:
        values = 3 * (GRID * GRID + BINS)
        generator = np.random.default_rng(int.from_bytes(model.identifier.encode()[:8], "big"))
        self.projection = generator.standard_normal((values, DIMENSIONS)) / np.sqrt(values)

    def encode_images(self, contents: Sequence[bytes]) -> Vectors:
        """Images → (n, 64): small colour grid and histogram, projected."""
        statistics = np.array([compute_colour_features(content) for content in contents])
        return np.asarray(statistics.reshape(len(contents), len(self.projection)) @ self.projection, dtype=np.float32)

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Texts → (n, 64): counts of hashed letter triples, signed."""
        return np.array([compute_trigram_features(text) for text in texts], dtype=np.float32).reshape(
            len(texts), DIMENSIONS
        )


def compute_colour_features(content: bytes) -> np.ndarray:
    """Colour grid and histogram of an image, (216,), each value around zero. Raises ImageError for no image."""
    small = np.asarray(decode_image(content).resize((GRID, GRID)), dtype=np.float64) / 255
    histogram = [np.histogram(small[..., channel], bins=BINS, range=(0, 1))[0] / GRID**2 for channel in range(3)]
    return np.concatenate([small.ravel() - 0.5, np.concatenate(histogram) - 1 / BINS])


def compute_trigram_features(text: str) -> np.ndarray:
    """Signed counts of letter triples by hash, (64,); never all zero."""
    padded = f"  {text.casefold()}  "
    counts = np.zeros(DIMENSIONS)
    for start in range(len(padded) - GRAM + 1):
        digest = hashlib.sha256(padded[start : start + GRAM].encode("utf-8", "replace")).digest()
        counts[digest[0] % DIMENSIONS] += 1 if digest[1] % 2 else -1
    counts[0] += 0.5
    return counts
