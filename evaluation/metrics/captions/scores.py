"""What the scores of captions have in common."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.arrays import Floats
from evaluation.metrics.captions.tokens import Tokens

LONGEST = 4
# Scaled so that captions of people lie near 1 (Hessel et al. 2021).
CLIPSCORE_WEIGHT = 2.5


@dataclass(frozen=True)
class CaptionScores:
    """`value`: that of the whole set; `by_caption` (n,)."""

    value: float
    by_caption: Floats


def count_ngrams(tokens: Tokens, longest: int = LONGEST) -> Counter[Tokens]:
    """How often each run of 1 to `longest` tokens occurs."""
    return Counter(
        tokens[start : start + size] for size in range(1, longest + 1) for start in range(len(tokens) - size + 1)
    )


def check_captions(captions: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> None:
    """Raises ValueError unless there are captions, and one reference or more for each."""
    if not captions or len(captions) != len(references):
        raise ValueError(f"captions and their references are needed, got {len(captions)} and {len(references)}")
    empty = [place for place, each in enumerate(references) if not any(each)]
    if empty:
        raise ValueError(f"caption {empty[0] + 1} has no reference with a word: leave out its image")


def compute_mean_length(captions: Sequence[Tokens]) -> float:
    """Mean number of tokens. Raises ValueError without captions."""
    if not captions:
        raise ValueError("no captions: their mean length is not measured")
    return sum(map(len, captions)) / len(captions)


def compute_clipscore(cosines: Floats) -> Floats:
    """2.5 · max(cosine, 0) of each (n,), in [0, 2.5]: *clipscore_2.5*, never the cosine itself."""
    return np.asarray(CLIPSCORE_WEIGHT * np.maximum(cosines, 0))
