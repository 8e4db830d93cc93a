"""Random splits of labelled images for the Classification Accuracy Score (Ravuri & Vinyals 2019), and their summary.

A classifier learns from generated images and is tested on photographs. Images and photographs come in pairs, one of
each caption. A split cuts the pairs of each label in two: the classifier learns from the generated images of one part,
or for the row *real* from its photographs, and both are tested on the photographs of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

import numpy as np
import numpy.typing as npt

from evaluation.metrics.arrays import Ints

SPLITS = 10
SHARE = 0.8


@dataclass(frozen=True)
class SplitAccuracy:
    """Mean accuracy over `n` splits and their sample deviation (n − 1), which one split has not."""

    n: int
    accuracy: float
    sd: float | None


def draw_splits(
    labels: npt.ArrayLike, splits: int = SPLITS, share: float = SHARE, seed: int = 0
) -> list[tuple[Ints, Ints]]:
    """(learn, test) for each split: sorted rows, `share` of each label to learn from, at least one on either side.

    Raises ValueError for a label with fewer than two images, and where there are fewer than two labels.
    """
    names = np.asarray(labels, dtype=str)
    each, place, counts = np.unique(names, return_inverse=True, return_counts=True)
    if len(each) < 2:
        raise ValueError(f"a classifier needs two labels or more, got {len(each)}")
    if counts.min() < 2:
        raise ValueError(f"the label {each[counts.argmin()]} has one image: two or more are needed to learn and test")
    if not 0 < share < 1:
        raise ValueError(f"a share between 0 and 1 to learn from is needed, got {share}")
    random = np.random.default_rng(seed)
    found = []
    for _ in range(splits):
        learns = np.zeros(len(names), dtype=bool)
        for label, count in enumerate(counts):
            size = min(max(1, round(share * count)), count - 1)
            learns[random.permutation(np.flatnonzero(place == label))[:size]] = True
        found.append((np.flatnonzero(learns), np.flatnonzero(~learns)))
    return found


def summarise_splits(accuracies: Sequence[float]) -> SplitAccuracy:
    """Raises ValueError without a split."""
    if not accuracies:
        raise ValueError("no split was measured")
    return SplitAccuracy(len(accuracies), mean(accuracies), stdev(accuracies) if len(accuracies) > 1 else None)
