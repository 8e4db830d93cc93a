"""The campaign of the simulation, built inside the server's own environment."""

from collections.abc import Sequence

from evaluation.models import GeneratedImage
from review.campaigns.service import add_invitation, prepare_campaign_images
from review.models import Campaign, CampaignImage
from tests.review.make import make_campaign, make_image, make_image_bytes


def build(countries: Sequence[str], people: int, images: Sequence[int], wanted: int) -> list[str]:
    """Images for each country, so many by each model; the code of an invitation for one person, countries in turn."""
    campaign = make_campaign(images=0, wanted=wanted)
    content = make_image_bytes()
    for country in countries:
        for number, many in enumerate(images):
            add(campaign, [make_image(f"painter-{number}", country=country, content=content) for _ in range(many)])
    return [add_invitation(campaign, limit=1).code for _ in range(people * len(countries))]


def add(campaign: Campaign, images: Sequence[GeneratedImage]) -> None:
    """Prepares the first image; the others look the same and share its copies, which take long to make."""
    prepare_campaign_images(campaign, images[:1])
    first = campaign.images.get(image=images[0])
    copies = {"copy_sha256": first.copy_sha256, "large_sha256": first.large_sha256}
    CampaignImage.objects.bulk_create(
        CampaignImage(campaign=campaign, image=image, country=first.country, dish_name=first.dish_name, **copies)
        for image in images[1:]
    )
