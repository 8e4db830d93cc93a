"""Semantic Label Accuracy of Food-500 Cap: the share of captions that name the label of their image.

*Accurate*: the whole label, its tokens in one piece. *Relaxed*: any of its words, which are its parts between blanks; a
label in a script without blanks is one word. Tokens are compared and not letters: *pie* is not in *piece*.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.arrays import Mask
from evaluation.metrics.captions.tokens import Tokenizer, choose_tokenizer, find_tokens


@dataclass(frozen=True)
class LabelAccuracy:
    """`accurate`, `relaxed` (n,): the caption names the whole label, any of its words; and the tokenizer's name."""

    accurate: Mask
    relaxed: Mask
    tokenizer: str


def find_labels(captions: Sequence[str], labels: Sequence[str], tokenizer: Tokenizer | None = None) -> LabelAccuracy:
    """Which `captions` (n,) name their `labels` (n,). Raises ValueError for a label without a letter or digit."""
    if len(captions) != len(labels):
        raise ValueError(f"one label for each caption is needed, got {len(labels)} for {len(captions)}")
    chosen = tokenizer or choose_tokenizer([*captions, *labels])
    accurate, relaxed = np.zeros((2, len(captions)), dtype=bool)
    for place, (caption, label) in enumerate(zip(captions, labels, strict=True)):
        whole, among = chosen.split(label), chosen.split(caption)
        if not whole:
            raise ValueError(f"the label {label!r} holds no letter and no digit: correct it")
        accurate[place] = find_tokens(whole, among)
        relaxed[place] = accurate[place] or any(find_tokens(chosen.split(word), among) for word in label.split())
    return LabelAccuracy(accurate, relaxed, chosen.name)
