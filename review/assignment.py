"""Who judges which picture next: the model this person was given least, then fewest opinions, then chance.

Opinions and live reservations of a picture never exceed what the campaign wants: whoever reserves or answers holds
the campaign's row (PostgreSQL) or the whole database (SQLite, IMMEDIATE). Only the database's clock counts.

The model comes before the number of opinions, so that what a person was given (answered, skipped, reported, in hand
or expired; repeats aside) never differs by more than one between models that still have an open picture for them,
however unequal the models' numbers of pictures are. Real photographs and repeats are strewn in by their own shares.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, CharField, Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import MD5, Cast, Concat, Now
from django.utils.translation import gettext

from collection.models import Dish
from evaluation import tables
from evaluation.models import Role
from review.models import Assignment, Campaign, CampaignImage, ContentTag, Reviewer
from review.refused import Refused

RESERVATION = timedelta(hours=1)
# So many other pictures lie between a picture and its repeat.
REPEAT_GAP = 10
REPORTS_FOR_ALL = 2
# What tables count as an input of theirs (see `evaluation.tables.bump`).
SKIPS = "skips"
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


def locked(campaign_id: int) -> tuple[Campaign, datetime]:
    """The campaign, held until the transaction ends, and the time by the database's clock."""
    campaign = Campaign.objects.select_for_update().annotate(now=Now()).get(pk=campaign_id)
    return campaign, campaign.now


@transaction.atomic
def reserve(reviewer: Reviewer) -> Assignment | None:
    """The picture that `reviewer` has in hand, or a fresh one; None where no picture is left for them."""
    campaign, now = locked(reviewer.campaign_id)
    in_hand = live(reviewer, now).select_related("image").first()
    if in_hand:
        return in_hand
    reviewer.assignments.filter(state=State.RESERVED).update(state=State.EXPIRED)
    image = due_repeat(reviewer, campaign)
    repeat = image is not None
    image = image or next_image(reviewer, campaign, now)
    if image is None:
        return None
    assignment, _ = Assignment.objects.update_or_create(
        reviewer=reviewer,
        image=image,
        repeat=repeat,
        defaults={"state": State.RESERVED, "until": now + RESERVATION, "shown_at": None},
    )
    return assignment


def live(reviewer: Reviewer, now: datetime) -> QuerySet[Assignment]:
    return reviewer.assignments.filter(state=State.RESERVED, until__gt=now)


def visible(reviewer: Reviewer, campaign: Campaign) -> QuerySet[CampaignImage]:
    """Pictures of the reviewer's country, not withdrawn, that nobody reported and that show nothing they avoid."""
    images = CampaignImage.objects.filter(campaign=campaign, country=reviewer.country).exclude(copy_sha256="")
    reports = Assignment.objects.filter(state=State.REPORTED)
    images = images.exclude(Exists(reports.filter(image=OuterRef("pk")))).exclude(image__in=hidden_for_all())
    images = images.exclude(image__subject__dish__state=Dish.State.WITHDRAWN)
    if reviewer.avoids:
        images = images.exclude(Exists(ContentTag.objects.filter(image=OuterRef("pk"), kind__in=reviewer.avoids)))
    return images


def hidden_for_all() -> QuerySet[Assignment, Any]:
    """Ids of generated images that two people reported, in whichever campaigns."""
    reports = Assignment.objects.filter(state=State.REPORTED).order_by().values("image__image")
    counted = reports.annotate(people=Count("reviewer", distinct=True))
    return counted.filter(people__gte=REPORTS_FOR_ALL).values("image__image")


def has_tagged(campaign: Campaign) -> bool:
    return ContentTag.objects.filter(image__campaign=campaign).exists()


def open_images(reviewer: Reviewer, campaign: Campaign, now: datetime) -> QuerySet[CampaignImage]:
    """Pictures that still want an opinion and that this person has not handled; `load` is annotated.

    `load`: opinions and live reservations. Opinions are counted on the row, reservations alive are few.
    """
    mine = Assignment.objects.filter(reviewer=reviewer, image=OuterRef("pk"), repeat=False, state__in=HANDLED)
    alive = Q(assignments__state=State.RESERVED, assignments__until__gt=now, assignments__repeat=False)
    images = visible(reviewer, campaign).filter(opinions__lt=campaign.wanted_opinions).exclude(Exists(mine))
    held = images.annotate(alive=FilteredRelation("assignments", condition=alive))
    return held.annotate(load=F("opinions") + Count("alive")).filter(load__lt=campaign.wanted_opinions)


def next_image(reviewer: Reviewer, campaign: Campaign, now: datetime) -> CampaignImage | None:
    """The first open picture in the order that this module describes."""
    camera = Q(image__image__model__role=Role.CAMERA)
    rows = reviewer.assignments.filter(repeat=False).order_by().values("image__image__model")
    counts = rows.annotate(given=Count("pk"), real=Count("pk", filter=camera))
    found = list(counts.values_list("image__image__model", "given", "real"))
    given = [When(image__model=model, then=Value(number)) for model, number, _ in found if model]
    real, total = sum(row[2] for row in found), sum(row[1] for row in found)
    turn = -1 if share_due(reviewer, total, real, campaign.real_percent) else 1
    ordered = open_images(reviewer, campaign, now).annotate(
        turn=Case(When(image__model__role=Role.CAMERA, then=Value(turn)), default=Value(0)),
        given=Case(*given, default=Value(0)),
        lot=MD5(Concat(Value(reviewer.pk.hex), Cast("pk", CharField()), output_field=CharField())),
    )
    return ordered.order_by("turn", "given", "load", "lot").first()


def due_repeat(reviewer: Reviewer, campaign: Campaign) -> CampaignImage | None:
    """A picture that this person answered long enough ago, where it is time to ask about one once more."""
    if not campaign.repeat_percent:
        return None
    answered = list(
        reviewer.assignments.filter(state=State.ANSWERED, repeat=False)
        .order_by("-handled_at")
        .values_list("image", flat=True)
    )
    repeated = set(reviewer.assignments.filter(repeat=True).values_list("image", flat=True))
    if not share_due(reviewer, len(answered), len(repeated), campaign.repeat_percent):
        return None
    old = [image for image in answered[REPEAT_GAP:] if image not in repeated]
    shown = visible(reviewer, campaign).in_bulk(old)
    return next((shown[image] for image in reversed(old) if image in shown), None)


def share_due(reviewer: Reviewer, total: int, had: int, percent: int) -> bool:
    """Whether one more of a kind is due after `total` pictures, `had` of them of the kind.

    Each person starts at another place of the cycle, so that the number of a picture tells nothing.
    """
    if not percent:
        return False
    phase = reviewer.pk.int % (100 // percent)
    return (total + phase + 1) * percent // 100 > had


def progress(reviewer: Reviewer) -> Progress:
    """Pictures handled, and those plus what is left for this person (the one in hand included)."""
    campaign = Campaign.objects.annotate(now=Now()).get(pk=reviewer.campaign_id)
    now: datetime = campaign.now
    in_hand = live(reviewer, now).first()
    left = open_images(reviewer, campaign, now)
    if in_hand:
        left = left.exclude(pk=in_hand.image_id)
    done = reviewer.assignments.filter(state__in=HANDLED).count()
    return Progress(done, done + left.count() + (in_hand is not None))


def load_without(image: CampaignImage, reviewer: Reviewer, now: datetime) -> int:
    """Opinions and live reservations of one picture by everybody but `reviewer`."""
    others = Q(image=image, repeat=False) & ~Q(reviewer=reviewer)
    opinions = image.reviews.counted(include_excluded=True).filter(others).count()
    return opinions + Assignment.objects.filter(others, state=State.RESERVED, until__gt=now).count()


def given(reviewer: Reviewer, key: str) -> Assignment:
    """The reviewer's assignment with this id, live or not. Raises Refused where it was never given to them."""
    try:
        wanted = uuid.UUID(key)
    except ValueError:
        wanted = uuid.UUID(int=0)
    found = reviewer.assignments.select_related("image").filter(pk=wanted, image__campaign=reviewer.campaign_id).first()
    if found is None:
        raise Refused(gettext("This picture is not one of yours. Go on to the next picture."), 403)
    return found


def mark_shown(assignment: Assignment) -> None:
    """Records when the picture was first shown."""
    Assignment.objects.filter(pk=assignment.pk, shown_at=None).update(shown_at=Now())


@transaction.atomic
def skip(assignment: Assignment) -> None:
    """Leaves the picture out for this person. One that was answered stays answered."""
    unanswered = (State.RESERVED, State.EXPIRED)
    mine = Assignment.objects.filter(pk=assignment.pk, state__in=unanswered)
    if mine.update(state=State.SKIPPED, handled_at=Now()):
        tables.bump(SKIPS)


@transaction.atomic
def report(assignment: Assignment) -> None:
    """Hides the picture in this campaign until staff have looked at it. An answer given before is kept."""
    Assignment.objects.filter(pk=assignment.pk).update(state=State.REPORTED, handled_at=Now())
    tables.bump(SKIPS)


def give_reason(assignment: Assignment, reason: str) -> None:
    """Why a picture was skipped or reported, told afterwards."""
    if reason not in Assignment.Reason.values:
        raise Refused(gettext("Choose one of the answers that are shown."), 400)
    left = Assignment.objects.filter(pk=assignment.pk, state__in=(State.SKIPPED, State.REPORTED))
    left.update(reason=reason)


def last_handled(reviewer: Reviewer) -> Assignment | None:
    """What this person did last."""
    done = reviewer.assignments.filter(state__in=HANDLED).select_related("image")
    return done.order_by("-handled_at", "pk").first()


@transaction.atomic
def take_back(assignment: Assignment) -> None:
    """Takes a skip or report back: the picture is in hand again. Raises Refused where others judge it now."""
    reviewer = assignment.reviewer
    campaign, now = locked(reviewer.campaign_id)
    if not assignment.repeat and load_without(assignment.image, reviewer, now) >= campaign.wanted_opinions:
        raise Refused(gettext("Others judge that picture now. Go on to the next picture."))
    reviewer.assignments.filter(state=State.RESERVED).update(state=State.EXPIRED)
    back = {"state": State.RESERVED, "until": now + RESERVATION, "reason": "", "handled_at": None}
    left = Assignment.objects.filter(pk=assignment.pk, state__in=(State.SKIPPED, State.REPORTED))
    if left.update(**back):
        tables.bump(SKIPS)
