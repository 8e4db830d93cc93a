"""METEOR of captions without synonyms: *meteor_exact_stem*, the first two stages of Lavie & Agarwal 2007.

The third stage needs WordNet's data, which no package brings; so this is lower than METEOR, and never called so. Tokens
of the caption are matched with the same tokens of the reference, what is left by stem (`porter`), from the last token
backwards. F = P R ÷ (0.9 P + 0.1 R), less 0.5 (pieces ÷ matches)³; the best of all references.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from evaluation.metrics.captions.porter import stem_word
from evaluation.metrics.captions.scores import CaptionScores, check_captions
from evaluation.metrics.captions.tokens import Tokens

METEOR_NAME = "meteor_exact_stem"
ALPHA, BETA, GAMMA = 0.9, 3.0, 0.5


def compute_meteor(captions: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> CaptionScores:
    """In [0, 1], the mean over captions. Raises ValueError without references."""
    check_captions(captions, references)
    found = np.array(
        [
            max(_score(caption, reference) for reference in each)
            for caption, each in zip(captions, references, strict=True)
        ]
    )
    return CaptionScores(float(found.mean()), found)


def _score(caption: Tokens, reference: Tokens) -> float:
    mine, theirs = list(range(len(caption))), list(range(len(reference)))
    pairs: dict[int, int] = {}
    for stage in (str, stem_word):
        pairs |= _match(caption, reference, mine, theirs, stage)
        used = set(pairs.values())
        mine = [place for place in mine if place not in pairs]
        theirs = [place for place in theirs if place not in used]
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(caption), len(pairs) / len(reference)
    mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
    pieces = sum(pairs.get(place - 1) != against - 1 for place, against in pairs.items())
    return mean * (1 - GAMMA * (pieces / len(pairs)) ** BETA)


def _match(
    caption: Tokens, reference: Tokens, mine: list[int], theirs: list[int], stage: Callable[[str], str]
) -> dict[int, int]:
    """Place in the caption → place in the reference, each place once, the last first."""
    places = defaultdict(list)
    for place in theirs:
        places[stage(reference[place])].append(place)
    found = {}
    for place in reversed(mine):
        if places[stage(caption[place])]:
            found[place] = places[stage(caption[place])].pop()
    return found
