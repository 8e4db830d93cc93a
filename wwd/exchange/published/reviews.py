"""Community reviews of World Wide Dishes as a closed campaign with the questionnaire of the release.

The images were never released: each becomes a `GeneratedImage` that is not held. Reviewers are numbered within
their country only.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collection.models import Dish, Source
from collection.vocabularies.places import code_for, continents_of, countries_for
from evaluation.counters import bump_input_counters
from evaluation.models import GeneratedImage, Subject
from evaluation.models import Model as ModelRow
from review.models import Campaign, CampaignImage, Questionnaire, Review, Reviewer
from review.questionnaires import derive_construct_columns
from review.seed_data import add_wording
from wwd.exchange.published import release_form
from wwd.exchange.published.models import GENERATORS
from wwd.exchange.published.source import InvalidRowError, Report, Row, check_instance, parse_rows, read_wellformed_rows
from wwd.exchange.published.writing import by_key, insert_new

FILE = "Community_Review_Generated_Dish_Images.csv"
KEY = "published-2024"
WORDING = "en-x-published"
KEY_COLUMNS = ("Country", "Rater_id", "Dish name", "Model", "Generation_count")
FLAGS = (*release_form.FLAGS.values(), *release_form.WORDS)
COLUMNS = (*KEY_COLUMNS, *release_form.COLUMN_OF.values(), *FLAGS)
NUMBERED_DISH = re.compile(r"(\d+)\s*:\s*(.+)")
COMPARED_REVIEW = (
    "answers",
    "associates",
    "familiarity",
    "quality",
    "food",
    "correct_dish",
    "match",
    "disturbing",
    "published_flags",
)


@dataclass(frozen=True)
class Opinion:
    """One row of the file. `model` is a slug, or "" where the release lacks it; so is `generation` None."""

    country: str
    rater: int
    dish: str
    model: str
    generation: int | None
    answers: release_form.Answers
    flags: dict[str, object]

    @property
    def reviewer_key(self) -> str:
        return f"{KEY}/{self.country}/{self.rater}"

    @property
    def subject_key(self) -> str:
        return f"{KEY}/{self.country}/{self.dish}"

    @property
    def image_key(self) -> str:
        """Anyone who lacks model or generation may have seen any image: it is then an image of this row alone."""
        if self.model and self.generation is not None:
            return f"{self.subject_key}/{self.model}/{self.generation}"
        return f"{self._image_as_written}/seen by {self.rater}"

    @property
    def key(self) -> str:
        return f"{self._image_as_written}/by {self.rater}"

    @property
    def _image_as_written(self) -> str:
        generation = "?" if self.generation is None else self.generation
        return f"{self.subject_key}/{self.model or '?'}/{generation}"


def parse_whole_number(cell: str, column: str) -> int:
    """A whole number that a spreadsheet may have written with a fraction: 3 or 3.0."""
    whole = cell.removesuffix(".0")
    if not (whole.isascii() and whole.isdigit() and len(whole) < 6):
        raise InvalidRowError(f"{column} is not a whole number: {cell[:40]!r}")
    return int(whole)


class OpinionParser:
    """Makes opinions of rows; one person says something about one image once."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def __call__(self, row: Row) -> Opinion:
        opinion = self._opinion(row)
        if opinion.key in self._seen:
            raise InvalidRowError("this person's judgement of this image is twice in the file")
        self._seen.add(opinion.key)
        return opinion

    def _opinion(self, row: Row) -> Opinion:
        for column in ("Country", "Dish name"):
            if not 0 < len(row[column]) <= 80:
                raise InvalidRowError(f"{column} is empty or longer than 80 characters")
        if row["Model"] and row["Model"] not in GENERATORS:
            raise InvalidRowError(f"Model is not known: {row['Model'][:40]!r}")
        generation = row["Generation_count"]
        return Opinion(
            country=row["Country"],
            rater=parse_whole_number(row["Rater_id"], "Rater_id"),
            dish=row["Dish name"],
            model=GENERATORS[row["Model"]] if row["Model"] else "",
            generation=parse_whole_number(generation, "Generation_count") if generation else None,
            answers=release_form.parse_released_answers(row),
            flags=release_form.parse_flags(row),
        )


class DishLinks:
    """Which imported dish a reviewed one is: only where name and country are equal, and only one dish fits."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[Dish]] = {}
        imported = Dish.objects.filter(source=Source.IMPORT).prefetch_related("places")
        for dish in imported.order_by("number"):
            self._by_name.setdefault(dish.local_name, []).append(dish)

    def find(self, country: str, written: str) -> Dish | None:
        numbered = NUMBERED_DISH.fullmatch(written)
        name = numbered[2] if numbered else written
        fitting = [dish for dish in self._by_name.get(name, ()) if self._lies_in(dish, country)]
        if numbered:
            fitting = [dish for dish in fitting if dish.number == int(numbered[1])]
        return fitting[0] if len(fitting) == 1 else None

    def _lies_in(self, dish: Dish, country: str) -> bool:
        wanted = code_for(country) or country
        return any((code_for(place.name) or place.name) == wanted for place in dish.places.all())


def dish_name(written: str) -> str:
    """The name without the number that two countries put before it."""
    numbered = NUMBERED_DISH.fullmatch(written)
    return numbered[2] if numbered else written


def import_reviews(folder: Path, report: Report) -> None:
    """Adds reviews, reviewers and images that are not here yet. Needs the models; links to dishes that are here."""
    opinions = list(parse_rows(read_wellformed_rows(folder, FILE, COLUMNS, report), OpinionParser(), report, "reviews"))
    campaign = published_campaign()
    subjects = store_subjects(opinions, report)
    images = store_images(opinions, subjects, campaign, report)
    reviewers = store_reviewers(opinions, campaign, report)
    wanted = [review_of(opinion, campaign, reviewers, images) for opinion in opinions]
    insert_new(Review.objects.all(), wanted, "source_key", COMPARED_REVIEW, report.count("reviews"), "reviews")
    if report.created("reviews"):
        bump_input_counters("reviews")


def published_campaign() -> Campaign:
    """The closed campaign of the release, with the wording of its form."""
    questionnaire = Questionnaire.objects.get(slug="e2", version="release-2024")
    add_wording(questionnaire, WORDING, release_form.collect_wordings())
    campaign, _created = Campaign.objects.get_or_create(
        slug=KEY,
        defaults={
            "title": "World Wide Dishes, community reviews of 2024",
            "questionnaire": questionnaire,
            "wanted_opinions": 1,
            "state": Campaign.State.CLOSED,
            "source": Source.IMPORT,
        },
    )
    return campaign


def store_subjects(opinions: Iterable[Opinion], report: Report) -> dict[Any, Subject]:
    links = DishLinks()
    first = {opinion.subject_key: opinion for opinion in opinions}
    countries = countries_for({opinion.country for opinion in first.values()})
    wanted = []
    for key, opinion in first.items():
        known = [countries[opinion.country]] if opinion.country in countries else []
        labels = {"country": [opinion.country], "continent": list(continents_of(known))}
        subject = Subject(kind=Subject.Kind.DISH, name=dish_name(opinion.dish), source_key=key, labels=labels)
        subject.dish = links.find(opinion.country, opinion.dish)
        wanted.append(check_instance(subject, "labels"))
    counts = report.count("reviewed dishes")
    return insert_new(Subject.objects.all(), wanted, "source_key", ("name", "dish_id"), counts, "reviewed dishes")


def store_images(
    opinions: Iterable[Opinion], subjects: dict[Any, Subject], campaign: Campaign, report: Report
) -> dict[str, CampaignImage]:
    """The image of each opinion in the campaign, by `Opinion.image_key`."""
    models = by_key(ModelRow.objects.all(), "slug", GENERATORS.values())
    first = {opinion.image_key: opinion for opinion in opinions}
    wanted = [
        GeneratedImage(
            subject=subjects[opinion.subject_key],
            model=models[opinion.model] if opinion.model else None,
            sample=opinion.generation,
            state=GeneratedImage.State.NOT_HELD,
            source_key=key,
        )
        for key, opinion in first.items()
    ]
    counts = report.count("reviewed images")
    same = ("subject_id", "model_id", "sample")
    images = insert_new(GeneratedImage.objects.all(), wanted, "source_key", same, counts, "reviewed images")
    shown = [
        CampaignImage(campaign=campaign, image=images[key], country=opinion.country, dish_name=dish_name(opinion.dish))
        for key, opinion in first.items()
    ]
    counts = report.count("campaign images")
    stored = insert_new(campaign.images.all(), shown, "image_id", ("country", "dish_name"), counts, "campaign images")
    return {key: stored[images[key].pk] for key in first}


def store_reviewers(opinions: Iterable[Opinion], campaign: Campaign, report: Report) -> dict[Any, Reviewer]:
    first = {opinion.reviewer_key: opinion for opinion in opinions}
    wanted = [
        Reviewer(campaign=campaign, country=opinion.country, source=Source.IMPORT, source_key=key)
        for key, opinion in first.items()
    ]
    counts = report.count("reviewers")
    return insert_new(Reviewer.objects.all(), wanted, "source_key", ("country",), counts, "reviewers")


def review_of(
    opinion: Opinion, campaign: Campaign, reviewers: dict[Any, Reviewer], images: dict[str, CampaignImage]
) -> Review:
    return Review(
        reviewer=reviewers[opinion.reviewer_key],
        image=images[opinion.image_key],
        answers=opinion.answers,
        published_flags=opinion.flags,
        source_key=opinion.key,
        **derive_construct_columns(campaign.questionnaire.definition, opinion.answers),
    )
