"""Leaving a reviewer out by a recorded decision gives what every table would hold if they had never reviewed.

One world with everything that a table of reviews looks at: two models and photographs, two countries, answers with own
words, repeats, answers that came too late, skips and reports, and machines that looked at the same images. The one
who is left out answers unlike all others, did each of these, and was alone about some images.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from evaluation.metrics.tidy import TidyTable
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import compute
from review.assignment import SKIPS, load_without, open_images, reserve_image
from review.campaigns.service import recount_opinions, save_review
from review.models import Assignment, Campaign, CampaignImage, Review, Reviewer
from tests.review import make
from tests.review.machines import make_answers
from tests.review.make_tables import make_campaign, make_exclusion, make_maker, make_people, make_shown, make_skip

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAMES = [name for name in lookup.list_table_names() if {"reviews", SKIPS} & {*lookup.find_table_spec(name).inputs}]
PEOPLE, DISHES = 7, 12


def test_the_tables_of_reviews_are_found() -> None:
    assert {"review.skips", "agreement.labels", "disparity.review.quality", "variance.review.match"} <= {*NAMES}


@pytest.fixture(scope="module")
def left_out(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Reviewer]:
    """The one who is left out."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


def make_world() -> Reviewer:
    campaign = make_campaign()
    judged = [image for country in ("Kenya", "Ghana") for image in make_country(campaign, country)]
    mine = judged[0].reviews.earliest("pk").reviewer
    make_exclusion(mine)
    alone = make_shown(campaign, "Togo", make_maker("Dalle2"))
    make_skip(alone, mine, Assignment.State.ANSWERED)
    Review.objects.create(image=alone, reviewer=mine, **says(0, 0))
    others = [image for image in judged if image.image.model and image.image.model.role != "camera"]
    make_answers(others, [(0.8, 0.2) if number % 3 else (0.3, 0.7) for number in range(len(others))])
    return mine


def make_country(campaign: Campaign, country: str) -> list[CampaignImage]:
    """Images of each dish by two models, and a photograph; all judged by seven people, the first unlike the rest."""
    people = make_people(campaign, PEOPLE)
    makers = [make_maker("Dalle2"), make_maker("Dalle3"), make_maker("Real", role="camera")]
    images = []
    for dish in range(DISHES):
        first = make_shown(campaign, country, makers[0], labels={"country": [country], "continent": ["Africa"]})
        same = [make_shown(campaign, country, maker) for maker in makers[1 : 3 if dish < 3 else 2]]
        for shown in same:
            shown.image.subject = first.image.subject
            shown.image.save()
        images += [first, *same]
    for number, shown in enumerate(images):
        for who, person in enumerate(people):
            if (number + who) % 9 == 0:
                make_skip(shown, person, Assignment.State.SKIPPED if who else Assignment.State.REPORTED)
                continue
            make_skip(shown, person, Assignment.State.ANSWERED)
            late = (number + who) % 11 == 0
            Review.objects.create(image=shown, reviewer=person, surplus=late, **says(number, who))
            if (number * 3 + who) % 8 == 0:
                Review.objects.create(image=shown, reviewer=person, repeat=True, **says(number, who + number % 2))
    return images


def says(image: int, who: int) -> dict[str, Any]:
    """What a person says of an image; the first says what nobody else does."""
    if who == 0:
        return {"food": False, "associates": True, "familiarity": "very", "answers": {"seen": "gross, burnt vomit"}}
    known = {"associates": who % 2 == 0, "familiarity": "very" if who % 3 else "somewhat"}
    food = (image * who) % 5 > 0
    if not food:
        return {"food": False, **known, "quality": 1 + who % 2, "answers": {"seen": "This is an image of a wall"}}
    return {
        "food": True,
        **known,
        "correct_dish": (image + who) % 3 > 0,
        "quality": 1 + (image + who) % 5,
        "match": ("exact", "resembles", "none")[(image + who) % 3],
        "disturbing": (image * who) % 7 == 0,
        "answers": {"checks": ["indoors"] if who % 2 else ["plate_missing"], "why": "It is not like the one at home"},
    }


def content(table: TidyTable) -> dict[str, Any]:
    """All that the table says, but how many were left out, and which values a filter offers."""
    return {
        "rows": table.rows,
        "notes": [note for note in table.notes if "whom a steward decided to leave out" not in note],
        "extra": dict(table.extra),
        "about": {name: value for name, value in table.about.items() if name != "options"},
    }


@pytest.mark.parametrize("name", NAMES)
def test_leaving_somebody_out_equals_deleting_them(name: str, left_out: Reviewer) -> None:
    table = compute.compute_table(lookup.find_table_spec(name), {})
    assert table.rows
    assert any("Left out" in note for note in table.notes)
    with transaction.atomic():
        Reviewer.objects.get(pk=left_out.pk).delete()
        deleted = compute.compute_table(lookup.find_table_spec(name), {})
        transaction.set_rollback(True)
    assert content(table) == content(deleted)


@pytest.mark.parametrize("name", [name for name in NAMES if name in TABLES])
def test_counted_again_they_change_every_table(name: str, left_out: Reviewer) -> None:
    """Otherwise the test above could not fail."""
    without, with_them = (
        compute.compute_table(lookup.find_table_spec(name), {"excluded": how}).rows for how in ("without", "with")
    )
    assert without != with_them


def test_opinions_of_somebody_left_out_keep_their_place(db: None) -> None:
    """An image that has all opinions is given to nobody else, however many of them tables leave out later."""
    campaign = make.make_campaign(images=1, wanted=2)
    [image] = campaign.images.all()
    people = [make.make_reviewer(campaign) for _ in range(3)]
    for person in people[:2]:
        save_review(person, image, make.GOOD)
        make_exclusion(person)
    recount_opinions(campaign.images.all())
    image.refresh_from_db()
    assert (image.opinions, load_without(image, people[2])) == (2, 2)
    assert not open_images(people[2], campaign).exists()
    assert reserve_image(people[2]) is None
    assert save_review(people[2], image, make.GOOD).review.surplus
