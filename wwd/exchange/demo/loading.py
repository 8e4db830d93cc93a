"""Loads the demonstration through the same functions as everything else. Loading twice changes nothing."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.dishes.write import WORDS, save_dish
from collection.models import Contributor, Dish, Source
from evaluation import runner
from evaluation.management.commands.run_study import wait_for
from evaluation.models import GeneratedImage, Run
from evaluation.novelty.reference import import_reference
from review.campaigns.service import add_invitation, prepare_campaign_images, save_review
from review.models import Campaign, CampaignImage, Invitation, Questionnaire, Review, Reviewer
from wwd.base.planner_statistics import refresh_statistics

FILE = Path(__file__).parent / "dishes.json"
REFERENCE = Path(__file__).parent / "reference.csv"
KEY = "demonstration"
# Far above the numbers that dishes of people get: a demonstration never uses up one of those.
FIRST_NUMBER = 1_000_000_001
GENERATION, ASSOCIATION, STEREOTYPES = f"{KEY}-generation", f"{KEY}-association", f"{KEY}-stereotypes"
KNOWLEDGE = f"{KEY}-knowledge"
RUNS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    GENERATION: (
        "generation",
        {
            "model": "sketch",
            "subjects": {"kind": "dish", "demonstration": True},
            "prompt": "generation-plain",
            "prompt_version": "1",
            "images_per_subject": 2,
        },
    ),
    ASSOCIATION: (
        "association",
        {
            "images": GENERATION,
            "encoder": "standin-encoder",
            "descriptors": "association",
            "descriptors_version": "demonstration-1",
        },
    ),
    STEREOTYPES: (
        "stereotypes",
        {"images": GENERATION, "model": "standin-vqa", "questions": "vqa-demonstration", "reading": "logits"},
    ),
    KNOWLEDGE: (
        "knowledge",
        {
            "models": ["standin-chat"],
            "subjects": {"kind": "dish", "demonstration": True, "limit": 20},
            "samples": 2,
        },
    ),
}
# Three people each about more than 30 images of more than 10 dishes: enough to compare them with one another and
# with the stand-ins. The campaign wants more, so that a visitor is asked about these countries too.
REVIEWED = (
    *("Ethiopia", "Morocco", "Nigeria", "Senegal", "Georgia", "India", "Sri Lanka", "Vietnam", "Ukraine"),
    *("Haiti", "Jamaica", "Mexico", "Brazil", "Peru", "Fiji"),
)
REVIEWERS = 3
WANTED_OPINIONS = 5
SAID = "Demonstration: nobody said this."
TICKED = (
    ("usual_way", "outdoors"),
    ("plate_unusual", "people", "indoors"),
    ("utensils_wanted", "indoors"),
    ("disturbing", "outdoors"),
)


@dataclass(frozen=True)
class Loaded:
    """What was added now; `invitation` is the link to the open campaign."""

    dishes: int
    images: int
    reviews: int
    invitation: Invitation


def read_demo_dishes() -> list[dict[str, Any]]:
    found = json.loads(FILE.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def load_demo() -> Loaded:
    """Adds what is missing. Writes images and commits in steps, so that a load that was cut short goes on."""
    added = add_dishes()
    import_reference(
        REFERENCE, KEY, "plain", title="Demonstration", source="Written for this project", demonstration=True
    )
    before = select_demo_images().count()
    for slug, (study, config) in RUNS.items():
        finish_demo_run(runner.create_run(study, config, slug=slug))
    campaign = open_campaign()
    prepare_campaign_images(campaign, select_demo_images().select_related("subject__dish"))
    reviews = add_reviews(campaign)
    refresh_statistics()
    return Loaded(added, select_demo_images().count() - before, reviews, invitation_to(campaign))


def add_dishes() -> int:
    """The demonstration's dishes by its one contributor; returns how many are new."""
    held = set(Dish.objects.filter(source=Source.DEMONSTRATION).values_list("source_key", flat=True))
    contributor = Contributor.objects.filter(source=Source.DEMONSTRATION).first()
    contributor = contributor or Contributor.objects.create(source=Source.DEMONSTRATION)
    new = [(place, dish) for place, dish in enumerate(read_demo_dishes()) if f"{KEY}/{dish['key']}" not in held]
    for place, dish in new:
        save_dish(
            {field: dish[field] for field in WORDS if field in dish},
            dish["countries"],
            [(language["name"], language["code"]) for language in dish["languages"]],
            contributor=contributor,
            number=FIRST_NUMBER + place,
            source=Source.DEMONSTRATION,
            source_key=f"{KEY}/{dish['key']}",
            state=Dish.State.ACCEPTED,
        )
    return len(new)


def finish_demo_run(run: Run) -> None:
    """Works through the run in this process: no worker is needed."""
    if run.state != Run.State.DONE:
        wait_for(run)


def select_demo_images() -> Any:
    return GeneratedImage.objects.filter(run__slug=GENERATION).order_by("pk")


def open_campaign() -> Campaign:
    """The demonstration's campaign; one that staff closed since stays closed."""
    campaign, _created = Campaign.objects.get_or_create(
        slug=KEY,
        defaults={
            "title": "Demonstration",
            "questionnaire": Questionnaire.objects.get(slug="e2", version="1"),
            "wanted_opinions": WANTED_OPINIONS,
            "state": Campaign.State.OPEN,
            "source": Source.DEMONSTRATION,
        },
    )
    return campaign


def invitation_to(campaign: Campaign) -> Invitation:
    """The invitation that still works, or a new one."""
    usable = campaign.invitations.filter(revoked_at=None, limit=None).order_by("created_at").first()
    return usable or add_invitation(campaign)


def add_reviews(campaign: Campaign) -> int:
    """Made-up opinions on the images of some countries, the same on every machine; returns how many are new."""
    if not campaign.is_open():
        return 0
    added = 0
    for country in REVIEWED:
        shown = campaign.images.filter(country=country).select_related("image")
        for number in range(REVIEWERS):
            added += answer_all(get_demo_reviewer(campaign, country, number), shown)
    return added


def get_demo_reviewer(campaign: Campaign, country: str, number: int) -> Reviewer:
    found, _created = Reviewer.objects.get_or_create(
        source_key=f"{KEY}/{country}/{number}",
        defaults={"campaign": campaign, "country": country, "source": Source.DEMONSTRATION},
    )
    return found


def answer_all(person: Reviewer, shown: Iterable[CampaignImage]) -> int:
    answered = set(Review.objects.filter(reviewer=person).values_list("image", flat=True))
    missing = [image for image in shown if image.pk not in answered]
    for image in missing:
        save_review(person, image, made_up(f"{person.source_key} {image.image.source_key}"))
    return len(missing)


def made_up(seed: str) -> dict[str, Any]:
    """Answers to E.2 that follow from `seed`."""
    lot = hashlib.sha256(seed.encode()).digest()
    first = {
        "associates": ("yes", "no")[lot[0] % 2],
        "familiarity": ("not", "somewhat", "very")[lot[1] % 3],
        "quality": str(lot[2] % 6),
        "food": "no" if lot[3] % 5 == 0 else "yes",
    }
    if first["food"] == "no":
        return {**first, "seen": SAID}
    checks = TICKED[lot[6] % len(TICKED)]
    match = ("exact", "resembles", "none", "added", "missing")[lot[5] % 5]
    rest = {"correct_dish": ("yes", "no")[lot[4] % 2], "match": match, "explanation": SAID, "checks": list(checks)}
    return {**first, **rest}
