"""Which reviews a table counts, and what is said about those it does not: one definition for all tables of reviews."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from collection.models import Dish, Source
from evaluation.models import Role
from evaluation.table_spec import Filters
from review.models import Questionnaire, Review
from review.tables.narrowing import NARROWING, about_narrowing, of_subjects

INPUTS = ("reviews", "withdrawals")
FILTERS = ("country", "model", "campaign", "questionnaire", "excluded", "interval", *NARROWING)
INTERVALS = ("bootstrap", "wilson")
EXCLUDED = ("without", "with")
CHOICES: Mapping[str, tuple[str, ...]] = {"interval": INTERVALS, "excluded": EXCLUDED}
REGIONS = "Countries differ in their dishes and in their reviewers too, not in the pictures alone."
NOTHING_YET = "There are no reviews yet, or none for this choice."
DEMONSTRATION = (
    Q(reviewer__source=Source.DEMONSTRATION)
    | Q(reviewer__campaign__source=Source.DEMONSTRATION)
    | Q(image__image__model__demonstration=True)
)

# Said outright, not as everything but those: so that a database need not look for each review among millions.
REAL = (
    ~Q(reviewer__source=Source.DEMONSTRATION)
    & ~Q(reviewer__campaign__source=Source.DEMONSTRATION)
    & (Q(image__image__model=None) | Q(image__image__model__demonstration=False))
)


class Opinion(NamedTuple):
    """What tables need of one review. `image` is the picture, whichever campaign showed it, `role` its model's."""

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
        """Whether the picture is a photograph."""
        return self.role == Role.CAMERA


FIELDS = (
    "pk",
    "image__country",
    "image__image__model__title",
    "image__image__model__role",
    "image__image",
    "image__image__subject__source_key",
    "reviewer__source_key",
    "reviewer",
    "repeat",
    "associates",
    "familiarity",
    "food",
    "correct_dish",
    "quality",
    "match",
    "disturbing",
    "published_flags",
    "answers",
)


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


def pool(filters: Filters, *, repeats: bool = False) -> Pool:
    """The reviews that `filters` choose. With `repeats`, second answers of the same person about a picture too."""
    everybody, demonstration = _real_ones(candidates(filters, repeats=repeats, include_excluded=True))
    found = everybody if filters.get("excluded") == "with" else everybody.filter(reviewer__exclusion=None)
    questionnaire = chosen_questionnaire(found, filters)
    if questionnaire is None:
        return Pool(found.none(), None, demonstration, (NOTHING_YET,))
    mine = Q(reviewer__campaign__questionnaire=questionnaire)
    notes = [f"Reviews with questionnaire {questionnaire}. Clusters are dishes.", *about_narrowing(filters)]
    others = found.exclude(mine).count()
    if others:
        notes.append(f"Reviews with another questionnaire, left out: {others}. The filter questionnaire shows them.")
    notes += _about_excluded(everybody.filter(mine), with_them=filters.get("excluded") == "with")
    return Pool(found.filter(mine), questionnaire, demonstration, tuple(notes))


def candidates(filters: Filters, *, repeats: bool, include_excluded: bool) -> QuerySet[Review]:
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


def chosen_questionnaire(reviews: QuerySet[Review], filters: Filters) -> Questionnaire | None:
    """The questionnaire version that the filter names, else the one with the most reviews."""
    counts = reviews.values_list("reviewer__campaign__questionnaire").annotate(given=Count("pk"))
    for pk, _given in counts.order_by("-given", "-reviewer__campaign__questionnaire"):
        questionnaire = Questionnaire.objects.get(pk=pk)
        if filters.get("questionnaire") in (None, str(questionnaire)):
            return questionnaire
    return None


def _about_excluded(reviews: QuerySet[Review], *, with_them: bool) -> list[str]:
    """How many people were left out by a recorded decision, and how to see the table the other way."""
    theirs = reviews.exclude(reviewer__exclusion=None).aggregate(
        people=Count("reviewer", distinct=True), given=Count("pk")
    )
    if not theirs["people"]:
        return []
    what = f"{theirs['given']} reviews by {theirs['people']} people whom a steward decided to leave out"
    if with_them:
        return [f"Counted here: {what}. The filter excluded=without leaves them out."]
    return [f"Left out: {what}, each with a recorded reason. The filter excluded=with counts them."]


def opinions(reviews: QuerySet[Review]) -> Iterator[Opinion]:
    """The reviews as tables need them; a picture whose model is not known has the model ""."""
    for pk, country, model, role, image, dish, key, reviewer, *said in reviews.values_list(*FIELDS).iterator(
        chunk_size=5000
    ):
        *columns, flags, answers = said
        known = (pk, country, model or "", role or "", image, dish, person(key, reviewer))
        yield Opinion._make((*known, *columns, flags or {}, answers))


def person(source_key: str | None, reviewer: UUID) -> str:
    """Who somebody is in a table: the same in every database that imported them, so that intervals are too."""
    return source_key or str(reviewer)


def about_nameless(reviews: QuerySet[Review]) -> list[str]:
    """How many reviews have no place in a table by model."""
    nameless = reviews.filter(image__image__model=None).count()
    return [f"Left out: {nameless} of them, about pictures whose model is not known."] if nameless else []
