"""Campaigns in plain functions: prepare images, invite, join, save what was answered."""

import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import get_language, gettext

from collection.models import Country
from evaluation import counters
from evaluation.models import GeneratedImage
from review.assignment import hold_images, load_without, lock_reviewer
from review.campaigns.image_copies import CopyError, store_image_copies
from review.errors import RequestRefusedError
from review.models import (
    Assignment,
    Campaign,
    CampaignImage,
    CampaignText,
    Invitation,
    Review,
    ReviewChange,
    Reviewer,
    ReviewerConsent,
)
from review.questionnaires import derive_construct_columns, validate_answers


@dataclass
class Prepared:
    """What `prepare` did. `left_out`: the image's key → why it has no place in the campaign."""

    added: int = 0
    already: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def prepare_campaign_images(
    campaign: Campaign, images: Iterable[GeneratedImage], country: str = "", only: Collection[str] = ()
) -> Prepared:
    """Adds held images with their review copies; safe to repeat. Writes files: call it outside transactions.

    Each image is judged for `country`, or for every country of its subject that is among `only`, if given.
    """
    done = Prepared()
    for image in images:
        named = [country] if country else image.subject.labels.get("country", [])
        countries = [name for name in named if not only or name in only]
        if not countries:
            done.left_out[image.source_key] = "another country" if named else "no country"
        elif image.state != GeneratedImage.State.HELD:
            done.left_out[image.source_key] = image.get_state_display()
        else:
            _add(campaign, image, countries, done)
    return done


def _add(campaign: Campaign, image: GeneratedImage, countries: Iterable[str], done: Prepared) -> None:
    try:
        copy, large = store_image_copies(image.sha256)
    except CopyError as error:
        done.left_out[image.source_key] = str(error)
        return
    dish = image.subject.dish
    words = {"dish_name": dish.local_name if dish else image.subject.name, "copy_sha256": copy, "large_sha256": large}
    for country in countries:
        _, created = CampaignImage.objects.get_or_create(
            campaign=campaign, image=image, country=country, defaults=words
        )
        done.added += created
        done.already += not created


def add_invitation(campaign: Campaign, country: Country | None = None, limit: int | None = None) -> Invitation:
    """A new link to `campaign`; its address is `invitation.get_absolute_url()`."""
    return Invitation.objects.create(campaign=campaign, country=country, limit=limit)


def countries_of(invitation: Invitation) -> list[str]:
    """The countries among which somebody with this invitation chooses whose dishes are theirs."""
    if invitation.country:
        return [invitation.country.name]
    found = CampaignImage.objects.filter(campaign=invitation.campaign_id).values_list("country", flat=True)
    return sorted(set(found))


def current_consent() -> ReviewerConsent:
    """The text that counts: the newest that a named person confirmed, in the reader's language if there is one.

    Where none is confirmed, as in a demonstration, the newest draft.
    """
    newest = ReviewerConsent.objects.order_by("-version")
    for texts in (newest.exclude(confirmed_at=None), newest):
        for tag in _tags():
            if found := texts.filter(language=tag).first():
                return found
        if found := texts.first():
            return found
    raise RequestRefusedError(gettext("The consent text is missing. Tell the person who invited you."), 503)


def draft_beside(consent: ReviewerConsent) -> ReviewerConsent | None:
    """The unconfirmed translation into the reader's language, to be beside a text in another language."""
    drafts = ReviewerConsent.objects.filter(version=consent.version, confirmed_at=None)
    tag = next((tag for tag in _tags() if tag == consent.language or drafts.filter(language=tag).exists()), "")
    return None if tag == consent.language else drafts.filter(language=tag).first()


def _tags() -> tuple[str, ...]:
    language = get_language() or "en"
    return (language, language.split("-")[0], "en")


def text_of(campaign: Campaign) -> CampaignText | None:
    """What the campaign says of itself, in the reader's language if there is such a text."""
    texts = {text.language: text for text in campaign.texts.all()}
    return next((texts[tag] for tag in _tags() if tag in texts), None)


def refuse_unless_open(campaign: Campaign, invitation: Invitation | None) -> None:
    """Raises RequestRefusedError where the campaign takes no answers now, or the invitation was withdrawn."""
    if invitation and invitation.revoked_at:
        raise RequestRefusedError(
            gettext("This invitation was withdrawn. Ask the person who invited you for another one."), 403
        )
    if not campaign.is_open():
        raise RequestRefusedError(
            gettext("This round of pictures is not open now. Answers that you gave are kept."), 403
        )


class AlreadyBegunError(Exception):
    """Others have joined: ask anyone who sends the form whether they are one of them before another one is made."""


def others_joined(campaign: Campaign) -> bool:
    """Whether somebody takes part in `campaign` by an invitation, so that anyone who comes may be that person."""
    return Reviewer.objects.filter(campaign=campaign).exclude(invitation=None).exists()


@transaction.atomic
def join_campaign(
    code: str,
    reviewer: uuid.UUID,
    country: str,
    role: str,
    consent: ReviewerConsent,
    draft: ReviewerConsent | None = None,
    *,
    asked: bool = True,
) -> Reviewer:
    """The reviewer with this id, who joins now unless they did before. Counts the invitation once. Raises
    RequestRefusedError.

    `asked`: whether they said that they have not begun before. Raises AlreadyBegunError where that must be asked
    first. The row of the invitation is held, so that two people at once do not overshoot its limit.
    """
    invitation = Invitation.objects.select_for_update(of=("self",)).select_related("campaign").get(code=code)
    refuse_unless_open(invitation.campaign, invitation)
    joined = Reviewer.objects.filter(pk=reviewer, invitation=invitation).first()
    if joined:
        return joined
    if invitation.limit is not None and invitation.used >= invitation.limit:
        raise RequestRefusedError(gettext("Everybody who was invited with this link has joined. Ask for another link."))
    if not asked and others_joined(invitation.campaign):
        raise AlreadyBegunError
    Invitation.objects.filter(pk=invitation.pk).update(used=F("used") + 1)
    return Reviewer.objects.create(
        id=reviewer,
        campaign=invitation.campaign,
        invitation=invitation,
        country=country,
        role=role,
        consent=consent,
        consent_draft=draft,
        consent_at=timezone.now(),
        source=invitation.campaign.source,
    )


@dataclass(frozen=True)
class Saved:
    """`how`: *saved*, the *same* as before, *corrected*, or it *differs* from what is stored and was not stored."""

    review: Review
    how: Literal["saved", "same", "corrected", "differs"]


def save_review(
    reviewer: Reviewer,
    image: CampaignImage,
    answers: Mapping[str, Any],
    *,
    correction: bool = False,
    repeat: bool = False,
) -> Saved:
    """Keeps what `reviewer` says of `image`. Raises InvalidAnswersError or RequestRefusedError, then nothing is stored.

    An answer that comes after the wanted number was reached is stored as surplus; a `repeat` is never counted.
    """
    definition = reviewer.campaign.questionnaire.definition
    kept = validate_answers(definition, answers)
    columns = {"answers": kept, **derive_construct_columns(definition, kept)}
    with transaction.atomic():
        campaign, now = lock_reviewer(reviewer)
        refuse_unless_open(campaign, reviewer.invitation)
        if (image.campaign_id, image.country) != (campaign.pk, reviewer.country):
            raise RequestRefusedError(gettext("This picture is not one of yours. Go on to the next picture."), 403)
        hold_images(CampaignImage.objects.filter(pk=image.pk))
        stored = Review.objects.filter(reviewer=reviewer, image=image, repeat=repeat).first()
        if stored:
            return _again(stored, columns, correction)
        surplus = not repeat and load_without(image, reviewer) >= campaign.wanted_opinions
        review = Review.objects.create(reviewer=reviewer, image=image, surplus=surplus, repeat=repeat, **columns)
        if not (surplus or repeat):
            CampaignImage.objects.filter(pk=image.pk).update(opinions=F("opinions") + 1)
        _mark_answered(review, now)
        counters.bump_input_counters("reviews")
    return Saved(review, "saved")


def _again(stored: Review, columns: Mapping[str, Any], correction: bool) -> Saved:
    """The same answers once more, a correction, or other answers that nobody called a correction."""
    if stored.answers == columns["answers"]:
        return Saved(stored, "same")
    if not correction:
        return Saved(stored, "differs")
    ReviewChange.objects.create(review=stored, before=stored.answers)
    # Other words have not been read by anybody yet.
    stored.words_read_by = stored.words_read_at = None
    for column, value in columns.items():
        setattr(stored, column, value)
    stored.save(update_fields=[*columns, "words_read_by", "words_read_at"])
    counters.bump_input_counters("reviews")
    return Saved(stored, "corrected")


def _mark_answered(review: Review, now: datetime) -> None:
    """The assignment is done; one that was reported stays reported, so that the image stays hidden."""
    mine = Assignment.objects.filter(reviewer=review.reviewer, image=review.image, repeat=review.repeat)
    answered: dict[str, Any] = {"state": Assignment.State.ANSWERED, "handled_at": now}
    mine.update(begun={})
    if not mine.exclude(state=Assignment.State.REPORTED).update(**answered) and not mine.exists():
        who = {"reviewer": review.reviewer, "image": review.image, "repeat": review.repeat}
        Assignment.objects.create(**who, **answered, until=now)


@transaction.atomic
def recount_opinions(images: QuerySet[CampaignImage]) -> None:
    """Counts the opinions of these images anew, after some went or came back."""
    hold_images(images)
    counted = Review.objects.counted(include_excluded=True).filter(image=OuterRef("pk")).order_by()
    numbers = counted.values("image").annotate(number=Count("pk")).values("number")
    images.update(opinions=Coalesce(Subquery(numbers), 0))
