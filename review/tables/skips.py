"""What was skipped, and how far it could move the shares: bounds, since nobody knows what would have been said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from collection.models import Dish
from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from review.assignment import SKIPS as SKIPS_COUNTER
from review.models import Assignment, Questionnaire, Review
from review.tables.filters import of_subjects
from review.tables.observe import build_opinion_observations
from review.tables.selection import (
    CHOICES,
    REAL,
    REGIONS,
    REVIEW_FILTERS,
    REVIEW_INPUTS,
    Opinion,
    Pool,
    describe_nameless_reviews,
    identify_reviewer,
    iterate_opinions,
    select_reviews,
)
from review.tables.shares import ShareCell, by_cell, cell_rows, describe_reviewer_counts

SKIPPED = (Assignment.State.SKIPPED, Assignment.State.REPORTED)
FIELDS = (
    "image__image",
    "image__country",
    "image__image__model__title",
    "image__image__subject__source_key",
    "reviewer__source_key",
    "reviewer",
)
UNRECORDED = "it was not recorded which images were skipped"
BOUNDS_NOTE = (
    "Bounds: the shares of review.quality if every image that somebody skipped or reported without an answer had "
    "been called food (the dish) by them, or not. The truth lies between."
)


class Skip(NamedTuple):
    """An image that somebody left out; there is no review of it."""

    image: int
    country: str
    model: str
    dish: str
    reviewer: str
    pk: int = 0


Said = tuple[Opinion | Skip, Sequence[bool]]


def compute_skip_table(filters: Filters) -> TidyTable:
    """`review.skips`."""
    chosen = select_reviews(filters)
    notes = [BOUNDS_NOTE, REGIONS, *chosen.notes]
    rows: list[TidyRow] = []
    if chosen.questionnaire:
        recorded, found = answered_or_skipped(chosen, chosen.questionnaire, filters)
        cells = by_cell(found)
        for key, cell in cells.items():
            groups = dict(zip(SKIPS.columns, key, strict=True))
            rows += (
                cell_rows(groups, tuple(SKIP_METRICS), cell, filters)
                if key in recorded
                else build_unrecorded_rows(groups, cell)
            )
        notes += [*describe_nameless_reviews(chosen.reviews), describe_reviewer_counts(cells)]
    return TidyTable(
        SKIPS.name, SKIPS.version, SKIPS.columns, tuple(rows), tuple(notes), chosen.demonstration, chosen.extra
    )


def observe_skips(filters: Filters) -> Observations:
    """The images answered or skipped; where no assignment was recorded nothing is measured."""
    chosen = select_reviews(filters)
    if chosen.questionnaire is None:
        return build_opinion_observations(tuple(SKIP_METRICS), (), chosen)
    recorded, found = answered_or_skipped(chosen, chosen.questionnaire, filters)
    unknown = (None,) * len(SKIP_METRICS)
    kept = ((one, read if (one.country, one.model) in recorded else unknown) for one, read in found)
    return build_opinion_observations(tuple(SKIP_METRICS), kept, chosen, (BOUNDS_NOTE, REGIONS))


def answered_or_skipped(
    chosen: Pool, questionnaire: Questionnaire, filters: Filters
) -> tuple[set[tuple[str, str]], Iterator[Said]]:
    """The countries and models of which assignments were recorded; and all that was answered, then all left out."""
    assigned = select_assignments(chosen, questionnaire, filters)
    recorded = set(assigned.order_by().values_list("image__country", "image__image__model__title").distinct())
    said = (
        (one, code_answered_image(one.food, one.correct_dish)) for one in iterate_opinions(chosen.reviews) if one.model
    )
    return recorded, chain(said, ((one, left_out()) for one in iterate_skips(assigned)))


def select_assignments(chosen: Pool, questionnaire: Questionnaire, filters: Filters) -> QuerySet[Assignment]:
    """What was given to the people whose reviews are counted, under the same choices."""
    found = filter_assignments(questionnaire, filters)
    return found if chosen.demonstration else found.filter(REAL)


def filter_assignments(questionnaire: Questionnaire, filters: Filters) -> QuerySet[Assignment]:
    """The same before demonstrations are looked at."""
    found = Assignment.objects.filter(
        of_subjects(filters),
        Q(reviewer__withdrawn_at=None) | Q(reviewer__keep_answers=True),
        reviewer__campaign__questionnaire=questionnaire,
        repeat=False,
    )
    found = found.exclude(image__image__subject__dish__state=Dish.State.WITHDRAWN).exclude(image__image__model=None)
    if filters.get("excluded") != "with":
        found = found.filter(reviewer__exclusion=None)
    return found.filter(reviewer__campaign__slug=filters["campaign"]) if "campaign" in filters else found


def iterate_skips(assigned: QuerySet[Assignment]) -> Iterable[Skip]:
    """Images skipped, or reported before anything was answered."""
    reviewed = Review.objects.filter(reviewer=OuterRef("reviewer"), image=OuterRef("image"), repeat=False)
    rows = assigned.filter(state__in=SKIPPED).exclude(Exists(reviewed))
    for image, country, model, dish, key, reviewer in rows.order_by("pk").values_list(*FIELDS):
        yield Skip(image, country, model, dish, identify_reviewer(key, reviewer))


def code_answered_image(food: bool | None, dish: bool | None) -> Sequence[bool]:
    return (False, food is True, food is True, dish is True, dish is True)


def left_out() -> Sequence[bool]:
    return (True, False, True, False, True)


def build_unrecorded_rows(groups: Mapping[str, str], cell: ShareCell) -> list[TidyRow]:
    lacking = Estimate(None, len(cell.values), cell.dish_count, reason=UNRECORDED, people=cell.people)
    return [TidyRow(groups, metric, lacking) for metric in SKIP_METRICS]


SKIP_METRICS = {
    "skipped": "Share of the images answered or skipped that were skipped, or reported without an answer.",
    "food_low": "Share of food if everybody who skipped had said no.",
    "food_high": "Share of food if everybody who skipped had said yes.",
    "correct_dish_low": "Share of the correct dish if everybody who skipped had said no.",
    "correct_dish_high": "Share of the correct dish if everybody who skipped had said yes.",
}
SKIPS = TableSpec(
    name="review.skips",
    title="Skipped images, and what they could change",
    source="Own; bounds after Manski 1989, J. Hum. Resour. 24:343–360",
    version="2",
    columns=("country", "model"),
    metrics=SKIP_METRICS,
    inputs=(*REVIEW_INPUTS, SKIPS_COUNTER),
    filters=REVIEW_FILTERS,
    choices=CHOICES,
    compute=compute_skip_table,
    unread=("country", "model"),
    observe=observe_skips,
    worse={metric: "high" if metric == "skipped" else "low" for metric in SKIP_METRICS},
)
