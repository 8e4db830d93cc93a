"""BLEU, ROUGE-L and CIDEr of captions, with the constants of the evaluation of MS COCO captions (Chen et al. 2015).

BLEU (Papineni et al. 2002) of the whole set, up to four tokens, against the reference of the closest length, of two the
shorter. ROUGE-L (Lin 2004): the longest common subsequence, β = 1.2, precision and recall each the best of all
references. CIDEr (Vedantam et al. 2015) in its form D: tf-idf of 1 to 4 tokens, clipped, a Gaussian of the difference
in length (σ = 6), times 10; the frequencies are those of the references of this very set, so that values of different
sets cannot be compared.
"""

from collections import Counter
from collections.abc import Sequence
from math import exp, log, sqrt

import numpy as np

from evaluation.metrics.arrays import Floats
from evaluation.metrics.captions.scores import LONGEST, CaptionScores, check_captions, count_ngrams
from evaluation.metrics.captions.tokens import Tokens

BETA = 1.2
SIGMA = 6.0
# So that counts of zero give zero and not an error.
TINY, SMALL = 1e-15, 1e-9


def compute_bleu(captions: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> CaptionScores:
    """BLEU@4, in [0, 1]: of all captions together, and of each by itself. Raises ValueError without references."""
    check_captions(captions, references)
    counts = np.array([_matches(caption, each) for caption, each in zip(captions, references, strict=True)])
    return CaptionScores(_bleu(counts.sum(axis=0)), np.array([_bleu(row) for row in counts]))


def _matches(caption: Tokens, references: Sequence[Tokens]) -> list[int]:
    """Matched and possible runs of each length, and the lengths of caption and closest reference."""
    most: Counter[Tokens] = Counter()
    for reference in references:
        most |= count_ngrams(reference)
    right = [0] * LONGEST
    for ngram, count in count_ngrams(caption).items():
        right[len(ngram) - 1] += min(count, most[ngram])
    _, closest = min((abs(len(reference) - len(caption)), len(reference)) for reference in references)
    return [*right, *(max(0, len(caption) - size) for size in range(LONGEST)), len(caption), closest]


def _bleu(counts: Floats) -> float:
    right, possible, (length, wanted) = counts[:LONGEST], counts[LONGEST:-2], counts[-2:]
    product = float(np.prod((right + TINY) / (possible + SMALL)))
    ratio = (length + TINY) / (wanted + SMALL)
    return product ** (1 / LONGEST) * (exp(1 - 1 / ratio) if ratio < 1 else 1)


def compute_rouge_l(captions: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> CaptionScores:
    """ROUGE-L, in [0, 1], the mean over captions. Raises ValueError without references."""
    check_captions(captions, references)
    found = np.array([_rouge(caption, each) for caption, each in zip(captions, references, strict=True)])
    return CaptionScores(float(found.mean()), found)


def _rouge(caption: Tokens, references: Sequence[Tokens]) -> float:
    common = [(_common_length(caption, reference), len(reference)) for reference in references if reference]
    if not any(length for length, _ in common):
        return 0.0
    precision = max(length for length, _ in common) / len(caption)
    recall = max(length / of for length, of in common)
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def _common_length(one: Tokens, other: Tokens) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for token in one:
        diagonal = 0
        for place, against in enumerate(other, 1):
            diagonal, row[place] = row[place], diagonal + 1 if token == against else max(row[place], row[place - 1])
    return row[-1]


def compute_cider(captions: Sequence[Tokens], references: Sequence[Sequence[Tokens]]) -> CaptionScores:
    """CIDEr-D, in [0, 10], the mean over captions. Raises ValueError without references, or for one image, in which no
    word is rarer than another."""
    check_captions(captions, references)
    if len(captions) < 2:
        raise ValueError("CIDEr weighs words by the images that they occur in: two images or more are needed")
    counts = [[count_ngrams(reference) for reference in each] for each in references]
    documents = Counter(ngram for each in counts for ngram in set().union(*each))
    weights = _Weights(documents, log(len(captions)))
    found = np.array(
        [weights.score(count_ngrams(caption), each) for caption, each in zip(captions, counts, strict=True)]
    )
    return CaptionScores(float(found.mean()), found)


class _Weights:
    """tf-idf: `documents`, in the references of how many images a run of tokens occurs, `logs` of how many in all."""

    def __init__(self, documents: Counter[Tokens], logs: float) -> None:
        self.documents, self.logs = documents, logs

    def score(self, caption: Counter[Tokens], references: Sequence[Counter[Tokens]]) -> float:
        mine, norms = self._weigh(caption)
        total = 0.0
        for reference in references:
            theirs, other = self._weigh(reference)
            sums = [0.0] * LONGEST
            for ngram, weight in mine.items():
                against = theirs.get(ngram, 0.0)
                sums[len(ngram) - 1] += min(weight, against) * against
            # Lengths by pairs of tokens, as the published code counts them.
            apart = _pairs(caption) - _pairs(reference)
            similar = sum(part / (a * b) if a and b else part for part, a, b in zip(sums, norms, other, strict=True))
            total += similar / LONGEST * exp(-(apart**2) / (2 * SIGMA**2))
        return 10 * total / len(references)

    def _weigh(self, counts: Counter[Tokens]) -> tuple[dict[Tokens, float], list[float]]:
        """The weight of each run, and the norm of each length."""
        found = {ngram: n * (self.logs - log(max(1, self.documents[ngram]))) for ngram, n in counts.items()}
        squares = [0.0] * LONGEST
        for ngram, weight in found.items():
            squares[len(ngram) - 1] += weight**2
        return found, [sqrt(square) for square in squares]


def _pairs(counts: Counter[Tokens]) -> int:
    return sum(n for ngram, n in counts.items() if len(ngram) == 2)
