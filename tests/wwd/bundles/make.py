"""A small world for bundles: reviews that differ, words read and not read, a run, dishes that are gone."""

import json
import zipfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from collection.models import Dish
from evaluation.models import GeneratedImage, Unit
from evaluation.subjects import subject_for
from review.models import Campaign, Review, ReviewerBackground
from tests.evaluation.make import make_dish
from tests.evaluation.make_tables import image_result, make_association, make_place_in
from tests.review.make_tables import make_campaign, make_cell, make_exclusion, make_maker, make_shown, make_skip
from wwd.exchange.bundles import build, table_views
from wwd.exchange.bundles.build import Request

# Planted where no bundle may hold them.
SECRET = "Zanzibarina"
UNREAD = f"I am {SECRET}, call 0803 555 1234, it is grossly burnt"
READ = "The rice looks burnt."
VIEWS = (
    "review.quality",
    "review.words",
    "review.skips",
    "review.agreement",
    "association.scores",
    "generation.counts",
)


def says(dish: int, reviewer: int) -> dict[str, Any]:
    words = UNREAD if reviewer % 2 else READ
    food = (dish * 7 + reviewer * 3) % 5 > 0
    return {
        "food": food,
        "correct_dish": (dish + reviewer) % 3 == 0 if food else None,
        "quality": (dish + 2 * reviewer) % 6,
        "answers": {"food": "yes" if food else "no", "explanation": words, "unasked": SECRET},
        "words_read_at": None if reviewer % 2 else timezone.now(),
    }


def make_world() -> Campaign:
    """12 dishes of Kenya by 6 people, one of them left out; a skip; a dish that is hidden, and one withdrawn."""
    staff = User.objects.create_user(f"steward-{SECRET}", is_staff=True)
    campaign = make_campaign(ethics_reference="Board of Nairobi, 2026/17")
    reviews = make_cell(campaign, dishes=12, reviewers=6, says=says)
    Review.objects.filter(pk=reviews[0].pk).update(words_read_by=staff)
    people = sorted({review.reviewer for review in reviews}, key=lambda reviewer: str(reviewer.pk))
    ReviewerBackground.objects.create(reviewer=people[0], countries=SECRET, languages=SECRET)
    make_exclusion(people[1], reason=f"{SECRET} answers in two seconds each.")
    make_skip(make_shown(campaign, model=make_maker("Dalle2")), people[2])
    for state in (Dish.State.WITHDRAWN, Dish.State.HIDDEN):
        dish = make_dish(f"{SECRET} {state}", state=state)
        shown = make_shown(campaign, model=make_maker("Dalle2"), dish=dish, name=dish.local_name)
        GeneratedImage.objects.filter(pk=shown.image_id).update(prompt_sent=f"A photo of {dish.local_name}")
        Review.objects.create(image=shown, reviewer=people[0], food=True)
    make_association(*(image_result(make_place_in("Africa"), "painter", 1, number / 3) for number in range(12)))
    withdrawn = subject_for(Dish.objects.get(state=Dish.State.WITHDRAWN))
    Unit.objects.filter(pk=Unit.objects.latest("pk").pk).update(subject=withdrawn, key=f"about {SECRET}")
    return campaign


def make_bundle(folder: Path, *views: str, name: str = "test", images: bool = False) -> Path:
    """The bundle of these views, unpacked; its zip file lies beside it."""
    target = folder / f"{name}.zip"
    build.write_bundle(Request(name, table_views.parse_views(views or VIEWS), images), target)
    with zipfile.ZipFile(target) as packed:
        packed.extractall(folder)
    return folder / f"wwd-{name}"


def lines(folder: Path, table: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data" / f"{table}.jsonl").read_text().splitlines()]


def manifest(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "bundle.json").read_text())
    assert isinstance(found, dict)
    return found
