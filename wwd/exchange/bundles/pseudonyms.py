"""Reviewers in a bundle are numbers: nobody can be found again by them, neither in the platform nor in a release."""

from collections.abc import Iterable, Mapping
from uuid import UUID

import numpy as np

from evaluation.metrics.observations import hash_labels
from review.models import Reviewer
from review.tables.selection import identify_reviewer


def pseudonymise_reviewers(reviewers: Iterable[Reviewer]) -> Mapping[UUID, tuple[UUID, str]]:
    """Reviewer → the random id's stand-in, and what tables take for the person.

    Both orders in which resampling draws people stay: that of their labels, and that of the labels' hashes.
    """
    held = {reviewer.pk: identify_reviewer(reviewer.source_key, reviewer.pk) for reviewer in reviewers}
    in_order = sorted(held, key=lambda pk: held[pk])
    places = np.argsort(np.argsort(hash_labels(held[pk] for pk in in_order))).tolist()
    return {
        pk: (UUID(int=number), f"reviewer-{number:07d}-{place:07d}")
        for number, (pk, place) in enumerate(zip(in_order, places, strict=True), start=1)
    }
