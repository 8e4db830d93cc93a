"""What a campaign lacks to be open: one list, shown to staff, checked when they open it and again while it is open."""

import logging
from collections.abc import Iterable

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext

from evaluation.models import Model, Role
from review.models import Campaign, CampaignImage, FirstLook, ReviewerConsent, SupportContact

logger = logging.getLogger(__name__)


def missing(
    campaign: Campaign,
    ethics_reference: str | None = None,
    to_look_at: Iterable[Model] | None = None,
    pictures: bool | None = None,
) -> list[str]:
    """What staff must still do, in sentences; nothing for demonstrations, which say on their face what they are.

    `to_look_at`: `models_not_looked_at`, and `pictures`: whether there are any, where that is known already.
    """
    if campaign.source == "demonstration":
        return []
    ethics = campaign.ethics_reference if ethics_reference is None else ethics_reference
    lacking = [] if ethics.strip() else [gettext("Fill in the reference of the ethics approval.")]
    if campaign.opens_at and campaign.closes_at and campaign.closes_at <= campaign.opens_at:
        lacking.append(gettext("Let the campaign close after it opens."))
    if not ReviewerConsent.objects.exclude(confirmed_at=None).exclude(confirmed_by="").exists():
        lacking.append(gettext("Let a named person confirm a consent and warning text."))
    if campaign.pk is None or not (campaign.images.exists() if pictures is None else pictures):
        return [*lacking, gettext("Add pictures.")]
    lacking += [
        gettext("Name a support contact with a telephone number for %(country)s.") % {"country": country}
        for country in countries_without_contact(campaign)
    ]
    return lacking + [
        gettext("Look at the first pictures of %(model)s.") % {"model": model.title}
        for model in (models_not_looked_at(campaign) if to_look_at is None else to_look_at)
    ]


def countries_without_contact(campaign: Campaign) -> list[str]:
    reached = SupportContact.objects.filter(campaign=campaign).exclude(phone="").values("country")
    images = CampaignImage.objects.filter(campaign=campaign).exclude(country__in=reached)
    return list(images.order_by("country").values_list("country", flat=True).distinct())


def models_not_looked_at(campaign: Campaign, among: Iterable[int] | None = None) -> list[Model]:
    """Models whose first pictures nobody of the staff has looked at; real photographs were looked at before.

    `among`: the ids of the models with pictures in the campaign, where they are known already.
    """
    looked = FirstLook.objects.filter(campaign=campaign).values("model")
    shown = models_of(campaign) if among is None else list(among)
    return list(Model.objects.filter(pk__in=shown).exclude(role=Role.CAMERA).exclude(pk__in=looked))


def models_of(campaign: Campaign) -> QuerySet[CampaignImage, int | None]:
    """Ids of the models with pictures in the campaign, as often as there are pictures."""
    return CampaignImage.objects.filter(campaign=campaign).values_list("image__model", flat=True)


def recheck() -> None:
    """Holds back every open campaign in which something went missing, and lets go those that have it again."""
    for campaign in Campaign.objects.filter(state=Campaign.State.OPEN):
        lacking = missing(campaign)
        row = Campaign.objects.filter(pk=campaign.pk)
        if not lacking:
            row.update(held_back_at=None)
        elif row.filter(held_back_at=None).update(held_back_at=Now()):
            logger.warning("The campaign %s is held back: %s", campaign.slug, " ".join(lacking))
