"""Real photographs among the images of a campaign, unmarked: what people call wrong though it is right."""

from collections import Counter

from django.db.models import Count

from evaluation.images.shared_photos import shared_photos
from evaluation.ingest.photographs import image_of, key_of
from evaluation.models import Role
from review.campaigns.service import prepare_campaign_images
from review.models import Campaign, CampaignImage


def count_wanted_photographs(generated: int, percent: int) -> int:
    """How many real photographs make up `percent` of all images beside so many generated ones."""
    return round(generated * percent / (100 - percent))


def count_lacking_photographs(campaign: Campaign) -> Counter[str]:
    """Real photographs that are still wanted, by country."""
    rows = CampaignImage.objects.filter(campaign=campaign).order_by()
    real = Counter(dict(rows.filter(image__model__role=Role.CAMERA).values_list("country").annotate(Count("pk"))))
    made = dict(rows.exclude(image__model__role=Role.CAMERA).values_list("country").annotate(Count("pk")))
    return +Counter({name: count_wanted_photographs(n, campaign.real_percent) - real[name] for name, n in made.items()})


def add_real_photographs(campaign: Campaign) -> int:
    """Adds as many as are wanted and there are; returns how many. Writes files: call it outside transactions."""
    left = count_lacking_photographs(campaign)
    there = set(CampaignImage.objects.filter(campaign=campaign).values_list("image__source_key", flat=True))
    added = 0
    for photo in shared_photos(demonstration=campaign.source == "demonstration").iterator(chunk_size=100):
        if not +left:
            break
        places = photo.dish.places.select_related("country")
        names = {name for place in places for name in (place.name, place.country.name if place.country else "")}
        country = next((name for name in sorted(names) if left[name] > 0), None)
        if country is None or key_of(photo) in there:
            continue
        done = prepare_campaign_images(campaign, [image_of(photo)], country)
        left[country] -= done.added
        added += done.added
    return added
