"""How many reviews there are, for plans that are made before them."""

from django.db.models import QuerySet

from review.models import Campaign, Review


def count(campaign: str, run: str) -> int | None:
    """All reviews of a campaign, or of all campaigns; None where there is no such campaign. Reviews have no run."""
    if campaign and not Campaign.objects.filter(slug=campaign).exists():
        return None
    return _of(campaign).count()


def _of(campaign: str) -> QuerySet[Review]:
    rows = Review.objects.all()
    return rows.filter(reviewer__campaign__slug=campaign) if campaign else rows
