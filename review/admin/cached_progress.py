"""How far a campaign is, as its page shows it: counted at once, or by a worker where it has very many images."""

from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any

from evaluation import cached_counts
from evaluation.models import Role
from review.admin import pages, progress
from review.admin.pages import Seen
from review.admin.progress import Progress
from review.campaigns import readiness
from review.models import Campaign

KIND = "campaign"
STUCK = 50
MOST_ROWS = 100


@dataclass(frozen=True)
class Stuck:
    """An image that nobody is left to judge."""

    pk: str
    dish_name: str
    country: str


def get_campaign_progress(campaign: Campaign, *, large: bool) -> dict[str, Any]:
    """For the template; `counting` where a worker is still at it, `counted_at` where it was. See `kept.is_large`."""
    if not large:
        return {**describe_progress(campaign, count_campaign_progress(campaign)), "counted_at": None, "counting": False}
    held = cached_counts.read_cached_counts(KIND, [campaign.pk])[campaign.pk]
    if held.content is None:
        return {"counting": True, "to_look_at": readiness.models_not_looked_at(campaign)}
    counted_at: datetime | None = held.counted_at
    return {**describe_progress(campaign, held.content), "counted_at": counted_at, "counting": False}


def count_campaign_progress(campaign: Campaign) -> cached_counts.Content:
    """All numbers, as JSON holds them."""
    there = progress.reviewers_by_country(campaign)
    stuck = progress.without_reviewer(campaign, there)
    return {
        "progress": {
            by: [astuple(row) for row in rows] for by, rows in progress.count_progress_by_name(campaign).items()
        },
        "reviewers": there,
        "stuck": [[str(image.pk), image.dish_name, image.country] for image in stuck[:STUCK]],
        "stuck_number": len(stuck),
        "looked": {str(model): astuple(seen) for model, seen in pages.looked_at_by_model(campaign).items()},
    }


def describe_progress(campaign: Campaign, content: cached_counts.Content) -> dict[str, Any]:
    """The same for the template; who looked at images is read now."""
    seen = {int(model): Seen(*numbers) for model, numbers in content["looked"].items()}
    models = readiness.select_inspected_models(campaign, seen)
    return {
        "progress": {by: most_lacking([Progress(*row) for row in rows]) for by, rows in content["progress"].items()},
        "dishes_left_out": max(0, len(content["progress"]["dish"]) - MOST_ROWS),
        "reviewers": content["reviewers"],
        "stuck": [Stuck(*row) for row in content["stuck"]],
        "stuck_number": content["stuck_number"],
        "to_look_at": [model for model in models if not model.looked_on and model.role != Role.CAMERA],
        "looks": [(model, seen.get(model.pk, Seen(0, 0))) for model in models if model.looked_on],
    }


def most_lacking(rows: list[Progress]) -> list[Progress]:
    """At most so many as a page can show: those that lack the most opinions, by name."""
    if len(rows) <= MOST_ROWS:
        return rows
    kept = sorted(rows, key=lambda row: row.opinions - row.wanted)[:MOST_ROWS]
    return sorted(kept, key=lambda row: row.name)


def recount_campaign(pk: int) -> cached_counts.Content | None:
    """For the worker; None where the campaign is gone."""
    campaign = Campaign.objects.filter(pk=pk).first()
    return count_campaign_progress(campaign) if campaign else None


cached_counts.makers[KIND] = recount_campaign
