"""Builders for the tests of the review: one call, one row that works, everything else by keyword."""

import uuid
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from PIL import Image

from collection.models import Country, Source
from evaluation import content_store
from evaluation.models import GeneratedImage, Model, Role, Subject
from review.campaigns.service import add_invitation, current_consent, join_campaign, prepare_campaign_images
from review.models import Campaign, CampaignImage, Invitation, Questionnaire, Reviewer
from tests.evaluation.make import numbers

FOOD = {"associates": "yes", "familiarity": "very", "quality": "4", "food": "yes"}
GOOD = {**FOOD, "correct_dish": "yes", "match": "exact", "checks": ["indoors"]}
NOT_FOOD = {**FOOD, "food": "no", "seen": "A wall"}


def make_image_bytes(colour: str = "red", size: tuple[int, int] = (96, 64), kind: str = "PNG", **save: Any) -> bytes:
    """A small image whose content depends on `colour`."""
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, kind, **save)
    return out.getvalue()


def make_model(slug: str = "painter") -> Model:
    model, _ = Model.objects.get_or_create(
        slug=slug, defaults={"title": slug, "role": Role.IMAGE_GENERATOR, "backend": "sketch", "identifier": slug}
    )
    return model


def make_image(
    model: str = "painter", name: str = "Àmàlà", country: str = "Nigeria", content: bytes | None = None
) -> GeneratedImage:
    """A held image of a dish of its own."""
    number = next(numbers)
    subject = Subject.objects.create(
        kind="dish", name=name, source_key=f"test:{number}", labels={"country": [country]} if country else {}
    )
    return GeneratedImage.objects.create(
        subject=subject,
        model=make_model(model),
        seed=number + 41_000_000,
        prompt_sent=f"Secret prompt {number}",
        sha256=content_store.store_content(
            make_image_bytes(f"hsl({number * 37 % 360},60%,50%)") if content is None else content
        ),
        source_key=f"run-{model}:{number}",
    )


def make_campaign(
    images: int = 2, country: str = "Nigeria", wanted: int = 3, models: tuple[str, ...] = ("painter",), **more: Any
) -> Campaign:
    """An open campaign with prepared images, the models taking turns."""
    number = next(numbers)
    campaign = Campaign.objects.create(
        **{
            "slug": f"campaign-{number}",
            "title": f"Campaign {number}",
            "questionnaire": Questionnaire.objects.get(slug="e2", version="1"),
            "wanted_opinions": wanted,
            "state": Campaign.State.OPEN,
            "source": Source.FORM,
            **more,
        }
    )
    prepare_campaign_images(
        campaign, [make_image(models[index % len(models)], country=country) for index in range(images)]
    )
    return campaign


def make_invitation(campaign: Campaign | None = None, **more: Any) -> Invitation:
    return add_invitation(campaign or make_campaign(), **more)


def make_country(code: str = "NGA", name: str = "Nigeria") -> Country:
    country, _ = Country.objects.get_or_create(code=code, defaults={"name": name, "continents": ["Africa"]})
    return country


def make_reviewer(campaign: Campaign | None = None, country: str = "Nigeria", **more: Any) -> Reviewer:
    """Somebody who joined."""
    invitation = more.pop("invitation", None) or make_invitation(campaign)
    return join_campaign(invitation.code, uuid.uuid4(), country, "volunteer", current_consent())


def first_image(campaign: Campaign) -> CampaignImage:
    image = campaign.images.first()
    assert image is not None
    return image


def form_of(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Answers under the names of the form's fields."""
    return {f"q-{code}": value for code, value in answers.items()}
