"""How much two sets of answers have in common, and how much the samples of one model agree with each other."""

from collections.abc import Hashable, Sequence, Set
from itertools import combinations


def iou(given: Set[Hashable], truth: Set[Hashable]) -> float | None:
    """|given ∩ truth| ÷ |given ∪ truth| (Jaccard 1901), 0 to 1; None where both are empty."""
    either = len(given | truth)
    return len(given & truth) / either if either else None


def self_agreement(samples: Sequence[Set[Hashable]]) -> float | None:
    """Mean IoU over all pairs of samples, 0 to 1; two that say nothing agree. None under two samples."""
    pairs = list(combinations(samples, 2))
    if not pairs:
        return None
    return sum(1.0 if not (a or b) else len(a & b) / len(a | b) for a, b in pairs) / len(pairs)
