"""Which reviews a table counts, and what is said about those it does not: one definition for all tables of reviews."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from collection.models import Dish, Source
from evaluation.contracts.table import Filters
from evaluation.models import Role
from review.models import Questionnaire, Review
from review.tables.filters import NARROWING, describe_label_filters, of_subjects

REVIEW_INPUTS = ("reviews", "withdrawals")
REVIEW_FILTERS = ("country", "model", "campaign", "questionnaire", "excluded", "interval", *NARROWING)
INTERVALS = ("clustered", "wilson")
EXCLUDED = ("without", "with")
CHOICES: Mapping[str, tuple[str, ...]] = {"interval": INTERVALS, "excluded": EXCLUDED}
REGIONS = "Countries differ in their dishes and in their reviewers too, not in the images alone."
NOTHING_YET = "There are no reviews yet, or none for this choice."
# Said outright, not as everything but those: so that a database need not look for each review among millions.
REAL = (
    ~Q(reviewer__source=Source.DEMONSTRATION)
    & ~Q(reviewer__campaign__source=Source.DEMONSTRATION)
    & (Q(image__image__model=None) | Q(image__image__model__demonstration=False))
)


class Opinion(NamedTuple):
    """What tables need of one review. `image` is the image, whichever campaign showed it, `role` its model's."""

    pk: int
    country: str
    model: str
    role: str
    image: int
    dish: str
    reviewer: str
    repeat: bool
    associates: bool | None
    familiarity: str
    food: bool | None
    correct_dish: bool | None
    quality: int | None
    match: str
    disturbing: bool | None
    flags: Mapping[str, Any]
    answers: Mapping[str, Any]

    @property
    def real(self) -> bool:
        """Whether the image is a photograph."""
        return self.role == Role.CAMERA


KNOWN = (
    "pk",
    "image__country",
    "image__image__model__title",
    "image__image__model__role",
    "image__image",
    "image__image__subject__source_key",
    "reviewer__source_key",
)
SAID = ("repeat", "associates", "familiarity", "food", "correct_dish", "quality", "match", "disturbing")


@dataclass(frozen=True)
class Pool:
    """Reviews with one version of the questionnaire: definitions never mix within a table.

    `questionnaire` is None where there are no reviews; `notes` say what was counted and what was left out.
    """

    reviews: QuerySet[Review]
    questionnaire: Questionnaire | None
    demonstration: bool
    notes: tuple[str, ...]

    @property
    def extra(self) -> dict[str, float | str]:
        """What a stored table keeps of the choice, so that a page need not count all reviews again to know it."""
        return {"questionnaire": str(self.questionnaire)} if self.questionnaire else {}


def select_reviews(filters: Filters, *, repeats: bool = False) -> Pool:
    """The reviews that `filters` choose. With `repeats`, second answers of the same person about an image too."""
    everybody, demonstration = _real_ones(filter_candidate_reviews(filters, repeats=repeats, include_excluded=True))
    with_them = filters.get("excluded") == "with"
    given = count_reviews_by_reviewer(everybody)
    kept = [one for one in given if with_them or not one.excluded]
    questionnaire = chosen_questionnaire(kept, filters)
    if questionnaire is None:
        return Pool(everybody.none(), None, demonstration, (NOTHING_YET,))
    found = everybody if with_them else everybody.filter(reviewer__exclusion=None)
    notes = [f"Reviews with questionnaire {questionnaire}. Clusters are dishes.", *describe_label_filters(filters)]
    if others := sum(one.reviews for one in kept if one.questionnaire != questionnaire.pk):
        notes.append(f"Reviews with another questionnaire, left out: {others}. The filter questionnaire shows them.")
    left = [one.reviews for one in given if one.excluded and one.questionnaire == questionnaire.pk]
    notes += _describe_excluded(len(left), sum(left), with_them=with_them)
    mine = Q(reviewer__campaign__questionnaire=questionnaire)
    return Pool(found.filter(mine), questionnaire, demonstration, tuple(notes))


class Given(NamedTuple):
    """How many reviews one person gave, with which questionnaire, and whether they are left out."""

    questionnaire: int
    excluded: bool
    reviews: int


def count_reviews_by_reviewer(reviews: QuerySet[Review]) -> list[Given]:
    """The reviews by person, counted in one pass: all that a table says about those it leaves out."""
    of_person = ("reviewer", "reviewer__campaign__questionnaire", "reviewer__exclusion")
    rows = reviews.order_by().values_list(*of_person).annotate(given=Count("pk"))
    return [Given(questionnaire, left_out is not None, n) for _person, questionnaire, left_out, n in rows]


def filter_candidate_reviews(filters: Filters, *, repeats: bool, include_excluded: bool) -> QuerySet[Review]:
    """What a table may count under its filters, before questionnaire and demonstrations are looked at."""
    return _of_campaign(_base(repeats, include_excluded=include_excluded), filters)


def _base(repeats: bool, *, include_excluded: bool) -> QuerySet[Review]:
    if repeats:
        return Review.objects.present().filter(surplus=False)
    return Review.objects.counted(include_excluded=include_excluded)


def _of_campaign(reviews: QuerySet[Review], filters: Filters) -> QuerySet[Review]:
    """Without dishes that were withdrawn; of the campaign, dishes and prompts that filters name."""
    kept = reviews.exclude(image__image__subject__dish__state=Dish.State.WITHDRAWN).filter(of_subjects(filters))
    return kept.filter(reviewer__campaign__slug=filters["campaign"]) if "campaign" in filters else kept


def _real_ones(reviews: QuerySet[Review]) -> tuple[QuerySet[Review], bool]:
    """The reviews that are no demonstration; where there are none, the demonstration, and True."""
    real = reviews.filter(REAL)
    if real.exists():
        return real, False
    return reviews, reviews.exists()


def chosen_questionnaire(given: Iterable[Given], filters: Filters) -> Questionnaire | None:
    """The questionnaire version that the filter names, else the one with the most reviews."""
    counts = Counter[int]()
    for one in given:
        counts[one.questionnaire] += one.reviews
    versions = Questionnaire.objects.in_bulk(list(counts))
    for pk in sorted(counts, key=lambda pk: (-counts[pk], -pk)):
        if filters.get("questionnaire") in (None, str(versions[pk])):
            return versions[pk]
    return None


def _describe_excluded(people: int, reviews: int, *, with_them: bool) -> list[str]:
    """How many people were left out by a recorded decision, and how to see the table the other way."""
    if not people:
        return []
    what = f"{reviews} reviews by {people} people whom a steward decided to leave out"
    if with_them:
        return [f"Counted here: {what}. The filter excluded=without leaves them out."]
    return [f"Left out: {what}, each with a recorded reason. The filter excluded=with counts them."]


class Said(Mapping[str, Any]):
    """What is in a JSON column, read when somebody asks for it: of a million reviews most tables read columns."""

    __slots__ = ("held", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.held: Mapping[str, Any] | None = None

    def all(self) -> Mapping[str, Any]:
        if self.held is None:
            self.held = json.loads(self.text) or {}
        return self.held

    def __contains__(self, key: object) -> bool:
        """A key that is not in the text is not there."""
        return str(key) in self.text and key in self.all()

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return self.all()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())


NOTHING: Mapping[str, Any] = {}


def iterate_opinions(reviews: QuerySet[Review]) -> Iterator[Opinion]:
    """The reviews as tables need them, in the order of their ids; an image whose model is not known has the model "".

    There may be millions: names that many share are held once, and JSON is read only where it is asked for.
    """
    persons: dict[str, str] = {}
    names: dict[str, str] = {}
    texts = (Cast(column, TextField()) for column in ("reviewer_id", "published_flags", "answers"))
    for row in reviews.order_by("pk").values_list(*KNOWN, *SAID, *texts).iterator(chunk_size=5000):
        pk, country, model, role, image, dish, key = row[: len(KNOWN)]
        *said, who, flags, answers = row[len(KNOWN) :]
        if who not in persons:
            persons[who] = identify_reviewer(key, UUID(who))
        country, model, role, dish = (names.setdefault(name or "", name or "") for name in (country, model, role, dish))
        known = (pk, country, model, role, image, dish, persons[who])
        yield Opinion._make((*known, *said, Said(flags) if flags else NOTHING, Said(answers)))


def identify_reviewer(source_key: str | None, reviewer: UUID) -> str:
    """Who somebody is in a table: the same in every database that imported them, so that intervals are too."""
    return source_key or str(reviewer)


def describe_nameless_reviews(reviews: QuerySet[Review]) -> list[str]:
    """How many reviews have no place in a table by model."""
    nameless = reviews.filter(image__image__model=None).count()
    return [f"Left out: {nameless} of them, about images whose model is not known."] if nameless else []
