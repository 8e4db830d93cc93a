"""Builders for tests of people and machine: images with opinions, and runs with chosen values about them."""

from collections.abc import Mapping, Sequence
from math import acos, cos, pi, sin, sqrt
from typing import Any

from evaluation.contracts.study import Result, UnitPlan
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import GeneratedImage, Run
from evaluation.runner import import_run
from evaluation.runner.catalogue import model_data, subject_data
from evaluation.studies.association.study import image_key, image_payload
from review.models import Campaign, CampaignImage, Review, Reviewer
from tests.evaluation.make import make_model, vector_result
from tests.evaluation.make_tables import word_results
from tests.review.make_tables import make_campaign, make_maker, make_people, make_shown, table

YES_NO = ("Yes", "No")
Said = Sequence[Mapping[str, Any]]


def make_judged(
    said: Sequence[Said],
    campaign: Campaign | None = None,
    country: str = "Kenya",
    model: str = "Dalle2",
    people: int = 0,
    **subject: Any,
) -> list[CampaignImage]:
    """An image of a dish of its own for each of `said`: the columns of the reviews about it, one person each.

    `people`: how many take turns; else as many as the image with the most reviews needs.
    """
    campaign = campaign or make_campaign()
    crowd = make_people(campaign, max(people, max((len(each) for each in said), default=0)))
    images = [make_shown(campaign, country, make_maker(model), **subject) for _ in said]
    Review.objects.bulk_create(
        Review(image=shown, reviewer=person, **columns)
        for turn, (shown, each) in enumerate(zip(images, said, strict=True))
        for person, columns in zip(
            [crowd[(turn * bool(people) + at) % len(crowd)] for at in range(len(each))], each, strict=True
        )
    )
    return images


def taking_turns(crowd: Sequence[Reviewer], turn: int) -> list[Reviewer]:
    """Everybody, another one first in each turn."""
    first = turn % max(len(crowd), 1)
    return [*crowd[first:], *crowd[:first]]


def opinions(yes: int, no: int, column: str = "food") -> Said:
    """So many people who say yes, and who say no."""
    return [{column: True}] * yes + [{column: False}] * no


def ticked(*boxes: str) -> dict[str, Any]:
    return {"food": True, "answers": {"checks": list(boxes)}}


def images_of(images: Sequence[CampaignImage]) -> list[GeneratedImage]:
    return [shown.image for shown in images]


def make_answers(
    images: Sequence[CampaignImage],
    values: Sequence[Sequence[float] | str | None],
    question: str = "food",
    options: Sequence[str] = YES_NO,
    slug: str = "asked",
    demonstration: bool = False,
) -> Run:
    """A run of answers to one question: probabilities of the options, or words; None where the unit failed."""
    model = make_model("answerer", role="vqa", backend="stored", demonstration=demonstration)
    reading = "generated" if any(isinstance(value, str) for value in values) else "logits"
    results = []
    for image, value in zip(images_of(images), values, strict=True):
        for shift, given in enumerate(value.split(" | ") if isinstance(value, str) else [value]):
            payload = {"image": image.pk, "question": question, "ask": "?", "options": list(options)}
            key = f"image:{image.pk}:{question}:{shift}:{reading}"
            subject = subject_data(image.subject)
            plan = UnitPlan(key, model, subject, {**payload, "shift": shift, "reading": reading}, f"image:{image.pk}")
            results.append((plan, answer(key, given)))
    return import_run("stereotypes", slug, {"images": "test", "reading": reading}, results)[0]


def answer(key: str, given: Sequence[float] | str | None) -> Result:
    if given is None:
        return Result(key, "failed", reason="Nothing came.")
    if isinstance(given, str):
        return Result(key, text=given)
    return Result(key, numbers={str(place): chance for place, chance in enumerate(given)})


def chances(values: Sequence[float]) -> list[tuple[float, float]]:
    """Probabilities of yes and no."""
    return [(value, 1 - value) for value in values]


def make_scores(images: Sequence[CampaignImage], values: Sequence[float], slug: str = "scored") -> Run:
    """A run of vectors whose scores (positive minus negative word, group taste) are `values`, between −1 and 1."""
    encoder = make_model("encoder", role="encoder", backend="stored")
    results = word_results()
    for image, value in zip(images_of(images), values, strict=True):
        angle = acos(value / sqrt(2)) - pi / 4
        plan = UnitPlan(image_key(image.pk), encoder, subject_data(image.subject), image_payload(image.pk), "pictures")
        results.append((plan, vector_result(image_key(image.pk), cos(angle), sin(angle), image_id=image.pk)))
    return import_run("association", slug, {"images": "test"}, results)[0]


def make_colours(images: Sequence[CampaignImage], values: Sequence[float], slug: str = "coloured") -> Run:
    pixels = model_data(make_maker("Pixels", role="features", backend="pixels"))
    results = []
    for image, value in zip(images_of(images), values, strict=True):
        plan = UnitPlan(f"image:{image.pk}", pixels, subject_data(image.subject), {"image": image.pk}, "pictures")
        results.append((plan, Result(plan.key, numbers={"colourfulness": value})))
    return import_run("colours", slug, {"images": "test"}, results)[0]


def found(made: TidyTable, **groups: str) -> dict[str, Estimate]:
    """Metric → estimate of the one row whose groups hold `groups`; Kenya where no country is named."""
    if "country" in made.columns:
        groups = {"country": "Kenya", **groups}
    rows = [row for row in made.rows if all(row.groups[name] == value for name, value in groups.items())]
    assert len({tuple(row.groups.values()) for row in rows}) == 1, {tuple(row.groups.values()) for row in rows}
    return {row.metric: row.estimate for row in rows}


def agreement(name: str, groups: Mapping[str, str] | None = None, **filters: str) -> dict[str, Estimate]:
    """One row of a table of agreement as it is now."""
    return found(table(f"agreement.{name}", **filters), **(groups or {}))
