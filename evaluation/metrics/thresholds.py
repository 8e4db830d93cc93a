"""From a score to a label by a threshold that was fitted on other dishes: no image helps to judge itself."""

import numpy as np
import numpy.typing as npt

from evaluation.metrics.classification import Floats, Labels, agreement_of, sum_by_code

FOLDS = 5
SEED = 20250623


def best_threshold(scores: Floats, yes: Floats, no: Floats) -> float | None:
    """The t for which "score ≥ t" has the highest kappa with people, halfway between two scores; the lowest of equals.

    `scores` (n,), NaN left out, `yes`, `no` (n,). None where people use one answer alone, or all scores are equal.
    """
    known = ~np.isnan(scores)
    scores, yes, no = scores[known], yes[known], no[known]
    values, place = np.unique(scores, return_inverse=True)
    if len(values) < 2:
        return None
    at_value = np.column_stack([sum_by_code(place, len(values), weights) for weights in (yes, no)])
    above = np.cumsum(at_value[::-1], axis=0)[::-1][1:]
    kappa = agreement_of(np.concatenate([above, at_value.sum(axis=0) - above], axis=1))[:, 0]
    if np.isnan(kappa).all():
        return None
    best = int(np.nanargmax(kappa))
    return float((values[best] + values[best + 1]) / 2)


def fitted_labels(scores: Floats, yes: Floats, no: Floats, clusters: Labels) -> Floats:
    """Labels (n,), 0 or 1, by the best threshold of the clusters in the other four of five folds; NaN without one.

    Whole clusters (dishes) are drawn into folds, with a fixed seed. With fewer than five clusters all is NaN.
    """
    labels = np.full(len(scores), np.nan)
    fold = assign_folds(clusters)
    for number in range(FOLDS) if len(np.unique(clusters)) >= FOLDS else ():
        inside = fold == number
        threshold = best_threshold(scores[~inside], yes[~inside], no[~inside])
        if threshold is not None:
            labels[inside] = scores[inside] >= threshold
    return labels


def assign_folds(clusters: Labels) -> npt.NDArray[np.intp]:
    """The fold (n,) of each of `clusters` (n,), 0 to 4, the same in whichever order they come."""
    names, place = np.unique(clusters, return_inverse=True)
    drawn = np.random.default_rng(SEED).permutation(len(names)) % FOLDS
    return np.asarray(drawn[place], dtype=np.intp)
