"""Who judges which picture next: fewest opinions, then the model seen least, then chance. Blind to everything else.

Opinions and live reservations of a picture never exceed what the campaign wants: whoever reserves or answers holds
the campaign's row (PostgreSQL) or the whole database (SQLite, IMMEDIATE). Only the database's clock counts.
"""

import hashlib
import uuid
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.db.models.functions import Now
from django.utils.translation import gettext

from review.models import Assignment, Campaign, CampaignImage, Review, Reviewer
from review.refused import Refused

RESERVATION = timedelta(hours=1)
State = Assignment.State
HANDLED = (State.ANSWERED, State.SKIPPED, State.REPORTED)


@dataclass(frozen=True)
class Progress:
    """How many pictures are behind somebody, and how many there are for them altogether."""

    done: int
    total: int

    @property
    def number(self) -> int:
        """The place of the picture that is now shown, from 1."""
        return self.done + 1


@dataclass(frozen=True)
class Candidate:
    """A picture that may still be judged. `load`: opinions and live reservations."""

    id: uuid.UUID
    model: int | None
    load: int


def locked(campaign_id: int) -> tuple[Campaign, datetime]:
    """The campaign, held until the transaction ends, and the time by the database's clock."""
    campaign = Campaign.objects.select_for_update().annotate(now=Now()).get(pk=campaign_id)
    return campaign, campaign.now


@transaction.atomic
def reserve(reviewer: Reviewer) -> Assignment | None:
    """The picture that `reviewer` has in hand, or a fresh one; None where no picture is left for them."""
    campaign, now = locked(reviewer.campaign_id)
    in_hand = reviewer.assignments.filter(state=State.RESERVED, until__gt=now).select_related("image").first()
    if in_hand:
        return in_hand
    reviewer.assignments.filter(state=State.RESERVED).update(state=State.EXPIRED)
    chosen = first_of(candidates(reviewer, campaign, now), reviewer)
    if chosen is None:
        return None
    assignment, _ = Assignment.objects.select_related("image").update_or_create(
        reviewer=reviewer,
        image_id=chosen.id,
        defaults={"state": State.RESERVED, "until": now + RESERVATION, "shown_at": None},
    )
    return assignment


def candidates(reviewer: Reviewer, campaign: Campaign, now: datetime) -> list[Candidate]:
    """The pictures of the reviewer's country that want opinions and that this person has not handled."""
    mine = CampaignImage.objects.filter(campaign=campaign, country=reviewer.country).exclude(copy_sha256="")
    unhandled = mine.exclude(
        Q(pk__in=reviewer.assignments.filter(state__in=HANDLED).values("image"))
        | Q(pk__in=Assignment.objects.filter(image__campaign=campaign, state=State.REPORTED).values("image"))
    )
    load = loads(campaign, now, reviewer.country)
    found = (Candidate(pk, model, load[pk]) for pk, model in unhandled.values_list("pk", "image__model"))
    return [candidate for candidate in found if candidate.load < campaign.wanted_opinions]


def loads(campaign: Campaign, now: datetime, country: str) -> Counter[uuid.UUID]:
    """Opinions (without surplus) and live reservations by picture."""
    here = Q(image__campaign=campaign, image__country=country)
    opinions = Review.objects.filter(here, surplus=False)
    reserved = Assignment.objects.filter(here, state=State.RESERVED, until__gt=now)
    total: Counter[uuid.UUID] = Counter()
    for rows in (opinions, reserved):
        total.update(dict(rows.order_by().values_list("image").annotate(number=Count("pk"))))
    return total


def load_without(image: CampaignImage, reviewer: Reviewer, now: datetime) -> int:
    """Opinions and live reservations of one picture by everybody but `reviewer`."""
    others = Q(image=image) & ~Q(reviewer=reviewer)
    opinions = Review.objects.filter(others, surplus=False).count()
    return opinions + Assignment.objects.filter(others, state=State.RESERVED, until__gt=now).count()


def first_of(found: Collection[Candidate], reviewer: Reviewer) -> Candidate | None:
    """Fewest opinions and reservations, then the model this person was given least, then a hash of both ids."""
    if not found:
        return None
    given: Counter[int | None] = Counter(reviewer.assignments.values_list("image__image__model", flat=True))
    return min(found, key=lambda one: (one.load, given[one.model], _lot(reviewer.pk, one.id)))


def _lot(reviewer: uuid.UUID, image: uuid.UUID) -> str:
    return hashlib.sha256(reviewer.bytes + image.bytes).hexdigest()


def progress(reviewer: Reviewer) -> Progress:
    """Pictures handled, and those plus what is left for this person (the one in hand included)."""
    campaign = Campaign.objects.annotate(now=Now()).get(pk=reviewer.campaign_id)
    now: datetime = campaign.now
    left = {candidate.id for candidate in candidates(reviewer, campaign, now)}
    in_hand = reviewer.assignments.filter(state=State.RESERVED, until__gt=now)
    left.update(assignment.image_id for assignment in in_hand)
    done = reviewer.assignments.filter(state__in=HANDLED).count()
    return Progress(done, done + len(left))


def given(reviewer: Reviewer, image_id: str) -> Assignment:
    """The reviewer's assignment of this picture, live or not. Raises Refused where it was never given to them."""
    try:
        key = uuid.UUID(image_id)
    except ValueError:
        key = uuid.UUID(int=0)
    found = reviewer.assignments.select_related("image").filter(image=key, image__campaign=reviewer.campaign_id).first()
    if found is None:
        raise Refused(gettext("This picture is not one of yours. Go on to the next picture."), 403)
    return found


def mark_shown(assignment: Assignment) -> None:
    """Records when the picture was first shown."""
    Assignment.objects.filter(pk=assignment.pk, shown_at=None).update(shown_at=Now())


def skip(assignment: Assignment) -> None:
    """Leaves the picture out for this person. One that was answered stays answered."""
    unanswered = (State.RESERVED, State.EXPIRED)
    Assignment.objects.filter(pk=assignment.pk, state__in=unanswered).update(state=State.SKIPPED)


def report(assignment: Assignment) -> None:
    """Hides the picture in this campaign until staff have looked at it. An answer given before is kept."""
    Assignment.objects.filter(pk=assignment.pk).update(state=State.REPORTED)
