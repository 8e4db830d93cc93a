"""Tables of what people said about pictures (World Wide recipe, Tables 2, 3 and E.7)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_noop as _

from collection.models import Dish, Source
from evaluation.metrics.bootstrap import Interval, two_way
from evaluation.metrics.proportion import share, wilson
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.ordering import place
from evaluation.table_spec import Filters, TableSpec
from review.models import Questionnaire, Review
from review.unappetising import as_published, text_codes

GOOD_RATINGS = (3, 4, 5)
INTERVALS = ("bootstrap", "wilson")
DENOMINATOR = "As published: the share is Yes ÷ all reviews of the country and model, unanswered ones included."
REGIONS = "Countries differ in their dishes and in their reviewers too, not in the pictures alone."


class Opinion(NamedTuple):
    """What the table needs of one review. `yes` in the order of QUALITY.metrics."""

    country: str
    model: str
    dish: str
    reviewer: str
    yes: tuple[bool, bool, bool, bool, bool]


@dataclass(frozen=True)
class Cell:
    """The reviews of one country and model: `yes` (n, 5) of 0 and 1, `dishes` and `reviewers` (n,) labels."""

    yes: npt.NDArray[np.float64]
    dishes: npt.NDArray[np.str_]
    reviewers: npt.NDArray[np.str_]


def quality(filters: Filters) -> TidyTable:
    """`review.quality`, with all reviews of one questionnaire version: definitions never mix within a table."""
    pool, demonstration = countable(filters)
    questionnaire = chosen_questionnaire(pool, filters)
    notes = [DENOMINATOR, REGIONS]
    rows: list[TidyRow] = []
    if questionnaire is None:
        notes.append("There are no reviews yet, or none for this choice.")
    else:
        mine = pool.filter(reviewer__campaign__questionnaire=questionnaire)
        cells = by_cell(opinions(mine.exclude(image__image__model=None), text_codes(questionnaire.definition)))
        for (country, model), cell in cells.items():
            rows += cell_rows({"country": country, "model": model}, cell, filters.get("interval", INTERVALS[0]))
        notes += [*about_pool(pool, mine, questionnaire), about_reviewers(cells)]
    return TidyTable(QUALITY.name, QUALITY.version, QUALITY.columns, tuple(rows), tuple(notes), demonstration)


def countable(filters: Filters) -> tuple[QuerySet[Review], bool]:
    """The reviews that may count, and whether they are a demonstration: those count only where there are no others."""
    reviews = Review.objects.filter(surplus=False).exclude(image__image__subject__dish__state=Dish.State.WITHDRAWN)
    if "campaign" in filters:
        reviews = reviews.filter(reviewer__campaign__slug=filters["campaign"])
    demonstration = (
        Q(reviewer__source=Source.DEMONSTRATION)
        | Q(reviewer__campaign__source=Source.DEMONSTRATION)
        | Q(image__image__model__demonstration=True)
    )
    real = reviews.exclude(pk__in=reviews.filter(demonstration).values("pk"))
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


def opinions(reviews: QuerySet[Review], codes: Sequence[str]) -> Iterable[Opinion]:
    """The reviews as the table needs them; `codes` are the questions answered in one's own words."""
    fields = (
        "image__country",
        "image__image__model__title",
        "image__image__subject__source_key",
        "reviewer__source_key",
        "reviewer_id",
        "food",
        "correct_dish",
        "quality",
        "disturbing",
        "published_flags",
        "answers",
    )
    for country, model, dish, key, reviewer, *said in reviews.values_list(*fields).iterator(chunk_size=5000):
        yield Opinion(country, model, dish, key or str(reviewer), as_counted(*said, codes=codes))


def as_counted(
    food: bool | None,
    correct: bool | None,
    rating: int | None,
    disturbing: bool | None,
    flags: Mapping[str, Any] | None,
    answers: Mapping[str, Any],
    *,
    codes: Sequence[str],
) -> tuple[bool, bool, bool, bool, bool]:
    """Yes or no for each metric; unanswered is no. Released flags win over what the answers yield."""
    released = flags or {}
    texts = [str(answers[code]) for code in codes if code in answers]
    return (
        food is True,
        correct is True,
        rating in GOOD_RATINGS,
        bool(released.get("disturbing", disturbing)),
        bool(released["unappetising"]) if "unappetising" in released else as_published(texts),
    )


def by_cell(found: Iterable[Opinion]) -> dict[tuple[str, str], Cell]:
    """Opinions by country and model, in the one order of both."""
    groups: dict[tuple[str, str], list[Opinion]] = defaultdict(list)
    for opinion in found:
        groups[opinion.country, opinion.model].append(opinion)
    return {
        key: Cell(
            yes=np.array([opinion.yes for opinion in groups[key]], dtype=np.float64),
            dishes=np.array([opinion.dish for opinion in groups[key]]),
            reviewers=np.array([opinion.reviewer for opinion in groups[key]]),
        )
        for key in sorted(groups, key=lambda key: (place("country", key[0]), place("model", key[1])))
    }


def cell_rows(groups: Mapping[str, str], cell: Cell, interval: str) -> Iterable[TidyRow]:
    """One row per metric, with n = all reviews of the cell and clusters = its dishes."""
    n, clusters = len(cell.yes), len(np.unique(cell.dishes))
    counts = [int(count) for count in cell.yes.sum(axis=0)]
    claimed = intervals(cell, counts, interval)
    for metric, count, found in zip(QUALITY.metrics, counts, claimed, strict=True):
        estimate = Estimate(share(count, n), n, clusters, found.low, found.high, found.method, found.reason)
        yield TidyRow(groups, metric, estimate)


def intervals(cell: Cell, counts: Sequence[int], interval: str) -> list[Interval]:
    """The default interval, over dishes and reviewers, or the named variant."""
    if interval == "wilson":
        return [wilson(count, len(cell.yes)) for count in counts]
    return two_way(cell.yes, cell.dishes, cell.reviewers)


def about_pool(pool: QuerySet[Review], mine: QuerySet[Review], questionnaire: Questionnaire) -> list[str]:
    """What was counted and what was left out."""
    notes = [f"Reviews with questionnaire {questionnaire}. Clusters are dishes."]
    others = pool.exclude(reviewer__campaign__questionnaire=questionnaire).count()
    if others:
        notes.append(f"Reviews with another questionnaire, left out: {others}. The filter questionnaire shows them.")
    nameless = mine.filter(image__image__model=None).count()
    if nameless:
        notes.append(f"Left out: {nameless} of them, about pictures whose model is not known.")
    return notes


def about_reviewers(cells: Mapping[tuple[str, str], Cell]) -> str:
    """How many people stand behind each row."""
    people = "; ".join(
        f"{country}, {model}: {len(np.unique(cell.reviewers))}" for (country, model), cell in cells.items()
    )
    return f"Reviewers: {people}."


QUALITY = TableSpec(
    name="review.quality",
    title=_("Review quality: what reviewers saw in the pictures"),
    source="World Wide recipe, Tables 2 and 3",
    version="1",
    columns=("country", "model"),
    metrics={
        "food": _("Share of reviews that say: this is an image of food."),
        "correct_dish": _("Share of reviews that say: this is an image of the dish asked for."),
        "good_quality": _("Share of reviews that rate the quality 3, 4 or 5. A missing rating counts as no."),
        "disturbing": _("Share of reviews that say: the image looks disturbing. As released where it was published."),
        "unappetising": _(
            "Share of reviews in whose own words one of 16 words is found, such as gross or burnt. As released where "
            "it was published, otherwise by the published list of words."
        ),
    },
    inputs=("reviews", "withdrawals"),
    filters=("country", "model", "campaign", "questionnaire", "interval"),
    choices={"interval": INTERVALS},
    compute=quality,
)
