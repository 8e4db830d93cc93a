"""Reviewers in a bundle are numbers: nobody can be found again by them, neither in the platform nor in a release."""

from collections.abc import Iterable, Mapping
from uuid import UUID

import numpy as np

from evaluation.metrics.observations import coded
from review.models import Reviewer
from review.tables.selection import person


def labels(reviewers: Iterable[Reviewer]) -> Mapping[UUID, tuple[UUID, str]]:
    """Reviewer → the random id's stand-in, and what tables take for the person.

    Both orders in which resampling draws people stay: that of their labels, and that of the labels' hashes.
    """
    held = {reviewer.pk: person(reviewer.source_key, reviewer.pk) for reviewer in reviewers}
    in_order = sorted(held, key=lambda pk: held[pk])
    places = np.argsort(np.argsort(coded(held[pk] for pk in in_order))).tolist()
    return {
        pk: (UUID(int=number), f"reviewer-{number:07d}-{place:07d}")
        for number, (pk, place) in enumerate(zip(in_order, places, strict=True), start=1)
    }
