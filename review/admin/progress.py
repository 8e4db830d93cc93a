"""How far a campaign is, for staff; which images nobody is left to judge; what one reviewer did."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, Q, QuerySet, Value, When

from collection.models import Dish
from review.assignment import HANDLED
from review.models import Assignment, Campaign, CampaignImage, Review, Reviewer

BY = {"country": "country", "model": "image__model__title", "dish": "dish_name"}


@dataclass(frozen=True)
class Progress:
    """One country, model or dish of a campaign. `opinions` without surplus, of `wanted` altogether."""

    name: str
    images: int
    opinions: int
    wanted: int
    surplus: int
    skipped: int
    reported: int


def count_progress_by_name(campaign: Campaign) -> dict[str, list[Progress]]:
    """The campaign's countries, models and dishes, each by name; counted in one query."""
    found: dict[str, dict[str, Counter[str]]] = {by: defaultdict(Counter) for by in BY}
    for what, *places, n in count_handled_images(campaign):
        for by, name in zip(BY, places, strict=True):
            found[by][name or ""][what] += n
    return {
        by: [
            Progress(
                name=name,
                images=counts["images"],
                opinions=counts["opinions"],
                wanted=counts["images"] * campaign.wanted_opinions,
                surplus=counts["surplus"],
                skipped=counts[Assignment.State.SKIPPED],
                reported=counts[Assignment.State.REPORTED],
            )
            for name, counts in sorted(names.items())
        ]
        for by, names in found.items()
    }


def count_handled_images(campaign: Campaign) -> QuerySet[Any, Any]:
    """How many images there are, and how often they were judged or left out: (what, country, model, dish, n)."""
    images = exclude_withdrawn_dishes(CampaignImage.objects.filter(campaign=campaign)).annotate(what=Value("images"))
    kind = Case(When(surplus=True, then=Value("surplus")), default=Value("opinions"))
    reviews = Review.objects.present().filter(image__campaign=campaign, repeat=False).annotate(what=kind)
    left = (Assignment.State.SKIPPED, Assignment.State.REPORTED)
    given = Assignment.objects.filter(image__campaign=campaign, state__in=left).annotate(what=F("state"))
    counted = [_counted(reviews, "image__"), _counted(given, "image__")]
    return _counted(images, "").union(*counted, all=True)


def exclude_withdrawn_dishes(rows: QuerySet[Any], image: str = "") -> QuerySet[Any]:
    """Without those about a withdrawn dish: its name is shown to nobody. `image` leads to the campaign's image."""
    return rows.exclude(**{f"{image}image__subject__dish__state": Dish.State.WITHDRAWN})


def _counted(rows: QuerySet[Any], image: str) -> QuerySet[Any, Any]:
    rows = exclude_withdrawn_dishes(rows, image) if image else rows
    columns = (f"{image}{column}" for column in BY.values())
    return rows.order_by().values_list("what", *columns).annotate(n=Count("pk"))


def reviewers_by_country(campaign: Campaign) -> dict[str, int]:
    """How many people take part, by country."""
    return dict(sorted(_counts(Reviewer.objects.filter(campaign=campaign, withdrawn_at=None), "country").items()))


def _counts(rows: QuerySet, column: str) -> Counter[str]:
    return Counter(dict(rows.order_by().values_list(column).annotate(number=Count("pk"))))


def without_reviewer(campaign: Campaign, there: Mapping[str, int] | None = None) -> list[CampaignImage]:
    """Images that want opinions while everybody of their country has handled them, or nobody is there.

    `there`: `reviewers_by_country`, where it is known already.
    """
    there = reviewers_by_country(campaign) if there is None else there
    done = Q(assignments__state__in=HANDLED, assignments__repeat=False, assignments__reviewer__withdrawn_at=None)
    wanting = exclude_withdrawn_dishes(
        CampaignImage.objects.filter(campaign=campaign, opinions__lt=campaign.wanted_opinions)
    )
    counted = wanting.annotate(handled=Count("assignments__reviewer", filter=done, distinct=True))
    return [image for image in counted.order_by("country", "dish_name") if image.handled >= there.get(image.country, 0)]


@dataclass(frozen=True)
class Work:
    """What one reviewer did. `seconds`: median from showing to answering; None where nothing was measured."""

    answers: int
    surplus: int
    skipped: int
    reported: int
    seconds: float | None
    shared: int
    alike: int
    repeats: int
    repeats_alike: int


def work_of(reviewer: Reviewer) -> Work:
    """Agreement here is plain: how often the answer "is it the dish" equals that of the majority of the others."""
    given = Counter(reviewer.assignments.values_list("state", flat=True))
    times = reviewer.assignments.exclude(shown_at=None).filter(state=Assignment.State.ANSWERED, repeat=False)
    seconds = [
        (done - shown).total_seconds()
        for shown, done in times.values_list("shown_at", "handled_at")
        if shown is not None and done is not None
    ]
    mine = {(review.image_id, review.repeat): review for review in reviewer.reviews.all()}
    first = {image: review for (image, repeat), review in mine.items() if not repeat}
    again = [(first[image], review) for (image, repeat), review in mine.items() if repeat and image in first]
    others = _majorities(reviewer, first)
    return Work(
        answers=len(first),
        surplus=sum(review.surplus for review in first.values()),
        skipped=given[Assignment.State.SKIPPED],
        reported=given[Assignment.State.REPORTED],
        seconds=median(seconds) if seconds else None,
        shared=len(others),
        alike=sum(bool(first[image].correct_dish) == answer for image, answer in others.items()),
        repeats=len(again),
        repeats_alike=sum(before.correct_dish == after.correct_dish for before, after in again),
    )


def _majorities(reviewer: Reviewer, first: Mapping[UUID, Review]) -> dict[UUID, bool]:
    """Image → whether most others say it is the dish; ties are left out."""
    counted = Review.objects.counted().filter(image__in=list(first)).exclude(reviewer=reviewer)
    rows = (
        counted.order_by().values_list("image").annotate(yes=Count("pk", filter=Q(correct_dish=True)), all=Count("pk"))
    )
    return {image: yes * 2 > total for image, yes, total in rows.exclude(all=F("yes") * 2)}
