"""What a campaign lacks to be open: one list, shown to staff, checked when they open it and again while it is open."""

import logging
from collections.abc import Iterable
from typing import Any

from django.db.models import F, FilteredRelation, Q, QuerySet
from django.db.models.functions import Now

from evaluation.models import Model, Role
from review.models import Campaign, CampaignImage, FirstLook, ReviewerConsent, SupportContact

logger = logging.getLogger(__name__)


def list_missing_steps(
    campaign: Campaign,
    ethics_reference: str | None = None,
    to_look_at: Iterable[Model] | None = None,
    images: bool | None = None,
    consented: bool | None = None,
) -> list[str]:
    """What staff must still do, in sentences; nothing for demonstrations, which say on their face what they are.

    Where it is known already: `to_look_at` as of `models_not_looked_at`; `images`, whether there are any;
    `consented`, whether somebody confirmed a text.
    """
    if campaign.source == "demonstration":
        return []
    ethics = campaign.ethics_reference if ethics_reference is None else ethics_reference
    lacking = [] if ethics.strip() else ["Fill in the reference of the ethics approval."]
    if campaign.opens_at and campaign.closes_at and campaign.closes_at <= campaign.opens_at:
        lacking.append("Let the campaign close after it opens.")
    if not (confirmed_texts().exists() if consented is None else consented):
        lacking.append("Let a named person confirm a consent and warning text.")
    if campaign.pk is None or not (campaign.images.exists() if images is None else images):
        return [*lacking, "Add images."]
    lacking += [
        f"Name a support contact with a telephone number for {country}."
        for country in countries_without_contact(campaign)
    ]
    return lacking + [
        f"Look at the first images of {model.title}."
        for model in (models_not_looked_at(campaign) if to_look_at is None else to_look_at)
    ]


def countries_without_contact(campaign: Campaign) -> list[str]:
    reached = SupportContact.objects.filter(campaign=campaign).exclude(phone="").values("country")
    images = CampaignImage.objects.filter(campaign=campaign).exclude(country__in=reached)
    return list(images.order_by("country").values_list("country", flat=True).distinct())


def confirmed_texts() -> QuerySet[ReviewerConsent]:
    """Consent and warning texts that a named person confirmed."""
    return ReviewerConsent.objects.exclude(confirmed_at=None).exclude(confirmed_by="")


def models_not_looked_at(campaign: Campaign) -> list[Model]:
    """Models whose first images nobody of the staff has looked at; real photographs were looked at before."""
    looked = FirstLook.objects.filter(campaign=campaign).values("model")
    shown = CampaignImage.objects.filter(campaign=campaign).values("image__model")
    return list(Model.objects.filter(pk__in=shown).exclude(role=Role.CAMERA).exclude(pk__in=looked))


def select_inspected_models(campaign: Campaign, among: Iterable[int]) -> list[Any]:
    """Models `among` these ids or looked at, with `looked_by` and `looked_on` of anyone who looked at their images."""
    look = FilteredRelation("firstlook", condition=Q(firstlook__campaign=campaign))
    models = Model.objects.annotate(look=look).filter(Q(pk__in=list(among)) | Q(look__isnull=False))
    return list(models.annotate(looked_by=F("look__by__username"), looked_on=F("look__at")).order_by("pk"))


def recheck_open_campaigns() -> None:
    """Holds back every open campaign in which something went missing, and lets go those that have it again."""
    for campaign in Campaign.objects.filter(state=Campaign.State.OPEN):
        lacking = list_missing_steps(campaign)
        row = Campaign.objects.filter(pk=campaign.pk)
        if not lacking:
            row.update(held_back_at=None)
        elif row.filter(held_back_at=None).update(held_back_at=Now()):
            logger.warning("The campaign %s is held back: %s", campaign.slug, " ".join(lacking))
