"""Association of images with descriptor words (World Wide recipe App. G.1).

An image's score in a descriptor group compares its cosines with the positive and with the negative words.
App. G.1 as printed puts the weight −1 into the negative term and then subtracts that term, which adds the
negatives; the authors' code does not. Both variants are here under their own names.
Rescaled scores are for looking at: they move with every image that is added. Compare and test with `net`.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def cosine_similarity(images: npt.ArrayLike, texts: npt.ArrayLike) -> Floats:
    """Cosines in [−1, 1], (n, m), of vectors (n, d) and (m, d); NaN for a vector of length 0."""
    return _unit(images) @ _unit(texts).T


def net_association(positive: npt.ArrayLike, negative: npt.ArrayLike) -> Floats:
    """Authors' variant: mean cosine with the positive minus mean with the negative words.

    `positive` (n, p), `negative` (n, q) cosines → (n,), in [−2, 2].
    """
    return np.asarray(positive, dtype=np.float64).mean(axis=1) - np.asarray(negative, dtype=np.float64).mean(axis=1)


def as_printed(positive: npt.ArrayLike, negative: npt.ArrayLike) -> Floats:
    """App. G.1 as typed: the negatives, weighted −1, are subtracted, so both means add up. Shapes as `net`."""
    return np.asarray(positive, dtype=np.float64).mean(axis=1) + np.asarray(negative, dtype=np.float64).mean(axis=1)


def normalised_within(scores: npt.ArrayLike, models: npt.NDArray[np.generic]) -> Floats:
    """Authors' scope: min–max to [−1, 1] within each model, over all its images.

    `scores` (n,), `models` (n,) labels → (n,); NaN for a model whose scores are all equal.
    """
    values = np.asarray(scores, dtype=np.float64)
    scaled = np.empty_like(values)
    for model in np.unique(models):
        mine = models == model
        scaled[mine] = normalised_over_all(values[mine])
    return scaled


def normalised_over_all(scores: npt.ArrayLike) -> Floats:
    """Global scope: min–max to [−1, 1] over all `scores` (n,) of all models; NaN where they are all equal."""
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return values
    low, high = values.min(), values.max()
    if low == high:
        return np.full_like(values, np.nan)
    return 2 * (values - low) / (high - low) - 1


def _unit(vectors: npt.ArrayLike) -> Floats:
    """Rows of `vectors` (n, d) scaled to length 1; NaN rows where the length is 0."""
    table = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return np.divide(table, length, out=np.full_like(table, np.nan), where=length > 0)
