"""What follows here when a dish is withdrawn: nobody gets its images any more; once it is erased, copies, names and
what people wrote about them in their own words go. Opinions stay as numbers and leave new tables."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.db.models import QuerySet

from collection.models import Country
from evaluation import content_store
from evaluation.counters import bump_input_counters
from evaluation.models import KeptReport
from evaluation.receivers import erased_key
from review.assignment import hold_images
from review.models import Assignment, Campaign, CampaignImage, Review, ReviewChange

PROGRESS_KIND = "campaign"
COPIES = ("copy_sha256", "large_sha256")


def release_reserved_images(dishes: Sequence[int], **signal: Any) -> None:
    """Images in hand are taken back: the next request gets another one."""
    held = Assignment.objects.filter(image__image__subject__dish__in=dishes, state=Assignment.State.RESERVED)
    held.update(state=Assignment.State.EXPIRED, begun={})
    count_again(dishes)
    bump_input_counters("reviews")


def count_again(dishes: Sequence[int]) -> None:
    """What a worker counted of large campaigns names the dishes: it is not shown until it is counted without these."""
    campaigns = CampaignImage.objects.filter(image__subject__dish__in=dishes).values_list("campaign", flat=True)
    names = [f"{PROGRESS_KIND}:{pk}" for pk in campaigns.distinct()]
    KeptReport.objects.filter(name__in=names).update(content=None, counted_at=None)


def show_again(dishes: Sequence[int], **signal: Any) -> None:
    bump_input_counters("reviews")


def erase_campaign_images(images: Sequence[int], removals: list[Callable[[], None]], **signal: Any) -> None:
    """Names, copies and own words about these images; what removes the files comes to `removals`."""
    shown = CampaignImage.objects.filter(image__in=images)
    hold_images(shown)
    hashes = {sha256 for pair in shown.values_list(*COPIES) for sha256 in pair if sha256}
    forget_words(shown)
    shown.update(dish_name="", **dict.fromkeys(COPIES, ""))
    removals.append(partial(content_store.remove_unnamed, hashes))


def rename_image_dish(images: Sequence[int], name: str, **signal: Any) -> None:
    """These images are now of another contributor's dish; what was said with the other name goes."""
    shown = CampaignImage.objects.filter(image__in=images).exclude(dish_name=name)
    hold_images(shown)
    forget_words(shown)
    CampaignImage.objects.filter(image__in=images).update(dish_name=name)


def forget_words(shown: QuerySet[CampaignImage]) -> None:
    """What people wrote about these images, and the place where it is named in the contributor's words alone."""
    reviews = Review.objects.filter(image__in=shown)
    ReviewChange.objects.filter(review__in=reviews).delete()
    reviews.exclude(source_key=None).update(source_key=erased_key())
    reviews.update(answers={})
    shown.exclude(country__in=Country.objects.values("name")).update(country=erased_key())
    bump_input_counters("reviews")


def count_campaign_reviews(campaign: str, run: str) -> int | None:
    """All reviews of a campaign, or of all campaigns; None where there is no such campaign. Reviews have no run."""
    if campaign and not Campaign.objects.filter(slug=campaign).exists():
        return None
    return _of(campaign).count()


def _of(campaign: str) -> QuerySet[Review]:
    rows = Review.objects.all()
    return rows.filter(reviewer__campaign__slug=campaign) if campaign else rows
