"""What reviewers may do with what they gave: leave it without themselves, or have it deleted; seven days to undo."""

import uuid
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from collection.access import return_codes
from evaluation import counters
from review.assignment import hold_images
from review.campaigns.service import recount_opinions
from review.models import (
    Assignment,
    CampaignImage,
    Note,
    Review,
    ReviewChange,
    Reviewer,
    ReviewerBackground,
)

KIND = "reviewer"
UNDO = timedelta(days=7)


def first_code(reviewer: Reviewer) -> str:
    """A new code for somebody who has none, or theirs again while its page may have been lost; otherwise nothing."""
    if return_codes.has_code(reviewer.pk):
        return return_codes.shown_again(reviewer.pk) or ""
    return return_codes.issue_return_code(reviewer.pk, KIND)


def reviewer_by_code(text: str, network: str = "") -> Reviewer | None:
    """Whose return code this is. Raises codes.Mistyped and codes.TooManyTries; call it outside transactions."""
    person = return_codes.person_for(text, KIND, network)
    rows = Reviewer.objects.select_related("campaign__questionnaire", "invitation")
    return rows.filter(pk=person).exclude(invitation=None).first() if person else None


@transaction.atomic
def withdraw_reviewer(reviewer: Reviewer, keep_answers: bool) -> None:
    """Ends taking part at once. With `keep_answers` they stay in the tables, otherwise they no longer count."""
    changed = Reviewer.objects.filter(pk=reviewer.pk, withdrawn_at=None)
    if changed.update(withdrawn_at=Now(), keep_answers=keep_answers):
        reviewer.assignments.filter(state=Assignment.State.RESERVED).update(state=Assignment.State.EXPIRED, begun={})
        _recounted(reviewer)


@transaction.atomic
def undo_withdrawal(reviewer: Reviewer) -> None:
    """Everything as it was; possible until `erase_withdrawn` came by."""
    if Reviewer.objects.filter(pk=reviewer.pk).exclude(withdrawn_at=None).update(withdrawn_at=None, keep_answers=False):
        _recounted(reviewer)


def _recounted(reviewer: Reviewer) -> None:
    recount_opinions(CampaignImage.objects.filter(pk__in=reviewer.reviews.values("image")))
    counters.bump_input_counters("reviews")


def erase_withdrawn() -> int:
    """Removes the people whose seven days are over, with or without their answers; returns how many."""
    due = Reviewer.objects.filter(withdrawn_at__lt=Now() - UNDO)
    found = list(due)
    for reviewer in found:
        with transaction.atomic():
            if reviewer.keep_answers:
                _cut_off(reviewer)
            # Each answer that goes moves the input counter; the images are held before that (see `assignment`).
            judged = CampaignImage.objects.filter(pk__in=list(reviewer.reviews.values_list("image", flat=True)))
            hold_images(judged)
            reviewer.delete()
            recount_opinions(judged)
        return_codes.revoke_return_codes(reviewer.pk)
    return len(found)


def _cut_off(reviewer: Reviewer) -> None:
    """Moves the answers to a nameless reviewer: no code, link, invitation, background or note leads to it."""
    nameless = Reviewer.objects.create(
        id=uuid.uuid4(),
        campaign_id=reviewer.campaign_id,
        country=reviewer.country,
        role=reviewer.role,
        consent_id=reviewer.consent_id,
        source=reviewer.source,
    )
    Review.objects.filter(reviewer=reviewer).update(reviewer=nameless)
    Assignment.objects.filter(reviewer=reviewer).update(reviewer=nameless)


def collect_reviewer_data(reviewer: Reviewer) -> dict[str, object]:
    """All that is stored of a person, for themselves to take along."""
    background = ReviewerBackground.objects.filter(reviewer=reviewer).values().first()
    said = Review.objects.filter(reviewer=reviewer).order_by("created_at")
    fields = ("image__dish_name", "answers", "repeat", "surplus", "created_at")
    return {
        "country": reviewer.country,
        "role": reviewer.role,
        "agreed_at": reviewer.consent_at,
        "consent": str(reviewer.consent) if reviewer.consent else None,
        "background": background,
        "answers": list(said.values(*fields)),
        "former_answers": list(ReviewChange.objects.filter(review__reviewer=reviewer).values("at", "before")),
        "begun": list(reviewer.assignments.exclude(begun={}).values("image__dish_name", "begun")),
        "notes": list(Note.objects.filter(reviewer=reviewer).values("text", "at", "answer")),
    }
