"""Filters that choose which dishes and prompts a table of reviews is about, before anything is counted."""

from django.db.models import Q

from evaluation.contracts.table import PROMPT, Filters
from evaluation.metrics.dimensions import SUBJECT_DIMENSIONS
from evaluation.models import Subject

# The country of a review is the one that somebody judged for: a column of these tables, not a label of the dish.
NARROWING = (*(name for name in SUBJECT_DIMENSIONS if name != "country"), PROMPT)


def of_subjects(filters: Filters) -> Q:
    """Reviews, assignments: whatever has `image`, of the dishes and prompts that `filters` choose."""
    found = Q()
    labels = {name: value for name, value in filters.items() if name in NARROWING and name != PROMPT}
    if labels:
        # Read here: a list within JSON can be searched in PostgreSQL, but not in SQLite. Subjects are few.
        rows = Subject.objects.filter(images__campaignimage__isnull=False).distinct().values_list("pk", "labels")
        found &= Q(image__image__subject__in=[pk for pk, held in rows if matches_filters(held, labels)])
    if PROMPT in filters:
        found &= Q(image__image__prompt__slug=filters[PROMPT])
    return found


def matches_filters(labels: dict[str, list[str]], wanted: Filters) -> bool:
    return all(value in labels.get(name, ()) for name, value in wanted.items())


def describe_label_filters(filters: Filters) -> list[str]:
    """A note on what was chosen."""
    chosen = "; ".join(f"{name}: {value}" for name, value in sorted(filters.items()) if name in NARROWING)
    return [f"Only reviews of images of these dishes and prompts: {chosen}."] if chosen else []
