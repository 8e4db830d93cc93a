"""Signed addresses: an image for an hour or two, a reviewer's way back for 90 days. Both tell nothing to others."""

import time
import uuid

from django.core.signing import BadSignature, Signer, TimestampSigner
from django.urls import reverse

from collection.access.form_tokens import MAX_AGE
from collection.access.turns import come_back
from collection.models import Dish
from review.models import CampaignImage, Reviewer

IMAGE_SECONDS = 3600
IMAGE_SIGNER = Signer(salt="wwd.review.picture")
BACK = TimestampSigner(salt="wwd.review.back")


def image_address(image: CampaignImage) -> str:
    """Where the review copy is served now; the same within the hour, so that a phone fetches an image once."""
    return _address(image, "s")


def large_address(image: CampaignImage) -> str:
    """Where the larger copy is served now."""
    return _address(image, "l")


def _address(image: CampaignImage, size: str) -> str:
    token = IMAGE_SIGNER.sign(f"{image.pk.hex}.{_hour():x}.{size}")
    return reverse("review:picture", args=[token])


def copy_of(token: str) -> str | None:
    """The SHA-256 of the copy that a genuine and current address names."""
    try:
        key, hour, size = IMAGE_SIGNER.unsign(token).split(".")
    except (BadSignature, ValueError):
        return None
    # A later hour was made before the clock was set back.
    if _hour() - int(hour, 16) > 1:
        return None
    column = "large_sha256" if size == "l" else "copy_sha256"
    live = CampaignImage.objects.exclude(image__subject__dish__state=Dish.State.WITHDRAWN)
    return live.filter(pk=uuid.UUID(key)).values_list(column, flat=True).first()


def _hour() -> int:
    return int(time.time()) // IMAGE_SECONDS


def back_address(reviewer: Reviewer) -> str:
    """The reviewer's personal way back: anyone who has it goes on as this person."""
    return reverse("review:back", args=[BACK.sign(reviewer.pk.hex)])


def reviewer_of(token: str) -> Reviewer | None:
    """The reviewer whose way back this is."""
    try:
        key = uuid.UUID(BACK.unsign(token, max_age=MAX_AGE))
    except (BadSignature, ValueError):
        return None
    come_back(key)
    return Reviewer.objects.select_related("campaign", "invitation").filter(pk=key).first()
