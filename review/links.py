"""Signed addresses: a picture for an hour or two, a reviewer's way back for 90 days. Both tell nothing to others."""

import time
import uuid

from django.core.signing import BadSignature, Signer, TimestampSigner
from django.db.models import Q
from django.urls import reverse

from collection.models import Dish
from collection.proof import MAX_AGE
from review.models import CampaignImage, Reviewer

PICTURE_SECONDS = 3600
PICTURES = Signer(salt="wwd.review.picture")
BACK = TimestampSigner(salt="wwd.review.back")


def picture_address(image: CampaignImage) -> str:
    """Where the review copy is served now; the same within the hour, so that a phone fetches a picture once."""
    token = PICTURES.sign(f"{image.pk.hex}.{_hour():x}")
    return reverse("review:picture", args=[token])


def picture_of(token: str) -> CampaignImage | None:
    """The picture that a genuine and current address names."""
    try:
        key, hour = PICTURES.unsign(token).split(".")
    except (BadSignature, ValueError):
        return None
    if int(hour, 16) not in (_hour(), _hour() - 1):
        return None
    withdrawn = Q(image__subject__dish__state=Dish.State.WITHDRAWN)
    return CampaignImage.objects.filter(pk=uuid.UUID(key)).exclude(withdrawn).first()


def _hour() -> int:
    return int(time.time()) // PICTURE_SECONDS


def back_address(reviewer: Reviewer) -> str:
    """The reviewer's personal way back: whoever has it goes on as this person."""
    return reverse("review:back", args=[BACK.sign(reviewer.pk.hex)])


def reviewer_of(token: str) -> Reviewer | None:
    """The reviewer whose way back this is."""
    try:
        key = uuid.UUID(BACK.unsign(token, max_age=MAX_AGE))
    except (BadSignature, ValueError):
        return None
    return Reviewer.objects.select_related("campaign", "invitation").filter(pk=key).first()
