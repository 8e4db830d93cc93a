"""How far a campaign is, as its page shows it: counted at once, or by a worker where it has very many pictures."""

from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

from evaluation import kept
from review import opening, overview, staff
from review.models import Campaign
from review.overview import Progress
from review.staff import Seen

KIND = "campaign"
STUCK = 50


@dataclass(frozen=True)
class Stuck:
    """A picture that nobody is left to judge."""

    pk: str
    dish_name: str
    country: str


def standing(campaign: Campaign, pictures: int) -> dict[str, Any]:
    """For the template; `counting` where a worker is still at it, `counted_at` where it was. See `kept.up_to`."""
    if pictures <= kept.LARGE:
        return {**shown(campaign, counted(campaign)), "counted_at": None, "counting": False}
    held = kept.read(KIND, [campaign.pk])[campaign.pk]
    if held.content is None:
        return {"counting": True}
    counted_at: datetime | None = held.counted_at
    return {**shown(campaign, held.content), "counted_at": counted_at, "counting": False}


def counted(campaign: Campaign) -> kept.Content:
    """All numbers, as JSON holds them."""
    stuck = overview.without_reviewer(campaign)
    return {
        "progress": {by: [astuple(row) for row in overview.progress(campaign, by)] for by in overview.BY},
        "reviewers": overview.reviewers_by_country(campaign),
        "stuck": [[str(image.pk), image.dish_name, image.country] for image in stuck[:STUCK]],
        "stuck_number": len(stuck),
        "models": [pk for pk in opening.models_of(campaign).distinct().order_by("image__model") if pk],
        "looked": {
            str(look.model_id): astuple(staff.looked_at(campaign, look.model))
            for look in campaign.looks.select_related("model")
        },
    }


def shown(campaign: Campaign, content: kept.Content) -> dict[str, Any]:
    """The same for the template; who looked at pictures is read now."""
    looked = {int(model): Seen(*numbers) for model, numbers in content["looked"].items()}
    looks = campaign.looks.select_related("model", "by")
    return {
        "progress": {by: [Progress(*row) for row in rows] for by, rows in content["progress"].items()},
        "reviewers": content["reviewers"],
        "stuck": [Stuck(*row) for row in content["stuck"]],
        "stuck_number": content["stuck_number"],
        "models": content["models"],
        "looks": [(look, looked.get(look.model_id, Seen(0, 0))) for look in looks],
    }


def count(pk: int) -> kept.Content | None:
    """For the worker; None where the campaign is gone."""
    campaign = Campaign.objects.filter(pk=pk).first()
    return counted(campaign) if campaign else None


kept.makers[KIND] = count
