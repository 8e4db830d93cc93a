"""Builders of reviews for tests of tables: whole cells of dishes × reviewers, without walking through the pages."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from collection.models import Source
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import GeneratedImage, Model, Role, Subject
from evaluation.registry import lookup
from evaluation.tables import compute
from review.models import Assignment, Campaign, CampaignImage, Exclusion, Questionnaire, Review, Reviewer
from review.tables.selection import Opinion
from tests.evaluation.make import numbers


def make_campaign(version: str = "1", source: str = Source.FORM, **values: Any) -> Campaign:
    number = next(numbers)
    questionnaire = Questionnaire.objects.get(slug="e2", version=version)
    defaults = {"slug": f"tables-{number}", "title": f"Campaign {number}", "questionnaire": questionnaire}
    return Campaign.objects.create(**{**defaults, "source": source, **values})


def make_maker(title: str = "Dalle2", **values: Any) -> Model:
    slug = title.casefold().replace(" ", "-")
    defaults = {"title": title, "role": Role.IMAGE_GENERATOR, "backend": "folder", "identifier": slug, **values}
    return Model.objects.get_or_create(slug=slug, defaults=defaults)[0]


def make_shown(campaign: Campaign, country: str = "Kenya", model: Model | None = None, **subject: Any) -> CampaignImage:
    """An image of a dish of its own in a campaign; without `model` nobody knows who made it."""
    number = next(numbers)
    defaults = {"kind": "dish", "name": f"Dish {number}", "source_key": f"tables:{number}"}
    about = Subject.objects.create(**{**defaults, **subject})
    image = GeneratedImage.objects.create(subject=about, model=model, source_key=f"tables:{number}")
    return CampaignImage.objects.create(campaign=campaign, image=image, country=country, dish_name=about.name)


def make_people(campaign: Campaign, number: int, source: str = Source.FORM) -> list[Reviewer]:
    return [Reviewer.objects.create(campaign=campaign, country="Kenya", source=source) for _ in range(number)]


def make_review(shown: CampaignImage, reviewer: Reviewer, **said: Any) -> Review:
    return Review.objects.create(image=shown, reviewer=reviewer, **said)


def make_cell(
    campaign: Campaign,
    country: str = "Kenya",
    model: str = "Dalle2",
    dishes: int = 2,
    reviewers: int | Iterable[Reviewer] = 2,
    says: Callable[[int, int], dict[str, Any]] = lambda dish, reviewer: {"food": True},
) -> list[Review]:
    """Every reviewer judges one image of every dish: `says(dish, reviewer)` gives the columns of the review."""
    people = make_people(campaign, reviewers) if isinstance(reviewers, int) else list(reviewers)
    images = [make_shown(campaign, country, make_maker(model)) for _ in range(dishes)]
    return [
        make_review(shown, person, **says(dish, number))
        for dish, shown in enumerate(images)
        for number, person in enumerate(people)
    ]


def make_opinion(**said: Any) -> Opinion:
    """What a table reads of one review in which nothing was answered but `said`."""
    nothing: dict[str, Any] = {
        **dict.fromkeys(Opinion._fields),
        "country": "Kenya",
        "model": "Dalle2",
        "role": Role.IMAGE_GENERATOR,
        "image": 1,
        "dish": "Ugali",
        "reviewer": "somebody",
        "repeat": False,
        "familiarity": "",
        "match": "",
        "flags": {},
        "answers": {},
    }
    return Opinion(**{**nothing, **{name: value for name, value in said.items() if value is not None}})


def make_exclusion(reviewer: Reviewer, reason: str = "Answers in two seconds each.") -> Exclusion:
    """The decision of a steward to leave somebody out."""
    steward, _ = User.objects.get_or_create(username="steward")
    return Exclusion.objects.create(reviewer=reviewer, reason=reason, by=steward)


def make_skip(shown: CampaignImage, reviewer: Reviewer, state: str = Assignment.State.SKIPPED) -> Assignment:
    return Assignment.objects.create(image=shown, reviewer=reviewer, state=state, until=timezone.now())


def make_answered(reviews: Iterable[Review]) -> None:
    """The assignments that are behind reviews."""
    for review in reviews:
        make_skip(review.image, review.reviewer, Assignment.State.ANSWERED)


def table(name: str, **filters: str) -> TidyTable:
    """The table as it is now; nothing is stored."""
    return compute.compute_table(lookup.find_table_spec(name), filters)


def estimates(made: TidyTable, **groups: str) -> dict[str, Estimate]:
    """Metric → estimate of the rows of a group: Kenya and Dalle2 where nothing else is said."""
    wanted = {**{name: {"country": "Kenya", "model": "Dalle2"}.get(name, "") for name in made.columns}, **groups}
    return {row.metric: row.estimate for row in made.rows if dict(row.groups) == wanted}


def values(made: TidyTable, **groups: str) -> dict[str, float | None]:
    return {metric: estimate.value for metric, estimate in estimates(made, **groups).items()}
