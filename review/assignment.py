"""Who judges which image next: the model this person was given least, then fewest opinions, then chance.

Opinions and live reservations of an image never exceed what the campaign wants. The next image is chosen while
only the person's own row is held; then the image's row is held and its load counted once more, and where somebody
came first another image is chosen. SQLite holds the whole database (IMMEDIATE). Locks are taken in one order,
person, image, input counter, so that nobody waits in a circle. Only the database's clock counts.

The model comes before the number of opinions, so that what a person was given (answered, skipped, reported, in hand
or expired; repeats aside) never differs by more than one between models that still have an open image for them,
however unequal the models' numbers of images are. Real photographs and repeats are strewn in by their own shares.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import MD5, Cast, Coalesce, Concat, Now
from django.utils.translation import gettext

from collection.models import Dish
from evaluation import counters
from evaluation.models import Role
from review.errors import RequestRefusedError
from review.models import Assignment, Campaign, CampaignImage, ContentTag, Reviewer

RESERVATION = timedelta(hours=1)
# So many other images lie between an image and its repeat.
REPEAT_GAP = 10
REPORTS_FOR_ALL = 2
# What tables count as an input of theirs (see `evaluation.counters.bump_input_counters`).
SKIPS = "skips"
State = Assignment.State
HANDLED = (State.ANSWERED, State.SKIPPED, State.REPORTED)


@dataclass(frozen=True)
class Progress:
    """How many images are behind somebody, and how many there are for them altogether."""

    done: int
    total: int

    @property
    def number(self) -> int:
        """The place of the image that is now shown, from 1."""
        return self.done + 1


def lock_reviewer(reviewer: Reviewer) -> tuple[Campaign, datetime]:
    """Holds the person's row until the transaction ends; their campaign, and the time by the database's clock."""
    rows = Reviewer.objects.select_for_update(of=("self",), no_key=True).select_related("campaign")
    held = rows.annotate(now=Now()).get(pk=reviewer.pk)
    return held.campaign, held.now


def hold_images(images: QuerySet[CampaignImage]) -> list[CampaignImage]:
    """Holds these images' rows until the transaction ends, in one order."""
    return list(images.order_by("pk").select_for_update(of=("self",), no_key=True))


@transaction.atomic
def reserve_image(reviewer: Reviewer) -> Assignment | None:
    """The image that `reviewer` has in hand, or a fresh one; None where no image is left for them."""
    campaign, now = lock_reviewer(reviewer)
    in_hand = list_live_assignments(reviewer).select_related("image").first()
    if in_hand:
        return in_hand
    reviewer.assignments.filter(state=State.RESERVED).update(state=State.EXPIRED, begun={})
    if repeated := due_repeat(reviewer, campaign):
        return _give(reviewer, repeated, now, repeat=True)
    while found := next_image(reviewer, campaign):
        chosen, load = found
        with transaction.atomic():
            if _load_once_held(chosen) <= load:
                return _give(reviewer, chosen, now, repeat=False)
            # Lets go of the image's row: anyone who waits for it must not wait for the next choice.
            transaction.set_rollback(True)
    return None


def _load_once_held(image: CampaignImage) -> int:
    (held,) = hold_images(CampaignImage.objects.filter(pk=image.pk))
    return held.opinions + list_open_reservations().filter(image=image).count()


def _give(reviewer: Reviewer, image: CampaignImage, now: datetime, *, repeat: bool) -> Assignment:
    former = reviewer.assignments.filter(image=image, repeat=repeat).first()
    assignment = former or Assignment(reviewer=reviewer, image=image, repeat=repeat)
    assignment.state, assignment.until, assignment.shown_at = State.RESERVED, now + RESERVATION, None
    assignment.begun = {}
    assignment.save()
    return assignment


def list_live_assignments(reviewer: Reviewer) -> QuerySet[Assignment]:
    return reviewer.assignments.filter(state=State.RESERVED, until__gt=Now())


def list_open_reservations() -> QuerySet[Assignment]:
    """Reservations that keep a place; a repeat takes none."""
    return Assignment.objects.filter(state=State.RESERVED, until__gt=Now(), repeat=False)


def list_visible_images(reviewer: Reviewer, campaign: Campaign) -> QuerySet[CampaignImage]:
    """Images of the reviewer's country, not withdrawn, that nobody reported and that show nothing they avoid."""
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


def open_images(reviewer: Reviewer, campaign: Campaign) -> QuerySet[CampaignImage]:
    """Images that still want an opinion and that this person has not handled; `load` is annotated.

    `load`: opinions and live reservations. Opinions are counted on the row, reservations alive are few.
    """
    mine = Assignment.objects.filter(reviewer=reviewer, image=OuterRef("pk"), repeat=False, state__in=HANDLED)
    places = (
        list_open_reservations().filter(image=OuterRef("pk")).order_by().values("image").annotate(taken=Count("pk"))
    )
    taken = Coalesce(Subquery(places.values("taken")), 0)
    images = list_visible_images(reviewer, campaign).filter(opinions__lt=campaign.wanted_opinions).exclude(Exists(mine))
    return images.annotate(load=F("opinions") + taken).filter(load__lt=campaign.wanted_opinions)


def next_image(reviewer: Reviewer, campaign: Campaign) -> tuple[CampaignImage, int] | None:
    """The first open image in the order that this module describes, and its load."""
    camera = Q(image__image__model__role=Role.CAMERA)
    rows = reviewer.assignments.filter(repeat=False).order_by().values("image__image__model")
    counts = rows.annotate(given=Count("pk"), real=Count("pk", filter=camera))
    found = list(counts.values_list("image__image__model", "given", "real"))
    given = [When(image__model=model, then=Value(number)) for model, number, _ in found if model]
    real, total = sum(row[2] for row in found), sum(row[1] for row in found)
    turn = -1 if share_due(reviewer, total, real, campaign.real_percent) else 1
    ordered = open_images(reviewer, campaign).annotate(
        turn=Case(When(image__model__role=Role.CAMERA, then=Value(turn)), default=Value(0)),
        given=Case(*given, default=Value(0)),
        lot=MD5(Concat(Value(reviewer.pk.hex), Cast("pk", CharField()), output_field=CharField())),
    )
    first = ordered.order_by("turn", "given", "load", "lot").first()
    return (first, first.load) if first else None  # type: ignore[attr-defined]  # annotated in open_images


def due_repeat(reviewer: Reviewer, campaign: Campaign) -> CampaignImage | None:
    """An image that this person answered long enough ago, where it is time to ask about one once more."""
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
    shown = list_visible_images(reviewer, campaign).in_bulk(old)
    return next((shown[image] for image in reversed(old) if image in shown), None)


def share_due(reviewer: Reviewer, total: int, had: int, percent: int) -> bool:
    """Whether one more of a kind is due after `total` images, `had` of them of the kind.

    Each person starts at another place of the cycle, so that the number of an image reveals nothing.
    """
    if not percent:
        return False
    phase = reviewer.pk.int % (100 // percent)
    return (total + phase + 1) * percent // 100 > had


def count_reviewer_progress(reviewer: Reviewer) -> Progress:
    """Images handled, and those plus what is left for this person (the one in hand included)."""
    in_hand = Q(state=State.RESERVED, until__gt=Now())
    counted = {"done": Count("pk", filter=Q(state__in=HANDLED)), "held": Count("pk", filter=in_hand)}
    mine = reviewer.assignments.aggregate(**counted)
    left = open_images(reviewer, reviewer.campaign).exclude(pk__in=list_live_assignments(reviewer).values("image"))
    return Progress(mine["done"], mine["done"] + left.count() + bool(mine["held"]))


def load_without(image: CampaignImage, reviewer: Reviewer) -> int:
    """Opinions and live reservations of one image by everybody but `reviewer`."""
    others = Q(image=image, repeat=False) & ~Q(reviewer=reviewer)
    opinions = image.reviews.counted(include_excluded=True).filter(others).count()
    return opinions + list_open_reservations().filter(others).count()


def find_assignment(reviewer: Reviewer, key: str) -> Assignment:
    """The reviewer's assignment with this id, live or not. Raises RequestRefusedError where it was never given to
    them.
    """
    try:
        wanted = uuid.UUID(key)
    except ValueError:
        wanted = uuid.UUID(int=0)
    found = reviewer.assignments.select_related("image").filter(pk=wanted, image__campaign=reviewer.campaign_id).first()
    if found is None:
        raise RequestRefusedError(gettext("This picture is not one of yours. Go on to the next picture."), 403)
    return found


def mark_shown(assignment: Assignment) -> None:
    """Records when the image was first shown."""
    Assignment.objects.filter(pk=assignment.pk, shown_at=None).update(shown_at=Now())


def store_first_page(assignment: Assignment, chosen: dict[str, str | list[str]]) -> None:
    """Stores what was chosen on the first page of questions, so that a reload asks the second one."""
    Assignment.objects.filter(pk=assignment.pk, state=State.RESERVED).update(begun=chosen)


@transaction.atomic
def skip_assignment(assignment: Assignment) -> None:
    """Leaves the image out for this person. One that was answered stays answered."""
    unanswered = (State.RESERVED, State.EXPIRED)
    mine = Assignment.objects.filter(pk=assignment.pk, state__in=unanswered)
    if mine.update(state=State.SKIPPED, handled_at=Now(), begun={}):
        counters.bump_input_counters(SKIPS)


@transaction.atomic
def report_assignment(assignment: Assignment) -> None:
    """Hides the image in this campaign until staff have looked at it. An answer given before is stored."""
    Assignment.objects.filter(pk=assignment.pk).update(state=State.REPORTED, handled_at=Now(), begun={})
    counters.bump_input_counters(SKIPS)


def give_reason(assignment: Assignment, reason: str) -> None:
    """Why an image was skipped or reported, told afterwards."""
    if reason not in Assignment.Reason.values:
        raise RequestRefusedError(gettext("Choose one of the answers that are shown."), 400)
    left = Assignment.objects.filter(pk=assignment.pk, state__in=(State.SKIPPED, State.REPORTED))
    left.update(reason=reason)


def last_handled(reviewer: Reviewer) -> Assignment | None:
    """What this person did last."""
    done = reviewer.assignments.filter(state__in=HANDLED).select_related("image")
    return done.order_by("-handled_at", "pk").first()


@transaction.atomic
def take_back(assignment: Assignment) -> None:
    """Takes a skip or report back: the image is in hand again. Raises RequestRefusedError where others judge it
    now.
    """
    reviewer = assignment.reviewer
    campaign, now = lock_reviewer(reviewer)
    hold_images(CampaignImage.objects.filter(pk=assignment.image_id))
    if not assignment.repeat and load_without(assignment.image, reviewer) >= campaign.wanted_opinions:
        raise RequestRefusedError(gettext("Others judge that picture now. Go on to the next picture."))
    reviewer.assignments.filter(state=State.RESERVED).update(state=State.EXPIRED, begun={})
    back = {"state": State.RESERVED, "until": now + RESERVATION, "reason": "", "handled_at": None}
    left = Assignment.objects.filter(pk=assignment.pk, state__in=(State.SKIPPED, State.REPORTED))
    if left.update(**back):
        counters.bump_input_counters(SKIPS)
