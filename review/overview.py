"""How far a campaign is, for staff; and which pictures of a run it still lacks."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from evaluation.models import GeneratedImage, Run
from review.models import Assignment, Campaign, CampaignImage, Review, Reviewer


@dataclass(frozen=True)
class CountryProgress:
    """One country of a campaign. `opinions` without surplus, of `wanted` altogether."""

    country: str
    pictures: int
    reviewers: int
    opinions: int
    wanted: int
    surplus: int
    skipped: int
    reported: int


def progress_by_country(campaign: Campaign) -> list[CountryProgress]:
    """The campaign's countries by name."""
    pictures = _counts(CampaignImage.objects.filter(campaign=campaign), "country")
    reviewers = _counts(Reviewer.objects.filter(campaign=campaign), "country")
    reviews = Review.objects.filter(image__campaign=campaign)
    opinions = _counts(reviews.filter(surplus=False), "image__country")
    surplus = _counts(reviews.filter(surplus=True), "image__country")
    assignments = Assignment.objects.filter(image__campaign=campaign)
    skipped = _counts(assignments.filter(state=Assignment.State.SKIPPED), "image__country")
    reported = _counts(assignments.filter(state=Assignment.State.REPORTED), "image__country")
    return [
        CountryProgress(
            country=name,
            pictures=pictures[name],
            reviewers=reviewers[name],
            opinions=opinions[name],
            wanted=pictures[name] * campaign.wanted_opinions,
            surplus=surplus[name],
            skipped=skipped[name],
            reported=reported[name],
        )
        for name in sorted(pictures | reviewers)
    ]


def _counts(rows: QuerySet, column: str) -> Counter[str]:
    return Counter(dict(rows.order_by().values_list(column).annotate(number=Count("pk"))))


def missing_pictures(campaign: Campaign, run: Run) -> QuerySet[GeneratedImage]:
    """The held pictures of `run` that the campaign has for no country."""
    held = GeneratedImage.objects.filter(run=run, state=GeneratedImage.State.HELD)
    there = Q(pk__in=CampaignImage.objects.filter(campaign=campaign).values("image"))
    return held.exclude(there).select_related("subject__dish").order_by("pk")
