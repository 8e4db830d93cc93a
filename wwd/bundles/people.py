"""Reviewers in a bundle are numbers: nobody can be found again by them, neither in the platform nor in a release."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from review.models import Reviewer
from review.tables.counting import person


def labels(reviewers: Iterable[Reviewer]) -> Mapping[UUID, int]:
    """Reviewer → 1, 2, … in the order of who they are in tables: resampling draws them in the same order again."""
    in_order = sorted(reviewers, key=lambda reviewer: person(reviewer.source_key, reviewer.pk))
    return {reviewer.pk: number for number, reviewer in enumerate(in_order, start=1)}


def identity(number: int) -> UUID:
    """The random id's place in a bundle."""
    return UUID(int=number)


def label(number: int) -> str:
    """What a table takes for the person; sorts as the numbers do."""
    return f"reviewer-{number:07d}"
