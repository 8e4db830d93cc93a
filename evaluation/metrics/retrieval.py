"""Retrieval of captions by images and of images by captions: at which rank the first right one stands.

An image may have several captions. *Image to text*: any of them is right, and its other captions push none back. *Text
to image*: the image of the caption. What scores the same as the right one stands before it, so that a model that tells
nothing apart finds nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Floats, Ints

RECALL_AT = (1, 5, 10)
MOST_ROWS = 1024
# Cosines this near to each other differ by the order of their sums alone.
ROUNDING = 1e-12


@dataclass(frozen=True)
class RetrievalRanks:
    """Ranks from 1 of the first right caption of each image (n,) and of the image of each caption (m,)."""

    image_to_text: Ints
    text_to_image: Ints


def rank_by_scores(scores: npt.ArrayLike, image_of: npt.ArrayLike) -> RetrievalRanks:
    """From `scores` (images, captions), with the row of the image of each caption, `image_of` (captions,).

    Raises ValueError for NaN, for other shapes, and for an image without a caption.
    """
    table, owners = np.asarray(scores, dtype=np.float64), np.asarray(image_of, dtype=np.intp)
    if table.ndim != 2:
        raise ValueError(f"scores of images and captions (n, m) are needed, got the shape {table.shape}")
    if np.isnan(table).any():
        raise ValueError("a score is NaN: leave out what was not measured")
    _check_owners(owners, *table.shape)
    return _rank(lambda rows: table[rows], owners, len(table), 0.0)


def rank_by_vectors(images: npt.ArrayLike, captions: npt.ArrayLike, image_of: npt.ArrayLike) -> RetrievalRanks:
    """The same from vectors (n, d) and (m, d) by their cosines in float64, block by block."""
    one, other = _normalise(images), _normalise(captions)
    owners = np.asarray(image_of, dtype=np.intp)
    _check_owners(owners, len(one), len(other))
    return _rank(lambda rows: one[rows] @ other.T, owners, len(one), ROUNDING)


def _normalise(vectors: npt.ArrayLike) -> Floats:
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or not np.isfinite(array).all():
        raise ValueError("vectors (n, d) of finite numbers are needed")
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    if not lengths.all():
        raise ValueError("a vector is zero and has no direction: compute it anew")
    return np.asarray(array / lengths)


def _check_owners(owners: Ints, images: int, captions: int) -> None:
    if owners.shape != (captions,):
        raise ValueError(f"one image for each of {captions} captions is needed, got {owners.shape}")
    if len(owners) and not (owners.min() >= 0 and owners.max() < images):
        raise ValueError(f"a caption names an image that is none of the {images}")
    without = images - len(np.unique(owners))
    if without:
        raise ValueError(f"{without} images have no caption: leave them out")


def _rank(block_of: Callable[[slice], Floats], owners: Ints, images: int, apart: float) -> RetrievalRanks:
    """`block_of` gives the scores (rows, captions) of some images; scores no farther than `apart` are equal."""
    parts = [slice(start, min(start + MOST_ROWS, images)) for start in range(0, images, MOST_ROWS)]
    best, own = np.full(images, -np.inf), np.empty(len(owners))
    for rows in parts:
        mine = np.flatnonzero((owners >= rows.start) & (owners < rows.stop))
        own[mine] = block_of(rows)[owners[mine] - rows.start, mine]
    np.maximum.at(best, owners, own)
    of_images, of_captions = np.ones(images, dtype=np.intp), np.ones(len(owners), dtype=np.intp)
    for rows in parts:
        wrong, scores = owners != np.arange(rows.start, rows.stop)[:, None], block_of(rows)
        of_images[rows] += np.count_nonzero(wrong & (scores >= best[rows, None] - apart), axis=1)
        of_captions += np.count_nonzero(wrong & (scores >= own - apart), axis=0)
    return RetrievalRanks(of_images, of_captions)


def compute_recall(ranks: Ints, at: int) -> float | None:
    """R@`at`: the share of ranks (n,) of at most `at`; None without ranks."""
    return float((ranks <= at).mean()) if len(ranks) else None
