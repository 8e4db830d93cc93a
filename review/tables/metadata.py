"""What tables of reviews keep about themselves: values to choose from, and how much was counted."""

from collections import defaultdict
from typing import Any

from django.db.models import Count

from evaluation.contracts.table import MOST_OPTIONS, PROMPT, Filters, TableMetadata, TableSpec
from evaluation.metrics.dimensions import DISH_DIMENSIONS, SUBJECT_DIMENSIONS
from evaluation.metrics.ordering import sort_group_values
from evaluation.models import Subject
from evaluation.tables.metadata import register_describer
from review.models import Questionnaire, Review
from review.tables.selection import REAL, select_reviews


@register_describer("reviews")
def describe_reviews(spec: TableSpec, filters: Filters) -> TableMetadata:
    """See `evaluation/tables/metadata.py`. Values to choose from are those of all reviews, whatever is chosen."""
    chosen = select_reviews(filters)
    counted = chosen.reviews.aggregate(
        reviews=Count("pk"),
        reviewers=Count("reviewer", distinct=True),
        dishes=Count("image__image__subject", distinct=True),
        pictures=Count("image__image", distinct=True),
    )
    return {
        "options": list_review_filter_values(demonstration=chosen.demonstration),
        "counted": counted,
        "questionnaire": str(chosen.questionnaire) if chosen.questionnaire else "",
    }


def list_review_filter_values(*, demonstration: bool) -> dict[str, list[str]]:
    """Filter → the values that some review has; those of the demonstration only where nothing else is shown."""
    reviews = Review.objects.counted(include_excluded=True)
    given = (reviews if demonstration else reviews.filter(REAL)).order_by()
    campaigns = given.values_list("reviewer__campaign__slug", "reviewer__campaign__questionnaire").distinct()
    named = {row.pk: str(row) for row in Questionnaire.objects.all()}
    found: dict[str, Any] = defaultdict(set)
    for slug, questionnaire in campaigns:
        found["campaign"].add(slug)
        found["questionnaire"].add(named[questionnaire])
    found |= labels_of(set(given.values_list("image__image__subject", flat=True).distinct()))
    prompts = given.values_list("image__image__prompt__slug", flat=True).distinct()
    found[PROMPT] = {slug for slug in prompts if slug}
    return {name: sort_group_values(values, name)[:MOST_OPTIONS] for name, values in found.items()}


def labels_of(subjects: set[int]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {name: set() for name in DISH_DIMENSIONS}
    for labels in Subject.objects.filter(pk__in=subjects).values_list("labels", flat=True):
        for name in SUBJECT_DIMENSIONS:
            if name in labels:
                found.setdefault(name, set()).update(labels[name])
    return found
