"""When to offer a rest: after twenty images, or two distressing ones in a row. Offered, never forced."""

from typing import Literal

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Now

from review.assignment import HANDLED
from review.models import Assignment, ContentTag, Review, Reviewer, SupportContact

IMAGES = 20
IN_A_ROW = 2
Why = Literal["", "images", "distress"]
UPSETTING = Assignment.Reason.UPSETTING


def rest_due(reviewer: Reviewer) -> Why:
    """Why this person is offered a rest now, or nothing. Counted since they last went on."""
    said = Review.objects.filter(reviewer=reviewer, image=OuterRef("image"), repeat=OuterRef("repeat"))
    done = reviewer.assignments.filter(state__in=HANDLED).exclude(handled_at=None)
    if reviewer.rested_at:
        done = done.filter(handled_at__gt=reviewer.rested_at)
    found = done.annotate(disturbing=Subquery(said.values("disturbing"))).order_by("-handled_at")
    last = list(found.values_list("state", "reason", "disturbing")[:IMAGES])
    if len(last) >= IN_A_ROW and all(is_distressing(*row) for row in last[:IN_A_ROW]):
        return "distress"
    return "images" if len(last) == IMAGES else ""


def is_distressing(state: str, reason: str, disturbing: bool | None) -> bool:
    """Called disturbing, skipped because it upsets, or reported for no other reason."""
    reported = state == Assignment.State.REPORTED and reason in ("", UPSETTING)
    return bool(disturbing) or reported or reason == UPSETTING


def go_on(reviewer: Reviewer) -> None:
    """The person rested, or does not want to."""
    Reviewer.objects.filter(pk=reviewer.pk).update(rested_at=Now())
    reviewer.refresh_from_db(fields=["rested_at"])


def only_milder(reviewer: Reviewer) -> None:
    """From now on no image with any content tag."""
    reviewer.avoids = list(ContentTag.Kind.values)
    reviewer.save(update_fields=["avoids"])


def list_support_contacts(reviewer: Reviewer) -> list[SupportContact]:
    """Whom this person can call: their country's contact, or any of the campaign."""
    there = SupportContact.objects.filter(campaign=reviewer.campaign_id)
    own = list(there.filter(Q(country=reviewer.country)))
    return own or list(there.order_by("country")[:3])
